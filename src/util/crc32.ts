/**
 * Computes the CRC-32 (polynomial of zip and PNG) of bytes between two offsets, continuing from an earlier checksum. Processes
 * eight bytes per step, because opening a journal checks all of its bytes.
 */
export function crc32(bytes: Uint8Array, from = 0, at = 0, end = bytes.length): number {
  let crc = ~from
  for (const last = end - 7; at < last; at += 8) {
    crc ^=
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)
    crc =
      (TABLE[1792 + (crc & 255)] as number) ^
      (TABLE[1536 + ((crc >>> 8) & 255)] as number) ^
      (TABLE[1280 + ((crc >>> 16) & 255)] as number) ^
      (TABLE[1024 + (crc >>> 24)] as number) ^
      (TABLE[768 + (bytes[at + 4] as number)] as number) ^
      (TABLE[512 + (bytes[at + 5] as number)] as number) ^
      (TABLE[256 + (bytes[at + 6] as number)] as number) ^
      (TABLE[bytes[at + 7] as number] as number)
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[at] as number)) & 255] as number)
  return ~crc >>> 0
}

/** Eight tables in one array. Table n holds the checksum of each byte followed by n zeros. */
const TABLE = new Int32Array(8 * 256)
for (let byte = 0; byte < 256; byte++) {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  TABLE[byte] = crc
}
for (let at = 256; at < TABLE.length; at++) {
  const before = TABLE[at - 256] as number
  TABLE[at] = (before >>> 8) ^ (TABLE[before & 255] as number)
}
