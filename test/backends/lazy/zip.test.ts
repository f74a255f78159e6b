import { Buffer } from 'node:buffer'
import { strToU8, type Zippable, zipSync } from 'fflate'
import { afterEach, describe, expect, it } from 'vitest'
import { lazy, zip } from '../../../src/backends/lazy/index.ts'
import { overlay } from '../../../src/backends/overlay/index.ts'
import { createWorkspace, ToolError } from '../../../src/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import type { Backend } from '../../../src/storage/backend.ts'
import { snapshot } from '../../../src/testing/backend/case.ts'
import { concatBytes } from '../../../src/util/bytes.ts'
import { crc32 } from '../../../src/util/crc32.ts'
import { isLong, times } from '../../counts.ts'
import { type FileServer, startFiles } from './file-server.ts'

const servers: FileServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function textAt(backend: Backend, path: string): Promise<string> {
  return new TextDecoder().decode((await backend.read(path as Path)).bytes)
}

async function errorOf(action: () => Promise<unknown>): Promise<ToolError> {
  const error = await action().then(
    () => expect.unreachable('it must fail'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ToolError)
  return error as ToolError
}

/** One entry of an archive that is written field by field. */
interface Field {
  readonly name: string | Uint8Array
  readonly text: string
  readonly flags?: number
  readonly method?: number
  readonly mode?: number
  readonly crc?: number
  /** The size that the archive says. */
  readonly size?: number
  readonly extra?: Uint8Array
  /** The name in the header before the content. */
  readonly localName?: string
  readonly localMethod?: number
  /** The offset that the list says. */
  readonly offset?: number
}

const UTF8 = 0x0800

/** Writes an archive whose contents are stored, whatever its fields say. */
function archiveOf(
  fields: readonly Field[],
  end: { count?: number; size?: number; offset?: number; comment?: string; prefix?: string } = {},
) {
  const parts: Uint8Array[] = [strToU8(end.prefix ?? '')]
  const list: Uint8Array[] = []
  let at = 0
  for (const field of fields) {
    const { text, flags = UTF8, method = 0, mode = 0o100644, extra = new Uint8Array() } = field
    const name = typeof field.name === 'string' ? strToU8(field.name) : field.name
    const data = strToU8(text)
    const { crc = crc32(data), size = data.length } = field
    const localName = field.localName === undefined ? name : strToU8(field.localName)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(flags, 6)
    local.writeUInt16LE(field.localMethod ?? method, 8)
    local.writeUInt32LE(crc, 14)
    local.writeUInt32LE(data.length, 18)
    local.writeUInt32LE(size, 22)
    local.writeUInt16LE(localName.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(0x0314, 4)
    entry.writeUInt16LE(flags, 8)
    entry.writeUInt16LE(method, 10)
    entry.writeUInt32LE(crc, 16)
    entry.writeUInt32LE(data.length, 20)
    entry.writeUInt32LE(size, 24)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt16LE(extra.length, 30)
    entry.writeUInt16LE(mode, 40)
    entry.writeUInt32LE(field.offset ?? at, 42)
    list.push(entry, name, extra)
    parts.push(local, localName, data)
    at += 30 + localName.length + data.length
  }
  const size = concatBytes(list).length
  const comment = strToU8(end.comment ?? '')
  const record = Buffer.alloc(22)
  record.writeUInt32LE(0x06054b50, 0)
  record.writeUInt16LE(end.count ?? fields.length, 8)
  record.writeUInt16LE(end.count ?? fields.length, 10)
  record.writeUInt32LE(end.size ?? size, 12)
  record.writeUInt32LE(end.offset ?? at, 16)
  record.writeUInt16LE(comment.length, 20)
  return concatBytes([...parts, ...list, record, comment])
}

const repeated = (text: string, count: number) => strToU8(text.repeat(count))
const zippable: Zippable = {
  'a.txt': strToU8('one\n'),
  'stored.bin': [repeated('\u0000\u0001', 500), { level: 0 }],
  'large.txt': repeated('a line of a text\n', 20_000),
  'dir/ünïcode 名前.txt': strToU8('named\n'),
  'run.sh': [strToU8('#!/bin/sh\n'), { os: 3, attrs: 0o100755 << 16 }],
  link: [strToU8('dir/ünïcode 名前.txt'), { os: 3, attrs: 0o120777 << 16 }],
  empty: strToU8(''),
  'empty directory/': strToU8(''),
}

describe('a zip archive', () => {
  const bytes = zipSync(zippable, { level: 6 })

  it.each([
    ['bytes', () => bytes],
    ['a Blob', () => new Blob([bytes])],
    ['bytes after a program that extracts it', () => concatBytes([strToU8('#!/bin/sh\nexec unzip "$0"\n'), bytes])],
  ])('of %s shows its files', async (_name, archive) => {
    const backend = lazy(zip(archive()))
    const all = await snapshot(backend)
    expect(Object.fromEntries(Array.from(all, ([path, text]) => [path, text.slice(0, 30)]))).toEqual({
      'a.txt': 'file 420 4 one\n',
      dir: 'directory',
      'dir/ünïcode 名前.txt': 'file 420 6 named\n',
      empty: 'file 420 0 ',
      'empty directory': 'directory',
      'large.txt': 'file 420 340000 a line of a te',
      link: 'link dir/ünïcode 名前.txt',
      'run.sh': 'file 493 10 #!/bin/sh\n',
      'stored.bin': all.get('stored.bin')?.slice(0, 30),
    })
    expect((await backend.read('large.txt' as Path)).bytes).toEqual(repeated('a line of a text\n', 20_000))
    expect(await backend.canonical('link' as Path)).toBe('dir/ünïcode 名前.txt')
    expect(await backend.omitted()).toEqual([])
  })

  it('on a server is listed with one or two requests, and a file is one', async () => {
    const files = times(6000, 30_000)
    const many = Object.fromEntries(
      Array.from({ length: files }, (_, i) => [`d${i % 300}/f${i}.txt`, strToU8(`${i}\n`)]),
    )
    const server = await startFiles({ 'small.zip': bytes, 'many.zip': zipSync(many, { level: 0 }) })
    servers.push(server)
    const small = lazy(zip(`${server.url}/small.zip`))
    expect(await textAt(small, 'a.txt')).toBe('one\n')
    expect(await textAt(small, 'large.txt')).toContain('a line')
    expect(server.requests.length).toBe(3)
    server.requests.length = 0
    const workspace = await createWorkspace({
      backend: overlay(lazy(zip(new URL(`${server.url}/many.zip`)))),
      policy: 'autonomous',
    })
    const found = await workspace.call('find_files', { pattern: '**' })
    expect(found.ok && found.totalFound).toBe(files)
    expect(server.requests.length).toBe(2)
    expect(await workspace.call('read_file', { path: 'd7/f307.txt' })).toMatchObject({ ok: true, content: '307\n' })
    expect(server.requests.length).toBe(3)
  })

  it('on a server without ranges is loaded as a whole', async () => {
    const server = await startFiles({ 'a.zip': bytes })
    servers.push(server)
    server.ranges = false
    const backend = lazy(zip(`${server.url}/a.zip`))
    expect([await textAt(backend, 'a.txt'), await textAt(backend, 'run.sh')]).toEqual(['one\n', '#!/bin/sh\n'])
    expect(server.requests.length).toBe(1)
  })

  it('that changes on its server is refused', async () => {
    const server = await startFiles({ 'a.zip': bytes })
    servers.push(server)
    const backend = lazy(zip(`${server.url}/a.zip`))
    await backend.list('' as Path)
    server.files.set('/a.zip', zipSync({ 'a.txt': strToU8('two\n') }))
    expect((await errorOf(() => backend.read('a.txt' as Path))).message).toContain('changed')
    server.files.delete('/a.zip')
    expect((await errorOf(() => backend.read('a.txt' as Path))).message).toContain('has no such file')
  })

  it.runIf(isLong)('may have 70,000 entries, which needs zip64', async () => {
    const many = Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => [`f${i}`, strToU8('')]))
    const plain = zipSync(many, { level: 0 })
    // fflate writes the count modulo 65,536. The records of zip64 are added here.
    const end = plain.length - 22
    const view = new DataView(plain.buffer, plain.byteOffset)
    const [size, offset] = [view.getUint32(end + 12, true), view.getUint32(end + 16, true)]
    const record = Buffer.alloc(56 + 20)
    record.writeUInt32LE(0x06064b50, 0)
    record.writeBigUInt64LE(44n, 4)
    record.writeBigUInt64LE(70_000n, 24)
    record.writeBigUInt64LE(70_000n, 32)
    record.writeBigUInt64LE(BigInt(size), 40)
    record.writeBigUInt64LE(BigInt(offset), 48)
    record.writeUInt32LE(0x07064b50, 56)
    record.writeBigUInt64LE(BigInt(end), 64)
    record.writeUInt32LE(1, 72)
    const full = Buffer.alloc(22, 0xff)
    full.writeUInt32LE(0x06054b50, 0)
    full.writeUInt16LE(0, 20)
    const backend = lazy(zip(concatBytes([plain.subarray(0, end), record, full])))
    expect((await backend.list('' as Path)).length).toBe(70_000)
  })
})

describe('a hostile archive', () => {
  const list = async (bytes: Uint8Array) => {
    const backend = lazy(zip(bytes))
    const names: string[] = []
    const waiting = ['']
    for (const path of waiting) {
      for (const { name, type } of await backend.list(path as Path)) {
        const child = path === '' ? name : `${path}/${name}`
        if (type === 'directory') waiting.push(child)
        else names.push(child)
      }
    }
    return { names: names.sort(), omitted: (await backend.omitted()).map(({ path }) => path), backend }
  }

  it('shows no names that lead outside, and no path that is listed twice', async () => {
    const names = [
      '../x',
      '/etc/passwd',
      'a/../../b',
      './c',
      'd//e',
      'f\\g',
      'C:h',
      'i\u0000j',
      '',
      '/',
      'k\u202el',
      'twice',
      'twice',
      'm',
      'm/n',
      'o/',
      'o',
      'q/r',
      'q',
    ]
    const bytes = archiveOf([...names.map((name) => ({ name, text: name })), { name: 'ok', text: 'ok' }])
    const { names: shown, omitted } = await list(bytes)
    expect(shown).toEqual(['m', 'ok', 'q'])
    expect(omitted.length).toBe(names.length - 2)
    expect(omitted).toContain('m/n')
  })

  it('shows nothing below a link, and follows no link out', async () => {
    const link = { mode: 0o120777 }
    const { names, omitted, backend } = await list(
      archiveOf([
        { name: 'out', text: '../../etc', ...link },
        { name: 'out/passwd', text: 'x' },
        { name: 'absolute', text: '/etc/passwd', ...link },
        { name: 'round', text: 'round', ...link },
        { name: 'long', text: 'x'.repeat(5000), ...link },
        { name: 'pipe', text: '', mode: 0o010644 },
      ]),
    )
    expect(names).toEqual(['absolute', 'long', 'out', 'pipe', 'round'])
    expect(omitted).toEqual(['out/passwd', 'pipe'])
    expect((await errorOf(() => backend.readLink('long' as Path))).message).toContain('longer than 4095 bytes')
    expect((await backend.stat('pipe' as Path))?.type).toBe('other')
    for (const path of ['out', 'out/passwd', 'absolute', 'round']) {
      expect((await errorOf(() => backend.canonical(path as Path))).code).toBe('PATH_REJECTED')
    }
  })

  it.each([
    ['a wrong checksum', { crc: 7 }, 'checksum'],
    ['another name before its content', { localName: 'b' }, 'two different ways'],
    ['another method before its content', { localMethod: 8 }, 'two different ways'],
    ['encryption', { flags: UTF8 | 1 }, 'encrypted'],
    ['an unknown method', { method: 12 }, 'method, 12'],
    ['a larger size than stored', { size: 100 }, 'damaged'],
    ['nonsense as deflated data', { method: 8, size: 4 }, 'damaged'],
    ['a smaller size than deflated data', { method: 8, size: 0x7fffffff }, 'larger than'],
  ])('with %s is refused when the file is read', async (_name, field, why) => {
    const backend = lazy(
      zip(
        archiveOf([
          { name: 'a', text: 'four', ...field },
          { name: 'ok', text: 'ok' },
        ]),
      ),
    )
    const error = await errorOf(() => backend.read('a' as Path))
    expect([error.message.includes(why), /BACKEND_ERROR|LIMIT_EXCEEDED/.test(error.code)]).toEqual([true, true])
    expect(await textAt(backend, 'ok')).toBe('ok')
  })

  it('inflates no more bytes than it lists', async () => {
    const bomb = zipSync({ bomb: new Uint8Array(5_000_000) }, { level: 9 })
    const view = new DataView(bomb.buffer, bomb.byteOffset)
    const at = bomb.length - 22 - (46 + 4)
    expect(view.getUint32(at, true)).toBe(0x02014b50)
    view.setUint32(at + 24, 40_000, true)
    const error = await errorOf(() => lazy(zip(bomb)).read('bomb' as Path))
    expect(error.code).toBe('BACKEND_ERROR')
    expect(
      (
        await errorOf(() =>
          lazy(zip(zipSync({ bomb: new Uint8Array(5_000_000) })), { cacheBytes: 1_000_000 }).read('bomb' as Path),
        )
      ).code,
    ).toBe('LIMIT_EXCEEDED')
  })

  it('with data that overlap shows no more than the last of them', async () => {
    const quine = archiveOf([
      { name: 'a', text: 'x'.repeat(50) },
      { name: 'b', text: 'y', offset: 10 },
      { name: 'c', text: 'z', offset: 0x7ffffff0 },
    ])
    const { names, omitted } = await list(quine)
    expect(names).toEqual(['b'])
    expect(omitted).toEqual(['a', 'c'])
  })

  it.each([
    ['no archive', strToU8('no archive at all')],
    ['nothing', new Uint8Array()],
    ['a cut archive', archiveOf([{ name: 'a', text: 'x' }]).subarray(0, 60)],
    ['too many entries', archiveOf([{ name: 'a', text: 'x' }], { count: 2 })],
    [
      'too few entries',
      archiveOf(
        [
          { name: 'a', text: 'x' },
          { name: 'b', text: 'x' },
        ],
        { count: 1 },
      ),
    ],
    ['a list of a wrong size', archiveOf([{ name: 'a', text: 'x' }], { size: 45 })],
    ['a list larger than itself', archiveOf([{ name: 'a', text: 'x' }], { size: 0x7fffffff })],
    ['a list behind its end', archiveOf([{ name: 'a', text: 'x' }], { offset: 0xfffffff0 })],
    ['zip64 without its record', archiveOf([{ name: 'a', text: 'x' }], { offset: 0xffffffff })],
    ['zip64 fields without an extra field', archiveOf([{ name: 'a', text: 'x', offset: 0xffffffff }])],
  ])('%s is an error', async (_name, bytes) => {
    const error = await errorOf(() => lazy(zip(bytes)).list('' as Path))
    expect(['BACKEND_ERROR', 'LIMIT_EXCEEDED']).toContain(error.code)
  })

  it('is refused where a header differs from the list, or data go on after their end', async () => {
    const bytes = zipSync({ a: repeated('more ', 20) }, { level: 6 })
    expect(await textAt(lazy(zip(bytes)), 'a')).toBe('more '.repeat(20))
    for (let at = 14; at < 26; at++) {
      const changed = bytes.slice()
      changed[at] = (changed[at] as number) ^ 1
      expect((await errorOf(() => textAt(lazy(zip(changed)), 'a'))).message).toContain('in two different ways')
    }
    const list = Buffer.from(bytes).indexOf('PK\u0001\u0002')
    const longer = Buffer.concat([bytes.subarray(0, list), strToU8('X'), bytes.subarray(list)])
    for (const at of [18, list + 1 + 20, longer.length - 6]) longer.writeUInt32LE(longer.readUInt32LE(at) + 1, at)
    expect((await errorOf(() => textAt(lazy(zip(new Uint8Array(longer))), 'a'))).message).toContain('damaged')
  })

  it('never breaks the reader, wherever a byte of it changes', async () => {
    const bytes = zipSync({ 'a.txt': strToU8('some text\n'), 'b/c.txt': repeated('more ', 20) }, { level: 6 })
    for (let at = 0; at < bytes.length; at++) {
      for (const value of [0, 0xff, (bytes[at] as number) ^ 0x41].slice(0, times(1, 3))) {
        const changed = bytes.slice()
        changed[at] = value
        const backend = lazy(zip(changed))
        const texts: string[] = []
        for (const [path, content] of Object.entries({ 'a.txt': 'some text\n', 'b/c.txt': 'more '.repeat(20) })) {
          try {
            texts.push(await textAt(backend, path))
            expect(texts.at(-1)).toBe(content)
          } catch (error) {
            expect(error).toBeInstanceOf(ToolError)
          }
        }
      }
    }
  })

  it('has names in the code page of DOS unless it says UTF-8', async () => {
    const extra = (name: string, of: Uint8Array) => {
      const bytes = Buffer.concat([Buffer.alloc(9), strToU8(name)])
      bytes.writeUInt16LE(0x7075, 0)
      bytes.writeUInt16LE(5 + strToU8(name).length, 2)
      bytes.writeUInt8(1, 4)
      bytes.writeUInt32LE(crc32(of), 5)
      return new Uint8Array(bytes)
    }
    const { names, omitted } = await list(
      archiveOf([
        { name: Uint8Array.of(0x81, 0x2e, 0x9f), text: '', flags: 0 },
        { name: Uint8Array.of(0x61, 0xff), text: '', flags: UTF8 },
        { name: 'plain', text: '', flags: 0, extra: extra('süß', strToU8('plain')) },
        { name: 'stale', text: '', flags: 0, extra: extra('../up', strToU8('other')) },
        { name: 'hostile', text: '', flags: 0, extra: extra('../up', strToU8('hostile')) },
      ]),
    )
    expect(names).toEqual(['stale', 'süß', 'ü.ƒ'])
    expect(omitted.length).toBe(2)
  })
})
