import * as disk from 'node:fs'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { FileTimes } from '../../src/adapters/fs/times.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace } from '../../src/index.ts'

const top = join(import.meta.dirname, '../..')
const open = async () => {
  const workspace = await createWorkspace({
    backend: memory({ 'a.txt': 'one', 'd/x.txt': 'x' }),
    policy: 'autonomous',
  })
  return { workspace, fs: createFs(workspace) }
}

/** What is used of both file systems here. Wrong arguments are meant. */
// biome-ignore lint/suspicious/noExplicitAny: each function is called with arguments that its types do not allow
type Untyped = any

describe('names of node:fs', () => {
  const page = disk.readFileSync(join(top, 'docs/guide/git.md'), 'utf8')
  const block = page.slice(page.indexOf('<!-- missing names -->'), page.indexOf('<!-- /missing names -->'))
  /** The names in the first column of the table. */
  const documented = block
    .split('\n')
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([\w.]+)`/g)].map(([, name]) => name ?? ''))

  it('exist, or are named as missing with a reason', async () => {
    const { fs, workspace } = await open()
    const missing = (own: object, ofNode: object, prefix = '') =>
      Object.keys(ofNode).flatMap((name) => (Reflect.get(own, name) === undefined ? [prefix + name] : []))
    const found = [
      ...missing(fs, disk),
      ...missing(fs.promises, disk.promises, 'promises.'),
      ...missing(fs.constants, disk.constants, 'constants.').filter((name) => !/\.(UV_|EXTENSIONLESS_)/.test(name)),
    ].filter((name) => name !== 'default')
    expect(found.filter((name) => !documented.includes(name))).toEqual([])
    const inOwn = (name: string) => name.split('.').reduce<Untyped>((part, one) => part?.[one], fs)
    expect(documented.filter((name) => inOwn(name) !== undefined)).toEqual([])
    expect(documented.length).toBeGreaterThan(8)
    // Nothing that Node does not have, in any version.
    const known = new Set([...Object.keys(disk), ...Object.keys(disk.promises)])
    expect(Object.keys(fs).filter((name) => !known.has(name))).toEqual([])
    await workspace.close()
  })

  it('have the values of Node as constants', async () => {
    const { fs, workspace } = await open()
    const ofNode: Readonly<Record<string, number>> = { ...disk.constants }
    if (process.platform === 'linux') {
      expect(Object.entries(fs.constants).filter(([name, value]) => ofNode[name] !== value)).toEqual([])
    }
    const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY, O_DIRECT, O_NONBLOCK } = fs.constants as Record<string, number>
    for (const bit of [O_NOFOLLOW, O_DIRECTORY, O_DIRECT]) {
      await expect(fs.promises.open('/a.txt', Number(O_RDONLY) | Number(bit))).rejects.toMatchObject({
        code: 'ERR_INVALID_ARG_VALUE',
      })
    }
    await (await fs.promises.open('/a.txt', Number(O_NONBLOCK))).close()
    await workspace.close()
  })
})

describe('classes of streams and directories', () => {
  const textOf = async (stream: AsyncIterable<Uint8Array | string>) => {
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    return text
  }

  it('make what the functions return, with new, without it, and on an object that inherits', async () => {
    const { fs, workspace } = await open()
    const { ReadStream, WriteStream } = fs as Untyped
    /** As graceful-fs and other programs that are older than classes. */
    function Inherited(this: object, ...args: unknown[]) {
      ReadStream.apply(this, args)
    }
    Inherited.prototype = Object.create(ReadStream.prototype)
    class Extended extends ReadStream {}
    const made = [
      fs.createReadStream('/a.txt'),
      new ReadStream('/a.txt'),
      ReadStream('/a.txt', 'utf8'),
      new (Inherited as Untyped)('/a.txt'),
      new (Extended as Untyped)('/a.txt'),
    ]
    for (const stream of made) {
      expect(stream).toBeInstanceOf(ReadStream)
      expect(stream.path).toBe('/a.txt')
      expect(await textOf(stream)).toBe('one')
    }
    for (const writer of [fs.createWriteStream('/w1'), new WriteStream('/w2'), WriteStream('/w3')]) {
      expect(writer).toBeInstanceOf(WriteStream)
      await new Promise((resolve) => writer.on('close', resolve).end('w'))
      expect(await fs.promises.readFile(writer.path, 'utf8')).toBe('w')
    }
    expect(() => new ReadStream('/a.txt', { start: -1 })).toThrow(RangeError)
    const directory = await fs.promises.opendir('/d')
    expect(directory).toBeInstanceOf(fs.Dir)
    await directory.close()
    const stream = { Readable: class {}, Writable: class {} }
    const { ReadStream: Other } = createFs(workspace, { stream: stream as never })
    expect(Other.prototype).toBeInstanceOf(stream.Readable)
    await workspace.close()
  })
})

describe('messages of errors', () => {
  const calls: Readonly<Record<string, (fs: Untyped, root: string) => Promise<unknown>>> = {
    'an unknown encoding': (fs, root) => fs.promises.readFile(`${root}/a.txt`, 'utf9'),
    'an unknown encoding of what is written': (fs, root) =>
      fs.promises.writeFile(`${root}/n`, 'x', { encoding: 'utf9' }),
    'an unknown encoding of a stream': async (fs, root) => fs.createReadStream(`${root}/a.txt`, 'utf9'),
    'a wrong mode': (fs, root) => fs.promises.writeFile(`${root}/n`, 'x', { mode: 'zz' }),
    'a wrong mode of chmod': (fs, root) => fs.promises.chmod(`${root}/a.txt`, '9'),
    'a wrong mode of mkdir': (fs, root) => fs.promises.mkdir(`${root}/n`, 'zz'),
    'a negative start': async (fs, root) => fs.createReadStream(`${root}/a.txt`, { start: -1 }),
    'a negative end': async (fs, root) => fs.createReadStream(`${root}/a.txt`, { end: -1 }),
    'a broken start': async (fs, root) => fs.createReadStream(`${root}/a.txt`, { start: 1.5 }),
    'a negative start of a writer': async (fs, root) => fs.createWriteStream(`${root}/n`, { start: -1 }),
    'a null byte': (fs, root) => fs.promises.readFile(`${root}/a\0b`),
    'a null byte in a new path': (fs, root) => fs.promises.rename(`${root}/a.txt`, `${root}/a\0b`),
    'a directory without recursive': (fs, root) => fs.promises.cp(`${root}/d`, `${root}/e`),
    'a copy onto itself': (fs, root) => fs.promises.cp(`${root}/a.txt`, `${root}/a.txt`),
    'a copy into itself': (fs, root) => fs.promises.cp(`${root}/d`, `${root}/d/e`, { recursive: true }),
  }
  const ofHandle: Readonly<Record<string, readonly unknown[]>> = {
    ...{ read: [Buffer.alloc(1), 0, 1, 0], write: ['x'], readFile: [], writeFile: ['x'], appendFile: ['x'], stat: [] },
    ...{ truncate: [0], sync: [], datasync: [], chmod: [0o644], chown: [0, 0], utimes: [1, 1] },
    ...{ readv: [[Buffer.alloc(1)]], writev: [[Buffer.alloc(1)]] },
  }
  const withoutCallback: Readonly<Record<string, readonly unknown[]>> = {
    ...{ access: [], lstat: [], mkdir: [], mkdtemp: [], open: [], readFile: [], readdir: [], readlink: [], rmdir: [] },
    ...{ realpath: [], stat: [], truncate: [], unlink: [], copyFile: ['/n'], cp: ['/n'], rename: ['/n'], link: ['/n'] },
    ...{ writeFile: ['x'], appendFile: ['x'], chmod: [0o644], chown: [0, 0], lchown: [0, 0], utimes: [1, 1] },
    ...{ lutimes: [1, 1] },
  }

  it('are those of Node', async () => {
    const { fs, workspace } = await open()
    const root = mkdtempSync(join(tmpdir(), 'wardspace-fs-names-'))
    disk.mkdirSync(join(root, 'd'))
    for (const path of ['a.txt', 'd/x.txt']) disk.writeFileSync(join(root, path), 'one')
    const all = { ...calls }
    for (const [name, args] of Object.entries(ofHandle)) {
      all[`${name} of a closed file`] = async (fs, root) => {
        const handle = await fs.promises.open(`${root}/a.txt`, 'r+')
        await handle.close()
        return handle[name](...args)
      }
    }
    for (const [name, args] of Object.entries(withoutCallback)) {
      all[`${name} without a callback`] = async (fs, root) => fs[name](`${root}/a.txt`, ...args)
    }
    const messageOf = (act: Promise<unknown>, at: string) =>
      act.then(
        () => 'none',
        ({ code, message }: { code: string; message: string }) => `${code} ${message.split(at || '\0').join('')}`,
      )
    const differences: string[] = []
    for (const [name, act] of Object.entries(all)) {
      const [own, ofNode] = [await messageOf(act(fs, ''), ''), await messageOf(act(disk, root), root)]
      // Node 20 words some errors in another way than later versions.
      const expected = process.version.startsWith('v20.') ? ofNode : ofNode.split(' ')[0]
      if (ofNode === 'none' || !own.startsWith(String(expected))) differences.push(`${name}: ${own}, in Node ${ofNode}`)
    }
    expect(differences).toEqual([])
    rmSync(root, { recursive: true })
    await workspace.close()
  })
})

describe('times', () => {
  const [atime, mtime] = [new Date('2001-02-03T04:05:06.789Z'), 1_000_000_000]
  const set = { atime, mtime: new Date(mtime * 1000) }

  it('are kept until the entry changes, on each storage, as a disk keeps them', async () => {
    const root = mkdtempSync(join(tmpdir(), 'wardspace-fs-times-'))
    const own = mkdtempSync(join(tmpdir(), 'wardspace-fs-times-'))
    const workspaces = await Promise.all(
      [memory(), nodeBackend(own)].map((backend) => createWorkspace({ backend, policy: 'autonomous' })),
    )
    const subjects: [Untyped, string][] = [
      [disk, root],
      ...workspaces.map((one): [Untyped, string] => [createFs(one), '']),
    ]
    for (const [fs, at] of subjects) {
      const { promises } = fs
      const timesOf = async (name: string, look = 'stat') => {
        const { atime, mtime } = await promises[look](`${at}/${name}`)
        return { atime, mtime }
      }
      await promises.writeFile(`${at}/f`, 'one')
      await promises.mkdir(`${at}/d`)
      await promises.symlink('f', `${at}/l`)
      await promises.utimes(`${at}/f`, atime, mtime)
      await promises.utimes(`${at}/d`, String(atime.getTime() / 1000), mtime)
      await promises.lutimes(`${at}/l`, atime, mtime)
      for (const [name, look] of [['l', 'lstat'], ['f'], ['d'], ['l']] as const)
        expect(await timesOf(name, look)).toEqual(set)
      expect((await promises.lstat(`${at}/l`)).size).toBe(1)
      await promises.chmod(`${at}/f`, 0o600)
      await promises.rename(`${at}/f`, `${at}/g`)
      expect(await timesOf('g')).toEqual(set)
      await promises.cp(`${at}/g`, `${at}/h`, { preserveTimestamps: true })
      expect((await timesOf('h')).mtime).toEqual(set.mtime)
      await promises.writeFile(`${at}/g`, 'changed')
      expect((await timesOf('g')).mtime).not.toEqual(set.mtime)
      const handle = await promises.open(`${at}/i`, 'w')
      await handle.writeFile('one')
      await handle.utimes(atime, mtime)
      expect((await handle.stat()).mtime).toEqual(set.mtime)
      await handle.close()
      expect([await timesOf('i'), await promises.readFile(`${at}/i`, 'utf8')]).toEqual([set, 'one'])
      await promises.rmdir(`${at}/d`)
      await promises.mkdir(`${at}/d`)
      expect((await timesOf('d')).mtime).not.toEqual(set.mtime)
      await expect(promises.utimes(`${at}/none`, 1, 1)).rejects.toMatchObject({ code: 'ENOENT' })
    }
    // Other file systems of the workspace tell them as well, and the storage does not.
    for (const workspace of workspaces) {
      expect((await createFs(workspace).promises.stat('/i')).mtime).toEqual(set.mtime)
      expect((await workspace.files.stat('i'))?.modifiedAt).not.toBe(mtime * 1000)
    }
    for (const workspace of workspaces) await workspace.close()
    for (const path of [root, own]) rmSync(path, { recursive: true })
  })

  it('are kept for a bounded number of entries', () => {
    const times = FileTimes.of({ files: {} as never })
    const add = (path: string) => times.set({ path, tag: 't' }, { atimeMs: 1, mtimeMs: 1 }, 'utime', `/${path}`)
    for (let i = 0; i < 100_000; i++) add(`f${i}`)
    expect(() => add('more')).toThrow("ENOSPC: no space left on device, utime '/more'")
    expect(() => add('f5')).not.toThrow()
  })
})

describe('.git', () => {
  it('does not exist for what reads, and is refused to what changes', async () => {
    const { fs, workspace } = await open()
    const codeOf = (act: Promise<unknown>) => act.then(String, ({ code }) => code)
    const { promises } = fs as Untyped
    for (const name of ['stat', 'lstat', 'access', 'readdir', 'readFile', 'readlink', 'realpath', 'open', 'opendir']) {
      expect(await codeOf(promises[name]('/.git')), name).toBe('ENOENT')
      expect(await codeOf(promises[name]('/.git/HEAD')), name).toBe('ENOENT')
    }
    for (const name of ['statSync', 'readdirSync', 'readFileSync', 'realpathSync', 'readlinkSync']) {
      expect(() => (fs as Untyped)[name]('/.git/HEAD'), name).toThrow('ENOENT')
    }
    expect(fs.existsSync('/.git')).toBe(false)
    const streamed = new Promise((resolve) => fs.createReadStream('/.git/HEAD').on('error', resolve as never))
    expect(await streamed).toMatchObject({ code: 'ENOENT' })
    for (const [name, ...args] of [['mkdir'], ['writeFile', 'x'], ['unlink'], ['rm'], ['rename', '/x']] as const) {
      expect(await codeOf(promises[name]('/.git', ...args)), name).toBe('EACCES')
    }
    await expect(workspace.files.exists('.git')).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    await workspace.close()
  })
})
