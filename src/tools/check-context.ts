import type { GuardedFiles } from '../guard/guarded-files.ts'
import type { WalkKind } from '../guard/visibility.ts'
import { parsePath } from '../paths/logical-path.ts'
import { labelNames } from '../policy/labels.ts'
import type { WalkFilters } from '../storage/walk.ts'
import { isUint8Array } from '../util/bytes.ts'
import {
  type Check,
  isBoolean,
  isFunction,
  isListOf,
  isOneOf,
  isText,
  must,
  type OptionTable,
  shape,
} from '../util/check-options.ts'
import type { ToolContext } from './define-tool.ts'

/** The checks of the parameters of a function, by their names, in order. */
type Checks = Readonly<Record<string, Check>>
type FunctionsOf<T> = {
  readonly [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: Checks
}

const count = must('a number of at least 0', (value) => typeof value === 'number' && value >= 0)

/** A path of the workspace. `.` and `./a` are accepted, because plans accept them. */
const path: Check = (value, ...at) => {
  isText(value, ...at)
  return value === '' || value === '.' ? '' : parsePath(value as string)
}

const filters = shape<WalkFilters>(
  { includeHidden: isBoolean, includeIgnored: isBoolean },
  'includeHidden',
  'includeIgnored',
)
const kinds: Readonly<Record<WalkKind, true>> = { list: true, search: true, diff: true, memory: true }
type Range = Parameters<GuardedFiles['readRange']>[1]
const rangeTable: OptionTable<Range> = { start: count, end: count, tag: isText }
const iterable = must(
  'a list of paths',
  (value) => typeof value === 'object' && value !== null && Symbol.iterator in value,
)

const contextParameters: FunctionsOf<ToolContext> = {
  progress: { done: count, unit: isText, total: optional(count) },
  now: {},
  hasReadWhole: { path, sha256: isText },
  keepArtifact: { name: isText, text: isText },
  addLabel: { label: isOneOf(...labelNames), path: optional(isText) },
  taint: {},
  requireHostAllowed: { host: isText },
}

const fileParameters: FunctionsOf<GuardedFiles> = {
  stat: { path },
  read: { path, maxBytes: count },
  versionOf: { bytes: must('a Uint8Array', (value) => isUint8Array(value)) },
  readRange: { path, range: shape<Range>(rangeTable, 'start', 'end') },
  readLink: { path },
  document: { path, maxBytes: count },
  noteRead: { path, bytes: count },
  walk: { start: path, kind: isOneOf(...Object.keys(kinds)), filters, maxDepth: optional(count) },
  visible: { start: path, filters, matches: isFunction },
  candidates: { start: path, filters },
  notes: { start: path },
  allEntries: { start: path, maxEntries: count },
  scan: { paths: isListOf(isText), filter: isFunction, visit: isFunction, maxBytes: optional(count) },
  emptiedDirectories: { removed: isListOf(isText), keep: iterable },
  missingParents: { path },
}

/**
 * Returns the context of a call with functions that check their arguments, for an own tool: plain JavaScript can misspell a
 * label or a filter, which would otherwise have no effect.
 */
export function checkedContext<C extends ToolContext>(context: C): C {
  const { capabilities } = context.files
  const files = { capabilities, ...checkedFunctions(context.files, fileParameters, 'context.files') }
  return Object.defineProperties({} as C, {
    ...boundMembers(context),
    ...Object.getOwnPropertyDescriptors({ ...checkedFunctions(context, contextParameters, 'context'), files }),
  })
}

/** The fields, functions and getters of an object, for another one. `commands` stays a getter, which opens the shell. */
function boundMembers(owner: object): PropertyDescriptorMap {
  const { constructor: _, ...inherited } = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(owner))
  const members: PropertyDescriptorMap = { ...inherited, ...Object.getOwnPropertyDescriptors(owner) }
  for (const member of Object.values(members)) {
    member.enumerable = true
    if (typeof member.value === 'function') member.value = member.value.bind(owner)
    if (member.get !== undefined) member.get = member.get.bind(owner)
  }
  return members
}

function checkedFunctions<T extends object>(owner: T, functions: FunctionsOf<T>, name: string): object {
  return Object.fromEntries(
    Object.entries<Checks>(functions as Readonly<Record<string, Checks>>).map(([method, parameters]) => {
      const checks = Object.entries(parameters)
      const original = Reflect.get(owner, method) as (...args: unknown[]) => unknown
      const checked = (...args: readonly unknown[]) =>
        original.apply(
          owner,
          checks.map(([parameter, check], index) => check(args[index], parameter, `${name}.${method}()`)),
        )
      return [method, checked]
    }),
  )
}

function optional(check: Check): Check {
  return (value, ...at) => (value === undefined ? undefined : check(value, ...at))
}
