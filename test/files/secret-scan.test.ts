import { expect, it } from 'vitest'
import { findSecrets } from '../../src/files/secrets/find.ts'
import { SecretScan } from '../../src/files/secrets/scan.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { type FileScans, scanOf } from '../../src/tools/shared/file-scan.ts'
import { runAtOnce } from '../../src/util/steps.ts'
import { hiddenCases } from '../attack/secret-marks.ts'
import { part, times } from '../counts.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Returns repeatable numbers from 0 to 1. */
function numbers(seed: number): () => number {
  let state = (seed + 1) * 2_654_435_761
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return state / 2 ** 32
  }
}

/** Returns characters that hold no secret by chance. */
function drawn(next: () => number, length: number, alphabet = LETTERS): string {
  const block = Array.from(
    { length: Math.min(length, 997) },
    () => alphabet[Math.floor(next() * alphabet.length)],
  ).join('')
  return block.repeat(Math.ceil(length / Math.max(1, block.length))).slice(0, length)
}

const base64 = (next: () => number, length: number) => drawn(next, length, `${LETTERS}+/`)
const lines = (text: string, width = 64) => (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join('\n')
const pem = (body: string) => `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`

/** Secrets without a limit of length. */
const long: Readonly<Record<string, (next: () => number, length: number) => string>> = {
  'a key': (next, length) => pem(lines(base64(next, length))),
  'a key without its last line': (next, length) => `-----BEGIN PRIVATE KEY-----\n${lines(base64(next, length))}\n;`,
  'a key with other text in it': (next, length) =>
    pem(lines(base64(next, length)).replaceAll(/((?:.{64}\n){40})/g, '$1# a comment; not a key\n')),
  'a header without a key': (next, length) => `-----BEGIN PRIVATE KEY-----;\n${drawn(next, length, 'abc def; \n')}\n`,
  'a header with an end but no key': (next, length) => pem(drawn(next, length, 'abc def; \n')),
  'a prefixed token': (next, length) => `t = "sk-ant-${drawn(next, length)}"`,
  'a token of another alphabet': (next, length) => `ops_eyJ${base64(next, length)}== `,
  'a web token': (next, length) =>
    `Cookie: ${btoa('{"alg":"HS256"}')}.${drawn(next, length)}.${drawn(next, length >> 1)};`,
  'a long header of a web token': (next, length) =>
    ` eyJ${drawn(next, length)}.${drawn(next, 40)}.${drawn(next, 43)}\n`,
  'an authorization': (next, length) => `authorization: bearer 1${base64(next, length)}.${drawn(next, length)}~=\n`,
}

/** Text around secrets. */
const fillers: readonly ((next: () => number, length: number) => string)[] = [
  (next, length) => `${lines(drawn(next, length, 'abcde fgh, '), 40)}\n`,
  (next, length) => ` ${base64(next, length)} `,
  (next, length) => ` ${drawn(next, length)}`,
  (_, length) => '\0'.repeat(length),
  (next, length) => `${lines(base64(next, length))}\n`,
  (next, length) => drawn(next, length, '\x01\0\xff ;'),
]

const wide = (text: string, nuls: number) => text.replaceAll(/[\s\S]/g, `$&${'\0'.repeat(nuls)}`)

function textOf(seed: number): string {
  const next = numbers(seed)
  const size = () => Math.floor(([20, 3_000, 90_000, 200_000][Math.floor(next() * 4)] as number) * (0.5 + next()))
  const parts: string[] = []
  for (let count = 2 + Math.floor(next() * 5); count > 0; count--) {
    parts.push((fillers[Math.floor(next() * fillers.length)] as (typeof fillers)[number])(next, size()))
    const makers = Object.values(long)
    const made = (makers[Math.floor(next() * makers.length)] as (typeof makers)[number])(next, 40 + size())
    const { before, secret, after } = hiddenCases[
      Math.floor(next() * hiddenCases.length)
    ] as (typeof hiddenCases)[number]
    const text = next() < 0.3 ? `\n${before}${secret}${after}\n` : made
    parts.push(next() < 0.2 && text.length < 150_000 ? wide(text, 1 + Math.floor(next() * 3)) : text)
  }
  return parts.join('')
}

function scanned(text: string, partLength: number): SecretScan {
  const scan = new SecretScan()
  let from = 0
  do {
    runAtOnce(scan.add(text.slice(from, from + partLength), from + partLength >= text.length))
    from += partLength
    expect(scan.settled).toBeLessThanOrEqual(Math.min(from, text.length))
  } while (from < text.length)
  expect(scan.settled).toBe(text.length)
  return scan
}

const seeds = part(Array.from({ length: times(8, 3_000) }, (_, seed) => seed))

it(`finds in parts what a search of the whole finds, in any of ${seeds.length} texts`, () => {
  let more = 0
  let units = 0
  for (const seed of seeds) {
    const text = textOf(seed)
    const scan = scanned(text, 70_000 + (seed % 5) * 40_000)
    const covered = new Uint8Array(text.length)
    for (const { start, end } of scan.between(0, text.length)) covered.fill(1, start, end)
    let hidden = 0
    for (const { start, end, kind } of findSecrets(text)) {
      hidden += end - start
      const missing = covered.subarray(start, end).indexOf(0)
      expect(missing, `${seed}: ${kind} at ${start} to ${end} of ${text.length}`).toBe(-1)
    }
    // Line ends within a key are covered as well.
    const all = covered.reduce((sum, one) => sum + one, 0)
    units += text.length
    more += all - hidden
  }
  expect(more / units).toBeLessThan(0.2)
})

it('keeps a bounded number of secrets and of searches, and hides all that is between those that become one', () => {
  const key = pem('MIIEvAIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2))
  const count = 100_020
  const text = `${key}\n`.repeat(count)
  const secrets = scanned(text, 1_000_000).between(0, text.length)
  expect(secrets).toHaveLength(100_000)
  expect(secrets.at(-1)).toMatchObject({ end: text.trimEnd().length })
  const scans: FileScans = new Map()
  const stat = { size: 1, tag: '1' }
  const kept = scanOf(scans, 'kept' as Path, stat)
  for (let file = 0; file < 100; file++) {
    scanOf(scans, `${file}` as Path, stat)
    expect(scanOf(scans, 'kept' as Path, stat)).toBe(kept)
  }
  expect(scans.size).toBe(32)
  expect(scanOf(scans, 'kept' as Path, { size: 1, tag: '2' })).not.toBe(kept)
})
