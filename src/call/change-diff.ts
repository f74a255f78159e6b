import { classifyPath } from '../files/classify/index.ts'
import { redact } from '../files/secrets/index.ts'
import { createDocument } from '../files/text/document.ts'
import { looksBinary } from '../files/text/encoding.ts'
import { binaryDiff, unifiedDiff } from '../patch/diff.ts'
import type { Path } from '../paths/logical-path.ts'
import type { EntryState } from '../storage/backend.ts'
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

function sectionOf({ change: { path, to }, before }: KnownChange, maySee: (path: Path) => boolean): string {
  if (to?.type === 'directory' || before?.type === 'directory' || isGitInternal(path)) return ''
  if (classifyPath(path).protection === 'secret' || !maySee(path)) return `Protected file ${path} ${verb(before, to)}\n`
  const old = sideOf(path, before)
  const current = sideOf(path, to)
  if (old === 'binary' || current === 'binary') return binaryDiff(bytesOf(path, before), bytesOf(path, to)).text
  return unifiedDiff(old, current).text
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
