import { ToolError } from '../../errors.ts'
import type { ObjectStore } from './store.ts'

/**
 * Tests with a temporary object whether a store supports conditional writes. Some servers ignore the conditions, and two
 * writers would then silently overwrite each other.
 *
 * @throws ToolError `BACKEND_ERROR` if it does not.
 */
export async function requireConditions(store: ObjectStore, key: string): Promise<void> {
  const bytes = (text: string) => new TextEncoder().encode(text)
  try {
    const created = await store.put(key, bytes('1'), { ifNoneMatch: '*' })
    if (created === undefined) throw unsupportedError('refuses to create a new object')
    if ((await store.put(key, bytes('2'), { ifNoneMatch: '*' })) !== undefined)
      throw unsupportedError('ignores If-None-Match')
    const changed = await store.put(key, bytes('3'), { ifMatch: created.etag })
    if (changed === undefined) throw unsupportedError('refuses a write with the right If-Match')
    if (changed.etag === created.etag) throw unsupportedError('gives two contents the same ETag')
    if ((await store.put(key, bytes('4'), { ifMatch: created.etag })) !== undefined)
      throw unsupportedError('ignores If-Match')
  } finally {
    await store.delete([key]).catch(() => {})
  }
}

function unsupportedError(reason: string): ToolError {
  return new ToolError('BACKEND_ERROR', `This object store cannot hold a workspace: it ${reason} on writes`, {
    hint: 'Use a store that supports conditional writes, such as R2 or Amazon S3. Nothing was changed.',
  })
}
