import fc from 'fast-check'
import { Volume } from 'memfs'
import { describe, expect, it } from 'vitest'
import { createFs, type WorkspaceFs } from '../../src/adapters/fs/index.ts'
import { memfs } from '../../src/backends/memfs/index.ts'
import { type MemoryEntry, memory } from '../../src/backends/memory/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { type Backend, createWorkspace, mounts, type PolicyInput, readOnly, type Workspace } from '../../src/index.ts'
import { times } from '../counts.ts'

const TOKEN = `ghp_${'aB3'.repeat(12)}`
const tree: Readonly<Record<string, MemoryEntry>> = {
  'a.txt': 'one',
  'run.sh': { text: '#!/bin/sh\n', mode: 0o755 },
  'token.txt': `key ${TOKEN}\n`,
  '.env': 'KEY=1\n',
  '.git/config': '[core]\n',
  'd/x.ts': 'x\n',
  'd/deep/y.ts': 'y\n',
  'private/plan.md': 'the plan\n',
  'ask/z.md': 'z\n',
  'to-x': { link: 'd/x.ts' },
  'to-plan': { link: 'private/plan.md' },
  'to-env': { link: '.env' },
  dangling: { link: 'gone' },
  loop: { link: 'loop' },
  empty: { directory: true },
}

const policies: readonly PolicyInput[] = [
  'autonomous',
  'readOnly',
  'supervised',
  { preset: 'autonomous', deniedPaths: ['private/**'] },
  { preset: 'autonomous', rules: [{ name: 'ask', action: 'ask', paths: ['ask/**'] }] },
  { preset: 'autonomous', rules: [{ name: 'no info', action: 'deny', permissions: ['file:info'], paths: ['d/**'] }] },
  {
    preset: 'autonomous',
    rules: [{ name: 'by name', action: 'deny', tools: ['read_file'], args: { path: ['*.txt'] } }],
  },
  { allowedPaths: ['d/**', 'to-x', 'ask/**'] },
  {
    preset: 'autonomous',
    labels: {
      sources: [
        { label: 'confidential', paths: ['d/**'] },
        { label: 'restricted', paths: ['private/**'] },
      ],
    },
  },
]

/** The same files in backends that have all content in memory. */
const backends: Readonly<Record<string, () => Backend>> = {
  memory: () => memory(tree),
  memfs() {
    const volume = new Volume()
    for (const [path, entry] of Object.entries(tree)) {
      const at = `/${path}`
      volume.mkdirSync(at.slice(0, at.lastIndexOf('/')) || '/', { recursive: true })
      if (typeof entry === 'string') volume.writeFileSync(at, entry)
      else if ('link' in entry) volume.symlinkSync(entry.link, at)
      else if ('text' in entry) volume.writeFileSync(at, entry.text, { mode: entry.mode ?? 0o644 })
      else volume.mkdirSync(at)
    }
    return memfs(volume)
  },
  fork: () => memory(tree).fork(),
  overlay: () => overlay(memory(tree)),
  'read-only': () => readOnly(memory(tree)),
}

type Step = readonly [name: string, ...args: unknown[]]

const places = [
  ...Object.keys(tree),
  '',
  'd',
  'd/deep',
  'private',
  'ask',
  '.git',
  'none',
  'a.txt/x',
  '../up',
  'loop/x',
  'a:b',
]
const path = fc.constantFrom(...places).map((at) => `/${at}`)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constantFrom('readFile'), path, fc.constantFrom('utf8', 'hex', undefined)),
  fc.tuple(fc.constantFrom('stat', 'lstat', 'readlink', 'realpath', 'readdir'), path),
  fc.tuple(fc.constant('access'), path, fc.constantFrom(0, 1, 4)),
  fc.tuple(fc.constant('readdir'), path, fc.record({ withFileTypes: fc.boolean(), recursive: fc.boolean() })),
) as fc.Arbitrary<Step>

type Functions = Readonly<Record<string, (...args: unknown[]) => unknown>>

/** The value of a step, or its error with the code of its cause. Stats and entries are compared by their fields. */
async function attempt(act: () => unknown): Promise<unknown> {
  try {
    const value = await act()
    return JSON.parse(JSON.stringify({ value: value ?? null, type: kindOf(value) }, withoutTimes))
  } catch (error) {
    const { code, message, cause } = error as { code: string; message: string; cause?: { code?: string } }
    return { code, message, cause: cause?.code }
  }
}

/** Times and numbers of a volume differ between two that are created one after another. */
function withoutTimes(key: string, value: unknown): unknown {
  return key === 'ino' || key.endsWith('Ms') ? undefined : value
}

function kindOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(kindOf)
  const entry = Object(value) as { isFile?(): boolean; isDirectory?(): boolean; isSymbolicLink?(): boolean }
  return entry.isFile === undefined ? typeof value : [entry.isFile(), entry.isDirectory?.(), entry.isSymbolicLink?.()]
}

/** What the audit says about the calls, apart from times and the id of the run. */
function auditOf(workspace: Workspace): unknown[] {
  const records = JSON.stringify(workspace.auditRecords(), (key, value) =>
    ['timestamp', 'durationMs', 'hash', 'previousHash'].includes(key) ? undefined : value,
  )
  const parsed = JSON.parse(records.replaceAll(workspace.id, 'run')) as Record<string, unknown>[]
  // Metadata that a program reads later is not labelled yet in the record of its call.
  for (const record of parsed)
    if (record.via === 'files.stat') for (const name of ['label', 'taint']) delete record[name]
  return parsed
}

describe('synchronous functions', () => {
  it('do what those with promises do: results, errors, records, labels and budgets', async () => {
    const cases = fc.record({
      backend: fc.constantFrom(...Object.keys(backends)),
      policy: fc.constantFrom(...policies),
      budget: fc.option(fc.constantFrom(3, 40)),
      steps: fc.array(step, { minLength: 1, maxLength: 8 }),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ backend, policy, budget, steps }) => {
        const limits = budget === null ? {} : { bytesReadPerRun: budget }
        const openOne = () =>
          createWorkspace({
            backend: (backends[backend] as () => Backend)(),
            policy,
            limits: { callsPerMinute: 10_000, ...limits },
          })
        const [later, now] = [await openOne(), await openOne()]
        const promises = createFs(later).promises as unknown as Functions
        const sync = createFs(now) as unknown as Functions
        for (const [name, ...args] of steps) {
          const expected = await attempt(() => promises[name]?.(...args))
          expect(await attempt(() => sync[`${name}Sync`]?.(...args)), JSON.stringify([name, ...args])).toEqual(expected)
        }
        expect(now.taint.label()).toBe(later.taint.label())
        expect(auditOf(now)).toEqual(auditOf(later))
        expect(now.verifyAudit().ok).toBe(true)
        await Promise.all([later.close(), now.close()])
      }),
      { numRuns: times(30, 3_000) },
    )
  })

  it('see each change at once, and return what a program may write into', async () => {
    const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'one' }), policy: 'autonomous' })
    const fs = createFs(workspace)
    const bytes = fs.readFileSync('a.txt') as Uint8Array
    bytes.fill(0)
    expect(fs.readFileSync('a.txt', 'utf8')).toBe('one')
    await fs.promises.writeFile('b.txt', 'two')
    expect([fs.existsSync('/b.txt'), fs.existsSync('/c.txt')]).toEqual([true, false])
    expect(fs.statSync('/none', { throwIfNoEntry: false })).toBeUndefined()
    expect(() => fs.statSync('/none')).toThrow("ENOENT: no such file or directory, stat '/none'")
    expect(fs.realpathSync.native('b.txt')).toBe('/b.txt')
    const fork = await workspace.fork()
    expect(createFs(fork).readFileSync('b.txt', 'utf8')).toBe('two')
    await fork.close()
  })

  it('use an approval for the run, and ask for none', async () => {
    const policy = { preset: 'autonomous', rules: [{ name: 'ask', action: 'ask', paths: ['ask/**'] }] } as const
    let asked = 0
    const approve = () => {
      asked += 1
      return { allow: 'run' } as const
    }
    const workspace = await createWorkspace({ backend: memory(tree), policy, approve })
    const fs = createFs(workspace)
    expect(() => fs.readFileSync('/ask/z.md')).toThrow(
      expect.objectContaining({ code: 'EPERM', cause: expect.objectContaining({ code: 'APPROVAL_REQUIRED' }) }),
    )
    expect(asked).toBe(0)
    await fs.promises.readFile('/ask/z.md')
    expect(fs.readFileSync('/ask/z.md', 'utf8')).toBe('z\n')
    expect(asked).toBe(1)
  })

  it('are ENOSYS where something has to wait, with the reason', async () => {
    const reason = async (options: { backend?: Backend; hooks?: object }, act: (fs: WorkspaceFs) => unknown) => {
      const workspace = await createWorkspace({ backend: memory(tree), policy: 'autonomous', ...options })
      const fs = createFs(workspace)
      try {
        act(fs)
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSYS' })
        return (error as { cause: Error }).cause.message
      }
      return undefined
    }
    const read = (fs: WorkspaceFs) => fs.readFileSync('a.txt')
    expect(await reason({}, read)).toBeUndefined()
    expect(await reason({ backend: mounts({ '': memory(tree) }) }, read)).toMatch(/does not have all content in memory/)
    expect(await reason({ hooks: { preToolCall: () => undefined } }, read)).toMatch(/hooks/)
    const write = (fs: WorkspaceFs) => (fs as unknown as Functions).writeFileSync?.('a.txt', 'x')
    expect(await reason({}, write)).toMatch(/a change waits/i)
  })
})
