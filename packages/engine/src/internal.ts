export { compileTool } from "./tool/compile-tool.ts"
export type { CompiledTool, FenceAnswer, ProbeAnswer } from "./tool/compiled-tool.ts"
export { describeDuration, durationMs } from "./tool/duration.ts"
export { nearName } from "./tool/near-name.ts"
export { jsonOutput } from "./tool/json-output.ts"
export {
  CONTRACT_OPTIONS,
  DEFINED_OPTIONS,
  EFFECT_OPTIONS,
  FENCE_OPTIONS,
  GUARD_OPTIONS,
  KEY_OPTIONS,
  LOOKUP_OPTIONS,
  PROOF_OPTIONS,
  SOURCE_OPTIONS,
  UNBUILT,
} from "./tool/option-tables.ts"
export { isOutcome } from "./tool/outcome.ts"
export { asGiven } from "./tool/standard-schema.ts"
export { tombstoneGeneration, tombstoneMarker } from "./tool/tombstone-marker.ts"
export { validateTools } from "./tool/validate-tools.ts"
export { neverLeft, STAGES } from "./dispatch/transport/attempt-observation.ts"
export { digestDifference, effectDigest } from "./dispatch/transport/effect-digest.ts"
export { isEffect } from "./dispatch/transport/effect-rule.ts"
export type { EffectRule } from "./dispatch/transport/effect-rule.ts"
export { CHUNK_BYTES, gatedBody } from "./dispatch/transport/gated-body.ts"
export { isPrivateAddress, publicLookup } from "./dispatch/transport/private-address.ts"
export { SendWindow } from "./dispatch/transport/send-window.ts"
export { checkCallOptions } from "./admission/call-options.ts"
export { nameCall } from "./admission/call-request.ts"
