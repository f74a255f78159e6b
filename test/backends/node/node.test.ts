import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type NodeOptions, nodeBackend } from '../../../src/backends/node/index.ts'
import { ToolError } from '../../../src/errors.ts'
import type { LogicalPath, Path } from '../../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../../src/storage/backend.ts'
import { bundle } from '../../attack/bundle.ts'
import { treeOf } from './tree.ts'

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function place(): { base: string; root: string; state: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'node-')))
  closers.push(() => rmSync(base, { recursive: true, force: true }))
  mkdirSync(join(base, 'root'))
  return { base, root: join(base, 'root'), state: join(base, 'state') }
}

function open(root: string, options: NodeOptions): Backend {
  const backend = nodeBackend(root, options)
  closers.push(() => backend.close())
  return backend
}

const at = (path: string) => path as Path
const bytes = (text: string) => new TextEncoder().encode(text)
const put = (path: string, text: string, mode?: number): Change => ({
  path: at(path),
  expect: 'any',
  to: { type: 'file', bytes: bytes(text), ...(mode === undefined ? {} : { mode }) },
})
const absent = (path: string): Change => ({ path: at(path), expect: 'any', to: null })
const commit = (backend: Backend, ...changes: Change[]) => backend.commit(changes, { durability: 'durable' })
const codeOf = (action: Promise<unknown>) =>
  action.then(
    () => 'ok',
    (error) => (error instanceof ToolError ? error.code : `not a ToolError: ${error}`),
  )

describe('the root of a node backend', () => {
  it('must be a readable directory that does not belong to the operating system', () => {
    const { base, root } = place()
    writeFileSync(join(base, 'file'), '')
    for (const bad of ['', join(base, 'none'), join(base, 'file'), '/proc', '/proc/self', '/sys', '/dev', '/dev/shm']) {
      if (bad.startsWith('/') && !bad.startsWith(base) && !existsSync(bad)) continue
      expect(() => nodeBackend(bad, { stateDir: join(base, 'state') })).toThrow(TypeError)
    }
    symlinkSync('/proc', join(base, 'link'))
    if (existsSync('/proc'))
      expect(() => nodeBackend(join(base, 'link'), { stateDir: join(base, 'state') })).toThrow(TypeError)
    for (const timeout of [0, -1, 1.5, Number.NaN])
      expect(() => nodeBackend(root, { lockTimeoutMs: timeout })).toThrow(TypeError)
  })

  it('must not contain the state directory, also not through a link', () => {
    const { base, root } = place()
    mkdirSync(join(root, 'inner'))
    symlinkSync(join(root, 'inner'), join(base, 'elsewhere'))
    for (const stateDir of [
      root,
      join(root, 'state'),
      join(root, 'inner'),
      join(base, 'elsewhere'),
      join(base, 'elsewhere', 'x'),
    ]) {
      expect(() => nodeBackend(root, { stateDir })).toThrow(TypeError)
    }
    expect(treeOf(root)).toEqual(new Map([['inner', 'directory']]))
  })

  it('has no state directory before the first commit, which creates a private one', async () => {
    const { root, state } = place()
    writeFileSync(join(root, 'a'), 'a')
    const backend = open(root, { stateDir: state })
    await backend.read(at('a'))
    await backend.list(at(''))
    expect(existsSync(state)).toBe(false)
    await commit(backend, put('b', 'b'))
    const [own = ''] = readdirSync(state)
    expect(statSync(join(state, own)).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(join(state, own))) {
      const stats = lstatSync(join(state, own, name))
      if (stats.isFile()) expect(stats.mode & 0o077).toBe(0)
    }
    await backend.close()
    expect(readdirSync(join(state, own))).toEqual(['journal'])
  })

  it('is no longer accessed after it was moved or replaced', async () => {
    const { base, root, state } = place()
    writeFileSync(join(root, 'a'), 'inside')
    const backend = open(root, { stateDir: state })
    await commit(backend, put('b', 'b'))
    renameSync(root, join(base, 'moved'))
    mkdirSync(root)
    writeFileSync(join(root, 'a'), 'another')
    for (const action of [
      backend.read(at('a')),
      backend.list(at('')),
      backend.stat(at('a')),
      backend.canonical(at('a') as LogicalPath),
      commit(backend, put('a', 'new')),
      commit(backend, absent('a')),
    ]) {
      expect(await codeOf(action)).toBe('BACKEND_ERROR')
    }
    expect(treeOf(root)).toEqual(new Map([['a', 'file another']]))
    expect(readFileSync(join(base, 'moved', 'a'), 'utf8')).toBe('inside')
  })

  it('continues after a file that was not yet synced was replaced by a link', async () => {
    for (const last of ['commit', 'close']) {
      const { base, root, state } = place()
      const backend = nodeBackend(root, { stateDir: state })
      await backend.commit([{ path: at('d'), expect: 'absent', to: { type: 'directory' } }, put('d/x', 'x')], {
        durability: 'relaxed',
      })
      renameSync(join(root, 'd'), join(base, 'd'))
      symlinkSync(join(base, 'd'), join(root, 'd'))
      if (last === 'commit') await backend.commit([put('a', 'a')], { durability: 'durable' })
      await backend.close()
      expect(readFileSync(join(base, 'd/x'), 'utf8')).toBe('x')
    }
  })

  it('refuses every call after close, and can be closed twice', async () => {
    const { root, state } = place()
    const backend = nodeBackend(root, { stateDir: state })
    await commit(backend, put('a', 'a'))
    await backend.close()
    await backend.close()
    expect(await codeOf(backend.read(at('a')))).toBe('BACKEND_ERROR')
    expect(await codeOf(commit(backend, put('a', 'b')))).toBe('BACKEND_ERROR')
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('a')
  })
})

// Windows has no permission bits.
describe.skipIf(process.platform === 'win32')('permission bits', () => {
  it('are kept when a file is replaced, moved or part of a set; new files follow the umask', async () => {
    const { root, state } = place()
    const backend = open(root, { stateDir: state })
    for (const mode of [0o644, 0o755, 0o600, 0o444, 0o700, 0o664]) {
      const name = `f${mode.toString(8)}`
      writeFileSync(join(root, name), 'old')
      chmodSync(join(root, name), mode)
      await commit(backend, put(name, 'new'))
      expect([readFileSync(join(root, name), 'utf8'), lstatSync(join(root, name)).mode & 0o777]).toEqual(['new', mode])
      await commit(backend, put(name, 'newer'), put('other', name))
      expect(lstatSync(join(root, name)).mode & 0o777).toBe(mode)
      await commit(backend, absent(name), { ...put(`${name}-moved`, 'newer'), from: at(name) })
      expect(lstatSync(join(root, `${name}-moved`)).mode & 0o777).toBe(mode)
      expect((await backend.stat(at(`${name}-moved`)))?.mode).toBe(mode)
    }
    const umask = process.umask()
    expect(lstatSync(join(root, 'other')).mode & 0o777).toBe(0o666 & ~umask)
    await commit(backend, put('script', '#!/bin/sh\n', 0o755))
    expect(lstatSync(join(root, 'script')).mode & 0o777).toBe(0o755)
    await commit(backend, put('script', '#!/bin/sh\n', 0o640))
    expect(lstatSync(join(root, 'script')).mode & 0o777).toBe(0o640)
  })

  it('never gain setuid or setgid', async () => {
    const { root, state } = place()
    const backend = open(root, { stateDir: state })
    await commit(backend, put('a', 'a', 0o4755))
    expect(lstatSync(join(root, 'a')).mode & 0o7777).toBe(0o755)
    chmodSync(join(root, 'a'), 0o6755)
    await commit(backend, put('a', 'b'))
    expect(lstatSync(join(root, 'a')).mode & 0o7777).toBe(0o755)
  })
})

// Windows has no `mkfifo`.
describe.skipIf(process.platform === 'win32')('an entry that is not a file, directory or link', () => {
  it('is listed as other, and refused without blocking', { timeout: 10_000 }, async () => {
    const { root, state } = place()
    execFileSync('mkfifo', [join(root, 'fifo')])
    writeFileSync(join(root, 'file'), 'file')
    symlinkSync('fifo', join(root, 'link'))
    const backend = open(root, { stateDir: state })
    expect(await backend.list(at(''))).toContainEqual({ name: 'fifo', type: 'other' })
    expect((await backend.stat(at('fifo')))?.type).toBe('other')
    const through = await backend.canonical(at('link') as LogicalPath)
    expect(await codeOf(backend.read(through))).toBe('PATH_REJECTED')
    expect(await codeOf(backend.read(at('fifo'), { start: 0, end: 1 }))).toBe('PATH_REJECTED')
    expect(await codeOf(commit(backend, put('fifo', 'x')))).toBe('PATH_REJECTED')
    expect(await codeOf(commit(backend, absent('fifo')))).toBe('PATH_REJECTED')
    const paths: string[] = []
    await backend.scan?.([at('fifo'), at('file')], (path) => paths.push(path) > 0)
    expect(paths).toEqual(['file'])
    expect(lstatSync(join(root, 'fifo')).isFIFO()).toBe(true)
  })
})

describe('reserved temporary names', () => {
  const temp = `.wardspace-${'0123456789abcdef'.repeat(2)}.tmp`

  it('do not exist for any method, whatever their letter case, and are never touched unless logged', async () => {
    const { root, state } = place()
    mkdirSync(join(root, temp))
    writeFileSync(join(root, temp, 'a'), 'planted')
    writeFileSync(join(root, '.wardspace-not-one.tmp'), 'ordinary')
    const backend = open(root, { stateDir: state })
    await commit(backend, put('a', 'a'))
    expect((await backend.list(at(''))).map(({ name }) => name)).toEqual(['.wardspace-not-one.tmp', 'a'])
    for (const path of [temp, `${temp}/a`, temp.toUpperCase(), `b/${temp}`]) {
      for (const action of [
        backend.canonical(at(path) as LogicalPath),
        backend.stat(at(path)),
        backend.read(at(path)),
        backend.list(at(path)),
        backend.readLink(at(path)),
        commit(backend, put(path, 'x')),
        commit(backend, absent(path)),
        commit(backend, { ...put('c', 'planted'), from: at(path) }),
      ]) {
        expect(await codeOf(action)).toBe('PATH_REJECTED')
      }
    }
    symlinkSync(temp, join(root, 'link'))
    expect(await codeOf(backend.canonical(at('link') as LogicalPath))).toBe('PATH_REJECTED')
    expect(readFileSync(join(root, temp, 'a'), 'utf8')).toBe('planted')
  })
})

describe('nothing inside the root is trusted', () => {
  it('no journal, log or lock inside the root has an effect', async () => {
    const { root, state } = place()
    for (const name of ['journal', 'lock', `log-${'0'.repeat(32)}`, `claim-${'0'.repeat(32)}`]) {
      writeFileSync(join(root, name), JSON.stringify([['', 'victim']]))
    }
    writeFileSync(join(root, 'victim'), 'here')
    const before = treeOf(root)
    const backend = open(root, { stateDir: state })
    await commit(backend, put('a', 'a'))
    await backend.close()
    expect(treeOf(root)).toEqual(new Map([...before, ['a', 'file a']].sort() as [string, string][]))
  })
})

describe('links on disk', () => {
  it('are refused by every method if they lead outside, dangle outside or go in circles', async () => {
    const { base, root, state } = place()
    mkdirSync(join(base, 'outside'))
    mkdirSync(join(root, 'real'))
    writeFileSync(join(base, 'outside', 'secret'), 'secret')
    symlinkSync('../outside', join(root, 'out'))
    symlinkSync('../outside/none/x', join(root, 'dangling'))
    symlinkSync(join(base, 'outside'), join(root, 'absolute'))
    symlinkSync('circle-2', join(root, 'circle'))
    symlinkSync('circle', join(root, 'circle-2'))
    symlinkSync('../root/real', join(root, 'out-and-in'))
    symlinkSync(join(root, 'real'), join(root, 'absolute-inside'))
    const backend = open(root, { stateDir: state })
    const before = treeOf(base)
    for (const name of ['out', 'dangling', 'absolute', 'circle', 'out-and-in']) {
      for (const path of [name, `${name}/secret`, `${name}/new/deep`]) {
        expect(await codeOf(backend.canonical(at(path) as LogicalPath))).toBe('PATH_REJECTED')
      }
      // Paths that were not passed through canonical are refused too.
      for (const path of [`${name}/secret`, `${name}/new`]) {
        expect(await codeOf(backend.read(at(path)))).not.toBe('ok')
        expect(await codeOf(backend.list(at(path)))).not.toBe('ok')
        expect(await codeOf(commit(backend, put(path, 'x')))).not.toBe('ok')
        expect(await codeOf(commit(backend, put(path, 'x'), put('set', 'x')))).not.toBe('ok')
        expect(await codeOf(backend.readLink(at(path)))).not.toBe('ok')
      }
      expect(await codeOf(backend.list(at(name)))).not.toBe('ok')
      expect(await codeOf(backend.read(at(name)))).not.toBe('ok')
      expect(await backend.canonical(at(name) as LogicalPath, { noFollow: true })).toBe(name)
    }
    await backend.close()
    rmSync(state, { recursive: true, force: true })
    expect(treeOf(base)).toEqual(before)
    expect(await nodeBackend(root, { stateDir: state }).canonical(at('absolute-inside/x') as LogicalPath)).toBe(
      'real/x',
    )
  })
})

// Only on Linux does the backend hold descriptors of directories.
describe.skipIf(process.platform !== 'linux')('too few file descriptors', () => {
  it('let 300 reads and 30 commits at once wait instead of fail', { timeout: 60_000 }, async () => {
    const { base, root, state } = place()
    for (let i = 0; i < 300; i++)
      writeFileSync(join(root, `f${i}`), `content ${i}`.padEnd(i % 10 === 0 ? 2_000_000 : 10))
    const script = await bundle('test/backends/node/few-descriptors.ts', base)
    const run = spawnSync('bash', ['-c', `ulimit -n 40; exec "${process.execPath}" "${script}" "${root}" "${state}"`], {
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    expect(JSON.parse(run.stdout)).toEqual({ reads: 300, commits: 30, control: expect.stringContaining('EMFILE') })
  })
})

const mounted = tryMount()
describe.skipIf(mounted === undefined)('a full disk (skipped if a small one cannot be mounted)', () => {
  it('fails with NO_SPACE and leaves the old content and no temporary files', async () => {
    const { base } = place()
    const root = mounted as string
    try {
      const backend = open(root, { stateDir: join(base, 'state') })
      await commit(backend, put('a', 'old'), put('b', 'old b'))
      const before = treeOf(root)
      const large = 'x'.repeat(2_000_000)
      for (const changes of [
        [put('a', large)],
        [put('new', large)],
        [put('a', 'new'), put('b', large)],
        [put('a', large), absent('b')],
        [{ path: at('d'), expect: 'any', to: { type: 'directory' } } satisfies Change, put('d/f', large)],
      ]) {
        expect(await codeOf(commit(backend, ...changes))).toBe('NO_SPACE')
        expect(treeOf(root)).toEqual(before)
      }
      await commit(backend, put('a', 'new'))
      expect(readFileSync(join(root, 'a'), 'utf8')).toBe('new')
      await backend.close()
    } finally {
      spawnSync('umount', ['-l', root])
      rmSync(root, { recursive: true, force: true })
    }
  })
})

/** Mounts a disk of one megabyte, if permitted. */
function tryMount(): string | undefined {
  if (process.platform !== 'linux') return undefined
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'small-disk-')))
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', root]).status === 0) return root
  rmSync(root, { recursive: true, force: true })
  return undefined
}
