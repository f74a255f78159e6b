import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { callbackSink } from '../../../src/audit/index.ts'
import { memory } from '../../../src/backends/memory/index.ts'
import { createWorkspace, defineTool, type WorkspaceEvent } from '../../../src/index.ts'
import { bash } from '../../../src/shells/bash/index.ts'

async function open(options: Partial<Parameters<typeof createWorkspace>[0]> = {}) {
  const backend = memory({ 'a.txt': 'one\n', 'b.txt': 'one\n' })
  const workspace = await createWorkspace({ backend, policy: 'autonomous', run: { id: 'r' }, ...options })
  const events: WorkspaceEvent[] = []
  const stop = workspace.subscribe((event) => events.push(event))
  return { workspace, events, stop }
}

describe('workspace events', () => {
  it('report the exception that caused a failed call, for a program that only gets the answer of an adapter', async () => {
    const fault = new Error('/physical/path')
    const broken = defineTool({
      ...{
        name: 'broken',
        title: 'Broken',
        description: 'Throws.',
        permission: 'file:info',
        mutates: false,
        idempotent: true,
      },
      ...{ input: z.strictObject({}), output: z.object({}) },
      plan: () => [],
      draft: () => Promise.reject(fault),
    })
    const { workspace, events } = await open({ extraTools: [broken] })
    await workspace.callTool('read_file', { path: 'none.txt' })
    expect(events).toEqual([])
    const failure = await workspace.callTool('broken', {})
    expect(events).toEqual([{ type: 'exception', runId: 'r', callId: 'r-2', tool: 'broken', cause: fault }])
    expect(JSON.stringify(failure)).not.toContain('physical')
  })

  it('report the changes of each call of any run, and nothing for calls without changes', async () => {
    const { workspace, events, stop } = await open({ shell: bash() })
    await workspace.call('read_file', { path: 'a.txt' })
    await workspace.call('edit_file', { path: 'a.txt', oldText: 'nothing', newText: '' })
    expect(events).toEqual([])
    const edited = await workspace.call('edit_file', { path: './a.txt', oldText: 'one', newText: 'uno' })
    await workspace.run({ id: 'other' }).call('move_file', { path: 'b.txt', to: 'c/b.txt' })
    await workspace.call('run_command', { command: 'echo 1 > d.txt; rm a.txt' })
    if (edited.ok) await workspace.undo('r-4')
    expect(events).toMatchObject([
      { type: 'changed', paths: ['a.txt'], listing: false, runId: 'r', callId: 'r-3' },
      { paths: expect.arrayContaining(['b.txt', 'c', 'c/b.txt']), listing: true, runId: 'other', callId: 'other-1' },
      { paths: ['a.txt', 'd.txt'], listing: true, callId: 'r-4' },
      { paths: expect.arrayContaining(['a.txt', 'd.txt']), listing: true, callId: 'r-5' },
    ])
    const patch = '*** Begin Patch\n*** Update File: d.txt\n@@\n-1\n+2\n*** Add File: e.txt\n+1\n*** End Patch\n'
    await workspace.call('write_file', { path: 'd.txt', content: '1\n' })
    await workspace.call('apply_patch', { patch })
    await workspace.call('delete_file', { path: 'd.txt' })
    expect(events.splice(4)).toMatchObject([
      { paths: ['d.txt'], listing: true },
      { paths: ['d.txt', 'e.txt'], listing: true },
      { paths: ['d.txt'], listing: true },
    ])
    stop()
    stop()
    await workspace.call('append_file', { path: 'a.txt', content: 'x\n' })
    expect(events).toHaveLength(4)
  })

  it('are separate in a fork until it is committed', async () => {
    const { workspace, events } = await open()
    const fork = await workspace.fork({ id: 'fork' })
    const forked: WorkspaceEvent[] = []
    fork.subscribe((event) => forked.push(event))
    await fork.call('append_file', { path: 'a.txt', content: 'x\n' })
    expect([events.length, forked.length]).toEqual([0, 1])
    await fork.commit()
    expect(events).toMatchObject([{ type: 'changed', paths: ['a.txt'], runId: 'fork' }])
    expect(forked).toHaveLength(1)
  })

  it('reach every listener even if one throws, without an effect on the call', async () => {
    const { workspace, events } = await open()
    workspace.subscribe(() => {
      throw new Error('a listener fails')
    })
    const last: WorkspaceEvent[] = []
    workspace.subscribe((event) => last.push(event))
    expect(await workspace.call('append_file', { path: 'a.txt', content: 'x\n' })).toMatchObject({ ok: true })
    expect([events.length, last.length]).toEqual([1, 1])
  })

  it('report the end of plan mode, for one run or for all', async () => {
    const { workspace, events } = await open({ mode: 'plan', approve: () => 'allow' })
    const other = workspace.run({ id: 'other' })
    expect([workspace.mode, other.mode]).toEqual(['plan', 'plan'])
    await workspace.call('submit_plan', { plan: 'Do it' })
    expect(events).toEqual([{ type: 'mode' }])
    expect([workspace.mode, other.mode]).toEqual(['act', 'plan'])
    await workspace.approvePlan()
    expect(events.length).toBe(2)
    expect(other.mode).toBe('act')
  })
})

describe('the policy and report operations', () => {
  it('are calls that are recorded', async () => {
    const { workspace } = await open()
    await workspace.call('read_file', { path: '.env' })
    const policy = await workspace.consult('policy')
    expect(policy).toMatchObject({ ok: true, summary: 'Showed the policy' })
    expect(JSON.parse(String(policy.ok && policy.text))).toMatchObject({
      mode: 'act',
      readOnly: false,
      tools: expect.arrayContaining(['read_file']),
      policy: { preset: 'autonomous' },
    })
    const report = await workspace.consult('report')
    expect(JSON.parse(String(report.ok && report.text))).toMatchObject({ runId: 'r', calls: { refused: 1 } })
    expect(report.ok && report.markdown).toContain('# ')
    expect(workspace.auditRecords().map(({ toolName }) => toolName)).toEqual([
      'read_file',
      'policy',
      'policy',
      'report',
      'report',
    ])
  })

  it('are refused if a rule denies them, or if no sink keeps its records', async () => {
    const rules = [{ name: 'not theirs', action: 'deny', tools: ['policy'] }] as const
    const { workspace } = await open({
      policy: { preset: 'autonomous', rules },
      mode: 'plan',
      audit: callbackSink(() => {}),
    })
    expect(await workspace.consult('policy')).toMatchObject({ code: 'POLICY_DENIED' })
    const planning = await (await open({ mode: 'plan' })).workspace.consult('policy')
    expect(planning).toMatchObject({ ok: true, text: expect.stringContaining('"mode": "plan"') })
    expect(await workspace.consult('report')).toMatchObject({ code: 'NOT_FOUND' })
    await expect(workspace.report()).rejects.toThrow(TypeError)
  })
})
