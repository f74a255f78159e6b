import { counted } from '../../util/counted.ts'

/** A number of bytes as a person says it, such as `1.2 MB`. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, 'byte')
  const power = Math.min(3, Math.floor(Math.log10(bytes) / 3))
  const amount = bytes / 1_000 ** power
  return `${amount.toFixed(amount < 10 && !Number.isInteger(amount) ? 1 : 0)} ${['', 'KB', 'MB', 'GB'][power]}`
}
