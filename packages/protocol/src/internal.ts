export { resultCore } from "./result-table.ts"
// Seams for tests of this workspace. Not part of the public interface.
export { sameKeyFrom } from "./same-key.ts"
export { mayStillSend, restoredSettledFrom } from "./windows.ts"
