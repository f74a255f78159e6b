import type { ShownRange } from '../history/read-history.ts'
import { parsePath } from '../paths/logical-path.ts'
import { labelNames } from '../policy/labels.ts'
import { isLabel } from '../policy/taint.ts'
import type { Change, EntryState, Expectation } from '../storage/backend.ts'
import { copyBytes, isUint8Array } from '../util/bytes.ts'
import { didYouMean } from '../util/check-options.ts'
import type { BuiltinDraft } from './builtin-tool.ts'
import { checkFields, type FieldCheck } from './check-tool.ts'
import type { ShownVersion, Tool } from './define-tool.ts'

const text: FieldCheck = { expected: 'a string', matches: (value) => typeof value === 'string' }
const method: FieldCheck = { expected: 'a function', matches: (value) => typeof value === 'function' }
const list: FieldCheck = { expected: 'an array', matches: Array.isArray }
const texts: FieldCheck = {
  expected: 'an array of paths',
  matches: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
}
const object: FieldCheck = { expected: 'an object', matches: isObject }
const flag: FieldCheck = { expected: 'true or false', matches: (value) => typeof value === 'boolean' }
const count: FieldCheck = {
  expected: 'an integer of at least 0',
  matches: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
}

type Fields<T> = Readonly<Record<keyof T, FieldCheck>>

const draftFields: Fields<
  Omit<BuiltinDraft<unknown>, 'target' | 'verdict' | 'givenPaths' | 'hasMedia' | 'push' | 'lines' | 'observed'>
> = {
  summary: text,
  changes: optional(list),
  accesses: optional(list),
  reads: optional({
    expected: 'a list of paths',
    matches: (value) => typeof value === 'object' && value !== null && Symbol.iterator in value,
  }),
  refusals: optional(list),
  copiedFrom: optional(texts),
  dryRun: optional(flag),
  diff: optional(text),
  fullOutput: optional(object),
  shown: optional(method),
  result: method,
  flow: optional(object),
  contentLabel: optional({ expected: labelNames.join(' or '), matches: isLabel }),
  plan: optional(object),
  onResult: optional(method),
}

const outputFields: Fields<NonNullable<BuiltinDraft<unknown>['fullOutput']>> = { extension: text, text: method }

const changeFields: Fields<Change> = {
  path: text,
  expect: { expected: '"any", "absent", { sha256 } or { tag }', matches: isExpectation },
  to: {
    expected: 'null to delete the path, or a state with the "type" file, directory or link',
    matches: (value) => value === null || isObject(value),
  },
  from: optional(text),
}

const type: FieldCheck = { expected: '"file", "directory" or "link"', matches: (value) => typeof value === 'string' }
type StateOf<T extends NonNullable<EntryState>['type']> = Extract<NonNullable<EntryState>, { readonly type: T }>
const stateFields: { readonly [T in NonNullable<EntryState>['type']]: Fields<StateOf<T>> } = {
  directory: { type },
  link: { type, target: text },
  file: {
    type,
    content: optional({ expected: 'absent: the content is in "bytes"', matches: (value) => value === undefined }),
    bytes: { expected: 'a Uint8Array', matches: (value) => isUint8Array(value) },
    mode: optional({
      expected: 'permission bits, such as 0o644',
      matches: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0o7777,
    }),
    sharedPrefix: optional(count),
  },
}

const shownFields: Fields<ShownVersion> = {
  path: text,
  sha256: text,
  lines: { expected: '"all" or { start, end, total }', matches: (value) => value === 'all' || isObject(value) },
}
const rangeFields: Fields<ShownRange> = {
  start: count,
  end: count,
  total: count,
  startColumn: optional(count),
  nextColumn: optional(count),
}

/**
 * Checks the draft of an own tool and returns a copy of it. Each field is read once, so what is checked is what is committed.
 *
 * @throws TypeError with the field and the nearest known name, and for changes of a tool that does not mutate
 */
export function checkDraft({ mutates }: Pick<Tool, 'mutates'>, draft: unknown): BuiltinDraft<unknown> {
  if (!isObject(draft)) throw new TypeError('draft did not return an object')
  const fields = bind(checkFields(draft, draftFields, 'The draft'), draft)
  const output = fields.fullOutput as object | undefined
  if (output !== undefined)
    fields.fullOutput = bind(checkFields(output, outputFields, '"fullOutput" of the draft'), output)
  if (fields.reads !== undefined) fields.reads = checkPaths(fields.reads as Iterable<unknown>)
  if (fields.changes === undefined) return fields as unknown as BuiltinDraft<unknown>
  const changes = (fields.changes as readonly unknown[]).map(checkChange)
  if (!mutates && changes.length > 0) throw new TypeError('draft returned changes, but "mutates" of the tool is false')
  return { ...(fields as unknown as BuiltinDraft<unknown>), changes }
}

/**
 * Checks the versions that an own tool has shown.
 *
 * @throws TypeError with the field and the nearest known name
 */
export function checkShown(shown: unknown): readonly ShownVersion[] {
  if (!Array.isArray(shown)) throw new TypeError('shown did not return an array of versions')
  return shown.map((version: unknown, index) => {
    const at = `version ${index} of shown`
    if (!isObject(version)) throw new TypeError(`${at} is not an object`)
    const fields = checkFields(version, shownFields, at)
    if (fields.lines !== 'all') checkFields(fields.lines as object, rangeFields, `"lines" of ${at}`)
    return fields as unknown as ShownVersion
  })
}

/** Binds the functions of a copy to the object that they come from. */
function bind(fields: Record<string, unknown>, owner: object): Record<string, unknown> {
  for (const [name, value] of Object.entries(fields)) if (typeof value === 'function') fields[name] = value.bind(owner)
  return fields
}

function checkPaths(reads: Iterable<unknown>): unknown[] {
  const paths = [...reads]
  if (paths.every((path) => typeof path === 'string')) return paths
  throw new TypeError('"reads" of the draft must be a list of paths')
}

function checkChange(change: unknown, index: number): Change {
  const at = `change ${index} of the draft`
  if (!isObject(change)) throw new TypeError(`${at} is not an object`)
  const fields = checkFields(change, changeFields, at) as unknown as Change
  const { path, expect, to } = fields
  if (parsePath(path) !== path) {
    throw new TypeError(
      `${at}: "path" must be a path of the accesses, such as context.accesses[0].path, not ${JSON.stringify(path)}`,
    )
  }
  return { ...fields, expect: typeof expect === 'string' ? expect : { ...expect }, to: checkState(to, at) }
}

function checkState(state: EntryState, at: string): EntryState {
  if (state === null) return null
  const label = `"to" of ${at}`
  const types = Object.keys(stateFields)
  const name: unknown = state.type
  if (typeof name !== 'string' || !Object.hasOwn(stateFields, name)) {
    const help = typeof name === 'string' ? didYouMean(name, types) : ''
    throw new TypeError(`${label}: "type" must be "file", "directory" or "link"${help}`)
  }
  const fields = checkFields(state, stateFields[state.type], label) as unknown as NonNullable<EntryState>
  return fields.type === 'file' ? { ...fields, bytes: copyBytes(fields.bytes) } : fields
}

/** Whether a value names one expectation. A backend compares only one of the two versions. */
function isExpectation(value: unknown): value is Expectation {
  if (value === 'any' || value === 'absent') return true
  if (!isObject(value)) return false
  const [name, ...others] = Object.keys(value)
  return others.length === 0 && (name === 'sha256' || name === 'tag') && typeof Reflect.get(value, name) === 'string'
}

function optional(check: FieldCheck): FieldCheck {
  return { ...check, isOptional: true }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
