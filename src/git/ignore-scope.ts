import { type IgnoreScope, ignoreScope, parseIgnore } from '../paths/ignore.ts'
import type { Path } from '../paths/logical-path.ts'

/** What decides, beside the base, which files count: the same object as long as nothing of it changes. */
export interface Facts {
  /** Paths that git's index holds and the base does not, with their directories: shown although ignored. */
  readonly added: ReadonlySet<string>
  readonly exclude: IgnoreScope | undefined
  readonly caseInsensitive: boolean
}

const MAX_IGNORE_FILE_BYTES = 512 * 1024

/** The scope inside a directory with that ignore file. */
export function scopeWith(outer: IgnoreScope | undefined, path: Path, bytes: Uint8Array, caseInsensitive: boolean) {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, MAX_IGNORE_FILE_BYTES))
  return ignoreScope(outer, path, parseIgnore(text, { caseInsensitive }))
}
