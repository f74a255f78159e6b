import * as callbacks from 'node:fs'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import * as node from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { isLong } from '../counts.ts'

/** Values of every type, right and wrong ones. */
const samples: readonly unknown[] = [
  ...[null, true, '', 'x', '644', 1, 1.5, Symbol('s'), {}],
  ...(isLong ? [false, 'utf8', 'utf9', 'wx', 0, -1, 9, Number.NaN, 10n, [], () => undefined, new Map()] : []),
]

/** Right arguments of each function, and the options that Node has. */
const functions = {
  readFile: [['/a.txt'], 'encoding signal'],
  writeFile: [['/n.txt', 'x'], 'encoding mode flush signal'],
  appendFile: [['/n.txt', 'x'], 'encoding mode flush'],
  stat: [['/a.txt'], 'bigint'],
  lstat: [['/l'], 'bigint'],
  access: [['/a.txt', 0], ''],
  readlink: [['/l'], 'encoding'],
  realpath: [['/a.txt'], 'encoding'],
  readdir: [['/d'], 'encoding recursive'],
  truncate: [['/a.txt', 1], ''],
  symlink: [['a.txt', '/l2', 'file'], ''],
  mkdir: [['/nd'], 'recursive mode'],
  rmdir: [['/ed'], 'maxRetries retryDelay'],
  rm: [['/a.txt'], 'force recursive maxRetries retryDelay'],
  copyFile: [['/a.txt', '/z.txt', 0], ''],
  cp: [['/a.txt', '/z.txt'], 'errorOnExist filter force mode preserveTimestamps recursive'],
  chmod: [['/a.txt', 0o644], ''],
  utimes: [['/a.txt', 1, 1], ''],
  lutimes: [['/l', 1, 1], ''],
  open: [['/a.txt', 'r', 0o644], ''],
} as const satisfies Readonly<Partial<Record<keyof typeof node, readonly [args: readonly unknown[], options: string]>>>

type Name = keyof typeof functions

/** Functions that change nothing. */
const reading: ReadonlySet<Name> = new Set(['readFile', 'stat', 'lstat', 'access', 'readlink', 'realpath', 'readdir'])

/** Cases without a message of Node about the argument, and second paths, which are relative to another directory there. */
const own = /^(?:access 1 number 1\.5|l?stat options null|open 1 number (?:-1|1\.5|NaN)|(?:symlink|copyFile|cp) 1 .*)$/

/** The arguments of each case, by its name. */
function casesOf(name: Name): readonly (readonly [label: string, args: readonly unknown[]])[] {
  const [args, options] = functions[name]
  const rights: readonly unknown[] = args
  const labelled = (label: string, at: number, toValue: (sample: unknown) => unknown) =>
    samples.map((sample) => [`${name} ${label} ${labelOf(sample)}`, rights.toSpliced(at, 1, toValue(sample))] as const)
  return [
    ...rights.slice(1).flatMap((_, index) => labelled(String(index + 1), index + 1, (sample) => sample)),
    ...(options === '' ? [] : labelled('options', rights.length, (sample) => sample)),
    ...options
      .split(' ')
      .filter((option) => option !== '')
      .flatMap((option) => labelled(`{${option}}`, rights.length, (sample) => ({ [option]: sample }))),
  ].filter(([label]) => !own.test(label))
}

function labelOf(sample: unknown): string {
  return typeof sample === 'object' ? JSON.stringify(sample) : `${typeof sample} ${String(sample)}`
}

const home = mkdtempSync(join(tmpdir(), 'wardspace-fs-arguments-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
let trees = 0

async function nodeTree(): Promise<string> {
  const root = join(home, String(trees++))
  for (const path of ['d', 'ed']) await node.mkdir(join(root, path), { recursive: true })
  for (const path of ['a.txt', 'd/b.txt']) await node.writeFile(join(root, path), 'a\n')
  await node.symlink('a.txt', join(root, 'l'))
  return root
}

async function ownTree() {
  const workspace = await createWorkspace({
    backend: memory({ 'a.txt': 'a\n', 'd/b.txt': 'a\n' }),
    policy: 'autonomous',
  })
  await workspace.files.link('l', 'a.txt')
  await workspace.files.makeDirectory('ed')
  return createFs(workspace).promises
}

/** The code of the error, or `ok`. */
async function outcomeOf(act: () => Promise<unknown>): Promise<string> {
  try {
    const result = await act()
    const close = (result as { close?: () => Promise<void> } | undefined)?.close
    if (typeof close === 'function') await close.call(result)
    return 'ok'
  } catch (error) {
    return String((error as { code?: string }).code ?? (error as Error).name)
  }
}

let cases = 0
/** Cases that Node takes, such as a number where its types want `true`. */
let stricter = 0

describe.each(Object.keys(functions) as Name[])('the arguments of fs.%s', (name) => {
  it('are refused where Node refuses them, with its codes, and change nothing then', async () => {
    const differences: string[] = []
    let root = await nodeTree()
    let fs = await ownTree()
    const act = callbacks.promises[name] as (...all: unknown[]) => Promise<unknown>
    for (const [label, args] of casesOf(name)) {
      cases += 1
      const rooted = args.map((arg) => (typeof arg === 'string' && arg.startsWith('/') ? root + arg : arg))
      const expected = await outcomeOf(() => act(...rooted))
      const actual = await outcomeOf(() => (fs[name] as typeof act)(...args))
      if (expected !== 'ok' && actual !== expected) differences.push(`${label}: ${actual}, in Node ${expected}`)
      if (expected === 'ok' && actual !== 'ok') stricter += 1
      if (reading.has(name)) continue
      const names = (await fs.readdir('/', { recursive: true })).sort()
      const isSame = names.join() === readdirSync(root, { recursive: true }).sort().join()
      if (!isSame && actual === expected) differences.push(`${label}: another tree`)
      if (expected === 'ok' || actual === 'ok') [root, fs] = [await nodeTree(), await ownTree()]
    }
    expect(differences).toEqual([])
  })
})

/** What a function with a callback does: throws at once, or calls back. */
function calledBack(functions: object, name: string, args: readonly unknown[]): Promise<string> {
  return new Promise((resolve) => {
    try {
      const act = (functions as Readonly<Record<string, (...all: unknown[]) => void>>)[name]
      act?.(...args, (error: { code?: string; name?: string } | null) =>
        resolve(`calls back ${error === null ? 'ok' : (error.code ?? error.name)}`),
      )
    } catch (error) {
      resolve(`throws ${(error as { code?: string }).code ?? (error as Error).name}: ${(error as Error).message}`)
    }
  })
}

/** Wrong arguments of the functions with callbacks, but for `realpath`, to which any value is a text in Node. `FD` stands for the number of an open file. */
const FD = Symbol('fd')
const wrongPaths: readonly unknown[] = [
  ...[null, undefined, false, 1.5, {}, [], 'a\0b', Buffer.from('a\0')],
  ...['https://x.example/a', 'file://x.example/a', 'file:///a%2Fb', 'file:///a%00b'].map((url) => new URL(url)),
]
const wrong: readonly (readonly [name: string, ...args: unknown[]])[] = [
  ...[
    ...['stat', 'lstat', 'access', 'readFile', 'readdir', 'readlink', 'unlink', 'rmdir', 'rm', 'mkdir'],
    ...['opendir', 'open', 'mkdtemp'],
  ].flatMap((name) => wrongPaths.map((path) => [name, path] as const)),
  ...['rename', 'copyFile', 'link'].flatMap((name) =>
    wrongPaths.flatMap((path) => [[name, path, 'x'] as const, [name, 'x', path] as const]),
  ),
  ...[null, '1', -1, 1.5, Number.NaN, 2 ** 40, {}].flatMap((fd) =>
    ['fstat', 'fsync', 'fdatasync', 'close'].map((name) => [name, fd] as const),
  ),
  ...[-1, 1.5, 9, '1', {}].map((offset) => ['read', FD, Buffer.alloc(4), offset, 1, 0] as const),
  ...[-1, 9].map((length) => ['read', FD, Buffer.alloc(4), 0, length, 0] as const),
  ...[-2, 1.5, '1', {}, 2n ** 64n].map((position) => ['read', FD, Buffer.alloc(4), 0, 1, position] as const),
  ...[null, 1, 'x', {}].map((buffers) => ['readv', FD, buffers, 0] as const),
  ...[null, 1, true, {}].map((data) => ['write', FD, data] as const),
  ...[-1, 9].map((offset) => ['write', FD, Buffer.alloc(4), offset, 1, 0] as const),
  ...['boom', -1, 1.5, {}].map((mode) => ['fchmod', FD, mode] as const),
  ['readFile', 'x', 'utf9'],
  ['readFile', 'x', 5],
  ['open', 'x', 'rw'],
  ['chmod', 'x', 'boom'],
  ['writeFile', 'x', {}],
  ['writeFile', 'x', ['a']],
]

describe('the functions with callbacks', () => {
  it('throw wrong arguments at once, with the codes of Node', async () => {
    const [root, workspace] = [await nodeTree(), await createWorkspace({ backend: memory({}), policy: 'autonomous' })]
    const own = createFs(workspace)
    const real = callbacks.openSync(join(root, 'a.txt'), 'r+')
    const fd = await new Promise((resolve) =>
      own.open('/n.txt', 'w+', (_: unknown, opened: unknown) => resolve(opened)),
    )
    const asCode = (outcome: string) => outcome.split(':')[0]
    const differences: string[] = []
    for (const [name, ...args] of wrong) {
      const withNumber = (number: unknown) => args.map((arg) => (arg === FD ? number : arg))
      const expected = await calledBack(callbacks, name, withNumber(real))
      const actual = await calledBack(own, name, withNumber(fd))
      if (asCode(actual) === asCode(expected)) continue
      differences.push(`${name} ${args.map(String).join(' ')}: ${actual}, in Node ${expected}`)
    }
    callbacks.closeSync(real)
    expect(differences).toEqual([])
    await workspace.close()
  })

  it('return an object by util.promisify where Node does', async () => {
    const own = createFs(await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous' }))
    const promised = (name: 'open' | 'read' | 'readv' | 'write' | 'writev' | 'exists' | 'stat') =>
      promisify(own[name] as (...args: unknown[]) => void) as (...args: unknown[]) => Promise<unknown>
    const fd = await promised('open')('/a.txt', 'r+')
    expect(await promised('read')(fd, Buffer.alloc(1))).toEqual({ bytesRead: 1, buffer: Buffer.from('a') })
    expect(await promised('readv')(fd, [Buffer.alloc(1)], 1)).toEqual({ bytesRead: 1, buffers: [Buffer.from('\n')] })
    expect(await promised('write')(fd, 'b')).toEqual({ bytesWritten: 1, buffer: 'b' })
    expect(await promised('writev')(fd, [Buffer.from('c')])).toMatchObject({ bytesWritten: 1 })
    expect(await promised('exists')('/a.txt')).toBe(true)
    expect(await promised('exists')('/b.txt')).toBe(false)
    expect(await promised('stat')('/a.txt')).toMatchObject({ size: 2 })
  })
})

describe('the options of fs', () => {
  it('have their effect', async () => {
    const fs = await ownTree()
    const { size, mtimeNs, mtime } = (await (fs.stat as (...args: unknown[]) => unknown)('/a.txt', {
      bigint: true,
    })) as unknown as Record<string, unknown>
    expect([size, typeof mtimeNs, mtime instanceof Date]).toEqual([2n, 'bigint', true])
    await fs.writeFile('/m.txt', '', { mode: '600' as never })
    expect((await fs.stat('/m.txt')).mode & 0o777).toBe(0o600)
    expect(await fs.readdir('/d', 'hex')).toEqual(['622e747874'])
    expect(await fs.readlink('/l', { encoding: 'base64' })).toBe('YS50eHQ=')
    const names: string[] = []
    for await (const { name } of await fs.opendir('/', { recursive: true })) names.push(name)
    expect(names).toContain('b.txt')
    await fs.rmdir('/d', { recursive: true })
    expect(await fs.readdir('/')).not.toContain('d')
  })

  it('open a file that is read with other flags, as Node does', async () => {
    const [fs, root] = [await ownTree(), await nodeTree()]
    for (const flag of ['w+', 'a+', 'wx+', 'ax+', 'r+'] as const) {
      for (const name of ['a.txt', `${flag}.txt`]) {
        const expected = await outcomeOf(() => node.readFile(join(root, name), { flag }))
        expect(await outcomeOf(() => fs.readFile(`/${name}`, { flag })), `${flag} ${name}`).toBe(expected)
        const there = await outcomeOf(() => node.stat(join(root, name)))
        expect(await outcomeOf(() => fs.stat(`/${name}`)), `${flag} ${name} then`).toBe(there)
      }
    }
    for (const flag of ['r', 'r+'] as const) {
      const expected = await outcomeOf(() => node.writeFile(join(root, 'd/b.txt'), 'N', { flag }))
      expect(await outcomeOf(() => fs.writeFile('/d/b.txt', 'N', { flag }))).toBe(expected)
    }
    expect(await fs.readFile('/d/b.txt', 'utf8')).toBe(await node.readFile(join(root, 'd/b.txt'), 'utf8'))
  })

  it('were tried', () => {
    console.log(`arguments of fs tried: ${cases}, refused although Node takes them: ${stricter}`)
    expect(cases).toBeGreaterThan(isLong ? 1000 : 400)
    expect(stricter).toBeLessThan(cases / 12)
  })
})
