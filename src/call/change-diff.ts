import { classifyPath } from '../files/classify/index.ts'
import { redact } from '../files/secrets/index.ts'
import { createDocument } from '../files/text/document.ts'
import { looksBinary } from '../files/text/encoding.ts'
import { binaryDiff, diffLines, unifiedDiff } from '../patch/diff.ts'
import type { Path } from '../paths/logical-path.ts'
import type { EntryState, Receipt, Version } from '../storage/backend.ts'
import type { KnownChange } from './state/call.ts'

/**
 * Formats a change set as a unified diff for a person or a model: secrets are replaced by marks, and protected and binary
 * files, and files that a call may not see, are named without their content.
 */
export function diffOfChanges(changes: readonly KnownChange[], maySee: (path: Path) => boolean = () => true): string {
  const gitChanges = changes.filter(({ change }) => isGitInternal(change.path)).length
  const gitLine = gitChanges === 0 ? '' : `Git's own data: ${gitChanges} ${gitChanges === 1 ? 'change' : 'changes'}\n`
  return changes.map((change) => sectionOf(change, maySee)).join('') + gitLine
}

/**
 * Identifies the diff of a change set, without creating it. Contents that the diff does not show are left out, so that the
 * address of an artifact reveals nothing of them.
 *
 * @param maySee `undefined` if the diff shows every content
 */
export function diffKey({ applied }: Receipt, maySee: ((path: Path) => boolean) | undefined): string {
  const versions = applied.map(({ path, before, after }) => {
    if (isGitInternal(path)) return 'git'
    const isShown = maySee === undefined || (classifyPath(path).protection !== 'secret' && maySee(path))
    return [path, versionKey(before, isShown), versionKey(after, isShown)]
  })
  return JSON.stringify(versions)
}

function versionKey(version: Version, isShown: boolean): string | null {
  if (version === null) return null
  if (!isShown || version.type === 'directory') return version.type
  return version.type === 'file' ? version.sha256 : `link ${version.target}`
}

function sectionOf({ change: { path, to }, before }: KnownChange, maySee: (path: Path) => boolean): string {
  if (to?.type === 'directory' || before?.type === 'directory' || isGitInternal(path)) return ''
  if (classifyPath(path).protection === 'secret' || !maySee(path)) return `Protected file ${path} ${verb(before, to)}\n`
  const old = sideOf(path, before)
  const current = sideOf(path, to)
  if (old === 'binary' || current === 'binary') return binaryDiff(bytesOf(path, before), bytesOf(path, to)).text
  return unifiedDiff(old, current).text
}

/** UTF-8 bytes of both sides of a change set, up to which its lines are counted. */
const MAX_COUNTED_BYTES = 1024 * 1024

/**
 * Counts the lines that a change set adds and removes, as its diff shows them. Returns `undefined` for one that is too large.
 */
export function changedLines(changes: readonly KnownChange[]): LineTotals | undefined {
  let bytes = 0
  for (const { change, before, headOf } of changes) {
    if (headOf !== undefined) return undefined
    for (const state of [before, change.to]) bytes += state?.type === 'file' ? state.bytes.length : 0
  }
  if (bytes > MAX_COUNTED_BYTES) return undefined
  const totals = { insertions: 0, deletions: 0 }
  for (const { change, before } of changes) {
    const { path, to } = change
    const { protection } = classifyPath(path)
    if (protection === 'secret' || protection === 'git') continue
    const [old, current] = [plainText(path, before), plainText(path, to)]
    if (old === undefined || current === undefined) continue
    for (const { oldLines, newLines } of diffLines(old, current)) {
      totals.insertions += newLines
      totals.deletions += oldLines
    }
  }
  return totals
}

/** Lines that were added and removed. */
export interface LineTotals {
  readonly insertions: number
  readonly deletions: number
}

/** Returns the text of a state with its secrets, to count its lines, or `undefined` when it is binary. */
function plainText(path: Path, state: EntryState): string | undefined {
  if (state === null || state.type === 'directory') return ''
  if (state.type === 'link') return state.target
  if (looksBinary(state.bytes)) return undefined
  try {
    return createDocument(state.bytes, path).original
  } catch {
    return undefined
  }
}

/** Whether a path is internal to git. Its content is not readable text, so the diff only counts it. */
function isGitInternal(path: Path): boolean {
  return classifyPath(path).protection === 'git'
}

function verb(before: EntryState, to: EntryState): string {
  if (before === null) return 'created'
  return to === null ? 'deleted' : 'changed'
}

function bytesOf(path: Path, state: EntryState): { path: Path; bytes: Uint8Array } | null {
  if (state === null || state.type === 'directory') return null
  return { path, bytes: state.type === 'file' ? state.bytes : new TextEncoder().encode(state.target) }
}

function sideOf(path: Path, state: EntryState): { path: Path; text: string } | null | 'binary' {
  if (state === null || state.type === 'directory') return null
  if (state.type === 'link') return { path, text: redact(state.target).text }
  if (looksBinary(state.bytes)) return 'binary'
  try {
    return { path, text: redact(createDocument(state.bytes, path).original).text }
  } catch {
    return 'binary'
  }
}
