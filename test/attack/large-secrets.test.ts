import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace, type Workspace } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { largeBounds } from '../../src/storage/large-bounds.ts'
import { everyNth, part, times } from '../counts.ts'
import { hiddenCases } from './secret-marks.ts'

const KIB = 1024
const bounds = { ...largeBounds }
// Small files are large ones.
const small = { fileBytes: 600 * KIB, collectedBytes: 200 * KIB, partBytes: 160 * KIB, streamPartBytes: 200 * KIB }
beforeAll(() => void Object.assign(largeBounds, small))
afterAll(() => void Object.assign(largeBounds, bounds))

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
let state = 7
/** Returns characters in which no twelve stand twice. */
const drawn = (length: number) =>
  Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return LETTERS[(state >>> 16) % LETTERS.length]
  }).join('')

const LENGTH = 260 * KIB
const BODY = drawn(LENGTH)
const lines = BODY.replaceAll(/.{64}/g, '$&\n')
const wide = (text: string) => text.replaceAll(/[\s\S]/g, '$&\0')

/** Secrets of which a part is farther from their begin or end than what is read around a part of a file. */
const secrets: Readonly<Record<string, string>> = {
  'a key': `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
  'a key without its last line': `-----BEGIN PRIVATE KEY-----\n${lines}\n`,
  'a key with comments': `-----BEGIN PRIVATE KEY-----\n${lines.replaceAll(/((?:.{64}\n){40})/g, '$1# a; b\n')}\n-----END PRIVATE KEY-----\n`,
  'a key in a line': `{"key":"-----BEGIN PRIVATE KEY-----\\n${lines.replaceAll('\n', '\\n')}-----END PRIVATE KEY-----"}\n`,
  'a wide key': wide(`-----BEGIN PRIVATE KEY-----\n${lines.slice(0, 120 * KIB)}\n-----END PRIVATE KEY-----\n`),
  'a token': `token = "sk-ant-${BODY}"\n`,
  'a web token': `${btoa('{"alg":"HS256"}').replaceAll('=', '')}.${BODY.slice(0, 200 * KIB)}.${BODY.slice(200 * KIB)}\n`,
  'an authorization': `authorization: bearer 1${BODY}\n`,
}

const FRONT = 300 * KIB
const filler = (length: number) =>
  'a line of text, and nothing else in it\n'.repeat(Math.ceil(length / 39)).slice(0, length)

/** Offsets in a secret at which a part is read, and lengths. */
const places = [
  [70 * KIB, 2 * KIB],
  [130 * KIB, 70 * KIB],
  [200 * KIB, 100],
  [-8 * KIB, 4 * KIB],
  [10 * KIB, 400 * KIB],
] as const

const sh = async (workspace: Workspace, command: string) =>
  JSON.stringify(await workspace.call('run_command', { command }))

type Read = (workspace: Workspace, start: number, end: number, text: string) => Promise<string>

/** Ways to read a part of a file. */
const ways: Readonly<Record<string, Read>> = {
  'files.readBytes': async ({ files }, start, end) =>
    Buffer.from(await files.readBytes('big', { start, end })).toString('latin1'),
  'files.readable': async ({ files }, start, end) => textOfStream(await files.readable('big', { start, end })),
  'fs.open and read': async (workspace, start, end) => {
    const file = await createFs(workspace).promises.open('/big', 'r')
    try {
      const buffer = Buffer.alloc(end - start)
      await file.read(buffer, 0, buffer.length, start)
      return buffer.toString('latin1')
    } finally {
      await file.close()
    }
  },
  'fs.createReadStream': (workspace, start, end) =>
    new Promise((resolve, reject) => {
      const parts: Buffer[] = []
      const stream = createFs(workspace).createReadStream('/big', { start, end: end - 1 }) as unknown as Readable
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => resolve(Buffer.concat(parts).toString('latin1')))
      stream.on('error', (error) =>
        parts.length > 0 ? resolve(Buffer.concat(parts).toString('latin1')) : reject(error),
      )
    }),
  read_file: async (workspace, start, _end, text) => {
    const startLine = text.slice(0, start).split('\n').length
    return JSON.stringify(await workspace.call('read_file', { path: 'big', startLine, maxLines: 900 }))
  },
  'read_file in a line': async (workspace, start, _end, text) => {
    const before = text.slice(0, start)
    const startLine = before.split('\n').length
    const startColumn = start - before.lastIndexOf('\n')
    return JSON.stringify(await workspace.call('read_file', { path: 'big', startLine, startColumn, maxLines: 900 }))
  },
  search_text: async (workspace, start, _end, text) =>
    JSON.stringify(
      await workspace.call('search_text', { query: text.slice(start + 20, start + 26), contextLines: 3, path: 'big' }),
    ),
  'head and tail': (workspace, start, end) => sh(workspace, `head -c ${end} big | tail -c ${end - start}`),
  dd: (workspace, start, end) => sh(workspace, `dd if=big bs=1 skip=${start} count=${end - start} 2>/dev/null`),
  sed: (workspace, start, end, text) => {
    const line = text.slice(0, start).split('\n').length
    return sh(workspace, `sed -n '${line},${line + Math.ceil((end - start) / 65)}p' big`)
  },
  'a copy': async (workspace, start, end) => {
    await workspace.call('copy_file', { path: 'big', to: 'copy' })
    return Buffer.from(await workspace.files.readBytes('copy', { start, end })).toString('latin1')
  },
  'node in bash': (workspace, start, end) =>
    sh(
      workspace,
      `node -e "const f=require('fs'),d=f.openSync('big','r'),b=Buffer.alloc(${end - start});f.readSync(d,b,0,b.length,${start});console.log(b.toString('latin1'))"`,
    ),
}

async function textOfStream(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader()
  let text = ''
  for (;;) {
    const next = await reader.read().catch(() => ({ done: true, value: undefined }))
    if (next.value === undefined) return text
    text += Buffer.from(next.value).toString('latin1')
  }
}

const WINDOW = 12
const windows = new Set(Array.from({ length: LENGTH - WINDOW }, (_, at) => BODY.slice(at, at + WINDOW)))

function shownPart(text: string): string | undefined {
  const plain = text.replaceAll('\0', '').replaceAll('\\u0000', '').replaceAll('\\n', '').replaceAll('\n', '')
  for (let at = 0; at + WINDOW <= plain.length; at++) {
    const piece = plain.slice(at, at + WINDOW)
    if (windows.has(piece)) return piece
  }
  return undefined
}

const open = async (content: string, backend: Backend = memory({ big: content }), limits = {}) =>
  createWorkspace({
    backend,
    policy: 'autonomous',
    shell: bash({ worker: false }),
    limits: { textFileBytes: 500 * KIB, searchFileBytes: 500 * KIB, commandFileBytes: 8 * 1024 * KIB, ...limits },
  })

const cases = part(Object.keys(secrets).flatMap((secret) => Object.keys(ways).map((way) => ({ secret, way })))).filter(
  (_, index) => (index + Math.floor(index / Object.keys(ways).length)) % times(23, 1) === 0,
)

it.each(cases)('a part of $secret never shows by $way, whatever the distance', async ({ secret, way }) => {
  const text = `${filler(FRONT)}\n${secrets[secret]}${filler(FRONT)}`
  const secretEnd = FRONT + 1 + (secrets[secret] as string).length
  const workspace = await open(text)
  const shown: unknown[] = []
  for (const [offset, length] of places) {
    const start = offset < 0 ? secretEnd + offset : FRONT + offset
    if (start > secretEnd) continue
    const read = await (ways[way] as Read)(workspace, start, start + length, text).catch(
      (error: Error) => error.message,
    )
    const piece = shownPart(read)
    if (piece !== undefined) shown.push([offset, length, piece])
  }
  expect(shown).toEqual([])
  // What is far from the secret is read as before.
  const far = await workspace.files.readBytes('big', { start: text.length - 100, end: text.length })
  expect(Buffer.from(far).toString()).toBe(filler(FRONT).slice(-100))
  await workspace.close()
})

const sides = part(hiddenCases.filter((_, index) => index % times(121, 1) === 0))

it(`text behind a secret at the end of a large file never becomes a part of it, in any of ${sides.length} cases`, async () => {
  const wrong: string[] = []
  let refused = 0
  for (const { kind, before, secret } of sides) {
    const root = mkdtempSync(join(tmpdir(), 'glue-'))
    const backend = nodeBackend(join(root), {})
    const content = `${filler(2 * FRONT + 10)}\n${before}${secret}`
    const workspace = await open('', backend, { textFileBytes: 100 * KIB, commandFileBytes: 200 * KIB })
    await workspace.files.write('big', content)
    const result = await workspace.files.append('big', '7Ax').then(
      () => undefined,
      (error: { code?: string }) => error.code,
    )
    const stored = Buffer.from((await backend.read('big' as Path)).bytes).toString('latin1')
    const { redact } = await import('../../src/files/secrets/index.ts')
    const grown = redact(stored).marks.some(({ originalStart, originalEnd }) => {
      const hidden = stored.slice(originalStart, originalEnd)
      return hidden.includes(secret.slice(-12)) && hidden.endsWith('7Ax')
    })
    if (result === 'POLICY_DENIED_SECRET') refused += 1
    if (grown) wrong.push(`${kind} of ${secret.length}`)
    await workspace.close()
    rmSync(root, { recursive: true })
  }
  expect(wrong).toEqual([])
  expect(refused).toBeGreaterThan(0)
})

/** A backend that counts the bytes that are read of it. */
function counted(backend: Backend): { readonly backend: Backend; bytes: number } {
  const counts = {
    bytes: 0,
    backend: {
      ...backend,
      async read(...read: Parameters<Backend['read']>) {
        const content = await backend.read(...read)
        counts.bytes += content.bytes.length
        return content
      },
    },
  }
  return counts
}

const STEPS = 40
const lastText = filler(4 * FRONT)

it.each(['alone', 'in a batch'])('many ranges of a large file, each read %s, cost one search of it', async (way) => {
  const counts = counted(memory({ big: lastText }))
  const workspace = await open('', counts.backend)
  const readAll = async ({ readBytes }: Pick<Workspace['files'], 'readBytes'>) => {
    const parts: string[] = []
    const length = Math.ceil(lastText.length / STEPS)
    for (let start = 0; start < lastText.length; start += length)
      parts.push(Buffer.from(await readBytes('big', { start, end: start + length })).toString())
    return parts.join('')
  }
  const text = way === 'alone' ? await readAll(workspace.files) : await workspace.files.batch(readAll)
  expect(text).toBe(lastText)
  // Each range is read with what is around it.
  expect(counts.bytes).toBeLessThan(lastText.length * 2.2 + STEPS * 2 * 64 * KIB)
  await workspace.close()
})

it('a version that is written after a search is searched again, in a batch too', async () => {
  const secret = `${filler(FRONT)}\n${secrets['a key']}${filler(FRONT)}`
  const harmless = filler(secret.length)
  const range = { start: FRONT + 130 * KIB, end: FRONT + 132 * KIB }
  const refused = { code: 'FILE_TOO_LARGE' }
  const workspace = await open(harmless)
  await workspace.files.batch(async (files) => {
    await files.readBytes('big', range)
    await files.write('big', secret)
    await expect(files.readBytes('big', range)).rejects.toMatchObject(refused)
    await files.write('copy', harmless)
    await files.readBytes('copy', range)
    await files.delete('copy')
    await files.rename('big', 'copy')
    await expect(files.readBytes('copy', range)).rejects.toMatchObject(refused)
  })
  await expect(workspace.files.readBytes('copy', range)).rejects.toMatchObject(refused)
  await workspace.close()
})

const alphabets = ['a', 'é', '€', '😀', 'a😀é€']

it.each(everyNth(alphabets, 3))(
  'read_file finds a long secret behind text with %s, whoever searched the file before',
  async (wideText) => {
    for (const [mark, encode] of [
      ['', (text: string) => Buffer.from(text)],
      ['\ufeff', (text: string) => Buffer.from(text)],
      ['\ufeff', (text: string) => Buffer.from(text, 'utf16le')],
    ] as const) {
      const key = `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`
      const front = `${wideText.repeat(200)}\n`.repeat(200)
      const text = `${front}${key}${front}`
      const first = text.slice(0, text.indexOf(lines)).split('\n').length
      const last = first + lines.split('\n').length
      const workspace = await open('', memory({ big: encode(mark + text) }), { textFileBytes: 100 * KIB })
      const read = async (startLine: number, maxLines: number) => {
        const result = await workspace.call('read_file', { path: 'big', startLine, maxLines })
        return result.ok ? String((result as { content?: unknown }).content) : JSON.stringify(result)
      }
      // The first call needs only the beginning of the file.
      expect(await read(1, 1)).toBe(`${wideText.repeat(200)}\n`)
      for (const line of [first + 2000, last - 40, first + 3, first + 2000]) {
        expect(shownPart(await read(line, 30)), `line ${line} of ${mark.length}`).toBe(undefined)
      }
      expect(await read(last + 3, 1)).toBe(`${wideText.repeat(200)}\n`)
      await workspace.close()
    }
  },
)
