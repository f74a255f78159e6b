import { mkdtempSync, rmSync } from 'node:fs'
import * as disk from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import * as isomorphicGit from 'isomorphic-git'
import { describe, expect, it } from 'vitest'
import { createFs, type WorkspaceFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type PolicyInput } from '../../src/index.ts'
import { times } from '../counts.ts'

async function open(tree: Record<string, string> = {}, policy: PolicyInput = 'autonomous') {
  const workspace = await createWorkspace({ backend: memory(tree), policy, limits: { callsPerMinute: 1_000_000 } })
  return { workspace, fs: createFs(workspace) }
}

/** A step of a program: the name of a function of `fs.promises`, and its arguments. Paths start with `/`. */
type Step = readonly [name: string, ...args: unknown[]]

const path = fc.constantFrom('/a', '/b', '/d', '/d/x', '/d/y', '/d/e', '/d/e/z', '/l')
const content = fc.constantFrom('', 'one', 'two\n', 'ünï')
const flag = fc.boolean()

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant('writeFile'), path, content),
  fc.tuple(fc.constant('writeFile'), path, content, fc.record({ flag: fc.constantFrom('w', 'wx', 'a', 'ax') })),
  fc.tuple(fc.constant('appendFile'), path, content),
  fc.tuple(fc.constant('readFile'), path, fc.constantFrom('utf8', 'hex', { encoding: 'latin1' })),
  fc.tuple(fc.constant('mkdir'), path, fc.record({ recursive: flag })),
  fc.tuple(fc.constant('rmdir'), path),
  fc.tuple(fc.constant('unlink'), path),
  fc.tuple(fc.constant('rm'), path, fc.record({ recursive: flag, force: flag })),
  fc.tuple(fc.constant('rename'), path, path),
  fc.tuple(fc.constant('copyFile'), path, path, fc.constantFrom(0, 1)),
  fc.tuple(fc.constant('readdir'), path),
  fc.tuple(fc.constant('truncate'), path, fc.constantFrom(0, 2, 5)),
  fc.tuple(fc.constant('access'), path),
  fc.tuple(fc.constant('stat'), path),
  fc.tuple(fc.constant('lstat'), path),
  fc.tuple(fc.constant('symlink'), fc.constantFrom('a', 'd', 'gone'), fc.constantFrom('/l', '/b')),
  fc.tuple(fc.constant('readlink'), path),
  fc.tuple(fc.constant('realpath'), path),
) as fc.Arbitrary<Step>

type Functions = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>

/** Runs a step below a directory. Returns its value or its error, without the directory. */
async function attempt(functions: Functions, root: string, [name, ...args]: Step): Promise<unknown> {
  const located = args.map((arg) => (typeof arg === 'string' && arg.startsWith('/') ? `${root}${arg}` : arg))
  try {
    const value = await functions[name]?.(...located)
    if (name === 'stat' || name === 'lstat') {
      const stats = value as { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean; size: number }
      return [stats.isFile(), stats.isDirectory(), stats.isSymbolicLink(), stats.isFile() ? stats.size : 0]
    }
    if (name === 'readdir') return (value as string[]).sort()
    return typeof value === 'string' ? value.replace(root, '') : value
  } catch (error) {
    const { code, message, syscall, errno } = error as { code: string; message: string; syscall: string; errno: number }
    return { code, message: message.replaceAll(root, ''), syscall, errno }
  }
}

/** A circle of links is neither read nor changed nor linked to, and Node deletes the target of a copy that fails. */
function isKnownDifference([name]: Step, answer: unknown, expected: unknown): boolean {
  const codeOf = (value: unknown): unknown => Object(value).code
  if (name === 'symlink' && codeOf(answer) === 'ELOOP') return true
  return codeOf(expected) === 'ELOOP' || (name === 'copyFile' && codeOf(expected) === 'EISDIR')
}

async function treeOf(functions: Functions, root: string, at = ''): Promise<Record<string, unknown>> {
  const tree: Record<string, unknown> = {}
  const names = (await functions.readdir?.(`${root}${at}/`)) as string[] | undefined
  for (const name of names?.sort() ?? []) {
    const below = `${at}/${name}`
    const stat = (await functions.lstat?.(`${root}${below}`)) as
      | { isDirectory(): boolean; isSymbolicLink(): boolean }
      | undefined
    if (stat?.isDirectory() === true)
      Object.assign(tree, { [below]: 'directory' }, await treeOf(functions, root, below))
    else if (stat?.isSymbolicLink() === true) {
      const found = functions.stat?.(`${root}${below}`) as Promise<unknown>
      const isCircle = await found.then(
        () => false,
        (error: { code?: string }) => error.code === 'ELOOP',
      )
      tree[below] = isCircle ? 'circle' : await functions.readlink?.(`${root}${below}`)
    } else tree[below] = await functions.readFile?.(`${root}${below}`, 'utf8')
  }
  return tree
}

describe('wardspace/fs', () => {
  it('does what node:fs does on a disk, with the same errors', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps): Promise<void> => {
        const root = mkdtempSync(join(tmpdir(), 'fs-'))
        try {
          const { fs } = await open()
          const own = fs.promises as unknown as Functions
          const real = disk as unknown as Functions
          for (const each of steps) {
            const expected = await attempt(real, root, each)
            const answer = await attempt(own, '', each)
            if (isKnownDifference(each, answer, expected)) return
            expect(answer, JSON.stringify(each)).toEqual(expected)
          }
          expect(await treeOf(own, '')).toEqual(await treeOf(real, root))
        } finally {
          rmSync(root, { recursive: true })
        }
      }),
      { numRuns: times(20, 3000) },
    )
  })

  it('has callbacks', async () => {
    const { fs } = await open({ 'a.txt': 'one' })
    const text = await new Promise((resolve, reject) => {
      fs.readFile('/a.txt', 'utf8', (error: unknown, value: unknown) =>
        error === null ? resolve(value) : reject(error),
      )
    })
    expect(text).toBe('one')
    const error = await new Promise((resolve) => fs.stat('/none', resolve))
    expect(error).toMatchObject({ code: 'ENOENT', message: "ENOENT: no such file or directory, stat '/none'" })
    expect(() => fs.readFile('/a.txt')).toThrow(/"cb" argument/)
  })

  it('throws refusals as EACCES or EPERM with the failure as cause', async () => {
    const rules = [
      { name: 'no docs', action: 'deny' as const, paths: ['docs/**'] },
      { name: 'ask', action: 'ask' as const, permissions: ['file:delete' as const] },
    ]
    const { fs } = await open({ '.env': 'KEY=1', 'docs/a': 'x', b: 'x' }, { preset: 'autonomous', rules })
    await expect(fs.promises.readFile('/.env')).rejects.toMatchObject({
      code: 'EACCES',
      message: "EACCES: permission denied, open '/.env'",
      cause: { code: 'POLICY_DENIED_SECRET' },
    })
    await expect(fs.promises.stat('/docs/a')).rejects.toMatchObject({
      code: 'EACCES',
      cause: { code: 'POLICY_DENIED' },
    })
    await expect(fs.promises.unlink('/b')).rejects.toMatchObject({
      code: 'EPERM',
      cause: { code: 'APPROVAL_REQUIRED' },
    })
    await expect(fs.promises.readFile('/../x')).rejects.toMatchObject({
      code: 'EACCES',
      cause: { code: 'PATH_REJECTED' },
    })
  })

  it('has links, temporary directories, directories to iterate, copies of trees and handles', async () => {
    const { promises } = (await open({ 'd/a': 'one', 'd/e/b': 'two' })).fs
    await promises.symlink('a', '/d/l')
    await promises.symlink('/d/e/b', '/m')
    expect(await promises.readlink('/d/l')).toBe('a')
    expect(await promises.realpath('/m')).toBe('/d/e/b')
    expect((await promises.lstat('/m')).isSymbolicLink()).toBe(true)
    expect(await promises.mkdtemp('/d/tmp-')).toMatch(/^\/d\/tmp-[A-Za-z0-9]{6}$/)
    await promises.cp('/d/e', '/copy', { recursive: true })
    await expect(promises.cp('/d', '/x')).rejects.toMatchObject({ code: 'ERR_FS_EISDIR' })
    const names = []
    for await (const entry of await promises.opendir('/copy'))
      names.push([entry.name, entry.isFile(), entry.parentPath])
    expect(names).toEqual([['b', true, '/copy']])
    expect(await promises.readdir('/d', { recursive: true })).toEqual(expect.arrayContaining(['a', 'e', 'e/b', 'l']))
    const handle = await promises.open('/h', 'w+')
    await handle.write('hello')
    await handle.write(new TextEncoder().encode('J'), 0, 1, 0)
    expect(String(await promises.readFile('/d/a', 'utf8'))).toBe('one')
    await expect(promises.stat('/h')).rejects.toMatchObject({ code: 'ENOENT' })
    await handle.close()
    expect(await promises.readFile('/h', 'utf8')).toBe('Jello')
    await handle.close()
    expect(handle.fd).toBe(-1)
    await expect(handle.sync()).rejects.toMatchObject({ code: 'EBADF' })
  })
})

describe('isomorphic-git on wardspace/fs', () => {
  it('commits, branches, changes, checks out and logs, unchanged', async () => {
    const { workspace, fs } = await open({ 'src/a.ts': 'export const a = 1\n', 'README.md': '# A\n' })
    // `.git` is closed to files, so the repository has another name.
    const repository = { fs: fs as WorkspaceFs, dir: '/', gitdir: '/history' }
    const author = { name: 'A', email: 'a@example.com', timestamp: 1_700_000_000, timezoneOffset: 0 }
    await isomorphicGit.init({ ...repository, defaultBranch: 'main' })
    await isomorphicGit.add({ ...repository, filepath: ['src/a.ts', 'README.md'] })
    const first = await isomorphicGit.commit({ ...repository, message: 'first', author })
    await isomorphicGit.branch({ ...repository, ref: 'other', checkout: true })
    await fs.promises.writeFile('/src/a.ts', 'export const a = 2\n')
    await isomorphicGit.add({ ...repository, filepath: 'src/a.ts' })
    await isomorphicGit.commit({ ...repository, message: 'second', author })
    await isomorphicGit.checkout({ ...repository, ref: 'main' })
    expect(await fs.promises.readFile('/src/a.ts', 'utf8')).toBe('export const a = 1\n')
    expect((await isomorphicGit.log({ ...repository, ref: 'other' })).map(({ commit }) => commit.message)).toEqual([
      'second\n',
      'first\n',
    ])
    expect(await isomorphicGit.resolveRef({ ...repository, ref: 'main' })).toBe(first)
    await fs.promises.unlink('/README.md')
    const matrix = await isomorphicGit.statusMatrix({ ...repository, filter: (name) => !name.startsWith('history') })
    expect(matrix).toEqual([
      ['README.md', 1, 0, 1],
      ['src/a.ts', 1, 1, 1],
    ])
    expect(await workspace.verifyAudit()).toMatchObject({ ok: true })
  })
})

describe('a circle of links', () => {
  it('is ELOOP, with the messages of node:fs', async () => {
    const root = mkdtempSync(join(tmpdir(), 'wardspace-loop-'))
    try {
      const { fs } = await open()
      for (const { symlink, at } of [
        { symlink: fs.promises.symlink, at: '' },
        { symlink: disk.symlink, at: root },
      ]) {
        await symlink('b', `${at}/a`)
        await symlink('a', `${at}/b`)
      }
      const errorsOf = async (functions: Functions, at: string) => {
        const errors: unknown[] = []
        for (const name of [
          'readFile',
          'stat',
          'access',
          'realpath',
          'readdir',
          'open',
          'truncate',
          'writeFile',
          'chmod',
        ]) {
          const args = name === 'chmod' ? [0o600] : name === 'writeFile' ? ['x'] : []
          for (const path of ['/a', '/a/x']) errors.push(await attempt(functions, at, [name, path, ...args]))
        }
        return errors
      }
      const expected = await errorsOf(disk as unknown as Functions, root)
      expect(expected.every((error) => (error as { code?: string }).code === 'ELOOP')).toBe(true)
      expect(await errorsOf(fs.promises as unknown as Functions, '')).toEqual(expected)
    } finally {
      rmSync(root, { recursive: true })
    }
  })
})
