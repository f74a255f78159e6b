import * as disk from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as stream from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type PolicyInput } from '../../src/index.ts'
import { times } from '../counts.ts'
import { fsChanges, fsViews } from '../policy/ways/node-fs.ts'

async function open(tree: Record<string, string | Uint8Array> = {}, policy: PolicyInput = 'autonomous') {
  const backend = memory(tree)
  const commit = vi.spyOn(backend, 'commit')
  const workspace = await createWorkspace({ backend, policy, limits: { callsPerMinute: 1_000_000 } })
  return { workspace, fs: createFs(workspace, { stream }), commit }
}

/** The functions of `node:fs` with callbacks and streams, of the disk and of a workspace. */
type Callbacks = Readonly<Record<string, (...args: unknown[]) => unknown>>

/** Calls a function with a callback. Returns what the callback receives, as values to compare. */
function received(functions: Callbacks, name: string, ...args: unknown[]): Promise<unknown[]> {
  return new Promise((resolve) => {
    // With an error, Node gives some callbacks counts as well.
    const callback = (...values: unknown[]) =>
      resolve((values[0] instanceof Error ? [values[0]] : values).map(comparable))
    try {
      functions[name]?.(...args, callback)
    } catch (error) {
      resolve([comparable(error)])
    }
  })
}

function comparable(value: unknown): unknown {
  if (value instanceof Error) {
    const { code, message, syscall } = value as Error & { code?: string; syscall?: string }
    if (code?.startsWith('ERR_') === true) return { code }
    return { code, message: message.replaceAll(/'[^']*\/fs-[^/']+/g, "'"), syscall }
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (Array.isArray(value)) return value.map(comparable)
  const stats = value as { isFile?(): boolean; size: number } | null
  return typeof stats?.isFile === 'function' ? [stats.isFile(), stats.size] : value
}

const flags = fc.constantFrom(
  'r',
  'rs+',
  'r+',
  'w',
  'wx',
  'w+',
  'xw+',
  'a',
  'ax',
  'as+',
  'a+',
  'rw',
  0,
  2,
  0o1101,
  0o2102,
)
const place = fc.constantFrom(undefined, null, -1, 0, 2, 7)
const bytes = fc.constantFrom('', 'a', 'two', 'ünï', 'a longer text')

type Step = readonly [name: string, ...args: unknown[]]

/** Steps on a file that is open: `FD` stands for its number, and `BUFFER` for a new buffer of that length. */
const FD = Symbol('fd')
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant('write'), fc.constant(FD), bytes, place),
  fc.tuple(
    fc.constant('write'),
    fc.constant(FD),
    bytes.map(Buffer.from),
    fc.constantFrom(undefined, 0, 1, 99),
    fc.constantFrom(undefined, 0, 1),
    place,
  ),
  fc.tuple(
    fc.constant('write'),
    fc.constant(FD),
    bytes.map(Buffer.from),
    fc.record({ offset: fc.constantFrom(0, 1), position: place }, { requiredKeys: [] }),
  ),
  fc.tuple(
    fc.constant('writev'),
    fc.constant(FD),
    fc.array(bytes.map(Buffer.from), { minLength: 1, maxLength: 3 }),
    place,
  ),
  fc.tuple(
    fc.constant('read'),
    fc.constant(FD),
    fc.constantFrom(1, 4, 20),
    fc.constantFrom(0, 1, 30),
    fc.constantFrom(1, 2, 30),
    place,
  ),
  fc.tuple(fc.constant('read'), fc.constant(FD), fc.constantFrom(3, 20)),
  fc.tuple(fc.constant('readFile'), fc.constant(FD), fc.constantFrom('utf8', 'hex')),
  fc.tuple(fc.constant('writeFile'), fc.constant(FD), bytes),
  fc.tuple(fc.constant('appendFile'), fc.constant(FD), bytes),
  fc.tuple(fc.constant('ftruncate'), fc.constant(FD), fc.constantFrom(0, 2, 9)),
  fc.tuple(fc.constant('fstat'), fc.constant(FD)),
  fc.tuple(fc.constant('fsync'), fc.constant(FD)),
) as fc.Arbitrary<Step>

/** Runs a step. Numbers of `read` in the second place become buffers. */
async function run(functions: Callbacks, fd: unknown, [name, ...args]: Step): Promise<unknown> {
  const given = args.map((arg, index) => {
    if (arg === FD) return fd
    return name === 'read' && index === 1 ? Buffer.alloc(arg as number) : Buffer.isBuffer(arg) ? Buffer.from(arg) : arg
  })
  return received(functions, name, ...given)
}

describe('files that are open by number', () => {
  it('do what those of node:fs do on a disk, with the same errors', async () => {
    await fc.assert(
      fc.asyncProperty(flags, fc.boolean(), fc.array(step, { maxLength: 10 }), async (flag, exists, steps) => {
        const root = disk.mkdtempSync(join(tmpdir(), 'fs-'))
        try {
          const { fs } = await open(exists ? { f: 'content' } : {})
          if (exists) disk.writeFileSync(join(root, 'f'), 'content')
          const [own, real] = [fs as unknown as Callbacks, disk as unknown as Callbacks]
          const [expected, opened] = [
            await received(real, 'open', join(root, 'f'), flag),
            await received(own, 'open', '/f', flag),
          ]
          if (typeof expected[1] !== 'number') return void expect(opened).toEqual(expected)
          expect(opened, String(opened)).toEqual([null, expect.any(Number)])
          for (const each of steps) {
            // Node answers with an empty text if an empty file is not open for reading.
            if (each[0] === 'readFile' && (flag === 0o1101 || /^x?[wa]x?$/.test(String(flag)))) continue
            const wanted = await run(real, expected[1], each)
            expect(await run(own, opened[1], each), JSON.stringify([flag, exists, ...steps])).toEqual(wanted)
          }
          expect(await received(own, 'close', opened[1])).toEqual(await received(real, 'close', expected[1]))
          expect(await received(own, 'fstat', opened[1])).toMatchObject([{ code: 'EBADF' }])
          expect(await received(own, 'readFile', '/f', 'utf8')).toEqual(
            await received(real, 'readFile', join(root, 'f'), 'utf8'),
          )
        } finally {
          disk.rmSync(root, { recursive: true })
        }
      }),
      { numRuns: times(25, 5000) },
    )
  })
})

/** The events and the content of a stream that is read to its end. */
async function drained(readable: unknown): Promise<unknown> {
  const events: string[] = []
  const chunks: (string | Buffer)[] = []
  const source = readable as stream.Readable & { bytesRead: number }
  for (const event of ['open', 'ready', 'end', 'close']) source.on(event, () => events.push(event))
  const error = await new Promise((resolve) => {
    source.on('data', (chunk) => chunks.push(chunk))
    source.on('error', resolve)
    source.on('close', () => resolve(undefined))
  })
  const text = chunks.map((chunk) => (typeof chunk === 'string' ? chunk : chunk.toString('latin1'))).join('')
  const largest = Math.max(0, ...chunks.map((chunk) => chunk.length))
  return error === undefined ? { events, text, largest, bytesRead: source.bytesRead } : comparable(error)
}

const content = (size: number) =>
  Buffer.from(Array.from({ length: size }, (_, index) => (index * 31 + (index >> 8)) % 251))

describe('streams', () => {
  it('read what those of node:fs read, in chunks of the same sizes', async () => {
    const sizes = [0, 1, 5000, 200_000]
    const root = disk.mkdtempSync(join(tmpdir(), 'fs-'))
    const tree = Object.fromEntries(sizes.map((size) => [String(size), content(size)]))
    for (const [name, data] of Object.entries(tree)) disk.writeFileSync(join(root, name), data)
    disk.mkdirSync(join(root, 'd'))
    const { fs } = await open({ ...tree, 'd/x': '' })
    const options = fc.record(
      {
        start: fc.constantFrom(0, 1, 4999, 70_000, 300_000),
        end: fc.constantFrom(0, 4, 5000, 150_000, 400_000),
        highWaterMark: fc.constantFrom(1000, 65_536, 500_000),
        encoding: fc.constantFrom('utf8', 'hex', 'latin1', null),
        emitClose: fc.constant(true),
      },
      { requiredKeys: [] },
    )
    const name = fc.constantFrom(...sizes.map(String), 'd', 'none')
    await fc.assert(
      fc.asyncProperty(name, options, async (path, given) => {
        if ((given.start ?? 0) > (given.end ?? Number.POSITIVE_INFINITY)) {
          const code = 'ERR_OUT_OF_RANGE'
          expect(() => fs.createReadStream(path, given)).toThrow(expect.objectContaining({ code }))
          return
        }
        const [expected, own] = await Promise.all([
          drained(disk.createReadStream(join(root, path), given as object)),
          drained(fs.createReadStream(`/${path}`, given)),
        ])
        expect(own).toEqual(expected)
      }),
      { numRuns: times(15, 2000) },
    )
    disk.rmSync(root, { recursive: true })
  })

  it('write what those of node:fs write, as one change at the end', async () => {
    const options = fc.record(
      {
        flags: fc.constantFrom('w', 'wx', 'a', 'r+', 'w+'),
        start: fc.constantFrom(0, 3, 12),
        highWaterMark: fc.constantFrom(1, 16_384),
      },
      { requiredKeys: [] },
    )
    const chunks = fc.array(fc.constantFrom('one', 'ünï\n', '', 'x'.repeat(30_000)), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(options, fc.boolean(), chunks, async (given, exists, parts) => {
        const root = disk.mkdtempSync(join(tmpdir(), 'fs-'))
        if (exists) disk.writeFileSync(join(root, 'f'), 'content')
        const { workspace, fs, commit } = await open(exists ? { f: 'content' } : {})
        const { id } = workspace.checkpoint()
        const write = async (writable: stream.Writable) => {
          try {
            await pipeline(stream.Readable.from(parts), writable)
            return undefined
          } catch (error) {
            return comparable(error)
          }
        }
        const expected = await write(disk.createWriteStream(join(root, 'f'), given))
        expect(await write(fs.createWriteStream('/f', given))).toEqual(expected)
        const present = disk.existsSync(join(root, 'f')) ? disk.readFileSync(join(root, 'f'), 'utf8') : undefined
        expect(await fs.promises.readFile('/f', 'utf8').catch(() => undefined)).toBe(present)
        expect(commit.mock.calls.length).toBeLessThanOrEqual(1)
        await workspace.rollback(id)
        expect(await fs.promises.readFile('/f', 'utf8').catch(() => undefined)).toBe(exists ? 'content' : undefined)
        disk.rmSync(root, { recursive: true })
      }),
      { numRuns: times(15, 2000) },
    )
  })

  it('write nothing if they are destroyed, and report a refusal as an error', async () => {
    const rules = [{ name: 'no docs', action: 'deny' as const, paths: ['docs/**'] }]
    const { fs } = await open({ a: 'one', 'docs/a': 'x', '.env': 'KEY=1' }, { preset: 'autonomous', rules })
    const destroyed = fs.createWriteStream('/a')
    destroyed.write('two')
    await new Promise((resolve) => destroyed.once('ready', resolve))
    await new Promise((resolve) => destroyed.on('close', resolve).destroy())
    expect(await fs.promises.readFile('/a', 'utf8')).toBe('one')
    for (const path of ['/docs/a', '/docs/new', '/.env']) {
      await expect(pipeline(stream.Readable.from(['x']), fs.createWriteStream(path)), path).rejects.toMatchObject({
        code: 'EACCES',
      })
      await expect(drained(fs.createReadStream(path))).resolves.toMatchObject({
        code: 'EACCES',
      })
    }
    const stop = new AbortController()
    const aborted = pipeline(stream.Readable.from(['x']), fs.createWriteStream('/a', { signal: stop.signal }))
    stop.abort()
    await expect(aborted).rejects.toMatchObject({ code: 'ABORT_ERR' })
    expect(await fs.promises.readFile('/a', 'utf8')).toBe('one')
  })

  it.each([[{}], [{ start: 2, end: 5 }], [{ autoClose: false, highWaterMark: 3 }]])(
    'read and write a file that is open by number, with %j',
    async (options) => {
      const root = disk.mkdtempSync(join(tmpdir(), 'fs-'))
      disk.writeFileSync(join(root, 'f'), 'content of f')
      const { fs } = await open({ f: 'content of f' })
      const results = await Promise.all(
        (
          [
            [disk as unknown as Callbacks, join(root, 'f')],
            [fs as unknown as Callbacks, '/f'],
          ] as const
        ).map(async ([functions, path]) => {
          const [, fd] = await received(functions, 'open', path, 'r+')
          const readable = functions.createReadStream?.('', { ...options, fd }) as stream.Readable
          const chunks: string[] = []
          for await (const chunk of readable) chunks.push(String(chunk))
          const closed = await received(functions, 'fstat', fd)
          const [, other] = await received(functions, 'open', path, 'r+')
          const { start } = options as { start?: number }
          await pipeline(['one ', 'two'], functions.createWriteStream?.('', { start, fd: other }) as stream.Writable)
          return [chunks, closed, await received(functions, 'readFile', path, 'utf8')]
        }),
      )
      expect(results[1]).toEqual(results[0])
      disk.rmSync(root, { recursive: true })
    },
  )

  it('pass a file through programs of the platform', async () => {
    const { fs } = await open({ 'big.bin': content(3_000_000) })
    await pipeline(fs.createReadStream('/big.bin'), createGzip(), fs.createWriteStream('/big.gz'))
    await pipeline(fs.createReadStream('/big.gz'), createGunzip(), fs.createWriteStream('/copy.bin'))
    expect(Buffer.compare((await fs.promises.readFile('/copy.bin')) as Uint8Array, content(3_000_000))).toBe(0)
    const blob = await fs.openAsBlob('/big.bin', { type: 'application/x' })
    expect([blob.size, blob.type]).toEqual([3_000_000, 'application/x'])
  })

  it('read lines and web streams of a handle', async () => {
    const { promises } = (await open({ a: 'one\r\ntwo\n\nfour' })).fs
    const lines = []
    for await (const line of (await promises.open('/a')).readLines()) lines.push(line)
    expect(lines).toEqual(['one', 'two', '', 'four'])
    await using handle = await promises.open('/a')
    expect(await new Response(handle.readableWebStream()).text()).toBe('one\r\ntwo\n\nfour')
  })

  it('report changes to those who watch', async () => {
    const { fs } = await open({ 'd/a': 'one', 'd/e/b': 'two' })
    const seen: unknown[] = []
    const flat = fs.watch('/d', {}, (...event: unknown[]) => seen.push(['flat', ...event]))
    const deep = fs.watch('/d', { recursive: true }, (...event: unknown[]) => seen.push(['deep', ...event]))
    const file = fs.watch('/d/a', (...event: unknown[]) => seen.push(['file', ...event]))
    await vi.waitFor(async () => {
      await fs.promises.writeFile('/d/a', `${Math.random()}`)
      expect(seen.length).toBeGreaterThanOrEqual(3)
    })
    await fs.promises.unlink('/d/e/b')
    await vi.waitFor(() => expect(seen.at(-1)).toEqual(['deep', 'rename', 'e/b']))
    expect(seen).toEqual(
      expect.arrayContaining([
        ['flat', 'change', 'a'],
        ['deep', 'change', 'a'],
        ['file', 'change', 'a'],
      ]),
    )
    const closed = Promise.all(
      [flat, deep, file].map((each) => new Promise<void>((resolve) => each.on('close', resolve))),
    )
    for (const each of [flat, deep, file]) each.close()
    await closed
  })

  it('are ENOSYS where the platform has none, and need the classes of node:stream', async () => {
    const { workspace } = await open({ a: 'one' })
    vi.stubGlobal('process', { ...process, getBuiltinModule: undefined })
    try {
      const fs = createFs(workspace)
      expect(() => fs.createReadStream('/a')).toThrow(expect.objectContaining({ code: 'ENOSYS' }))
      expect(() => fs.createWriteStream('/a')).toThrow(expect.objectContaining({ code: 'ENOSYS' }))
      expect(() => fs.watch('/a')).toThrow(expect.objectContaining({ code: 'ENOSYS' }))
    } finally {
      vi.unstubAllGlobals()
    }
    expect(() => createFs(workspace, { stream: {} as never })).toThrow(
      /"stream" of createFs\(\) must be a module with Readable/,
    )
    expect(() => createFs(workspace, { streams: stream } as never)).toThrow(/streams/)
    expect(await drained(createFs(workspace).createReadStream('/a'))).toMatchObject({ text: 'one' })
  })
})

describe('the ways to change and to view a path', () => {
  it('contain every function that reads or changes content', async () => {
    const { fs } = await open()
    const names = Object.entries({ ...fs, ...fs.promises }).filter(([, value]) => typeof value === 'function')
    // These change nothing, show no content, or are refused as a whole;
    const neither =
      /Sync$|^([A-Z].*|access|exists|f?stat|lstat|readdir|opendir|readlink|realpath|watch|link|[lf]?(utimes|chown)|close|fdatasync|mkdtemp|rmdir)$/
    const listed = [...Object.keys(fsChanges), ...Object.keys(fsViews)].map((name) => name.split(' ')[0])
    expect(names.map(([name]) => name).filter((name) => !neither.test(name) && !listed.includes(name))).toEqual([])
    // The first makes a random name, and the second needs an empty directory.
    const rules = [
      { name: 'docs are final', action: 'deny' as const, permissions: ['file:change' as const], paths: ['docs/**'] },
    ]
    const backend = memory({ 'docs/x': '' })
    const [before, after] = [
      createFs(await createWorkspace({ backend, policy: 'autonomous' })),
      { preset: 'autonomous', rules },
    ]
    await before.promises.mkdir('/docs/e')
    const denied = createFs(await createWorkspace({ backend, policy: after as PolicyInput }))
    await expect(denied.promises.mkdtemp('/docs/n-')).rejects.toMatchObject({ code: 'EACCES' })
    await expect(denied.promises.rmdir('/docs/e')).rejects.toMatchObject({ code: 'EACCES' })
    expect(await denied.promises.readdir('/docs')).toEqual(['e', 'x'])
  })
})

describe('webpack on wardspace/fs', () => {
  it('reads modules and writes its output as changes of the workspace, unchanged', async () => {
    const { webpack } = (await import('webpack')).default
    const tree = {
      'package.json': '{ "name": "a" }',
      'src/main.js':
        "import { add } from './math'\nimport data from '../data.json'\nglobalThis.answer = add(data.a, 40)\n",
      'src/math/index.js': 'export const add = (a, b) => a + b\nexport const unused = 1\n',
      'data.json': '{ "a": 2 }',
    }
    const { workspace, fs } = await open(tree)
    const compiler = webpack({ mode: 'production', context: '/', entry: '/src/main.js', output: { path: '/public' } })
    Object.assign(compiler, { inputFileSystem: fs, outputFileSystem: fs, intermediateFileSystem: fs })
    const stats = await new Promise<{ hasErrors(): boolean; toString(): string }>((resolve, reject) =>
      compiler.run((error, result) => (error === null && result !== undefined ? resolve(result) : reject(error))),
    )
    expect(stats.hasErrors(), stats.toString()).toBe(false)
    await new Promise((resolve) => compiler.close(resolve))
    const code = (await fs.promises.readFile('/public/main.js', 'utf8')) as string
    const realm = { answer: 0 }
    new Function('globalThis', code)(realm)
    expect(realm.answer).toBe(42)
    expect(await workspace.call('list_directory', { path: 'public' })).toMatchObject({ ok: true })
    expect(await workspace.verifyAudit()).toMatchObject({ ok: true })
  })
})
