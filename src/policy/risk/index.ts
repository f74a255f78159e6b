import { sha256 } from '../../files/hash/sha256.ts'
import { looksBinary } from '../../files/text/encoding.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Change, EntryState } from '../../storage/backend.ts'
import { sizeOf as fileSize } from '../../storage/versions.ts'
import { type RiskFlag, riskFlags } from './flags.ts'
import { languageOf } from './languages.ts'
import { changesDeclarations, removesTests } from './line-rules.ts'
import { isBuildFile, isSecuritySensitive, isTestPath } from './names.ts'

/** A risk with the path that raises it. */
export interface Risk {
  readonly flag: RiskFlag
  readonly path: string
}

/** A change together with the state that it replaces. */
export interface RiskyChange {
  readonly change: Pick<Change, 'path' | 'to' | 'from'>
  readonly before: EntryState
  /** If `before` holds only the head of a large file: the size of the whole file in bytes. */
  readonly headOf?: number
}

/** Maximum size of a text that the line rules examine, in bytes. A change of a longer text raises the flag. */
const MAX_TEXT = 256 * 1024

/**
 * Returns the risks of a change set, in the order of the flags. Never throws.
 *
 * @param isSensitive additional reasons for `touchesSecuritySensitivePath`, such as the label of a path
 */
export function risksOf(changes: readonly RiskyChange[], isSensitive?: (path: Path) => boolean): Risk[] {
  const risks: Risk[] = []
  const files = changes.filter(({ change, before }) => change.to?.type !== 'directory' && before?.type !== 'directory')
  const destinationOf = findMoves(files)
  for (const flag of riskFlags) {
    for (const file of files) {
      const { path } = file.change
      const isRisky =
        checks[flag](file, destinationOf) || (flag === 'touchesSecuritySensitivePath' && isSensitive?.(path))
      if (isRisky) risks.push({ flag, path })
    }
  }
  return risks
}

/** Returns the new path of a file that a change set moves, and `undefined` for a file that it deletes. */
type DestinationOf = (file: RiskyChange) => string | undefined

const checks: Readonly<Record<RiskFlag, (file: RiskyChange, destinationOf: DestinationOf) => boolean>> = {
  touchesBuildFile: ({ change }) => isBuildFile(change.path),
  touchesSecuritySensitivePath: ({ change }) => isSecuritySensitive(change.path),
  deletesFile: (file, destinationOf) =>
    file.change.to === null && file.before !== null && destinationOf(file) === undefined,
  changesPublicApi({ change, before, headOf }) {
    const language = languageOf(change.path)
    if (language === undefined || before === null || isTestPath(change.path)) return false
    const [oldText, newText] = [textOf(before, headOf), textOf(change.to)]
    if (oldText === undefined || newText === undefined) return true
    return changesDeclarations(oldText, newText, language)
  },
  deletesOrSkipsTests(file, destinationOf) {
    const { change, before, headOf } = file
    const language = languageOf(change.path)
    if (language === undefined || before === null) return false
    const isTest = isTestPath(change.path)
    const oldText = textOf(before, headOf)
    if (change.to === null) {
      const destination = destinationOf(file)
      if (destination !== undefined) return isTest && !isTestPath(destination)
      return isTest || removesTests(oldText ?? '', '', language)
    }
    const newText = textOf(change.to)
    if (oldText === undefined || newText === undefined) return isTest
    return (isTest || language === 'rust') && removesTests(oldText, newText, language)
  },
}

/** Finds moves: by the `from` of a change, or by equal content. A copy that existed before does not count. */
function findMoves(changes: readonly RiskyChange[]): DestinationOf {
  const deleted = changes.filter(({ change }) => change.to === null)
  const declaredMoves = new Map<string, string>()
  const sizes = new Set(deleted.map(({ before }) => sizeOf(before)))
  const pathsByContent = new Map<string, string>()
  for (const { change } of changes) {
    if (change.to === null) continue
    if (change.from !== undefined) declaredMoves.set(change.from, change.path)
    if (sizes.has(sizeOf(change.to))) pathsByContent.set(contentOf(change.to), change.path)
  }
  return ({ change, before }) => {
    const declared = declaredMoves.get(change.path)
    if (declared !== undefined || pathsByContent.size === 0 || before === null) return declared
    return pathsByContent.get(contentOf(before))
  }
}

function sizeOf(state: EntryState): number {
  return state?.type === 'file' ? fileSize(state) : -1
}

/** Returns a key that is equal for equal contents. */
function contentOf(state: EntryState): string {
  return state?.type === 'file' ? (state.content?.sha256 ?? sha256(state.bytes)) : JSON.stringify(state)
}

/** Returns the text of a file, and `undefined` for anything that the line rules cannot examine. */
function textOf(state: EntryState, headOf?: number): string | undefined {
  if (state === null) return ''
  if (headOf !== undefined || state.type !== 'file' || fileSize(state) > MAX_TEXT || looksBinary(state.bytes))
    return undefined
  return new TextDecoder().decode(state.bytes)
}
