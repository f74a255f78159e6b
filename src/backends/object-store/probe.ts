import { ToolError } from '../../errors.ts'
import type { ObjectStore } from './store.ts'

/**
 * Tries out, on an object of its own, whether a store honours the conditions that everything rests on: some servers
 * ignore them, and two writers would then overwrite each other without a word.
 *
 * @throws ToolError `BACKEND_ERROR`
 */
export async function requireConditions(store: ObjectStore, key: string): Promise<void> {
  const bytes = (text: string) => new TextEncoder().encode(text)
  try {
    const made = await store.put(key, bytes('1'), { ifNoneMatch: '*' })
    if (made === undefined) throw lacking('refuses to create what is not there')
    if ((await store.put(key, bytes('2'), { ifNoneMatch: '*' })) !== undefined) throw lacking('ignores If-None-Match')
    const changed = await store.put(key, bytes('3'), { ifMatch: made.etag })
    if (changed === undefined) throw lacking('refuses a write with the right If-Match')
    if (changed.etag === made.etag) throw lacking('gives two contents one ETag')
    if ((await store.put(key, bytes('4'), { ifMatch: made.etag })) !== undefined) throw lacking('ignores If-Match')
  } finally {
    await store.delete([key]).catch(() => {})
  }
}

function lacking(what: string): ToolError {
  return new ToolError('BACKEND_ERROR', `This object store cannot hold a workspace: it ${what} on writes`, {
    hint: 'Use a store that honours conditional writes, such as R2 or Amazon S3. Nothing was changed.',
  })
}
