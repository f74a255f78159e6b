import { sha256Text } from '../files/hash/sha256.ts'

/**
 * Returns a result with the hash of their data in place of its media, in the form of `read_file` and of the Model Context Protocol.
 * A recording has no bytes of files, and stays small.
 */
export function withMediaDigests(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMediaDigests)
  if (typeof value !== 'object' || value === null) return value
  const isMedia = typeof (value as { mimeType?: unknown }).mimeType === 'string'
  return Object.fromEntries(
    Object.entries(value).map(([field, item]) => {
      const isData = isMedia && (field === 'data' || field === 'blob') && typeof item === 'string'
      return [field, isData ? digestOf(item) : withMediaDigests(item)]
    }),
  )
}

/** Base64 has no colon, so a digest is not hashed again. */
function digestOf(data: string): string {
  return data.startsWith(PREFIX) ? data : PREFIX + sha256Text(data)
}

const PREFIX = 'sha256:'
