import { ToolError } from '../errors.ts'
import { loneSurrogateAt } from '../files/text/encoding.ts'
import { PLACEHOLDER_HINT, placeholderAt } from '../files/text/omission.ts'
import { type LogicalPath, parsePath, quote } from '../paths/logical-path.ts'
import type { Chunk, FileChange, Hunk } from './file-change.ts'
import { invalidPatch } from './invalid-patch.ts'
import { parseUnified } from './unified.ts'
import { isV4a, parseV4a } from './v4a.ts'

/** The changes of a patch, determined without reading any file. */
export interface PatchPlan {
  readonly format: 'unified' | 'v4a'
  /** In the order of the patch; a path may occur several times. */
  readonly changes: readonly FileChange<LogicalPath>[]
  /** Every path in any header, once, in the order of the patch. */
  readonly paths: readonly LogicalPath[]
  readonly insertions: number
  readonly deletions: number
  /** Number of deleted files. */
  readonly deletes: number
}

/**
 * Parses a unified diff or a V4A patch, detected from the text, and guards its paths. Pure and linear.
 *
 * @throws ToolError `INVALID_PATCH` with `line`, `PATH_REJECTED`, and the errors of {@link parseUnified}
 * @example
 * planPatch('--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-a\n+b\n').paths // ['x.txt']
 */
export function planPatch(patch: string): PatchPlan {
  const lone = loneSurrogateAt(patch)
  if (lone !== -1) {
    throw invalidPatch(patch.slice(0, lone).split('\n').length, 'it contains a lone surrogate, which cannot be encoded')
  }
  const format = isV4a(patch) ? 'v4a' : 'unified'
  const changes = (format === 'v4a' ? parseV4a(patch) : parseUnified(patch)).map(guarded)
  if (changes.length === 0) {
    throw new ToolError('INVALID_PATCH', 'Cannot read the patch: it contains no change', {
      hint: 'Give a unified diff (--- a/NAME, +++ b/NAME, @@ -1,3 +1,4 @@) or a patch from *** Begin Patch to *** End Patch.',
    })
  }
  const paths = new Set<LogicalPath>()
  const sum = { insertions: 0, deletions: 0, deletes: 0 }
  for (const { kind, oldPath, newPath, insertions, deletions } of changes) {
    if (oldPath !== null) paths.add(oldPath)
    if (newPath !== null) paths.add(newPath)
    sum.insertions += insertions
    sum.deletions += deletions
    if (kind === 'delete') sum.deletes += 1
  }
  return { format, changes, paths: [...paths], ...sum }
}

function guarded(change: FileChange): FileChange<LogicalPath> {
  const { line, oldPath, newPath } = change
  refusePlaceholders(change)
  return { ...change, oldPath: pathOf(oldPath, line), newPath: pathOf(newPath, line) }
}

/**
 * Refuses hunks that add a line that only marks omitted text, and remove or keep none. New files may have such lines.
 *
 * @throws ToolError `INVALID_PATCH`
 */
function refusePlaceholders({ body, oldPath }: FileChange): void {
  if (oldPath === null || (body.type !== 'hunks' && body.type !== 'chunks')) return
  const parts: readonly (Hunk | Chunk)[] = body.type === 'hunks' ? body.hunks : body.chunks
  for (const { line, oldLines, newLines } of parts) {
    if (placeholderAt(newLines) === -1 || placeholderAt(oldLines) !== -1) continue
    throw invalidPatch(line, 'a line that this part adds is only a placeholder for omitted text', PLACEHOLDER_HINT)
  }
}

function pathOf(name: string | null, line: number): LogicalPath | null {
  if (name === null) return null
  const path = parsePath(name)
  const reason = name.endsWith('/')
    ? 'names a directory'
    : path === ''
      ? 'is the root'
      : name.split('/').includes('..')
        ? 'contains ..'
        : undefined
  if (reason === undefined) return path
  throw new ToolError('PATH_REJECTED', `Path ${quote(name)} of the patch (line ${line}) ${reason}`, { line })
}
