/** What a patch does to one file, as it is written in the patch: names are not guarded yet. */
export interface FileChange<Name = string> {
  /** Where it begins in the patch, from 1. */
  readonly line: number
  readonly kind: 'modify' | 'create' | 'delete' | 'rename' | 'copy'
  /** `null` for a file that is created. */
  readonly oldPath: Name | null
  /** `null` for a file that is deleted. */
  readonly newPath: Name | null
  /** A patch without git's headers that only adds: it creates the file where there is none. */
  readonly mayCreate: boolean
  /** Permission bits, where the patch names them: of the old state, */
  readonly oldMode?: Mode
  /** and of the new one. */
  readonly newMode?: Mode
  readonly body: Body
  /** Lines added and removed, as far as the patch itself tells. */
  readonly insertions: number
  readonly deletions: number
}

export type Mode = 0o644 | 0o755

/** How the content changes. */
export type Body =
  | { readonly type: 'hunks'; readonly hunks: readonly Hunk[] }
  | { readonly type: 'chunks'; readonly chunks: readonly Chunk[] }
  /** The whole text of a new file, in a patch without hunks. */
  | { readonly type: 'text'; readonly text: string }
  | BinaryBody

/** A part of a unified diff. Lines hold their line end; the last line of a file may have none. */
export interface Hunk {
  /** Of its header in the patch, from 1. */
  readonly line: number
  /** Of the first old line; where there is none, of the line before. */
  readonly oldStart: number
  readonly newStart: number
  /** Unchanged lines before the first change, */
  readonly leading: number
  /** and after the last one. */
  readonly trailing: number
  readonly oldLines: readonly string[]
  readonly newLines: readonly string[]
}

/** A part of a V4A patch: found by its lines alone. Lines have no line end. */
export interface Chunk {
  readonly line: number
  /** Lines that come before it in the file, one after the other (`@@ class A`, `@@ method()`). */
  readonly anchors: readonly string[]
  readonly oldLines: readonly string[]
  readonly newLines: readonly string[]
  /** For each new line, which old line it is; -1 for an added one. */
  readonly kept: readonly number[]
  readonly atEnd: boolean
}

/** A change of bytes that are no text. */
export interface BinaryBody {
  readonly type: 'binary'
  readonly method: 'literal' | 'delta'
  /** Deflated. */
  readonly data: Uint8Array
  /** Bytes that it inflates to. */
  readonly size: number
  /** git's object ids, in full. */
  readonly oldId: string
  readonly newId: string
}
