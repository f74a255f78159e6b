import { isUint8Array } from './bytes.ts'
import { counted } from './counted.ts'
import { nearestName } from './nearest-name.ts'

/** The error of a wrong option. */
export class OptionError extends TypeError {
  /** The path of the option, if it is unknown. */
  readonly unknownOption: string | undefined

  constructor(message: string, unknownOption?: string) {
    super(message)
    this.unknownOption = unknownOption
  }
}

/** Checks an option and returns its value. `path` names the option and `owner` the function that takes it. */
export type Check = (value: unknown, path: string, owner: string) => unknown

/** The check of each option. An option without a row, and a row without an option, do not compile. */
export type OptionTable<T> = { readonly [K in keyof T]-?: Check }

/**
 * Checks options against their table and returns them as a plain object. Inherited options and getters count, and each is
 * read once. `undefined` counts as absent.
 *
 * @param owner the function in messages, such as `memory()`
 * @throws TypeError that names an unknown option and the nearest known one, or a wrong value and what it must be
 */
export function checkOptions<T extends object>(
  owner: string,
  options: unknown,
  table: OptionTable<T>,
  ...required: (keyof T & string)[]
): T {
  return shape(table, ...required)(options === undefined ? {} : options, '', owner) as T
}

/**
 * Checks an argument of a function and returns it.
 *
 * @throws TypeError that names the argument and what it must be
 */
export function checkArgument<T>(owner: string, name: string, value: T, check: Check): T {
  return check(value, ARGUMENT + name, owner) as T
}

/**
 * Refuses arguments behind the parameters of a function: they would have no effect. `undefined` counts as absent.
 *
 * @param owner the function in the message, such as `memory()`
 * @throws TypeError
 */
export function refuseSurplus(owner: string, parameters: number, args: ArrayLike<unknown>, help = ''): void {
  let given = args.length
  while (given > parameters && args[given - 1] === undefined) given -= 1
  if (given <= parameters) return
  const most = parameters === 0 ? 'no arguments' : `at most ${counted(parameters, 'argument')}`
  throw new OptionError(`${owner} takes ${most}, not ${given}${help}`)
}

/**
 * Refuses options that have no effect with another option as it is.
 *
 * @param problem completes "has no effect …", and says what to do
 * @throws TypeError for the first one that is set; `false` counts as absent
 */
export function refuseIdle<T extends object>(
  owner: string,
  options: T,
  names: readonly (keyof T & string)[],
  problem: string,
): void {
  const name = names.find((one) => options[one] !== undefined && options[one] !== false)
  if (name !== undefined) throw new OptionError(`${optionOf(name, owner)} has no effect ${problem}`)
}

/**
 * Makes the methods of an object refuse arguments behind their parameters, which have no defaults.
 *
 * @param toOptions returns the last argument with which a method refuses the call, or throws the error
 */
export function refuseSurplusOf<M extends object>(object: M, toOptions: (name: string, error: Error) => unknown): M {
  for (const [name, method] of Object.entries(object)) {
    if (typeof method !== 'function') continue
    const count = method.length
    const checked = (...args: unknown[]) => {
      try {
        refuseSurplus(`${name}()`, count, args)
      } catch (error) {
        args[count - 1] = toOptions(name, error as Error)
      }
      return method(...args)
    }
    Reflect.set(object, name, checked)
  }
  return object
}

/** The same as {@link checkArgument} for a text, for functions that are called often. */
export function requireText(owner: string, name: string, value: unknown): void {
  if (typeof value !== 'string') checkArgument(owner, name, value, isText)
}

/** Begins the path of an argument. */
const ARGUMENT = 'argument '

/** Checks an object by the checks of its fields. */
export function shape<T extends object>(table: OptionTable<T>, ...required: (keyof T & string)[]): Check {
  return (value, path, owner) => {
    const checked = checkFields(value, path, owner, (key) =>
      Object.hasOwn(table, key) ? table[key as keyof T] : table,
    )
    for (const name of required) if (checked[name] === undefined) table[name](undefined, join(path, name), owner)
    return checked
  }
}

/** An object whose keys are free. */
export function isRecordOf(check: Check): Check {
  return (value, path, owner) => checkFields(value, path, owner, (key) => (typeof key === 'string' ? check : {}))
}

/**
 * Checks the fields of an object: its own and the inherited ones, without those of `Object.prototype`.
 *
 * @param checkOf returns the check of a field, or for an unknown one an object with the known names
 */
function checkFields(value: unknown, path: string, owner: string, checkOf: (key: PropertyKey) => Check | object) {
  if (!isObject(value) || Array.isArray(value) || classOf(value) !== undefined)
    throw wrong(path, owner, 'an object', value)
  const checked: Record<string, unknown> = Object.create(null)
  for (let part: object = value; !isRoot(part, value); part = Object.getPrototypeOf(part)) {
    for (const key of Reflect.ownKeys(part)) {
      const name = String(key)
      if (name in checked || (part !== value && name === 'constructor')) continue
      const check = checkOf(key)
      if (typeof check !== 'function') {
        const names = Object.entries(check).flatMap(([known, each]) => (misplaced.has(each) ? [] : [known]))
        const help = didYouMean(name, names, 'the options are')
        throw new OptionError(`${optionOf(join(path, name), owner)} is unknown${help}`, join(path, name))
      }
      const field: unknown = Reflect.get(value, key)
      if (field !== undefined) checked[name] = check(field, join(path, name), owner)
    }
  }
  return checked
}

const misplaced = new WeakSet<Check>()

/** Checks of options that another place has: each is refused like an unknown one, and the message ends with its place. */
export function misplacedOptions(places: Readonly<Record<string, string>>): Readonly<Record<string, Check>> {
  const checks = Object.entries(places).map(([name, place]) => {
    const check: Check = (_, path, owner) => {
      throw new OptionError(`${optionOf(path, owner)} is unknown; ${place}`)
    }
    misplaced.add(check)
    return [name, check] as const
  })
  return Object.fromEntries(checks)
}

/** Creates a check from a test. `what` completes "must be …". */
export function must(description: string, test: (value: unknown) => boolean): Check {
  return (value, path, owner) => {
    if (test(value)) return value
    throw wrong(path, owner, description, value)
  }
}

export const isBoolean = isA('true or false', 'boolean')
export const isText = isA('a string', 'string')
export const isFunction = isA('a function', 'function')
export const isPositive = must('a positive safe integer', (value) => Number.isSafeInteger(value) && Number(value) > 0)
/** A function that returns a time. Each call of it is checked, because an early one would change its later times. */
export const isClock: Check = (value, path, owner) => {
  const clock = isFunction(value, path, owner) as () => unknown
  return () => {
    const time = clock()
    // The greatest time of a Date.
    if (typeof time === 'number' && Math.abs(time) <= 8.64e15) return time
    throw new OptionError(`${optionOf(path, owner)} must return milliseconds since 1970, not ${nameOf(time)}`)
  }
}
export const isAbortSignal = isObjectWith('an AbortSignal', 'throwIfAborted')

/** A plain object: its prototype is `Object.prototype` or null. */
export const isPlainObject = must('a plain object without a class', isPlain)

/** Whether a value is an object without a class, and no list. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && hasPlainPrototype(value)
}

/** Whether an object inherits nothing, or only from the `Object.prototype` of any realm. */
export function hasPlainPrototype(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  return isRoot(prototype) && Object.hasOwn(prototype, 'isPrototypeOf') && Object.keys(prototype).length === 0
}

/** For values that other code checks. */
export const isAnything: Check = (value) => value

/** For data that other code checks later: the same data, so that changes of the original have no effect. */
export const isData: Check = (value) => copyOf(value)

/** Deeper than every option. Circular objects end here. */
const MAX_DEPTH = 8

/** Copies lists and plain objects with all of their own fields. Other objects, such as functions, stay as they are. */
function copyOf(value: unknown, depth = 0): unknown {
  if (!isObject(value) || depth > MAX_DEPTH || !(Array.isArray(value) || hasPlainPrototype(value))) return value
  const copy: object = Array.isArray(value) ? new Array(value.length) : Object.create(Object.getPrototypeOf(value))
  for (const key of Reflect.ownKeys(value)) {
    if (Array.isArray(value) && key === 'length') continue
    const enumerable = Object.prototype.propertyIsEnumerable.call(value, key)
    Object.defineProperty(copy, key, { value: copyOf(Reflect.get(value, key), depth + 1), enumerable })
  }
  return copy
}

export const isObjectValue = isObjectWith('an object')
export const isBytes = must('a Uint8Array', (value) => isUint8Array(value))

export function isOneOf(...values: readonly unknown[]): Check {
  const description = values.map((value) => JSON.stringify(value)).join(' or ')
  return (value, path, owner) => {
    if (values.includes(value)) return value
    const names = values.filter((name) => typeof name === 'string')
    throw wrong(path, owner, description, value, typeof value === 'string' ? didYouMean(value, names) : '')
  }
}

/** An object with these methods. `what` completes "must be …". */
export function isObjectWith(description: string, ...methods: readonly string[]): Check {
  return must(
    description,
    (value) => isObject(value) && methods.every((name) => typeof Reflect.get(value, name) === 'function'),
  )
}

export function isListOf(check: Check): Check {
  return (value, path, owner) => {
    if (!Array.isArray(value)) throw wrong(path, owner, 'a list', value)
    return Array.from(value, (item, index) => check(item, `${path}[${index}]`, owner))
  }
}

/** One value, or a list of such values. */
export function isOneOrMore(check: Check): Check {
  const list = isListOf(check)
  return (...option) => (Array.isArray(option[0]) ? list : check)(...option)
}

/** Returns the end of a message: the nearest known name, or without a near one all names if `list` introduces them. */
export function didYouMean(misspelled: string, names: readonly string[], list?: string): string {
  const nearest = nearestName(misspelled, names)
  if (nearest !== undefined) return `; did you mean ${JSON.stringify(nearest)}?`
  if (list === undefined) return ''
  return names.length === 0 ? '; there are none' : `; ${list} ${names.join(', ')}`
}

function isA(description: string, type: string): Check {
  return must(description, (value) => typeof value === type)
}

function wrong(path: string, owner: string, description: string, value: unknown, help = ''): OptionError {
  // Where a text is named, the type of another text says nothing.
  const actual = typeof value === 'string' && description.includes('"') ? '' : `, not ${nameOf(value)}`
  return new OptionError(`${optionOf(path, owner)} must be ${description}${actual}${help}`)
}

/** Names a value in a message: a number or a word such as `null`, but no text, which may be a secret. */
export function nameOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return classOf(value) === undefined ? 'an object' : `a ${classOf(value)}`
  return ['string', 'function', 'symbol', 'bigint'].includes(typeof value) ? `a ${typeof value}` : String(value)
}

/** Returns the name of a platform's class whose instances are no options, such as `Map`. */
function classOf(value: object): string | undefined {
  const name = Object.prototype.toString.call(value).slice(8, -1)
  return name === 'Object' || hasPlainPrototype(value) ? undefined : name
}

function optionOf(path: string, owner: string): string {
  if (path === '') return `The options of ${owner}`
  const isArgument = path.startsWith(ARGUMENT)
  const name = JSON.stringify(isArgument ? path.slice(ARGUMENT.length) : path)
  return `${isArgument ? 'Argument' : 'Option'} ${name} of ${owner}`
}

/** The end of a chain of prototypes: nothing, or the `Object.prototype` of any realm. */
function isRoot(part: object | null, start?: object): boolean {
  return part === null || (part !== start && Object.getPrototypeOf(part) === null)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
