import { deflate } from './inflate.ts'

/** Returns what `git diff --binary` writes after the `index` line: the whole new content, and the old one for `git apply -R`. */
export async function binaryPatch(oldBytes: Uint8Array, newBytes: Uint8Array): Promise<string> {
  return `GIT binary patch\n${await literal(newBytes)}${await literal(oldBytes)}`
}

/** Encodes bytes in git's base 85: a length letter and up to 52 bytes per line. */
async function literal(bytes: Uint8Array): Promise<string> {
  const packed = await deflate(bytes)
  let text = `literal ${bytes.length}\n`
  for (let at = 0; at < packed.length; at += LINE_BYTES) {
    const line = packed.subarray(at, at + LINE_BYTES)
    const { length } = line
    text += String.fromCharCode(length <= 26 ? 64 + length : 70 + length)
    for (let i = 0; i < length; i += 4) {
      let word =
        (line[i] as number) * 0x100_0000 + ((line[i + 1] ?? 0) << 16) + ((line[i + 2] ?? 0) << 8) + (line[i + 3] ?? 0)
      let five = ''
      for (let digit = 0; digit < 5; digit++) {
        five = ALPHABET[word % 85] + five
        word = Math.floor(word / 85)
      }
      text += five
    }
    text += '\n'
  }
  return `${text}\n`
}

const LINE_BYTES = 52
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'
