export { resultCore } from "./result-table.ts"
