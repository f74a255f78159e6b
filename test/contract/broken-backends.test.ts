import { describe, expect, it } from 'vitest'
import { type MemoryBackend, memory } from '../../src/backends/memory/index.ts'
import { ToolError } from '../../src/errors.ts'
import { createWorkspace } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend, Change, Receipt } from '../../src/storage/backend.ts'
import { backendContract } from '../../src/testing/index.ts'

type Break = (good: MemoryBackend) => Partial<Backend>

/** Backends with one fault each: the contract must find every one of them. */
const faults: Readonly<Record<string, Break>> = {
  'a watch reports own commits'(good) {
    const listeners = new Set<() => void>()
    return {
      async watch(_, onChange) {
        const listener = () => onChange(undefined)
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      async commit(changes, options) {
        const receipt = await good.commit(changes, options)
        for (const listener of listeners) listener()
        return receipt
      },
    }
  },
  'expectations are ignored': (good) => ({
    commit: (changes, options) =>
      good.commit(
        changes.map((one) => ({ ...one, expect: 'any' })),
        options,
      ),
  }),
  'sets are applied one by one': (good) => ({
    async commit(changes, settings) {
      const applied: Receipt['applied'][number][] = []
      for (const one of changes) applied.push(...(await good.commit([one], settings)).applied)
      return { applied }
    },
  }),
  'the receipt is in another order': (good) => ({
    commit: async (changes, how) => ({ applied: [...(await good.commit(changes, how)).applied].reverse() }),
  }),
  'the receipt has no previous states': (good) => ({
    commit: async (changes, how) => ({
      applied: (await good.commit(changes, how)).applied.map((entry) => ({ ...entry, before: null })),
    }),
  }),
  'missing parents are created': (good) => ({
    async commit(changes, how) {
      for (const { path, to } of changes) {
        const names = to === null ? [] : path.split('/').slice(0, -1)
        for (const i of names.keys()) {
          const above = names.slice(0, i + 1).join('/') as Path
          await good.commit([{ path: above, expect: 'any', to: { type: 'directory' } }], how).catch(() => undefined)
        }
      }
      return good.commit(changes, how)
    },
  }),
  'the signal is ignored': (good) => ({
    commit: (changes, how) => good.commit(changes, { durability: how.durability }),
  }),
  'a conflict does not report the current version': (good) => ({
    commit: (changes, how) =>
      good.commit(changes, how).catch((error: ToolError) => {
        throw new ToolError(
          error.code,
          error.message,
          error.details.path === undefined ? {} : { path: error.details.path },
        )
      }),
  }),
  'errors are not ToolErrors': (good) => ({
    read: (path, range) => good.read(path, range).catch(() => Promise.reject(new Error('ENOENT'))),
  }),
  'modes are not stored': (good) => ({
    commit: (changes, how) =>
      good.commit(
        changes.map((one) => (one.to?.type === 'file' ? { ...one, to: { ...one.to, mode: 0o644 } } : one)),
        how,
      ),
  }),
  'a replaced file loses its mode': (good) => ({
    commit: (changes, how) =>
      good.commit(
        changes.map((one) => (one.to?.type === 'file' ? { ...one, to: { mode: 0o644, ...one.to } } : one)),
        how,
      ),
  }),
  'permission bits are stored, but not reported': (good) => ({
    async stat(path) {
      const { mode: _, ...stat } = (await good.stat(path)) ?? { type: 'other' as const, size: 0, tag: '' }
      return stat.type === 'other' ? undefined : stat
    },
  }),
  'every path is missing': () => ({ stat: async () => undefined }),
  'the root lists a leftover special file': (good) => ({
    list: async (path) => [...(await good.list(path)), ...(path === '' ? [{ name: 's', type: 'other' as const }] : [])],
  }),
  'scan visits other paths than requested': (good) => ({
    async scan(paths, visit) {
      if (paths.length > 0) return good.scan(paths, visit)
      visit('a' as Path, new Uint8Array(), { type: 'file', size: 0, tag: '' })
    },
  }),
  'errors of visit are lost': (good) => ({
    scan: (paths, visit) => good.scan(paths, visit).catch(() => undefined),
  }),
  'a refused commit leaves a special file': (good) => {
    let isThere = false
    return {
      commit: (changes, how) =>
        good.commit(changes, how).catch((error) => {
          isThere = true
          throw error
        }),
      list: async (path) => [
        ...(await good.list(path)),
        ...(isThere && path === '' ? [{ name: '\u{10ffff}', type: 'other' as const }] : []),
      ],
    }
  },
  'files are listed as empty directories': (good) => ({
    list: async (path) => ((await good.stat(path))?.type === 'file' ? [] : good.list(path)),
  }),
  'ranges are ignored': (good) => ({ read: (path) => good.read(path) }),
  'ranges include their end': (good) => ({
    read: (path, range) => good.read(path, range && { ...range, end: range.end + 1 }),
  }),
  'the tag of a range is ignored': (good) => ({
    read: (path, range) => good.read(path, range && { start: range.start, end: range.end }),
  }),
  'a read buffer is reused': (good) => {
    const buffer = new Uint8Array(6_000_000)
    return {
      async read(path, range) {
        const { bytes, stat } = await good.read(path, range)
        buffer.set(bytes)
        return { bytes: buffer.subarray(0, bytes.length), stat }
      },
    }
  },
  'tags depend only on the size': (good) => ({
    async stat(path) {
      const stat = await good.stat(path)
      return stat && { ...stat, tag: String(stat.size) }
    },
  }),
  'lists are not sorted': (good) => ({ list: async (path) => [...(await good.list(path))].reverse() }),
  'lists are sorted by locale': (good) => ({
    list: async (path) => [...(await good.list(path))].sort((a, b) => a.name.localeCompare(b.name)),
  }),
  'names are looked up in an object': (good) => ({
    stat: async (path) => ((path as string) in {} ? { type: 'file', size: 0, tag: '' } : good.stat(path)),
  }),
  'stat of a missing path is an error': (good) => ({
    async stat(path) {
      const stat = await good.stat(path)
      if (stat === undefined) throw new ToolError('NOT_FOUND', 'nothing', { path })
      return stat
    },
  }),
  'canonical resolves nothing': () => ({ canonical: async (path) => path as Path }),
  'canonical ignores noFollow': (good) => ({ canonical: (path) => good.canonical(path) }),
  'canonical always keeps the last name': (good) => ({ canonical: (path) => good.canonical(path, { noFollow: true }) }),
  'reads follow links': (good) => ({ read: async (path, range) => good.read(await good.canonical(path), range) }),
  'stat follows links': (good) => ({ stat: async (path) => good.stat(await good.canonical(path).catch(() => path)) }),
  'stat refuses a path that leads through a link': (good) => ({
    async stat(path) {
      const canonical = await good.canonical(path, { noFollow: true }).catch(() => path)
      if (canonical !== path) throw new ToolError('PATH_REJECTED', 'a link')
      return good.stat(path)
    },
  }),
  'commits follow links': (good) => ({
    async commit(changes, how) {
      const followed: Change[] = []
      for (const one of changes) followed.push({ ...one, path: await good.canonical(one.path).catch(() => one.path) })
      return good.commit(followed, how)
    },
  }),
  'links can have any target': (good) => ({
    commit: (changes, how) =>
      good.commit(
        changes.map((one) => (one.to?.type === 'link' ? { ...one, to: { type: 'link', target: 'x' } } : one)),
        how,
      ),
  }),
  'writers race between check and write': (good) => ({
    async commit(changes, how) {
      const before = good.fork()
      await before.commit(changes, how)
      await new Promise((resolve) => setTimeout(resolve, 1))
      return good.commit(
        changes.map((one) => ({ ...one, expect: 'any' })),
        how,
      )
    },
  }),
  'times are not stored': (good) => ({ commit: (changes, { at: _, ...how }) => good.commit(changes, how) }),
  'scan uses another order': (good) => ({ scan: (paths, visit) => good.scan([...paths].reverse(), visit) }),
  'scan does not stop': (good) => ({
    scan: (paths, visit) => good.scan(paths, (path, bytes, stat) => visit(path, bytes, stat) || true),
  }),
  'a fork is not a copy': (good) => ({ fork: () => good }),
  'each access returns a new tree': (good) => ({ tree: () => ({ ...good.tree() }) }),
  'close cannot be called twice': (good) => {
    let closed = false
    return {
      async close() {
        if (closed) throw new ToolError('BACKEND_ERROR', 'closed')
        closed = true
        await good.close()
      },
    }
  },
}

describe('the contract detects that', () => {
  it.each(Object.keys(faults))('%s', async (name) => {
    const create = () => {
      const good = memory()
      return { backend: { ...good, ...(faults[name] as Break)(good) } }
    }
    expect(await firstFailure(create)).toBeDefined()
  })

  it('an operation that must be refused succeeds', async () => {
    const create = () => ({ backend: { ...memory(), readLink: async () => 'anything' } })
    const one = backendContract({ name: 'broken', create }).find(({ name }) => name.includes('logical paths only'))
    await expect(one?.run()).rejects.toThrow('d/none must be refused')
  })

  it('the backend has no fault: nothing is reported', async () => {
    expect(await firstFailure(() => ({ backend: { ...memory() } }))).toBeUndefined()
  })

  it('nowhere in a backend that returns new objects in each receipt', async () => {
    const create = () => {
      const good = memory()
      const commit: Backend['commit'] = async (...set) => JSON.parse(JSON.stringify(await good.commit(...set)))
      return { backend: { ...good, commit } }
    }
    expect(await firstFailure(create)).toBeUndefined()
  })

  it('a persistent backend has no reopen', async () => {
    const good = memory()
    const create = () => ({ backend: { ...good, capabilities: { ...good.capabilities, persistent: true } } })
    const one = backendContract({ name: 'persistent', create }).find(({ name }) => name.includes('reopened'))
    await expect(one?.run()).rejects.toThrow('reopen')
  })
})

describe('the contract skips', () => {
  it('only capabilities that a backend declares absent, with the reason', async () => {
    const create = () => {
      const good = memory()
      const capabilities = { ...good.capabilities, links: false, modes: false }
      const commit: Backend['commit'] = async (changes, how) => {
        const link = changes.find(({ to }) => to?.type === 'link')
        if (link)
          throw new ToolError('INVALID_INPUT', `Cannot link "${link.path}": links are not supported`, {
            path: link.path,
          })
        return good.commit(changes, how)
      }
      return { backend: { ...good, capabilities, commit } }
    }
    const skipped = new Map<string, string>()
    for (const one of backendContract({
      name: 'poor',
      create,
      skip: { 'close can be called twice': 'for this test' },
    })) {
      const { skipped: reason } = await one.run()
      if (reason !== undefined) skipped.set(one.name, reason)
    }
    expect(skipped.get('close can be called twice')).toBe('for this test')
    expect(skipped.get('canonical refuses circular links')).toBe('the backend does not declare links')
    expect(skipped.get('a moved file keeps its permission bits')).toBe('the backend does not declare modes')
    expect(skipped.has('read returns exactly the committed bytes')).toBe(false)
  })
})

async function firstFailure(create: () => { backend: Backend }): Promise<string | undefined> {
  for (const one of backendContract({ name: 'broken', create })) {
    const failed = await one.run().then(
      () => false,
      () => true,
    )
    if (failed) return one.name
  }
  return undefined
}

describe('the contract names the mistake of its caller', () => {
  const create = () => ({ backend: memory() })
  it.each([
    [{ name: 'x', create, skipp: {} }, 'did you mean "skip"?'],
    [{ name: 'x', create, scale: { file: 3 } }, 'did you mean "files"?'],
    [{ name: 'x', create, scale: { files: 3 } }, '"scale.depth"'],
    [{ name: 'x' }, '"create"'],
    [{ create }, '"name"'],
  ])('%j', (options, message) => {
    expect(() => backendContract(options as never)).toThrow(message)
  })

  const good = memory()
  const capabilities = Object.entries({
    ...{ links: 'yes', modes: 1, times: 'yes', caseSensitive: null, authority: 'x', persistent: 0, atomic: 'sets' },
  })
  const subjects: readonly (readonly [name: string, subject: unknown, message: string])[] = [
    ['the backend itself', good, '"backend" of the result of create() must be a backend'],
    ['no capabilities', { backend: { ...good, capabilities: undefined } }, '"backend.capabilities"'],
    [
      'an unknown capability',
      { backend: { ...good, capabilities: { ...good.capabilities, atomc: 'set' } } },
      '"atomic"?',
    ],
    ...capabilities.map(
      ([name, value]) =>
        [
          name,
          { backend: { ...good, capabilities: { ...good.capabilities, [name]: value } } },
          `capabilities.${name}"`,
        ] as const,
    ),
    ...Object.keys(good.capabilities).map((name) => {
      const { [name as 'links']: _omitted, ...others } = good.capabilities
      return [`no ${name}`, { backend: { ...good, capabilities: others } }, `capabilities.${name}"`] as const
    }),
    ...['canonical', 'stat', 'list', 'read', 'readLink', 'commit', 'close'].map(
      (name) => [`no ${name}`, { backend: { ...good, [name]: undefined } }, `has the method "${name}"`] as const,
    ),
  ]
  it.each(subjects)('%s', async (_name, subject, message) => {
    const [first] = backendContract({ name: 'x', create: () => subject as never })
    await expect(first?.run()).rejects.toThrow(message)
    const { backend } = subject as { backend?: never }
    if (backend !== undefined) await expect(createWorkspace({ backend, policy: 'readOnly' })).rejects.toThrow(message)
  })
})
