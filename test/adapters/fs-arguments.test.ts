import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import * as node from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    const act = node[name] as (...all: unknown[]) => Promise<unknown>
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

  it('that no backend can follow are refused', async () => {
    const fs = await ownTree()
    const refused = [
      () => fs.cp('/l', '/c', { dereference: true } as never),
      () => fs.readFile('/a.txt', { flag: 'w+' }),
      () => fs.readFile('/a.txt', { flag: 'a+' }),
    ]
    for (const act of refused) await expect(act()).rejects.toThrow(/dereference|flag/)
    expect(await fs.readFile('/a.txt', 'utf8')).toBe('a\n')
  })

  it('were tried', () => {
    console.log(`arguments of fs tried: ${cases}, refused although Node takes them: ${stricter}`)
    expect(cases).toBeGreaterThan(isLong ? 1000 : 400)
    expect(stricter).toBeLessThan(cases / 12)
  })
})
