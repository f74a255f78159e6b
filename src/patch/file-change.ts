/** The change of one file in a patch. `Name` is `string` as long as the names are not guarded. */
export interface FileChange<Name = string> {
  /** Its first line in the patch, from 1. */
  readonly line: number
  readonly kind: 'modify' | 'create' | 'delete' | 'rename' | 'copy'
  /** `null` for a file that is created. */
  readonly oldPath: Name | null
  /** `null` for a file that is deleted. */
  readonly newPath: Name | null
  /** Creates the file if it does not exist: a patch without git's headers that only adds lines. */
  readonly mayCreate: boolean
  /** Permission bits of the old state, if the patch states them. */
  readonly oldMode?: Mode
  /** Permission bits of the new state, if the patch states them. */
  readonly newMode?: Mode
  readonly body: Body
  /** Lines added and removed, as stated by the patch; 0 for binary changes. */
  readonly insertions: number
  readonly deletions: number
}

export type Mode = 0o644 | 0o755

/** How the content changes. */
export type Body =
  | { readonly type: 'hunks'; readonly hunks: readonly Hunk[] }
  /** `endsLine`: the last line of the result gets a line end if it has none. */
  | { readonly type: 'chunks'; readonly chunks: readonly Chunk[]; readonly endsLine: boolean }
  /** The whole text of a new file, in a patch without hunks. */
  | { readonly type: 'text'; readonly text: string }
  | BinaryBody

/** A part of a unified diff. Lines include their line end; the last line of a file may have none. */
export interface Hunk {
  /** Line of its header in the patch, from 1. */
  readonly line: number
  /** Number of the first old line, from 1; without old lines, of the line before. */
  readonly oldStart: number
  readonly newStart: number
  /** Number of unchanged lines before the first change. */
  readonly leading: number
  /** Number of unchanged lines after the last change. */
  readonly trailing: number
  readonly oldLines: readonly string[]
  readonly newLines: readonly string[]
}

/** A part of a V4A patch, located by its lines alone. Lines have no line end. */
export interface Chunk {
  readonly line: number
  /** Lines that come before it in the file, in order (`@@ class A`, `@@ method()`). */
  readonly anchors: readonly string[]
  readonly oldLines: readonly string[]
  readonly newLines: readonly string[]
  /** For each new line, the index of the old line that it repeats; -1 for an added line. */
  readonly kept: readonly number[]
  readonly atEnd: boolean
}

/** A change of binary content. */
export interface BinaryBody {
  readonly type: 'binary'
  readonly method: 'literal' | 'delta'
  /** Compressed with zlib. */
  readonly data: Uint8Array
  /** Number of bytes that `data` inflates to. */
  readonly size: number
  /** Full git object ids. */
  readonly oldId: string
  readonly newId: string
}
