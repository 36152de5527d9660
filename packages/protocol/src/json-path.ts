/** Where a value sits inside a JSON document, as people read it: `items[2].sku`, `meta["odd key"]`, `$` for the whole. */
export type PathStep = string | number

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/

export function pathText(path: readonly PathStep[]): string {
  if (path.length === 0) return "$"
  let text = ""
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`
    else if (PLAIN.test(step)) text += text === "" ? step : `.${step}`
    else text += `[${JSON.stringify(step)}]`
  }
  return text
}
