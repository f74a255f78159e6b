import { linesOf } from './changes-hunks.ts'
import type { PersonCall } from './person-run.ts'
import { headlineOf } from './words/person-words.ts'

/** A file that differs from the start. */
export interface ChangedFile {
  readonly path: string
  /** The path of a renamed file at the start. */
  readonly oldPath?: string
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
  /** Added lines; `undefined` while they are not counted. */
  readonly insertions: number | undefined
  /** Deleted lines; `undefined` while they are not counted. */
  readonly deletions: number | undefined
  readonly binary: boolean
  /** Identifies the two states of the file. */
  readonly version: string
}

/** A changed file with its content. */
export interface ChangeContent {
  /** The texts at the start and now; an absent file is empty. `undefined` for a file without lines. */
  readonly text?: { readonly before: string; readonly after: string } | undefined
  /** Bytes of the file at the start and now, if known; `null` for no file. */
  readonly bytes?: readonly [before: number | null, after: number | null]
  /** What a file without lines consists of at the start and now, if known; `null` for no file. Images are shown from it. */
  readonly data?: readonly [before: Uint8Array | null, after: Uint8Array | null]
  /** Version of the present file; `null` for no file. */
  readonly sha256?: string | null
  /** The difference as a patch. Shown if the texts cannot be. */
  readonly patch?: string | undefined
}

/** The changed files and since when. */
export interface ChangedFiles {
  readonly files: readonly ChangedFile[]
  /** Completes “changed since”. */
  readonly since: string
}

/** Where changes come from. */
export interface ChangesSource {
  /** Returns the changed files, sorted by path, or why there are none, in a person's words. */
  list(): Promise<ChangedFiles | string>
  /** Returns the content of a changed file, or why it cannot be shown. */
  read(file: ChangedFile): Promise<ChangeContent | string>
}

/** More lines and bytes than any call returns. */
const ALL = 1_000_000_000

/**
 * Returns the changes that `diff_workspace` finds. Secret and ignored files are not among them.
 *
 * @param edits counts the changes of a path
 */
export function diffSource(call: PersonCall, edits: (path: string) => number): ChangesSource {
  // Versions of another page count other changes.
  const origin = crypto.randomUUID()
  return {
    async list() {
      const result = await call('diff_workspace', { statOnly: true })
      if (!result.ok) return headlineOf(result)
      const { stat, baseCommit } = result as unknown as {
        readonly stat: readonly Omit<ChangedFile, 'version'>[]
        readonly baseCommit: string | null
      }
      const version = (path: string) => `${origin} ${edits(path)} ${baseCommit}`
      return {
        files: stat.map((file) => ({ ...file, version: version(file.path) })),
        since: baseCommit === null ? 'the files were opened' : 'the last commit',
      }
    },
    async read({ path, oldPath, status, binary }) {
      const paths = oldPath === undefined ? [path] : [path, oldPath]
      const result = await call('diff_workspace', { paths, maxBytes: ALL })
      if (!result.ok) return headlineOf(result)
      const patch = String(result.diff)
      if (binary) return { patch }
      if (status === 'deleted') return { patch, sha256: null, text: withBefore('', patch) }
      const read = await call('read_file', { path, maxLines: ALL })
      if (!read.ok) return headlineOf(read)
      const after = `${read.bom === true ? '\ufeff' : ''}${read.content}`
      const text = read.truncated === true || result.truncated === true ? undefined : withBefore(after, patch)
      return { patch, sha256: String(read.sha256), text }
    },
  }
}

function withBefore(after: string, patch: string): ChangeContent['text'] {
  const before = textBefore(after, patch)
  return before === undefined ? undefined : { before, after }
}

/**
 * Returns the text before the patch of one file. Returns undefined if the patch does not lead to the text `after`, for example
 * because it shows marks in place of secrets.
 */
export function textBefore(after: string, patch: string): string | undefined {
  const lines = linesOf(after)
  const before: string[] = []
  let at = 0
  let isInHunk = false
  const patchLines = linesOf(patch)
  for (const [index, patchLine] of patchLines.entries()) {
    const [, start, count] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(patchLine) ?? []
    if (start !== undefined) {
      const first = count === '0' ? Number(start) : Number(start) - 1
      while (at < first) before.push(lines[at++] ?? '')
      isInHunk = true
      continue
    }
    if (!isInHunk || patchLine.startsWith('\\')) continue
    // The mark of a missing line end follows its line.
    const line = patchLines[index + 1]?.startsWith('\\') ? patchLine.slice(1, -1) : patchLine.slice(1)
    if (patchLine[0] !== '-' && lines[at++] !== line) return undefined
    if (patchLine[0] !== '+') before.push(line)
  }
  for (; at < lines.length; at++) before.push(lines[at] ?? '')
  return before.join('')
}
