import { describe, expect, it } from 'vitest'
import { reportMarkdown } from '../../src/audit/report-text.ts'
import { memory } from '../../src/backends/memory/index.ts'
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  createWorkspace,
  type Failure,
  type ParkedCall,
  type WorkspaceOptions,
} from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

const files = () => memory({ 'src/app.ts': 'export const answer = 41\n', 'docs/a.md': 'one\n' })

function open(options: Partial<WorkspaceOptions> = {}) {
  return createWorkspace({ backend: files(), policy: 'autonomous', mode: 'plan', ...options })
}

const plan = { plan: 'Correct the answer in src/app.ts', paths: ['src/**'] }
const edit = { path: 'src/app.ts', oldText: '41', newText: '42' }
const beyond = { path: 'docs/a.md', oldText: 'one', newText: 'two' }

describe('plan mode', () => {
  it('allows reads and refuses every mutation and command until the plan is approved', async () => {
    const requests: ApprovalRequest[] = []
    const workspace = await open({
      shell: bash(),
      approve(request) {
        requests.push(request)
        return { allow: 'once', by: 'Ada' }
      },
    })
    for (const [name, input] of [
      ['read_file', { path: 'src/app.ts' }],
      ['list_directory', {}],
      ['search_text', { query: 'answer' }],
      ['diff_workspace', {}],
    ] as const) {
      expect(await workspace.callTool(name, input), name).toMatchObject({ ok: true })
    }
    for (const tool of workspace.tools.filter(({ mutates }) => mutates)) {
      const paths = { path: 'src/app.ts', to: 'src/b.ts', command: 'ls', content: 'x', patch: '', id: 'x' }
      const result = await workspace.callTool(tool.name, pick(paths, Object.keys(tool.inputSchema.shape)))
      expect((result as Failure).code, tool.name).toMatch(/^(PLAN_MODE|INVALID_INPUT|INVALID_PATCH|EDIT_.*)$/)
    }
    expect(await workspace.call('edit_file', edit)).toMatchObject({ code: 'PLAN_MODE', hint: expect.any(String) })
    expect(requests).toEqual([])

    expect(await workspace.call('submit_plan', plan)).toMatchObject({ ok: true, approved: true, paths: ['src/**'] })
    expect(requests).toMatchObject([{ tool: 'submit_plan', input: plan, verdict: { decision: 'ask' } }])
    expect(workspace.task).toMatchObject({ scope: ['src/**'] })
    expect(workspace.plan).toEqual({ text: plan.plan, paths: plan.paths })
    expect(await workspace.call('edit_file', edit)).toMatchObject({ ok: true })
    expect(await workspace.call('run_command', { command: 'ls' })).toMatchObject({ ok: true })
  })

  it('continues with a plan that was approved in another process, in that run alone', async () => {
    const before = await open({ approve: () => 'allow' })
    await before.call('submit_plan', plan)
    const { task, plan: approved } = JSON.parse(JSON.stringify({ task: before.task, plan: before.plan }))
    const workspace = await open({ run: { id: 'again', task, plan: approved } })
    expect(workspace).toMatchObject({ mode: 'act', plan: approved })
    expect(await workspace.call('edit_file', edit)).toMatchObject({ ok: true })
    expect(workspace.run().mode).toBe('plan')
  })

  it('keeps the approved plan as evidence, and flags changes outside of its paths', async () => {
    const workspace = await open({
      run: { task: { text: 'Mend it', scope: ['**'] } },
      approve: () => ({ allow: 'once', by: 'Ada' }),
    })
    const submitted = await workspace.callTool('submit_plan', plan)
    await workspace.call('edit_file', edit)
    const outside = await workspace.callTool('edit_file', beyond)
    const report = await workspace.report()
    expect(report.plan).toEqual({ text: plan.plan, paths: plan.paths, callId: submitted.callId, by: 'Ada' })
    expect(report.task).toEqual({ text: 'Mend it', scope: ['src/**'] })
    expect(report.scope).toMatchObject({
      finalDiffInside: false,
      outside: ['docs/a.md'],
      calls: [{ callId: outside.callId, paths: ['docs/a.md'] }],
    })
    expect(reportMarkdown(report)).toContain('| approved plan | Correct the answer in src/app.ts')
    const artifact = await workspace.call('read_file', { path: String(submitted.planUri) })
    expect(artifact).toMatchObject({ ok: true, content: plan.plan })
    expect(workspace.verifyAudit()).toMatchObject({ ok: true })
  })

  it('continues after a plan is denied, with the reason in the result', async () => {
    const answers: ApprovalAnswer[] = [{ deny: 'leave the docs alone' }, 'allow']
    const workspace = await open({ approve: () => answers.shift() ?? 'allow' })
    expect(await workspace.call('submit_plan', { plan: 'All of it', paths: ['**'] })).toMatchObject({
      code: 'APPROVAL_DENIED',
      message: expect.stringContaining('leave the docs alone'),
    })
    expect(await workspace.call('edit_file', edit)).toMatchObject({ code: 'PLAN_MODE' })
    expect(workspace.plan).toBeUndefined()
    expect((await workspace.report()).plan).toBeUndefined()
    expect(await workspace.call('submit_plan', plan)).toMatchObject({ ok: true })
    expect(await workspace.call('edit_file', edit)).toMatchObject({ ok: true })
  })

  it('waits for approvePlan() without an approver, which approves the submitted plan once', async () => {
    const workspace = await open()
    const submitted = await workspace.call('submit_plan', plan)
    expect(submitted).toMatchObject({ code: 'APPROVAL_REQUIRED' })
    expect(await workspace.call('edit_file', edit)).toMatchObject({ code: 'PLAN_MODE' })
    await workspace.approvePlan({ by: 'Ada' })
    expect(await workspace.call('edit_file', edit)).toMatchObject({ ok: true })
    expect(workspace.task).toEqual({ text: plan.plan, scope: plan.paths })
    expect((await workspace.report()).plan).toMatchObject({ text: plan.plan, by: 'Ada' })
    const again = await workspace.resume(String((submitted as Failure).approvalId), { deny: 'no' })
    expect(again).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('lets another process resume the submission of a plan', async () => {
    const texts = new Map<string, string>()
    const parked = {
      put: (call: ParkedCall) => void texts.set(call.id, JSON.stringify(call)),
      take(id: string) {
        const text = texts.get(id)
        texts.delete(id)
        return text === undefined ? undefined : (JSON.parse(text) as ParkedCall)
      },
    }
    const submitted = await (await open({ parked })).call('submit_plan', plan)
    const other = await open({ parked })
    expect(await other.call('edit_file', edit)).toMatchObject({ code: 'PLAN_MODE' })
    const id = String((submitted as Failure).approvalId)
    expect(await other.resume(id, { allow: 'once', by: 'Ada' })).toMatchObject({ ok: true, approved: true })
    expect(await other.call('edit_file', edit)).toMatchObject({ ok: true })
    expect(await other.report()).toMatchObject({ plan: { by: 'Ada' }, scope: { globs: ['src/**'] } })
    expect(await other.resume(id, 'allow')).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('ends only for the run whose plan is approved', async () => {
    const workspace = await open({ approve: () => 'allow-run' })
    const one = workspace.run({ id: 'one' })
    const two = workspace.run({ id: 'two' })
    await one.call('submit_plan', plan)
    expect(await one.call('edit_file', edit)).toMatchObject({ ok: true })
    expect(await two.call('edit_file', beyond)).toMatchObject({ code: 'PLAN_MODE' })
    expect(two.task).toBeUndefined()
    workspace.approvePlan()
    expect(await two.call('edit_file', beyond)).toMatchObject({ ok: true })
  })

  it('does not approve a plan that could not be recorded', async () => {
    let full = false
    const audit = {
      append() {
        if (full) throw new Error('no space')
      },
    }
    const workspace = await open({ audit, approve: () => 'allow' })
    full = true
    expect(await workspace.call('submit_plan', plan)).toMatchObject({ code: 'AUDIT_FAILED' })
    full = false
    expect(await workspace.call('edit_file', edit)).toMatchObject({ code: 'PLAN_MODE' })
  })

  it('accepts a later plan, whose paths become the scope', async () => {
    const workspace = await open({ approve: () => 'allow' })
    await workspace.call('submit_plan', plan)
    await workspace.call('edit_file', edit)
    await workspace.call('submit_plan', { plan: 'The docs, too', paths: ['src/**', 'docs/**'] })
    await workspace.call('edit_file', beyond)
    expect((await workspace.report()).scope).toMatchObject({ finalDiffInside: true, calls: [] })
    expect((await workspace.report()).plan?.text).toBe('The docs, too')
  })

  it('registers submit_plan only in a workspace in plan mode', async () => {
    const names = async (options: Partial<WorkspaceOptions>) => (await open(options)).tools.map(({ name }) => name)
    expect(await names({})).toContain('submit_plan')
    expect(await names({ tools: 'minimal' })).toContain('submit_plan')
    expect(await names({ tools: ['read_file'] })).not.toContain('submit_plan')
    expect(await names({ mode: 'act' })).not.toContain('submit_plan')
    const acting = await open({ mode: 'act' })
    expect(await acting.call('submit_plan', plan)).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })

  it('refuses an empty plan, an invalid glob, and a plan that policy denies', async () => {
    const workspace = await open({ approve: () => 'allow' })
    expect(await workspace.call('submit_plan', { plan: ' \n' })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await workspace.call('submit_plan', { plan: 'x', paths: [] })).toMatchObject({ code: 'INVALID_INPUT' })
    const outside = await workspace.call('submit_plan', { plan: 'x', paths: ['../up/**'] })
    expect(outside).toMatchObject({ ok: false })
    expect(await workspace.call('edit_file', edit)).toMatchObject({ code: 'PLAN_MODE' })
    const closed = await open({
      policy: { preset: 'autonomous', tools: { submit_plan: 'deny' } },
      approve: () => 'allow',
    })
    expect(await closed.call('submit_plan', plan)).toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('redacts secrets in the plan everywhere it is stored', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const workspace = await open({ approve: () => 'allow' })
    await workspace.call('submit_plan', { plan: `Use ${secret}` })
    expect(JSON.stringify(workspace.auditRecords())).not.toContain(secret)
    expect(JSON.stringify(await workspace.report())).not.toContain(secret)
  })
})

function pick(values: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => name in values).map((name) => [name, values[name]]))
}
