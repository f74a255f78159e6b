/** The bounds of contents that are not in memory as a whole, in bytes. Tests make them smaller, so that small files are large ones. */
export const largeBounds = {
  /** Size of a file from which on its content is not read into memory where it need not be. */
  fileBytes: 64 * 1024 * 1024,
  /** Bytes of a written stream that are collected in memory, if the backend can store the others part by part. */
  collectedBytes: 8 * 1024 * 1024,
  /** Bytes of a larger content that are copied, hashed or searched at once. */
  partBytes: 4 * 1024 * 1024,
  /** Bytes of a part of a stream that is read. */
  streamPartBytes: 8 * 1024 * 1024,
}
