import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import { ToolError } from '../../../src/errors.ts'
import { type Path, ROOT } from '../../../src/paths/logical-path.ts'
import { applyOverlayfs } from '../../../src/shells/node/apply-overlayfs.ts'
import { findMasks } from '../../../src/shells/node/find-masks.ts'
import { trackInPlaceChanges } from '../../../src/shells/node/in-place-changes.ts'
import { nodeShell } from '../../../src/shells/node/index.ts'
import { firstThatWorks, requireSandbox, testSandbox } from '../../../src/shells/node/probe.ts'
import type { Sandbox } from '../../../src/shells/node/sandbox.ts'
import { createSnapshots, type Difference } from '../../../src/shells/node/tree-snapshot.ts'
import { unshareSandbox } from '../../../src/shells/node/unshare.ts'
import type { Backend, Change, DirectoryStats } from '../../../src/storage/backend.ts'
import { filesOver } from '../setup.ts'

const path = (text: string) => text as Path
const bytes = (text: string) => new TextEncoder().encode(text)

/** Creates a directory that is removed after the test. */
function createDirectory(): string {
  const created = mkdtempSync(join(tmpdir(), 'shell-parts-'))
  onTestFinished(() => rmSync(created, { recursive: true, force: true }))
  return created
}

/** Runs an action with another directory for temporary files. */
async function withTemporary(directory: string, action: () => Promise<void>): Promise<void> {
  vi.stubEnv('TMPDIR', directory)
  try {
    await action()
  } finally {
    vi.unstubAllEnvs()
  }
}

const sandboxOf = (wrap: Sandbox['wrap'], more: Partial<Sandbox> = {}): Sandbox => {
  return { name: 'custom', network: false, wrap, ...more }
}

const command = (line: string) => ({ line, cwd: ROOT, env: {}, timeoutMs: 60_000, now: () => 0 })

describe('probing a sandbox', () => {
  it('returns the first sandbox that hides a masked file and writes, or the reason of the first failure', () => {
    const absent = sandboxOf(() => ['/no/such/program'])
    const failing = sandboxOf(({ root }) => ['/bin/sh', '-c', 'echo "no view of $0" >&2; exit 1', root])
    const silent = sandboxOf(() => ['/bin/false'])
    const idle = sandboxOf(() => ['/bin/true'])
    const working = sandboxOf(({ root }) => ['/bin/sh', '-c', 'echo written > "$0/written"', root])
    expect(firstThatWorks([absent, working])).toEqual({ sandbox: working })
    expect(firstThatWorks([absent, silent])).toEqual({ why: 'custom is not installed' })
    expect(testSandbox(failing)).toBe('no view of /root')
    expect(testSandbox(silent)).toBe('it could not be set up')
    expect(testSandbox(idle)).toBe('a file written in it is missing')
    expect(requireSandbox({ sandbox: working })).toBe(working)
    expect(() => requireSandbox({ why: 'for a reason' })).toThrow(
      expect.objectContaining({ code: 'SHELL_UNAVAILABLE', message: expect.stringContaining('for a reason') }),
    )
  })

  it('fails if the directory for temporary files has an unusual name', async () => {
    const odd = join(createDirectory(), 'a,b')
    mkdirSync(odd)
    await withTemporary(odd, async () => {
      expect(testSandbox(sandboxOf(() => ['/bin/true']))).toContain('unusual characters')
    })
  })

  it('a command without a visibility, or one that does not start, leaves no directory', async () => {
    const root = createDirectory()
    const commandDirs: string[] = []
    const wrap: Sandbox['wrap'] = ({ commandDir }) => {
      commandDirs.push(commandDir)
      return ['/no/such/program']
    }
    const shell = nodeShell({ root, stateDir: createDirectory(), sandbox: sandboxOf(wrap) })
    const files = filesOver(memory())
    await expect(shell.run({ ...command('echo a'), files })).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    expect(commandDirs).toEqual([])
    const visibility = { see: () => true, enter: () => true, revision: 'all' }
    await expect(shell.run({ ...command('echo a'), files, visibility })).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
    })
    expect(commandDirs).toHaveLength(1)
    expect(commandDirs.filter((one) => existsSync(one))).toEqual([])
    const stopped = { ...command('echo a'), files, visibility, signal: AbortSignal.abort() }
    await expect(shell.run(stopped)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(commandDirs).toHaveLength(1)
    await shell.close()
  })

  it('an overlayfs whose names cannot be read is an error', async () => {
    const { overlayfs } = unshareSandbox('overlayfs')
    const names = overlayfs?.listNames({ root: '/no/such/root', commandDir: '/no/such/own' }, [ROOT])
    await expect(names).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
  })
})

it('nodeShell(): refuses a command if the directory for temporary files is inside the workspace', async () => {
  const root = createDirectory()
  const shell = nodeShell({ root, stateDir: createDirectory(), sandbox: 'none' })
  await withTemporary(root, async () => {
    await expect(shell.run({ ...command('echo a'), files: filesOver(memory()) })).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
      message: expect.stringContaining('TMPDIR'),
    })
  })
  expect(readdirSync(root)).toEqual([])
  await shell.close()
})

describe('findMasks()', () => {
  const everything = { see: () => true }
  const list = (code: string) => () => {
    throw Object.assign(new Error(code), { code })
  }

  /** A disk with these directories and their names. Names of directories end with a slash. */
  const disk = (tree: Record<string, readonly string[]>) => (directory: string) => {
    const names = tree[directory]
    if (names === undefined) return list('EACCES')()
    return names.map((name) => ({
      name: name.replace('/', ''),
      isDirectory: () => name.endsWith('/'),
      isSymbolicLink: () => false,
    }))
  }

  it('masks a directory without read permission', async () => {
    const tree = disk({ '/root': ['closed/', 'open/'], '/root/open': [] })
    expect(await findMasks('/root', everything, tree)).toEqual([{ kind: 'd', path: 'closed' }])
    expect(await findMasks('/root', everything, list('ENOENT'))).toEqual([])
  })

  it.each(['EACCES', 'EIO'])('is an error if reading the root fails with %s', async (code) => {
    await expect(findMasks('/root', everything, list(code))).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
  })

  // File systems of other platforms refuse such a name.
  it.runIf(process.platform === 'linux')('is an error for a name that is not UTF-8', async () => {
    const root = createDirectory()
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.of(0xff)]), '')
    await expect(findMasks(root, everything)).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
  })

  it.each([
    ['many', Array.from({ length: 4001 }, (_, i) => `${i}`)],
    ['long', Array.from({ length: 2000 }, (_, i) => `${i}`.padEnd(250, 'x'))],
  ])('is an error if the masks are too %s for the system', async (_, names) => {
    const nothing = { see: () => false }
    await expect(findMasks('/root', nothing, disk({ '/root': names }))).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
    })
    expect(await findMasks('/root', nothing, disk({ '/root': names.slice(0, 1900) }))).toHaveLength(1900)
  })

  it('lets other work run between directories', async () => {
    const names = Array.from({ length: 210 }, (_, i) => `${i}`)
    const tree = disk({
      '/root': names.map((name) => `${name}/`),
      ...Object.fromEntries(names.map((name) => [`/root/${name}`, ['hidden']])),
    })
    let otherWork = 0
    setImmediate(() => {
      otherWork += 1
    })
    const see = (one: Path) => !one.endsWith('hidden')
    expect(await findMasks('/root', { see }, tree)).toHaveLength(210)
    expect(otherWork).toBe(1)
  })
})

describe('applyOverlayfs()', () => {
  /** The upper layer of a command over files in a new directory. */
  function createLayers(tree: Record<string, string>) {
    const [root, commandDir] = [createDirectory(), createDirectory()]
    for (const [name, content] of Object.entries(tree)) writeFileSync(join(root, name), content)
    mkdirSync(join(commandDir, 'upper'))
    const listNames: NonNullable<Sandbox['overlayfs']>['listNames'] = async (_, directories) =>
      new Map(directories.map((one) => [one, new Set(Object.keys(tree))]))
    return { root, commandDir, listNames, backend: nodeBackend(root, { stateDir: createDirectory() }) }
  }

  it('refuses a file that is too large, and ignores an unchanged link', async () => {
    const layers = createLayers({ 'a.txt': 'a' })
    writeFileSync(join(layers.commandDir, 'upper/large'), '')
    truncateSync(join(layers.commandDir, 'upper/large'), 1024 * 1024 * 1024 + 1)
    for (const directory of [layers.root, join(layers.commandDir, 'upper')])
      symlinkSync('a.txt', join(directory, 'link'))
    const accessed: string[] = []
    const files = filesOver(layers.backend, { judge: (access) => void accessed.push(access.asked) })
    await applyOverlayfs({ ...layers, listNames: async () => new Map() }, files)
    expect(await files.refusals()).toMatchObject([{ path: 'large', code: 'LIMIT_EXCEEDED' }])
    expect(accessed).toEqual([])
    await layers.backend.close()
  })

  it('treats everything below a directory that replaces a link as new', async () => {
    const layers = createLayers({ 'a.txt': 'a' })
    symlinkSync('.', join(layers.root, 'd'))
    mkdirSync(join(layers.commandDir, 'upper/d'))
    writeFileSync(join(layers.commandDir, 'upper/d/a.txt'), 'new')
    const files = filesOver(layers.backend)
    await applyOverlayfs({ ...layers, listNames: async () => new Map() }, files)
    expect(readFileSync(join(layers.root, 'd/a.txt'), 'utf8')).toBe('new')
    expect(readFileSync(join(layers.root, 'a.txt'), 'utf8')).toBe('a')
    await layers.backend.close()
  })

  it('changes nothing if the lower layer cannot be read', async () => {
    const layers = createLayers({ 'a.txt': 'a' })
    writeFileSync(join(layers.commandDir, 'upper/a.txt'), 'b')
    const read: Backend['read'] = async () => {
      throw new ToolError('BACKEND_ERROR', 'The disk fails')
    }
    const files = filesOver(layers.backend)
    await expect(applyOverlayfs({ ...layers, backend: { ...layers.backend, read } }, files)).rejects.toThrow(
      'The disk fails',
    )
    expect(files.accesses).toEqual([])
    await layers.backend.close()
  })
})

describe('createSnapshots()', () => {
  const types = { other: 0, file: 1, directory: 2, link: 3 }

  /** A backend in memory with times that a test sets. Paths in `lost` are listed, but gone when they are read. */
  function timedBackend(tree: Parameters<typeof memory>[0], lost: readonly string[] = []) {
    const inner = memory(tree)
    const times = new Map<string, number>()
    const statDirectories: NonNullable<Backend['statDirectories']> = async (directories) =>
      Promise.all(
        directories.map(async (one): Promise<DirectoryStats | undefined> => {
          if (lost.includes(one)) return undefined
          const entries = await inner.list(one)
          return {
            stamp: Number.NaN,
            names: entries.map(({ name }) => name),
            types: Uint8Array.from(entries, ({ type }) => types[type]),
            facts: Float64Array.from(
              entries.flatMap(({ name }) => {
                const time = times.get(name) ?? 1
                return [1, -1, time, time, 1]
              }),
            ),
          }
        }),
      )
    const stat: Backend['stat'] = async (one) => (lost.includes(one) ? undefined : inner.stat(one))
    return {
      backend: { ...inner, statDirectories, stat },
      async change(...changes: readonly Change[]) {
        for (const one of changes) times.set(one.path, 2)
        await inner.commit(changes, { durability: 'relaxed' })
      },
    }
  }
  const to = (name: string, state: Change['to']): Change => ({ path: path(name), expect: 'any', to: state })
  const file = (content: string) => ({ type: 'file', bytes: bytes(content) }) as const

  it('needs a backend with statDirectories', () => {
    expect(() => createSnapshots(memory(), 100)).toThrow(TypeError)
  })

  it('reports a change of type, and not an unchanged link or directory', async () => {
    const { backend, change } = timedBackend({ a: 'a', d: { directory: true }, link: { link: 'a' } })
    const snapshot = await createSnapshots(backend, 100).take()
    await change(to('a', null), to('link', null), to('d', null))
    await change(to('a', { type: 'directory' }), to('link', { type: 'link', target: 'a' }), to('d', file('d')))
    const differences = await snapshot.differences(new Map())
    expect(differences.map((one) => [one.path, one.before?.type, one.after?.type])).toEqual([
      ['a', 'file', 'directory'],
      ['d', 'directory', 'file'],
    ])
    expect(await snapshot.differences(new Map([[path('d'), file('d')]]))).toHaveLength(1)
  })

  it('skips entries that are gone before they are read', async () => {
    const { backend } = timedBackend({ 'd/a': 'a', gone: 'x', b: 'b' }, ['d', 'gone'])
    const snapshot = await createSnapshots(backend, 1).take()
    expect(await snapshot.differences(new Map())).toEqual([])
  })

  it('counts content kept from the previous snapshot', async () => {
    const { backend, change } = timedBackend({ b: '12345' })
    const snapshots = createSnapshots(backend, 8)
    await snapshots.take()
    await change(to('a', file('1234')))
    await expect(snapshots.take()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', details: { value: 8 } })
  })
})

describe('trackInPlaceChanges()', () => {
  const difference = (name: string, more: Partial<Difference>): Difference => {
    return { path: path(name), before: null, after: null, isOther: false, ...more }
  }
  const effectsOf = (change: Difference, backend: Backend = memory()) =>
    trackInPlaceChanges(
      {
        root: '/no/such/root',
        backend,
        snapshots: { take: async () => ({ differences: async () => [change] }) },
      },
      undefined,
    )
  const failing = (error: Error): Backend => {
    return { ...memory(), commit: () => Promise.reject(error) }
  }
  const before = { type: 'file', bytes: bytes('a') } as const

  it.each<[string, Difference, Backend | undefined, string]>([
    ['the system refuses to remove it', difference('a\0b', { isOther: true }), undefined, 'the system refused it'],
    [
      'the backend refuses it',
      difference('a', { before }),
      failing(new ToolError('BACKEND_ERROR', 'No room')),
      'No room',
    ],
    ['the backend fails', difference('a', { before }), failing(new TypeError('/home/x')), 'the system refused it'],
  ])('reports that the changes could not be reverted: %s', async (_, change, backend, reason) => {
    const effects = await effectsOf(change, backend)
    await expect(effects.drop()).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: `The changes of the command could not be reverted: ${reason}`,
    })
  })
})
