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
export { Engine } from "./engine.ts"
export { stepOperation } from "./reconcile/reconciler.ts"
