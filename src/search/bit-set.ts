/** The indices of the words that are not zero. */
export function nonZeroWords(set: Int32Array): number[] {
  return [...set.keys()].filter((i) => set[i] !== 0)
}

export function setBit(set: Int32Array, bit: number): void {
  set[bit >> 5] = (set[bit >> 5] as number) | (1 << (bit & 31))
}

/**
 * Moves the masked bits of the words `[low, high]` by a distance, in either direction. Both sets have a word of room
 * before their first word; `mask` has none.
 */
export function shiftBits(
  from: Int32Array,
  to: Int32Array,
  mask: Int32Array,
  distance: number,
  low: number,
  high: number,
): void {
  const bits = distance & 31
  const words = (distance >> 5) + 1
  const back = 32 - bits
  for (let i = low; i <= high; i++) {
    const moving = (from[i + 1] as number) & (mask[i] as number)
    if (moving === 0) continue
    to[i + words] = (to[i + words] as number) | (moving << bits)
    // A shift by 32 would shift by 0.
    if (bits !== 0) to[i + words + 1] = (to[i + words + 1] as number) | (moving >>> back)
  }
}
