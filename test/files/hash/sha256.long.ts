import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { createSha256Portable } from '../../../src/files/hash/sha256-portable.ts'

it('counts bits beyond 32 bits of length', () => {
  // 512 MiB and a byte, not all in memory at once. The length in bits does not fit into 32 bits.
  const part = new Uint8Array(1 << 20)
  const hash = createSha256Portable()
  const expected = createHash('sha256')
  for (let i = 0; i < 513; i++) {
    hash.update(part)
    expected.update(part)
  }
  expect(hash.digest()).toBe(expected.digest('hex'))
})
