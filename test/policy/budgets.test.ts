import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Failure, type WorkspaceOptions } from '../../src/index.ts'
import type { PolicyLimits } from '../../src/policy/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

const sixty = `${'x'.repeat(59)}\n`

function open(limits: PolicyLimits, more: Partial<WorkspaceOptions> = {}) {
  return createWorkspace({
    backend: memory({ 'a.txt': sixty, 'b.txt': 'needle\n', 'big.txt': 'y'.repeat(10_000) }),
    policy: { preset: 'autonomous', limits },
    ...more,
  })
}

const over = (limit: string, value: number) => ({ ok: false, code: 'LIMIT_EXCEEDED', limit, value })

describe('bytes read', () => {
  it('are added up over all calls of a run, repeated reads included, and refused over the budget', async () => {
    const workspace = await open({ bytesReadPerRun: 130 })
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ ok: true })
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ ok: true })
    const refused = await workspace.call('read_file', { path: 'a.txt' })
    expect(refused).toMatchObject({ ...over('bytesReadPerRun', 130), hint: expect.any(String) })
    expect(JSON.stringify(refused)).not.toContain('xxx')
    // Smaller reads and other runs are still allowed.
    expect(await workspace.call('read_file', { path: 'b.txt' })).toMatchObject({ ok: true })
    expect(await workspace.run().call('read_file', { path: 'a.txt' })).toMatchObject({ ok: true })
    expect(await workspace.call('list_directory', {})).toMatchObject({ ok: true })
  })

  it.each([
    ['read_file', { path: 'big.txt', startLine: 1 }],
    ['edit_file', { path: 'big.txt', oldText: 'none', newText: 'x' }],
    ['search_text', { query: 'yyy' }],
    ['search_text', { query: 'yyy', filesOnly: true }],
    ['run_command', { command: 'cat big.txt' }],
    ['run_command', { command: 'grep -c y big.txt' }],
  ])('are refused in %s %j', async (name, input) => {
    const workspace = await open({ bytesReadPerRun: 1000 }, { shell: bash() })
    const result = await workspace.callTool(name, input)
    if (result.ok) expect(result).toMatchObject({ refused: [{ path: 'big.txt', code: 'LIMIT_EXCEEDED' }] })
    else expect(result).toMatchObject(over('bytesReadPerRun', 1000))
    expect(JSON.stringify(result)).not.toMatch(/y{20}/)
  })

  it('of a search include files with results only, not all scanned files', async () => {
    const workspace = await open({ bytesReadPerRun: 100 })
    expect(await workspace.call('search_text', { query: 'needle' })).toMatchObject({
      ok: true,
      matches: [{ path: 'b.txt' }],
    })
    expect(await workspace.call('search_text', { query: 'absent' })).toMatchObject({ ok: true, matches: [] })
  })
})

describe('bytes written', () => {
  it('are added up for the run, without refused writes', async () => {
    const workspace = await open({ bytesWrittenPerRun: 100 })
    const write = (path: string, size: number) => workspace.call('write_file', { path, content: 'x'.repeat(size) })
    expect(await write('1', 60)).toMatchObject({ ok: true })
    expect(await write('2', 60)).toMatchObject(over('bytesWrittenPerRun', 100))
    expect(await write('3', 40)).toMatchObject({ ok: true })
    expect(await write('4', 1)).toMatchObject(over('bytesWrittenPerRun', 100))
    expect(await workspace.call('find_files', { pattern: '[0-9]' })).toMatchObject({ files: ['1', '3'] })
  })
})

describe('calls per minute', () => {
  it('are refused with RATE_LIMITED and a waiting time by the given clock, and then continue', async () => {
    let now = 0
    const workspace = await open({ callsPerMinute: 3, toolCallsPerMinute: { search_text: 1 } }, { clock: () => now })
    const read = () => workspace.call('read_file', { path: 'a.txt' })
    const search = () => workspace.call('search_text', { query: 'needle' })
    expect(await search()).toMatchObject({ ok: true })
    now = 10_000
    const refused = (await search()) as Failure
    expect(refused).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 50_000,
      message: expect.stringContaining('search_text'),
    })
    await read()
    now = 20_000
    await read()
    expect(await read()).toMatchObject({ code: 'RATE_LIMITED', value: 3, retryAfterMs: 40_000 })
    now = 59_999
    expect(await search()).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 1 })
    now = 60_000
    expect(await search()).toMatchObject({ ok: true })
  })
})

describe('the budget of a patch', () => {
  it('comes from the policy if it sets one', async () => {
    const workspace = await open({ patchFiles: 1, patchInsertions: 2 })
    const add = (...names: string[]) =>
      `*** Begin Patch\n${names.map((name) => `*** Add File: ${name}\n+x\n`).join('')}*** End Patch\n`
    expect(await workspace.call('apply_patch', { patch: add('n1') })).toMatchObject({ ok: true })
    expect(await workspace.call('apply_patch', { patch: add('n2', 'n3') })).toMatchObject({
      code: 'PATCH_BUDGET_EXCEEDED',
    })
    const long = '*** Begin Patch\n*** Add File: n4\n+1\n+2\n+3\n*** End Patch\n'
    expect(await workspace.call('apply_patch', { patch: long })).toMatchObject({ code: 'PATCH_BUDGET_EXCEEDED' })
    expect(await workspace.call('find_files', { pattern: 'n?' })).toMatchObject({ files: ['n1'] })
  })
})
