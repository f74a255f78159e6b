import { sha1Portable } from '../files/hash/sha1.ts'

export interface StagedFile {
  readonly mode: number
  readonly id: string
  readonly size: number
}

/** Git's index, version 2. Times are left out, so that whoever reads it looks at the content once. */
export function indexFile(files: ReadonlyMap<string, StagedFile>): Uint8Array {
  const encoder = new TextEncoder()
  const names = [...files.keys()]
    .map((path) => ({ path, bytes: encoder.encode(path) }))
    .sort((a, b) => order(a.bytes, b.bytes))
  let size = 12 + 20
  for (const { bytes } of names) size += entryBytes(bytes.length)
  const made = new Uint8Array(size)
  const view = new DataView(made.buffer)
  view.setUint32(0, 0x44495243)
  view.setUint32(4, 2)
  view.setUint32(8, names.length)
  let at = 12
  for (const { path, bytes } of names) {
    const file = files.get(path) as StagedFile
    view.setUint32(at + 24, file.mode)
    view.setUint32(at + 36, file.size % 0x1_0000_0000)
    for (let i = 0; i < 20; i++) made[at + 40 + i] = Number.parseInt(file.id.slice(2 * i, 2 * i + 2), 16)
    view.setUint16(at + 60, Math.min(bytes.length, 0xfff))
    made.set(bytes, at + 62)
    at += entryBytes(bytes.length)
  }
  const checksum = sha1Of(made.subarray(0, at))
  for (let i = 0; i < 20; i++) made[at + i] = Number.parseInt(checksum.slice(2 * i, 2 * i + 2), 16)
  return made
}

function entryBytes(nameBytes: number): number {
  return (((62 + nameBytes) >> 3) + 1) * 8
}

function order(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function sha1Of(bytes: Uint8Array): string {
  return sha1Portable(bytes)
}
