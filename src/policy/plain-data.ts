import { hasPlainPrototype } from '../util/check-options.ts'
import { fieldIn } from './written-fields.ts'

/** Deeper than every field of a policy. What is below it, is refused as a wrong value; circular objects end here. */
const MAX_DEPTH = 8

/**
 * Copies a policy that consists of lists, plain objects and their own enumerable fields. Anything else, such as a Map or an
 * object with inherited fields, looks empty to the code that reads the fields, and would have no effect. Every field is read
 * once.
 *
 * @param field the path of the value, `''` for the policy itself
 * @throws TypeError with the path of a field that a copy would lose
 */
export function copyPlainData(value: unknown, field = '', depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
  const isList = Array.isArray(value)
  if (!isList && !hasPlainPrototype(value)) {
    const subject = field === '' ? 'A policy' : `Policy field "${field}"`
    throw new TypeError(`${subject} must be plain data: a list, or a plain object without a class`)
  }
  if (isList) refuseFieldsOfList(value, field)
  const copyField = (key: string | number) =>
    copyPlainData(Reflect.get(value, key), isList ? `${field}[${key}]` : fieldIn(field, String(key)), depth + 1)
  if (isList) return Array.from({ length: value.length }, (_, index) => copyField(index))
  return Object.fromEntries(
    Reflect.ownKeys(value).map((key) => {
      const name = String(key)
      if (typeof key === 'symbol' || key === '__proto__')
        throw new TypeError(`Policy field "${fieldIn(field, name)}" is unknown`)
      if (!Object.prototype.propertyIsEnumerable.call(value, key))
        throw new TypeError(`Policy field "${fieldIn(field, name)}" must be enumerable`)
      return [name, copyField(name)]
    }),
  )
}

/** A list has items only. */
function refuseFieldsOfList(list: readonly unknown[], field: string): void {
  const extra = Reflect.ownKeys(list).find(
    (key) => key !== 'length' && (typeof key === 'symbol' || !(Number(key) < list.length)),
  )
  if (extra !== undefined) throw new TypeError(`Policy field "${fieldIn(field, String(extra))}" is unknown`)
}
