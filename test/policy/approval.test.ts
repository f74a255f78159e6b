import { describe, expect, it } from 'vitest'
import type { GuardedAccess, Permission } from '../../src/access.ts'
import { classifyPath } from '../../src/files/classify.ts'
import type { LogicalPath, Path } from '../../src/paths/logical-path.ts'
import { type ApprovalAnswer, type ApproveHandler, createApprovals } from '../../src/policy/approval.ts'
import { approvalText } from '../../src/policy/approval-text.ts'
import { memoryParking } from '../../src/policy/parked.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import type { Risk } from '../../src/policy/risks.ts'

const supervised = compilePolicy('supervised')

function request(
  permission: Permission,
  paths: string[],
  more: { input?: object; tool?: string; risks?: Risk[] } = {},
) {
  const tool = more.tool ?? 'write_file'
  const input = { ...more.input }
  const accesses = paths.map(
    (path): GuardedAccess => ({
      permission,
      asked: path as LogicalPath,
      path: path as Path,
      classification: classifyPath(path as LogicalPath),
      recursive: false,
    }),
  )
  return { tool, input, accesses, verdict: supervised.evaluate({ tool, input, accesses }), risks: more.risks ?? [] }
}

function approvals(approve?: ApproveHandler) {
  let next = 0
  return createApprovals({ approve, ids: () => `approval-${++next}` })
}

const write = (...paths: string[]) => request('file:write:replace', paths)

describe('an approval', () => {
  it('hands the request over and is allowed once', async () => {
    const seen: unknown[] = []
    const run = approvals(async (asked): Promise<ApprovalAnswer> => {
      seen.push(asked)
      return 'allow'
    })
    expect(await run.ask(write('a.ts'))).toBe('once')
    expect(await run.ask(write('a.ts'))).toBe('once')
    expect(seen).toMatchObject([
      { id: 'approval-1', tool: 'write_file', verdict: { decision: 'ask' } },
      { id: 'approval-2', tool: 'write_file' },
    ])
  })

  it('is required, with its id, where nobody can be asked', async () => {
    await expect(approvals().ask(write('a.ts'))).rejects.toMatchObject({
      code: 'APPROVAL_REQUIRED',
      details: { approvalId: 'approval-1' },
    })
  })

  it('is denied with the reason that was given', async () => {
    const run = approvals(() => ({ deny: 'not on a Friday' }))
    await expect(run.ask(write('a.ts'))).rejects.toMatchObject({
      code: 'APPROVAL_DENIED',
      message: expect.stringContaining('not on a Friday'),
    })
  })

  it.each([undefined, null, true, 'yes', 'Allow', {}, { deny: true }, { allow: true }, ['allow'], 1])(
    'is not given by the answer %j',
    async (answer) => {
      const run = approvals(() => answer as ApprovalAnswer)
      await expect(run.ask(write('a.ts'))).rejects.toMatchObject({ code: 'HOOK_FAILED' })
    },
  )

  it.each([
    [
      'throws',
      () => {
        throw new Error('/home/user/secret')
      },
    ],
    ['rejects', () => Promise.reject(new Error('/home/user/secret'))],
  ] as const)('fails closed, and says nothing of the error, when the handler %s', async (_, approve) => {
    const error = await approvals(approve)
      .ask(write('a.ts'))
      .catch((thrown) => thrown)
    expect(error.code).toBe('HOOK_FAILED')
    expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain('secret')
  })

  it('ends when the call is cancelled, and a late answer changes nothing', async () => {
    let answer: (given: ApprovalAnswer) => void = () => {}
    const run = approvals(
      () =>
        new Promise((resolve) => {
          answer = resolve
        }),
    )
    const controller = new AbortController()
    const asking = run.ask(write('a.ts'), { signal: controller.signal })
    controller.abort()
    await expect(asking).rejects.toMatchObject({ code: 'ABORTED' })
    answer('allow-run')
    await Promise.resolve()
    expect(run.covers(write('a.ts'))).toBe(false)
    let asked = false
    const other = approvals(() => {
      asked = true
      return 'allow'
    })
    await expect(other.ask(write('a.ts'), { signal: controller.signal })).rejects.toMatchObject({ code: 'ABORTED' })
    expect(asked).toBe(false)
  })
})

describe('an approval for the run', () => {
  it('covers the same rule on the same paths, or some of them, and nothing else', async () => {
    const run = approvals(() => 'allow-run')
    expect(await run.ask(write('a.ts', 'b.ts'))).toBe('run')
    expect(await run.ask(write('a.ts'))).toBe('earlier')
    expect(run.covers(write('b.ts', 'a.ts'))).toBe(true)
    expect(run.covers(write('c.ts'))).toBe(false)
    expect(run.covers(write('a.ts', 'c.ts'))).toBe(false)
    expect(run.covers(request('file:delete', ['a.ts']))).toBe(false)
    expect(run.covers(request('file:write:replace', ['a.ts'], { tool: 'edit_file' }))).toBe(false)
    expect(approvals(() => 'allow-run').covers(write('a.ts'))).toBe(false)
  })

  it('does not cover another rule that asks about the same path', async () => {
    const run = approvals(() => 'allow-run')
    await run.ask(write('yarn.lock'))
    const other = compilePolicy({ preset: 'supervised', rules: [{ name: 'locks', action: 'ask', paths: ['*.lock'] }] })
    const again = write('yarn.lock')
    expect(run.covers(again)).toBe(true)
    expect(run.covers({ ...again, verdict: other.evaluate(again) })).toBe(false)
  })

  it('does not cover a new risk', async () => {
    const run = approvals(() => 'allow-run')
    await run.ask({ ...write('a.ts'), risks: [{ flag: 'touchesBuildFile', path: 'a.ts' }] })
    expect(run.covers(write('a.ts'))).toBe(true)
    expect(run.covers({ ...write('a.ts'), risks: [{ flag: 'deletesFile', path: 'a.ts' }] })).toBe(false)
  })

  it('covers one command, not every command in its directory', async () => {
    const run = approvals(() => 'allow-run')
    const command = (text: string) => request('command:run', [''], { tool: 'run_command', input: { command: text } })
    await run.ask(command('npm test'))
    expect(run.covers(command('npm test'))).toBe(true)
    expect(run.covers(command('npm publish'))).toBe(false)
  })

  it('covers a call without paths by its input', async () => {
    const policy = compilePolicy({ rules: [{ name: 'plans', action: 'ask', tools: ['submit_plan'] }] })
    const plan = (text: string) => {
      const call = { tool: 'submit_plan', input: { plan: text }, accesses: [] }
      return { ...call, verdict: policy.evaluate(call), risks: [] }
    }
    const run = approvals(() => 'allow-run')
    await run.ask(plan('a'))
    expect([run.covers(plan('a')), run.covers(plan('b'))]).toEqual([true, false])
  })
})

describe('a request as a person reads it', () => {
  it('names the root, the risks and every odd character', () => {
    const asked = request('file:list', ['', 'a\u202eb', ''], {
      tool: 'list_directory',
      input: { path: '', reason: 'to\r\nlook\u0007' },
      risks: [{ flag: 'deletesFile', path: 'x\u200by' }],
    })
    const text = approvalText({ ...asked, tool: 'list\u001b_directory', diff: undefined } as never)
    expect(text).toContain('list\\u{1b}_directory on ., a\\u{202e}b\n')
    expect(text).toContain('It says why: to\nlook\\u{7}\n')
    expect(text).toContain('Risk: deletesFile (x\\u{200b}y)')
  })
})

describe('parked calls in memory', () => {
  it('are the latest thousand, each given out once', () => {
    const parking = memoryParking()
    for (let i = 0; i <= 1000; i++) parking.put({ id: `${i}` } as never)
    expect(parking.take('0')).toBeUndefined()
    expect(parking.take('1')).toEqual({ id: '1' })
    expect(parking.take('1')).toBeUndefined()
    expect(parking.take('1000')).toEqual({ id: '1000' })
  })
})
