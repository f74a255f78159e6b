import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { defaultLimits } from '../../src/limits.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { type FaultyBackend, faulty } from '../../src/testing/faulty.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
import { everyNth } from '../counts.ts'
import { snapshot } from '../tools/setup.ts'
import { toolRows, tree } from '../tools/table.ts'

const shell = bash()
afterAll(() => shell.close())

const files = { ...tree, '.wardspace/memory/x.md': 'x\n' }
/** Inputs that let a tool do its work, where those of the table do not. */
const inputs: Readonly<Record<string, object>> = {
  run_command: { command: 'cat a.ts > new.ts; grep -r one .' },
  write_file: { path: 'new/x.ts', content: 'x' },
}
const tools = toolRows
  .filter(([name]) => !['check_command', 'stop_command', 'submit_plan'].includes(name))
  .map(([name, { input }]) => [name, inputs[name] ?? input] as const)

async function open() {
  const lower = memory(files)
  const backend = faulty(lower)
  const workspace = await createWorkspace({
    backend,
    policy: { preset: 'autonomous', memory: {} },
    shell,
    tools: 'full',
  })
  return { lower, backend, workspace }
}

/** Lets one read not answer until it is released. `begun` resolves when it is made. */
function hang(backend: FaultyBackend, nth: number) {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const begun = new Promise<void>((resolve) => {
    const run = () => {
      resolve()
      return released
    }
    backend.inject({ on: reads, nth, run })
  })
  return { begun, release }
}
const reads = ['canonical', 'stat', 'list', 'read', 'readLink', 'scan', 'walk', 'statDirectories'] as const

/** Returns how many reads a call makes. */
async function readsOf(name: string, input: object): Promise<number> {
  const { backend, workspace } = await open()
  const before = backend.calls.length
  await workspace.callTool(name, input)
  return backend.calls.slice(before).filter(({ operation }) => operation !== 'commit').length
}

/** The reads of a call at which one does not answer. */
async function readsToTry(name: string, input: object): Promise<number[]> {
  const count = await readsOf(name, input)
  expect(count, 'reads of the call').toBeGreaterThan(0)
  const all = Array.from({ length: count }, (_, i) => i + 1)
  return name.endsWith('_command') ? everyNth(all, 4) : all
}

describe.concurrent.each(tools)('%s', (name, input) => {
  it('ends soon when it is cancelled, whichever read does not answer', async () => {
    await Promise.all((await readsToTry(name, input)).map((nth) => cancelledAt(name, input, nth)))
  })
})

describe.concurrent.each(tools.filter(([name]) => name === 'search_text' || name === 'run_command'))(
  '%s',
  (name, input) => {
    it('ends soon after its time limit, whichever read does not answer', async () => {
      await Promise.all((await readsToTry(name, input)).map((nth) => lateAt(name, { ...input, timeoutMs: 200 }, nth)))
    })
  },
)

it('returns what a search has found when its time is over, and searches no further afterwards', async () => {
  const lower = memory({ 'a.txt': 'x\n', 'b.txt': 'x\nx\n', 'c.txt': 'x\n', 'd.txt': 'x\n' })
  const reads: string[] = []
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const read = async (path: Path) => {
    reads.push(path)
    if (path === 'c.txt') await released
    return lower.read(path)
  }
  const { scan: _, tree: __, readsNow: ___, ...others } = lower
  const backend = { ...others, read }
  const workspace = await createWorkspace({ backend, policy: 'autonomous' })
  const answer = await workspace.callTool('search_text', { query: 'x', filesOnly: true, timeoutMs: 100 })
  const files = [
    expect.objectContaining({ path: 'a.txt', count: 1 }),
    expect.objectContaining({ path: 'b.txt', count: 2 }),
  ]
  expect(answer).toMatchObject({ ok: true, files, truncated: true, truncatedReason: 'timeout', filesSearched: 2 })
  release()
  await new Promise((resume) => setTimeout(resume, 20))
  expect(reads).toEqual(['a.txt', 'b.txt', 'c.txt'])
})

const walks = [
  ['list_directory', { maxDepth: 9 }],
  ['find_files', { pattern: '**' }],
  ['search_text', { query: 'one' }],
] as const
it.each(walks)('%s lists no further directory when it is cancelled', async (name, input) => {
  const backend = faulty(memory(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`d${i}/a.ts`, 'one']))))
  const workspace = await createWorkspace({ backend, policy: 'autonomous' })
  const controller = new AbortController()
  backend.inject({ on: 'list', nth: 3, run: () => controller.abort() })
  const result = await workspace.callTool(name, input, { signal: controller.signal })
  expect(result).toMatchObject({ code: 'ABORTED' })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(backend.calls.filter(({ operation }) => operation === 'list').length).toBeLessThan(10)
})

it('may have one signal with many calls at the same time', async () => {
  const warnings: Error[] = []
  process.on('warning', (warning) => warnings.push(warning))
  const { workspace } = await open()
  const { signal } = new AbortController()
  await Promise.all(Array.from({ length: 20 }, () => workspace.callTool('read_file', { path: 'a.ts' }, { signal })))
  expect(warnings).toEqual([])
})

it('takes every limit on time, also the largest, as that time', async () => {
  const names = Object.keys(defaultLimits).filter((name) => /Ms(?:Hard)?$/.test(name))
  const limits = Object.fromEntries(names.map((name) => [name, Number.MAX_SAFE_INTEGER]))
  const soon = <T>(value: T) => new Promise<T>((resolve) => setTimeout(resolve, 20, value))
  const workspace = await createWorkspace({
    ...{ backend: memory(files), shell, policy: 'supervised', limits },
    approve: () => soon('allow' as const),
    hooks: { preToolCall: () => soon(undefined) },
    checks: [{ name: 'slow', check: () => soon([]) }],
  })
  const calls = [
    ['search_text', { query: 'one' }],
    ['write_file', { path: 'new.txt', content: 'x' }],
    ['run_command', { command: 'sleep 0.1; node -e "setTimeout(() => {}, 20)"' }],
  ] as const
  for (const [name, input] of calls) {
    const answer = await workspace.callTool(name, input)
    expect([name, answer]).toEqual([name, expect.objectContaining({ ok: true, warnings: [] })])
  }
})

it('does not count the time in which a person decides', async () => {
  const workspace = await createWorkspace({
    backend: memory(files),
    shell,
    policy: 'supervised',
    approve: () => new Promise((resolve) => setTimeout(resolve, 900, 'allow')),
  })
  const input = { command: 'echo one', timeoutMs: 100 }
  expect(await workspace.callTool('run_command', input)).toMatchObject({ ok: true, stdout: 'one\n' })
})

async function lateAt(name: string, input: object, nth: number): Promise<void> {
  const { lower, backend, workspace } = await open()
  const { begun, release } = hang(backend, nth)
  const before = await snapshot(lower)
  const started = performance.now()
  const ending = workspace.callTool(name, input)
  const isMade = await Promise.race([begun.then(() => true), ending.then(() => false)])
  const answer = await ending
  expect(performance.now() - started).toBeLessThan(5000)
  if (isMade) {
    expect(answer).toMatchObject({ ok: false, code: expect.stringMatching(/_TIMEOUT$/) })
    expect(await snapshot(lower)).toEqual(before)
  }
  release()
}

async function cancelledAt(name: string, input: object, nth: number): Promise<void> {
  const { lower, backend, workspace } = await open()
  const { begun, release } = hang(backend, nth)
  const stop = new AbortController()
  const before = await snapshot(lower)
  const ending = workspace.callTool(name, input, { signal: stop.signal })
  // Of the reads that a call makes at the same time, fewer may be made.
  const isMade = await Promise.race([begun.then(() => true), ending.then(() => false)])
  const started = performance.now()
  stop.abort()
  const answer = await ending
  expect(performance.now() - started).toBeLessThan(3000)
  if (isMade && !answer.ok) {
    expect(answer).toMatchObject({ code: 'ABORTED' })
    expect(await snapshot(lower)).toEqual(before)
  }
  const isCommitted = answer.ok && backend.calls.some(({ operation }) => operation === 'commit')
  expect(answer.ok).toBe(isCommitted || !isMade)
  expect(workspace.auditRecords().filter(({ phase }) => phase !== 'intent')).toHaveLength(1)
  // The next call waits for nothing of this one.
  expect(await workspace.callTool('read_file', { path: 'a.ts' })).toMatchObject({
    ok: name !== 'move_file' || !isCommitted,
  })
  const after = await snapshot(lower)
  const recorded = JSON.stringify(workspace.auditRecords())
  release()
  await new Promise((resume) => setTimeout(resume, 20))
  expect(await snapshot(lower)).toEqual(after)
  expect(JSON.stringify(workspace.auditRecords())).toBe(recorded)
}
