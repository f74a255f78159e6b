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
import { nodeBackend as directory } from '../../../src/backends/node/index.ts'
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

/** A directory that is gone with its test. */
function ownDirectory(): string {
  const made = mkdtempSync(join(tmpdir(), 'shell-parts-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** With another place for temporary files. */
async function withTemporary(place: string, action: () => Promise<void>): Promise<void> {
  vi.stubEnv('TMPDIR', place)
  try {
    await action()
  } finally {
    vi.unstubAllEnvs()
  }
}

/** What a command runs in: these words, without the line. */
const sandboxOf = (wrap: Sandbox['wrap'], more: Partial<Sandbox> = {}): Sandbox => {
  return { name: 'given', network: false, wrap, ...more }
}

const command = (line: string) => ({ line, cwd: ROOT, env: {}, timeoutMs: 60_000, now: () => 0 })

describe('a sandbox', () => {
  it('is the first that keeps a masked file closed and writes where it should, and else there is none, with the reason', () => {
    const absent = sandboxOf(() => ['/no/such/program'])
    const failing = sandboxOf(({ root }) => ['/bin/sh', '-c', 'echo "no view of $0" >&2; exit 1', root])
    const silent = sandboxOf(() => ['/bin/false'])
    const idle = sandboxOf(() => ['/bin/true'])
    const working = sandboxOf(({ root }) => ['/bin/sh', '-c', 'echo written > "$0/written"', root])
    expect(firstThatWorks([absent, working])).toEqual({ sandbox: working })
    expect(firstThatWorks([absent, silent])).toEqual({ why: 'given is not there' })
    expect(testSandbox(failing)).toBe('no view of /root')
    expect(testSandbox(silent)).toBe('it could not be set up')
    expect(testSandbox(idle)).toBe('what was written in it is not there')
    expect(requireSandbox({ sandbox: working })).toBe(working)
    expect(() => requireSandbox({ why: 'for a reason' })).toThrow(
      expect.objectContaining({ code: 'SHELL_UNAVAILABLE', message: expect.stringContaining('for a reason') }),
    )
  })

  it('is not tried where the place for temporary files could not be named to it', async () => {
    const odd = join(ownDirectory(), 'a,b')
    mkdirSync(odd)
    await withTemporary(odd, async () => {
      expect(testSandbox(sandboxOf(() => ['/bin/true']))).toContain('unusual characters')
    })
  })

  it('gets no command of which nobody says what it may read, nor one that does not start; nothing of it is left', async () => {
    const root = ownDirectory()
    const owns: string[] = []
    const wrap: Sandbox['wrap'] = ({ own }) => {
      owns.push(own)
      return ['/no/such/program']
    }
    const shell = nodeShell({ root, stateDir: ownDirectory(), sandbox: sandboxOf(wrap) })
    const files = filesOver(memory())
    await expect(shell.run({ ...command('echo a'), files })).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    expect(owns).toEqual([])
    const sight = { see: () => true, enter: () => true, revision: 'all' }
    await expect(shell.run({ ...command('echo a'), files, visibility: sight })).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
    })
    expect(owns).toHaveLength(1)
    expect(owns.filter((own) => existsSync(own))).toEqual([])
    const stopped = { ...command('echo a'), files, visibility: sight, signal: AbortSignal.abort() }
    await expect(shell.run(stopped)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(owns).toHaveLength(1)
    await shell.close()
  })

  it('whose names cannot be read keeps nothing of what was changed', async () => {
    const { apart } = unshareSandbox('apart')
    const names = apart?.names({ root: '/no/such/root', own: '/no/such/own' }, [ROOT])
    await expect(names).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
  })
})

it('no command runs where its temporary files would lie in the workspace', async () => {
  const root = ownDirectory()
  const shell = nodeShell({ root, stateDir: ownDirectory(), sandbox: 'none' })
  await withTemporary(root, async () => {
    await expect(shell.run({ ...command('echo a'), files: filesOver(memory()) })).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
      message: expect.stringContaining('TMPDIR'),
    })
  })
  expect(readdirSync(root)).toEqual([])
  await shell.close()
})

describe('masks', () => {
  const seeing = { see: () => true }
  const list = (code: string) => () => {
    throw Object.assign(new Error(code), { code })
  }

  /** A disk that holds these directories, each with its names; those of directories end with a slash. */
  const disk = (tree: Record<string, readonly string[]>) => (place: string) => {
    const names = tree[place]
    if (names === undefined) return list('EACCES')()
    return names.map((name) => ({
      name: name.replace('/', ''),
      isDirectory: () => name.endsWith('/'),
      isSymbolicLink: () => false,
    }))
  }

  it('close a directory that nobody may look into', async () => {
    const tree = disk({ '/root': ['closed/', 'open/'], '/root/open': [] })
    expect(await findMasks('/root', seeing, tree)).toEqual([{ kind: 'd', path: 'closed' }])
    expect(await findMasks('/root', seeing, list('ENOENT'))).toEqual([])
  })

  it.each(['EACCES', 'EIO'])('are refused where the root answers %s', async (code) => {
    await expect(findMasks('/root', seeing, list(code))).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
  })

  it.runIf(process.platform === 'linux')('are refused for a name that is no UTF-8', async () => {
    const root = ownDirectory()
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.of(0xff)]), '')
    await expect(findMasks(root, seeing)).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
  })

  it.each([
    ['many', Array.from({ length: 4001 }, (_, i) => `${i}`)],
    ['long', Array.from({ length: 2000 }, (_, i) => `${i}`.padEnd(250, 'x'))],
  ])('are refused where there are too %s for a system', async (_, names) => {
    const seen = { see: () => false }
    await expect(findMasks('/root', seen, disk({ '/root': names }))).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
    })
    expect(await findMasks('/root', seen, disk({ '/root': names.slice(0, 1900) }))).toHaveLength(1900)
  })

  it('are found in many directories while others go on', async () => {
    const names = Array.from({ length: 210 }, (_, i) => `${i}`)
    const tree = disk({
      '/root': names.map((name) => `${name}/`),
      ...Object.fromEntries(names.map((name) => [`/root/${name}`, ['hidden']])),
    })
    let others = 0
    setImmediate(() => {
      others += 1
    })
    const see = (one: Path) => !one.endsWith('hidden')
    expect(await findMasks('/root', { see }, tree)).toHaveLength(210)
    expect(others).toBe(1)
  })
})

describe('what was written apart', () => {
  /** The upper layer of a command over files in a directory of their own. */
  function bench(tree: Record<string, string>) {
    const [root, own] = [ownDirectory(), ownDirectory()]
    for (const [name, content] of Object.entries(tree)) writeFileSync(join(root, name), content)
    mkdirSync(join(own, 'upper'))
    const names: NonNullable<Sandbox['apart']>['names'] = async (_, directories) =>
      new Map(directories.map((one) => [one, new Set(Object.keys(tree))]))
    return { root, own, names, backend: directory(root, { stateDir: ownDirectory() }) }
  }

  it('is left out where it is too large, and told; a link that is the same is no change', async () => {
    const apart = bench({ 'a.txt': 'a' })
    writeFileSync(join(apart.own, 'upper/large'), '')
    truncateSync(join(apart.own, 'upper/large'), 1024 * 1024 * 1024 + 1)
    for (const place of [apart.root, join(apart.own, 'upper')]) symlinkSync('a.txt', join(place, 'link'))
    const judged: string[] = []
    const files = filesOver(apart.backend, { judge: (access) => void judged.push(access.asked) })
    await applyOverlayfs({ ...apart, names: async () => new Map() }, files)
    expect(files.refusals).toMatchObject([{ path: 'large', code: 'LIMIT_EXCEEDED' }])
    expect(judged).toEqual([])
    await apart.backend.close()
  })

  it('is new below a directory that has taken the place of a link', async () => {
    const apart = bench({ 'a.txt': 'a' })
    symlinkSync('.', join(apart.root, 'd'))
    mkdirSync(join(apart.own, 'upper/d'))
    writeFileSync(join(apart.own, 'upper/d/a.txt'), 'new')
    const files = filesOver(apart.backend)
    await applyOverlayfs({ ...apart, names: async () => new Map() }, files)
    expect(readFileSync(join(apart.root, 'd/a.txt'), 'utf8')).toBe('new')
    expect(readFileSync(join(apart.root, 'a.txt'), 'utf8')).toBe('a')
    await apart.backend.close()
  })

  it('is not kept at all where the files below cannot be read', async () => {
    const apart = bench({ 'a.txt': 'a' })
    writeFileSync(join(apart.own, 'upper/a.txt'), 'b')
    const read: Backend['read'] = async () => {
      throw new ToolError('BACKEND_ERROR', 'The disk fails')
    }
    const files = filesOver(apart.backend)
    await expect(applyOverlayfs({ ...apart, backend: { ...apart.backend, read } }, files)).rejects.toThrow(
      'The disk fails',
    )
    expect(files.accesses).toEqual([])
    await apart.backend.close()
  })
})

describe('a shadow', () => {
  const types = { other: 0, file: 1, directory: 2, link: 3 }

  /** A backend in memory that tells times as it is told; what is `lost` shows in a glance and is gone when it is looked at. */
  function glancing(tree: Parameters<typeof memory>[0], lost: readonly string[] = []) {
    const inner = memory(tree)
    const times = new Map<string, number>()
    const glance: NonNullable<Backend['statDirectories']> = async (directories) =>
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
      backend: { ...inner, statDirectories: glance, stat },
      async change(...changes: readonly Change[]) {
        for (const one of changes) times.set(one.path, 2)
        await inner.commit(changes, { durability: 'relaxed' })
      },
    }
  }
  const to = (name: string, state: Change['to']): Change => ({ path: path(name), expect: 'any', to: state })
  const file = (content: string) => ({ type: 'file', bytes: bytes(content) }) as const

  it('is taken of nothing that cannot be glanced at', () => {
    expect(() => createSnapshots(memory(), 100)).toThrow(TypeError)
  })

  it('tells a change of kind, and nothing of a link or a directory that is what it was', async () => {
    const { backend, change } = glancing({ a: 'a', d: { directory: true }, link: { link: 'a' } })
    const shadow = await createSnapshots(backend, 100).take()
    await change(to('a', null), to('link', null), to('d', null))
    await change(to('a', { type: 'directory' }), to('link', { type: 'link', target: 'a' }), to('d', file('d')))
    const found = await shadow.differences(new Map())
    expect(found.map((one) => [one.path, one.before?.type, one.after?.type])).toEqual([
      ['a', 'file', 'directory'],
      ['d', 'directory', 'file'],
    ])
    expect(await shadow.differences(new Map([[path('d'), file('d')]]))).toHaveLength(1)
  })

  it('holds nothing of what is gone before it is read', async () => {
    const { backend } = glancing({ 'd/a': 'a', gone: 'x', b: 'b' }, ['d', 'gone'])
    const shadow = await createSnapshots(backend, 1).take()
    expect(await shadow.differences(new Map())).toEqual([])
  })

  it('counts what it kept from the last one', async () => {
    const { backend, change } = glancing({ b: '12345' })
    const shadows = createSnapshots(backend, 8)
    await shadows.take()
    await change(to('a', file('1234')))
    await expect(shadows.take()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', details: { value: 8 } })
  })
})

describe('what a command changed in place', () => {
  const made = (name: string, more: Partial<Difference>): Difference => {
    return { path: path(name), before: null, after: null, isOther: false, ...more }
  }
  const effectsOf = (difference: Difference, backend: Backend = memory()) =>
    trackInPlaceChanges(
      {
        root: '/no/such/root',
        backend,
        shadows: { take: async () => ({ differences: async () => [difference] }) },
      },
      undefined,
    )
  const failing = (error: Error): Backend => {
    return { ...memory(), commit: () => Promise.reject(error) }
  }
  const before = { type: 'file', bytes: bytes('a') } as const

  it.each<[string, Difference, Backend | undefined, string]>([
    ['the system refuses to remove it', made('a\0b', { isOther: true }), undefined, 'the system refused it'],
    ['its backend refuses it', made('a', { before }), failing(new ToolError('BACKEND_ERROR', 'No room')), 'No room'],
    ['its backend fails', made('a', { before }), failing(new TypeError('/home/x')), 'the system refused it'],
  ])('and cannot be put back, is told: %s', async (_, difference, backend, why) => {
    const effects = await effectsOf(difference, backend)
    await expect(effects.drop()).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: `What the command changed could not be put back: ${why}`,
    })
  })
})
