import { ToolError } from '../errors.ts'
import type { StoredContent } from './backend.ts'

const lostContents = new WeakMap<ToolError, StoredContent>()

/** Notes in the error of a read which content the storage can no longer read. The file can still be deleted or replaced. */
export function noteLostContent(error: ToolError, { size, sha256 }: StoredContent): ToolError {
  lostContents.set(error, { size, sha256 })
  return error
}

/** Returns the content that a read did not find, if its error says so. */
export const lostContentOf = (error: unknown): StoredContent | undefined =>
  error instanceof ToolError ? lostContents.get(error) : undefined
