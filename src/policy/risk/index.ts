import { sha256 } from '../../files/hash/sha256.ts'
import { looksBinary } from '../../files/text/encoding.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Change, EntryState } from '../../storage/backend.ts'
import { isBuildFile, isSecuritySensitive, isTestPath } from './names.ts'
import { publicApiOf } from './public-api.ts'
import { removesTests } from './tests.ts'
import { languageOf } from './tokens.ts'

/**
 * What each flag means. They make a person look, and prove nothing: names and declarations are recognised in TypeScript,
 * JavaScript, Python, Go, Rust and Java.
 */
export const riskMeanings = {
  touchesBuildFile: 'A file that decides how the project is built, tested, packaged or delivered, by its name',
  touchesSecuritySensitivePath:
    'A file whose name, or that of a directory above, speaks of security or of who may do what; one that may hold a secret; or one labelled confidential or higher',
  deletesFile: 'A file or link is gone afterwards, and was not moved',
  changesPublicApi: 'An exported declaration is gone or has another signature; what only adds does not count',
  deletesOrSkipsTests: 'A test file is gone, or holds fewer tests or checks, or skips more of them',
} as const

/** What a change may be that a person should look at; {@link riskMeanings} says each in words. */
export type RiskFlag = keyof typeof riskMeanings

export const riskFlags = Object.keys(riskMeanings) as [RiskFlag, ...RiskFlag[]]

/** A risk with the path that raises it. */
export interface Risk {
  readonly flag: RiskFlag
  readonly path: string
}

/** One change as far as risks are told from it. */
export interface RiskyChange {
  readonly change: Pick<Change, 'path' | 'to' | 'from'>
  readonly before: EntryState
  /** Where `before` is only the head of a large file: the size of the whole. */
  readonly headOf?: number
}

/** A longer text is not looked through, in bytes: what differs in it may change anything. */
const MAX_TEXT = 256 * 1024

/**
 * The risks of a change set, in the order of the flags. Never fails.
 *
 * @param isSensitive what else is known of a path, such as its label
 */
export function risksOf(changes: readonly RiskyChange[], isSensitive?: (path: Path) => boolean): Risk[] {
  const risks: Risk[] = []
  const files = changes.filter(({ change, before }) => change.to?.type !== 'directory' && before?.type !== 'directory')
  const movedTo = findMoves(files)
  for (const flag of riskFlags) {
    for (const one of files) {
      const { path } = one.change
      const isRisky = tests[flag](one, movedTo) || (flag === 'touchesSecuritySensitivePath' && isSensitive?.(path))
      if (isRisky) risks.push({ flag, path })
    }
  }
  return risks
}

/** Where what a change takes away is afterwards, if anywhere. */
type MovedTo = (one: RiskyChange) => string | undefined

const tests: Readonly<Record<RiskFlag, (one: RiskyChange, movedTo: MovedTo) => boolean>> = {
  touchesBuildFile: ({ change }) => isBuildFile(change.path),
  touchesSecuritySensitivePath: ({ change }) => isSecuritySensitive(change.path),
  deletesFile: (one, movedTo) => one.change.to === null && one.before !== null && movedTo(one) === undefined,
  changesPublicApi({ change, before, headOf }) {
    const language = languageOf(change.path)
    if (language === undefined || before === null || isTestPath(change.path)) return false
    const [old, now] = [textOf(before, headOf), textOf(change.to)]
    if (old === undefined || now === undefined) return true
    if (old === now) return false
    const [were, are] = [old, now].map((text) => publicApiOf(text, language, change.path))
    // Nested deeper than is followed: then it may change anything, too.
    if (were === undefined || are === undefined) return true
    const kept = new Set(are)
    return were.some((declaration) => !kept.has(declaration))
  },
  deletesOrSkipsTests(one, movedTo) {
    const { change, before, headOf } = one
    const language = languageOf(change.path)
    if (language === undefined || before === null) return false
    const isTest = isTestPath(change.path)
    if (change.to === null) {
      const moved = movedTo(one)
      if (moved !== undefined) return isTest && !isTestPath(moved)
      return isTest || removesTests(textOf(before, headOf) ?? '', '', language)
    }
    const [old, now] = [textOf(before, headOf), textOf(change.to)]
    if (old === undefined || now === undefined) return isTest
    return old !== now && (isTest || language === 'rust') && removesTests(old, now, language)
  },
}

/** Of every path that is gone, where its content is now. A copy that was there before is none. */
function findMoves(changes: readonly RiskyChange[]): MovedTo {
  const gone = changes.filter(({ change }) => change.to === null)
  const named = new Map<string, string>()
  const sizes = new Set(gone.map(({ before }) => sizeOf(before)))
  const held = new Map<string, string>()
  for (const { change } of changes) {
    if (change.to === null) continue
    if (change.from !== undefined) named.set(change.from, change.path)
    if (sizes.has(sizeOf(change.to))) held.set(contentOf(change.to), change.path)
  }
  return ({ change, before }) => {
    const moved = named.get(change.path)
    return moved !== undefined || held.size === 0 || before === null ? moved : held.get(contentOf(before))
  }
}

function sizeOf(state: EntryState): number {
  return state?.type === 'file' ? state.bytes.length : -1
}

function contentOf(state: EntryState): string {
  return state?.type === 'file' ? sha256(state.bytes) : JSON.stringify(state)
}

/** `undefined`: there is a file, and it is no text that can be looked through. */
function textOf(state: EntryState, headOf?: number): string | undefined {
  if (state === null) return ''
  if (headOf !== undefined || state.type !== 'file' || state.bytes.length > MAX_TEXT || looksBinary(state.bytes))
    return undefined
  return new TextDecoder().decode(state.bytes)
}
