/** Creates the errors of `applyGitDelta`. */
export interface DeltaErrors {
  damaged(reason: string): Error
  tooLarge(size: number): Error
}

/**
 * Applies a delta of git's pack format to its base: two sizes, then copies from the base and literal bytes.
 *
 * @throws the errors that `errors` creates, for a damaged delta and for a result of more than `maxBytes`
 */
export function applyGitDelta(
  base: Uint8Array,
  delta: Uint8Array,
  maxBytes: number,
  errors: DeltaErrors,
): Uint8Array<ArrayBuffer> {
  let at = 0
  const size = (): number => {
    let value = 0
    let scale = 1
    for (;;) {
      const byte = delta[at++]
      if (byte === undefined || scale > 2 ** 49) throw errors.damaged('a delta is cut short')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 128
    }
  }
  if (size() !== base.length) throw errors.damaged('a delta does not fit its base')
  const length = size()
  if (length > maxBytes) throw errors.tooLarge(length)
  const result = new Uint8Array(length)
  let to = 0
  while (at < delta.length) {
    const command = delta[at++] as number
    if (command === 0) throw errors.damaged('a delta contains an unknown command')
    if (command < 0x80) {
      if (at + command > delta.length || to + command > length) throw errors.damaged('a delta is too long')
      if (command < 16) for (let i = 0; i < command; i++) result[to + i] = delta[at + i] as number
      else result.set(delta.subarray(at, at + command), to)
      at += command
      to += command
      continue
    }
    let offset = 0
    let count = 0
    if (command & 1) offset = delta[at++] as number
    if (command & 2) offset += (delta[at++] as number) * 0x100
    if (command & 4) offset += (delta[at++] as number) * 0x1_0000
    if (command & 8) offset += (delta[at++] as number) * 0x100_0000
    if (command & 16) count = delta[at++] as number
    if (command & 32) count += (delta[at++] as number) * 0x100
    if (command & 64) count += (delta[at++] as number) * 0x1_0000
    if (count === 0) count = 0x1_0000
    if (!(offset + count <= base.length && to + count <= length))
      throw errors.damaged('a delta reaches outside its base')
    result.set(base.subarray(offset, offset + count), to)
    to += count
  }
  if (to !== length) throw errors.damaged('a delta is cut short')
  return result
}
