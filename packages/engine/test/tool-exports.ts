// What the tests of tools take from the built engine, in one place.

export type { CallOf, ResultOf } from "../dist/tool/call-types.js"
export { compileTool } from "../dist/tool/compile-tool.js"
export type {
  AttemptContext,
  CompiledTool,
  FenceAnswer,
  ProbeAnswer,
  ProbeContext,
} from "../dist/tool/compiled-tool.js"
export { defineTool } from "../dist/tool/define-tool.js"
export { describeTool } from "../dist/tool/describe-tool.js"
export { describeDuration, durationMs } from "../dist/tool/duration.js"
export { guardTool } from "../dist/tool/guard-tool.js"
export type { Guarded } from "../dist/tool/guard-tool.js"
export { jsonOutput } from "../dist/tool/json-output.js"
export type { Jsonify } from "../dist/tool/json-output.js"
export { nearName } from "../dist/tool/near-name.js"
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
} from "../dist/tool/option-tables.js"
export { OutcomeError, isOutcome, outcome } from "../dist/tool/outcome.js"
export { absent, collided, fenced, found, notApplied, unsure } from "../dist/tool/probe-answer.js"
export { asGiven } from "../dist/tool/standard-schema.js"
export { tombstoneGeneration, tombstoneMarker } from "../dist/tool/tombstone-marker.js"
export type { AnyTool, OutputOf, ParamsOf, ToolName } from "../dist/tool/tool.js"
export { validateTools } from "../dist/tool/validate-tools.js"
