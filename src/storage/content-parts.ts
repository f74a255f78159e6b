/** Returns the number of the first part that has bytes of `[start, end)`, and how many there are. Each part but the last has `size` bytes. */
export function partsWithin(
  size: number,
  start: number,
  end: number,
): { readonly first: number; readonly count: number } {
  const first = Math.floor(start / size)
  return { first, count: start >= end ? 0 : Math.ceil(end / size) - first }
}

/** Returns bytes in parts of `size`, and a shorter last one. They share the memory of the bytes. */
export function splitParts(bytes: Uint8Array, size: number): Uint8Array[] {
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_, part) => bytes.subarray(part * size, (part + 1) * size))
}

/** Returns the bytes `[start, end)` from the parts that {@link partsWithin} names; `undefined` if bytes are missing. */
export function joinParts(
  parts: readonly (Uint8Array | undefined)[],
  size: number,
  start: number,
  end: number,
): Uint8Array | undefined {
  const { first, count } = partsWithin(size, start, end)
  const offset = first * size
  for (let part = 0; part < count; part++) {
    if ((parts[part]?.length ?? 0) < Math.min(size, end - offset - part * size)) return undefined
  }
  if (count === 1) return parts[0]?.subarray(start - offset, end - offset)
  const bytes = new Uint8Array(Math.max(0, end - start))
  for (let part = 0; part < count; part++) {
    const at = offset + part * size
    bytes.set(
      (parts[part] as Uint8Array).subarray(Math.max(0, start - at), Math.max(0, end - at)),
      Math.max(0, at - start),
    )
  }
  return bytes
}
