import { classifyPath } from '../files/classify/index.ts'
import { redact } from '../files/secrets/index.ts'
import { createDocument } from '../files/text/document.ts'
import { looksBinary } from '../files/text/encoding.ts'
import { binaryDiff, unifiedDiff } from '../patch/diff.ts'
import type { Path } from '../paths/logical-path.ts'
import type { EntryState } from '../storage/backend.ts'
import type { KnownChange } from './state/call.ts'

/**
 * A change set as a unified diff, as a person or a model may see it: secrets stand as marks, protected and binary files
 * are named without their content.
 */
export function diffOfChanges(known: readonly KnownChange[]): string {
  const own = known.filter(({ change }) => isGitInternal(change.path)).length
  const told = own === 0 ? '' : `Git's own data: ${own} ${own === 1 ? 'change' : 'changes'}\n`
  return known.map(sectionOf).join('') + told
}

function sectionOf({ change: { path, to }, before }: KnownChange): string {
  if (to?.type === 'directory' || before?.type === 'directory' || isGitInternal(path)) return ''
  if (classifyPath(path).protection === 'secret') return `Protected file ${path} ${verb(before, to)}\n`
  const old = sideOf(path, before)
  const now = sideOf(path, to)
  if (old === 'binary' || now === 'binary') return binaryDiff(bytesOf(path, before), bytesOf(path, to)).text
  return unifiedDiff(old, now).text
}

/** It is no text that anybody could read. */
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
  if (state.type === 'link') return { path, text: state.target }
  if (looksBinary(state.bytes)) return 'binary'
  try {
    return { path, text: redact(createDocument(state.bytes, path).original).text }
  } catch {
    return 'binary'
  }
}
