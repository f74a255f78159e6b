import type { IgnoreScope } from '../paths/ignore.ts'

/**
 * Decides, together with the base, which files a comparison includes. The same object as long as nothing in it changes,
 * so that cached results can be compared by identity.
 */
export interface FileSelection {
  /** Paths that are in git's index but not in the base, with their directories: included although ignored. */
  readonly added: ReadonlySet<string>
  readonly exclude: IgnoreScope | undefined
  readonly caseInsensitive: boolean
}
