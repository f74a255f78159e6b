import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { ToolError } from '../../src/errors.ts'
import { sha256Text } from '../../src/files/hash/sha256.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import {
  at,
  bytesOf,
  change,
  commit,
  directory,
  file,
  snapshot,
  textAt,
  textOf,
} from '../../src/testing/backend/case.ts'
import { type BackendFault, backendContract, faulty, testClock } from '../../src/testing/index.ts'
import { testWorkspace } from '../../src/testing/test-workspace.ts'

const codeOf = async (request: Promise<unknown>) =>
  request.then(
    () => 'ok',
    (error: unknown) => (error instanceof ToolError ? error.code : String(error)),
  )
const sample = { 'a.txt': 'one\n', 'd/b.txt': 'two\n', l: { link: 'a.txt' } }

/** The guarantees that the storage lacks: it applies change sets file by file. */
const eachByItself = (backend: Backend): Backend => {
  const { fork: _, tree: __, ...rest } = backend
  return { ...rest, capabilities: { ...backend.capabilities, atomic: 'file' } }
}

describe('a fault', () => {
  const fields = ['on', 'path', 'nth', 'from', 'chance', 'when', 'latencyMs', 'run', 'short', 'error', 'crash']
  const samples = [null, true, false, 'x', -1, 1.5, Number.NaN, {}, [], [null], () => {}, Symbol('x')]
  const right: Readonly<Record<string, (value: unknown) => boolean>> = {
    on: (value) => Array.isArray(value) && value.length === 0,
    path: (value) => typeof value === 'string',
    run: (value) => typeof value === 'function',
    crash: (value) => value === true,
  }
  const ways: Readonly<Record<string, (fault: never) => unknown>> = {
    faulty: (fault) => faulty(memory(), fault),
    'a list of faulty': (fault) => faulty(memory(), [fault]),
    inject: (fault) => faulty(memory()).inject(fault),
    testWorkspace: (fault) => testWorkspace({}, { faults: fault }),
  }

  it.each(Object.entries(ways))('of %s has no unknown field and no wrong value', async (_name, open) => {
    const attempt = async (fault: object) => open(fault as never)
    for (const field of fields) {
      const misspelled = `${field}${field.at(-1)}`
      await expect(attempt({ [misspelled]: undefined }), misspelled).rejects.toThrow(`did you mean "${field}"?`)
      for (const value of samples.filter((sample) => right[field]?.(sample) !== true)) {
        await expect(attempt({ [field]: value }), `${field}: ${String(value)}`).rejects.toThrow(TypeError)
      }
    }
    await expect(attempt({ on: 'comit' })).rejects.toThrow('did you mean "commit"?')
    await expect(attempt({ error: 'NO_SPACES' })).rejects.toThrow('did you mean "NO_SPACE"?')
  })
})

describe('a faulty backend without faults', () => {
  for (const one of backendContract({ name: 'faulty', create: () => ({ backend: faulty(memory()) }) })) {
    it(one.name, async () => {
      await one.run()
    })
  }

  it('offers the methods of the wrapped backend except its tree and what reads without a promise', () => {
    const { tree, readsNow, ...own } = memory()
    expect(Object.keys(faulty(memory())).sort()).toEqual(
      [...Object.keys(own), 'calls', 'crashed', 'inject', 'heal'].sort(),
    )
    const plain = { ...own, scan: undefined, fork: undefined } as unknown as Backend
    expect(Object.keys(faulty(plain))).not.toContain('scan')
    expect(tree().get('none')).toBeUndefined()
  })

  it('fails the contract with a short read or an error after the call', async () => {
    const faults: readonly BackendFault[] = [
      { on: 'commit', short: 1 },
      { on: 'read', short: 1 },
      { on: 'scan', short: 1 },
      { on: 'commit', when: 'after', error: 'NO_SPACE' },
      { on: 'commit', crash: true, nth: 2 },
    ]
    for (const fault of faults) {
      const cases = backendContract({ name: 'faulty', create: () => ({ backend: faulty(memory(), fault) }) })
      // Stops at the first failed case, because a case that retries until it succeeds would never end.
      const all = async () => {
        for (const one of cases) await one.run()
      }
      await expect(all(), JSON.stringify(fault)).rejects.toThrow()
    }
  })
})

describe('an error', () => {
  it('occurs for its operation, paths and count, and names the call', async () => {
    const backend = faulty(memory(sample), [
      { on: 'read', path: 'd/**', error: 'NO_SPACE' },
      { on: ['stat', 'list'], nth: 2, error: 'ABORTED' },
      { on: 'readLink', from: 2, error: new RangeError('as it is') },
      { on: 'canonical', path: /^l$/g, error: 'BACKEND_ERROR' },
    ])
    expect(textOf((await backend.read(at('a.txt'))).bytes)).toBe('one\n')
    await expect(backend.read(at('d/b.txt'))).rejects.toMatchObject({
      code: 'NO_SPACE',
      message: 'Cannot read "d/b.txt": a fault was injected',
      details: { path: 'd/b.txt' },
    })
    expect(await codeOf(backend.stat(at('a.txt')))).toBe('ok')
    expect(await codeOf(backend.list(at('d')))).toBe('ABORTED')
    expect(await codeOf(backend.list(at('d')))).toBe('ok')
    const links = [await codeOf(backend.readLink(at('l'))), await codeOf(backend.readLink(at('l')))]
    expect([...links, await codeOf(backend.readLink(at('l')))]).toEqual([
      'ok',
      'RangeError: as it is',
      'RangeError: as it is',
    ])
    for (const _ of [1, 2]) expect(await codeOf(backend.canonical(at('l')))).toBe('BACKEND_ERROR')
    expect(backend.calls.slice(0, 2)).toEqual([
      { operation: 'read', paths: ['a.txt'] },
      { operation: 'read', paths: ['d/b.txt'] },
    ])
  })

  it('occurs before or after a commit', async () => {
    for (const [when, expected] of [
      ['before', 'one\n'],
      ['after', 'new'],
    ] as const) {
      const inner = memory(sample)
      const backend = faulty(inner, { on: 'commit', path: 'a.txt', when, error: 'BACKEND_ERROR' })
      expect(await codeOf(commit(backend, change('d/b.txt', file('x')), change('a.txt', file('new'))))).toBe(
        'BACKEND_ERROR',
      )
      expect(await textAt(inner, 'a.txt')).toBe(expected)
    }
  })

  it('occurs in optional operations', async () => {
    const inner: Backend = {
      ...memory(sample),
      statDirectories: async (directories) => directories.map(() => undefined),
      walk: async () => {},
      containsPhysicalPath: (path) => path === '/inside',
    }
    const visitor = { visit: () => [], skipped: () => {} }
    const good = faulty(inner)
    expect(await good.statDirectories?.([at('')], () => undefined)).toEqual([undefined])
    await good.walk?.(at(''), visitor)
    expect([good.containsPhysicalPath?.('/inside'), good.containsPhysicalPath?.('/outside')]).toEqual([true, false])
    const bad = faulty(inner, { on: ['statDirectories', 'walk', 'scan'], error: 'BACKEND_ERROR' })
    expect(await codeOf(bad.statDirectories?.([at('')], () => undefined) ?? Promise.resolve())).toBe('BACKEND_ERROR')
    await expect(bad.walk?.(at('d'), visitor)).rejects.toThrow('Cannot list "d": a fault was injected')
    expect(await codeOf(bad.scan?.([at('a.txt')], () => true) ?? Promise.resolve())).toBe('BACKEND_ERROR')
    await expect(bad.scan?.([], () => true)).resolves.toBeUndefined()
  })

  it('occurs in forks too, with a shared count', async () => {
    const backend = faulty(memory(sample), { on: 'read', nth: 2, error: 'NO_SPACE' })
    const fork = backend.fork?.() as Backend
    expect(await codeOf(backend.read(at('a.txt')))).toBe('ok')
    expect(await codeOf(fork.read(at('a.txt')))).toBe('NO_SPACE')
  })

  it('can be added and removed at any time', async () => {
    const backend = faulty(memory(sample), {
      on: 'commit',
      when: 'after',
      run: () => backend.inject({ on: 'read', error: 'BACKEND_ERROR' }),
    })
    expect(await codeOf(backend.read(at('a.txt')))).toBe('ok')
    await commit(backend, change('new', file('x')))
    expect(await codeOf(backend.read(at('a.txt')))).toBe('BACKEND_ERROR')
    backend.heal()
    expect(await codeOf(backend.read(at('a.txt')))).toBe('ok')
  })
})

describe('chance', () => {
  it('is decided by the seed alone', async () => {
    const outcomes = async (seed: number) => {
      const backend = faulty(memory(sample), { on: 'read', chance: 0.5, error: 'BACKEND_ERROR' }, { seed })
      const codes: string[] = []
      for (let i = 0; i < 64; i++) codes.push(await codeOf(backend.read(at('a.txt'))))
      return codes.join()
    }
    const seven = await outcomes(7)
    expect(await outcomes(7)).toBe(seven)
    expect(await outcomes(8)).not.toBe(seven)
    for (const code of ['ok', 'BACKEND_ERROR']) expect(seven).toContain(code)
    expect(await outcomes(0)).toBe(await outcomes(2 ** 32))
  })

  it('of 0 never causes an error, of 1 always', async () => {
    const never = faulty(memory(sample), { chance: 0, error: 'BACKEND_ERROR' })
    const always = faulty(memory(sample), { chance: 1, error: 'BACKEND_ERROR' })
    for (let i = 0; i < 20; i++) {
      expect(await codeOf(never.stat(at('a.txt')))).toBe('ok')
      expect(await codeOf(always.stat(at('a.txt')))).toBe('BACKEND_ERROR')
    }
  })
})

describe('latency', () => {
  it('lasts until the clock advances', async () => {
    const clock = testClock()
    const backend = faulty(memory(sample), { on: 'read', latencyMs: 50 }, { wait: clock.wait })
    let done = false
    const reading = backend.read(at('a.txt')).then(() => {
      done = true
    })
    await clock.advance(49)
    expect(done).toBe(false)
    await clock.advance(1)
    await reading
    expect(clock()).toBe(testClock()() + 50)
  })

  it('passes at once if `wait` advances the clock', async () => {
    const clock = testClock(0)
    const backend = faulty(memory(sample), { on: 'read', when: 'after', latencyMs: 50 }, { wait: clock.advance })
    await Promise.all([backend.read(at('a.txt')), backend.read(at('a.txt'))])
    expect(clock()).toBe(100)
  })
})

describe('a short read or write', () => {
  it('reads and stores a part, and reports the whole', async () => {
    const inner = memory(sample)
    const backend = faulty(inner, [
      { on: 'read', path: 'a.txt', short: 2 },
      { on: 'scan', short: 1 },
      { on: 'commit', path: 'new', short: 3 },
      { on: 'commit', path: 'new', short: 9 },
    ])
    const { bytes, stat } = await backend.read(at('a.txt'))
    expect([textOf(bytes), stat.size]).toEqual(['on', 4])
    const paths: string[] = []
    await backend.scan?.([at('a.txt'), at('d/b.txt')], (path, part) => paths.push(`${path} ${textOf(part)}`) > 0)
    expect(paths).toEqual(['a.txt o', 'd/b.txt t'])
    const { applied } = await commit(
      backend,
      change('new', { type: 'file', bytes: bytesOf('whole'), sharedPrefix: 4 }),
      change('e', directory),
      change('l', null),
    )
    expect(applied.map(({ after }) => after)).toEqual([
      { type: 'file', sha256: sha256Text('whole'), size: 5, mode: 0o644 },
      { type: 'directory' },
      null,
    ])
    expect(await textAt(inner, 'new')).toBe('who')
  })
})

describe('a crash', () => {
  it('fails all calls, including those in progress, and leaves the storage to the next process', async () => {
    const clock = testClock()
    const inner = memory(sample)
    const { wait } = clock
    const slow = faulty(inner, { on: 'stat', latencyMs: 10 }, { wait })
    const faults = [
      { on: 'readLink', latencyMs: 10 },
      { on: 'list', crash: true, when: 'before' },
    ] as const
    const backend = faulty(slow, faults, { wait })
    const waiting = Promise.all([codeOf(backend.stat(at('a.txt'))), codeOf(backend.readLink(at('l')))])
    expect(backend.crashed).toBe(false)
    await expect(backend.list(at('d'))).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot list "d": the storage has crashed',
    })
    await clock.advance(10)
    expect(await waiting).toEqual(['BACKEND_ERROR', 'BACKEND_ERROR'])
    expect(backend.crashed).toBe(true)
    expect(await codeOf(commit(backend, change('new', file('x'))))).toBe('BACKEND_ERROR')
    expect(await inner.stat(at('new'))).toBeUndefined()
    await expect(commit(backend)).rejects.toThrow('Cannot change "": the storage has crashed')
    await backend.close()
    backend.heal()
    expect(await codeOf(commit(backend, change('new', file('x'))))).toBe('ok')
  })

  it('with `when` leaves the commit not started or complete', async () => {
    for (const [when, expected] of [
      ['before', 'one\n'],
      ['after', 'new'],
    ] as const) {
      const inner = memory(sample)
      const backend = faulty(inner, { on: 'commit', crash: true, when })
      expect(await codeOf(commit(backend, change('a.txt', file('new'))))).toBe('BACKEND_ERROR')
      expect(await textAt(inner, 'a.txt')).toBe(expected)
    }
  })

  const set = [
    change('a.txt', null),
    change('d/b.txt', file('new two')),
    change('e', directory),
    change('e/moved', file('one\n'), 'absent', 'a.txt'),
  ]

  /** Returns every tree that a crash during the change set leaves, for many seeds. */
  async function crashed(open: (inner: Backend) => Backend): Promise<Set<string>> {
    const match = new Set<string>()
    for (let seed = 0; seed < 60; seed++) {
      const inner = memory(sample)
      const backend = faulty(open(inner), { on: 'commit', crash: true }, { seed })
      expect(await codeOf(commit(backend, ...set))).toBe('BACKEND_ERROR')
      match.add(JSON.stringify([...(await snapshot(inner))].sort()))
    }
    return match
  }
  const textOf = async (inner: Backend) => JSON.stringify([...(await snapshot(inner))].sort())

  it('leaves the whole set or nothing if sets are atomic', async () => {
    const after = memory(sample)
    await commit(after, ...set)
    expect([...(await crashed((inner) => inner))].sort()).toEqual(
      [await textOf(memory(sample)), await textOf(after)].sort(),
    )
  })

  it('leaves any prefix of the set, with whole files, if only files are atomic', async () => {
    const beginnings = new Set<string>()
    const growing = memory(sample)
    beginnings.add(await textOf(growing))
    const steps = [set[0], set[2], set[1], change('e/moved', file('one\n'))]
    for (const step of steps) {
      if (step !== undefined) await commit(growing, step)
      beginnings.add(await textOf(growing))
    }
    expect([...(await crashed(eachByItself))].sort()).toEqual([...beginnings].sort())
  })

  it('leaves the previous content if the set would be refused', async () => {
    for (let seed = 0; seed < 10; seed++) {
      const inner = memory(sample)
      const backend = faulty(inner, { on: 'commit', crash: true }, { seed })
      await codeOf(commit(backend, change('a.txt', file('x'), { sha256: '0'.repeat(64) })))
      expect(await textAt(inner, 'a.txt')).toBe('one\n')
    }
  })

  it('at any call of any run preserves acknowledged commits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), fc.integer(), async (nth, seed) => {
        const inner = memory({ f: '0' })
        const backend = faulty(inner, { nth, crash: true }, { seed })
        let acknowledged = 0
        for (let i = 1; i <= 6; i++) {
          await backend.read(at('f')).catch(() => undefined)
          if ((await codeOf(commit(backend, change('f', file(String(i)))))) === 'ok') acknowledged = i
        }
        const left = Number(await textAt(inner, 'f'))
        expect([acknowledged, acknowledged + 1]).toContain(left)
        expect(backend.crashed).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

describe('an invalid fault', () => {
  it.each<BackendFault>([
    { nth: 0 },
    { nth: 1.5 },
    { from: -1 },
    { chance: 2 },
    { chance: Number.NaN },
    { latencyMs: 5 },
    { short: -1 },
    { error: 'ENOSPC' as 'NO_SPACE' },
    { error: 'toString' as 'NO_SPACE' },
  ])('is a TypeError: %j', (fault) => {
    expect(() => faulty(memory(), fault)).toThrow(TypeError)
    expect(() => faulty(memory()).inject(fault)).toThrow(TypeError)
  })

  it('is refused for an invalid glob', () => {
    expect(() => faulty(memory(), { path: '../x' })).toThrow(/\.\./)
  })
})

// The root is treated like any other path.
describe('the root', () => {
  it('matches ** and is named in messages', async () => {
    const backend = faulty(memory(), { path: '**', error: 'BACKEND_ERROR' })
    await expect(backend.list('' as Path)).rejects.toThrow('Cannot list ""')
    await expect(commit(backend)).resolves.toBeDefined()
  })
})
