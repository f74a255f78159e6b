/** Size in bytes from which on the content of a file is not read into memory where it need not be. */
export const LARGE_FILE_BYTES = 64 * 1024 * 1024

/** Bytes of a written stream that are collected in memory, if the backend can store the others part by part. */
export const COLLECTED_BYTES = 8 * 1024 * 1024

/** Bytes of a larger content that are copied, hashed or searched at once. */
export const PART_BYTES = 4 * 1024 * 1024

/** Bytes of a part of a stream that is read. */
export const STREAM_PART_BYTES = 8 * 1024 * 1024
