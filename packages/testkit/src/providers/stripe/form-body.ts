/** Form bodies as Stripe takes them: `metadata[operation_id]=x`, `expand[]=customer`, `payment_method_types[0]=card`. */

export type FormValue = string | FormObject | FormValue[]
export interface FormObject {
  [name: string]: FormValue
}

export function parseForm(text: string): FormObject {
  const form = emptyObject()
  for (const [name, value] of new URLSearchParams(text)) {
    const path = [name.split("[", 1)[0] ?? "", ...[...name.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? "")]
    put(form, path, value)
  }
  return form
}

/** The same parameters in any order give the same text: that is what a key's parameters are compared by. */
export function canonicalForm(text: string): string {
  const pairs = [...new URLSearchParams(text)].map((pair) => JSON.stringify(pair))
  return pairs.sort().join("&")
}

function put(into: FormObject, [name, ...rest]: readonly string[], value: string): void {
  if (name === undefined) return
  if (rest.length === 0) {
    into[name] = value
  } else if (rest[0] === "" || /^\d+$/.test(rest[0] ?? "")) {
    const list = into[name]
    if (Array.isArray(list)) list.push(value)
    else into[name] = [value]
  } else {
    const inner = into[name]
    const object = isObject(inner) ? inner : emptyObject()
    into[name] = object
    put(object, rest, value)
  }
}

export function isObject(value: FormValue | undefined): value is FormObject {
  return typeof value === "object" && !Array.isArray(value)
}

/** Without a prototype: a parameter called `__proto__` is only a parameter. */
function emptyObject(): FormObject {
  return Object.create(null) as FormObject
}
