import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { classifyPath } from '../../src/files/classify/index.ts'
import type { LogicalPath, Path } from '../../src/paths/logical-path.ts'
import type { GuardedAccess } from '../../src/policy/access.ts'
import {
  type ApprovalAnswer,
  type ApproveHandler,
  createApprovals,
  normalizeAnswer,
} from '../../src/policy/approval.ts'
import { approvalText } from '../../src/policy/approval-text.ts'
import { memoryParking } from '../../src/policy/parked-calls.ts'
import type { Permission } from '../../src/policy/permissions.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import type { Risk } from '../../src/policy/risk/index.ts'

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

describe('approvals.ask', () => {
  it('passes the request to the handler and allows once', async () => {
    const requests: unknown[] = []
    const run = approvals(async (incoming): Promise<ApprovalAnswer> => {
      requests.push(incoming)
      return 'allow'
    })
    expect(await run.ask(write('a.ts'))).toBe('once')
    expect(await run.ask(write('a.ts'))).toBe('once')
    expect(requests).toMatchObject([
      { id: 'approval-1', tool: 'write_file', verdict: { decision: 'ask' } },
      { id: 'approval-2', tool: 'write_file' },
    ])
  })

  it('throws APPROVAL_REQUIRED with the id without a handler', async () => {
    await expect(approvals().ask(write('a.ts'))).rejects.toMatchObject({
      code: 'APPROVAL_REQUIRED',
      details: { approvalId: 'approval-1' },
    })
  })

  it('throws APPROVAL_DENIED with the reason of the answer', async () => {
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
  ] as const)('fails closed without the text of the error when the handler %s', async (_, approve) => {
    const error = await approvals(approve)
      .ask(write('a.ts'))
      .catch((error) => error)
    expect(error.code).toBe('HOOK_FAILED')
    expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain('secret')
  })

  it('ends when the call is cancelled and ignores a late answer', async () => {
    let answer: (value: ApprovalAnswer) => void = () => {}
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
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    let wasAsked = false
    const other = approvals(() => {
      wasAsked = true
      return 'allow'
    })
    await expect(other.ask(write('a.ts'), { signal: controller.signal })).rejects.toMatchObject({ code: 'ABORTED' })
    expect(wasAsked).toBe(false)
  })
})

describe('the outcome of a request', () => {
  it.each<[unknown, unknown]>([
    ['allow', { allow: 'once' }],
    ['allow-run', { allow: 'run' }],
    [{ allow: 'once' }, { allow: 'once' }],
    [
      { allow: 'run', by: 'Ada' },
      { allow: 'run', by: 'Ada' },
    ],
    [
      { deny: 'no', by: 'x'.repeat(300) },
      { deny: 'no', by: 'x'.repeat(200) },
    ],
    [{ deny: 'no', allow: 'once' }, undefined],
    [{ deny: 'no', by: 7 }, undefined],
    [{ deny: 'no', because: 'x' }, undefined],
    [Object.create({ allow: 'once' }), undefined],
    [{ allow: 'always' }, undefined],
    [null, undefined],
    ['later', undefined],
  ])('%j is read as %j', (answer, read) => {
    expect(normalizeAnswer(answer)).toEqual(read)
  })

  it('is reported with the author of the answer', async () => {
    const answers: ApprovalAnswer[] = ['allow', { allow: 'run', by: 'Ada' }, { deny: 'no', by: 'Bob' }]
    const run = approvals(() => answers.shift() ?? 'allow')
    const outcomes: unknown[][] = []
    const answered = (...outcome: unknown[]) => void outcomes.push(outcome)
    await run.ask(write('a.ts'), { onAnswer: answered })
    expect(run.covers(write('a.ts'))).toBe(false)
    await run.ask(write('a.ts'), { onAnswer: answered })
    await run.ask(write('a.ts'), { onAnswer: answered })
    await expect(run.ask(write('b.ts'), { onAnswer: answered })).rejects.toMatchObject({
      message: 'The approval of write_file was refused: no',
      details: { approvalId: 'approval-3' },
    })
    expect(outcomes).toEqual([['once', undefined], ['run', 'Ada'], ['earlier'], ['denied', 'Bob']])
  })

  it('names the reason if there is no answer, or none yet', async () => {
    const { verdict } = write('a.ts')
    for (const run of [approvals(), approvals(() => 'later')]) {
      await expect(run.ask(write('a.ts'))).rejects.toMatchObject({
        code: 'APPROVAL_REQUIRED',
        message: `write_file needs an approval: ${verdict.reason}`,
        details: { approvalId: 'approval-1' },
      })
    }
  })

  it('is HOOK_FAILED if the handler fails, and nothing was executed', async () => {
    const details = { approvalId: 'approval-1', hint: 'Nothing was changed. Report this to the user.' }
    const broken = approvals(() => Promise.reject(new Error('x')))
    await expect(broken.ask(write('a.ts'))).rejects.toMatchObject({
      message: 'The approve handler failed; write_file was not executed',
      details,
    })
    const odd = approvals(() => 'maybe' as never)
    await expect(odd.ask(write('a.ts'))).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The approve handler returned an invalid answer; expected "allow".*; write_file was not/,
      ),
      details,
    })
  })

  it('comes from the handler of the workspace before that of the call, which receives the signal', async () => {
    const calls: unknown[] = []
    const note = (answer: ApprovalAnswer) => (_: unknown, options: object) => {
      calls.push([answer, options])
      return answer
    }
    const { signal } = new AbortController()
    expect(await approvals(note('allow-run')).ask(write('a.ts'), { approve: note('allow') })).toBe('run')
    expect(await approvals().ask(write('a.ts'), { approve: note('allow'), signal })).toBe('once')
    expect(calls).toStrictEqual([
      ['allow-run', {}],
      ['allow', { signal }],
    ])
  })

  it('leaves no listener on the signal and no unhandled rejection of a late handler', async () => {
    const { signal } = new AbortController()
    await approvals(() => 'allow').ask(write('a.ts'), { signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
    const controller = new AbortController()
    let fail: (error: Error) => void = () => {}
    const run = approvals(() => new Promise((_, reject) => (fail = reject)))
    const asking = run.ask(write('a.ts'), { signal: controller.signal })
    controller.abort()
    await expect(asking).rejects.toMatchObject({ code: 'ABORTED' })
    // An unhandled rejection would fail the test run.
    fail(new Error('late'))
    await new Promise((resolve) => setTimeout(resolve))
  })

  it('is ABORTED if the handler fails because of the cancellation', async () => {
    const controller = new AbortController()
    const run = approvals(() => {
      controller.abort()
      throw new Error('cancelled')
    })
    await expect(run.ask(write('a.ts'), { signal: controller.signal })).rejects.toMatchObject({
      code: 'ABORTED',
      message: 'write_file was cancelled while waiting for its approval',
    })
  })
})

describe('approvals.accept', () => {
  it('accepts the questions of the earlier request, and remembers allow-run only', () => {
    const run = approvals()
    expect(run.accept(write('a.ts', 'b.ts'), write('b.ts'), 'allow')).toBe(true)
    expect(run.covers(write('b.ts'))).toBe(false)
    expect(run.accept(write('a.ts'), write('a.ts', 'b.ts'), 'allow-run')).toBe(false)
    expect(run.covers(write('a.ts'))).toBe(false)
    expect(run.accept(write('a.ts', 'b.ts'), write('b.ts'), 'allow-run')).toBe(true)
    expect([run.covers(write('b.ts')), run.covers(write('a.ts'))]).toEqual([true, false])
  })
})

describe('an approval for the run', () => {
  it('does not cover a request without questions', async () => {
    const allowed = write('a.ts')
    const verdict = compilePolicy('autonomous').evaluate(allowed)
    const run = approvals(() => 'allow-run')
    expect(await run.ask({ ...allowed, verdict })).toBe('run')
    expect(run.covers({ ...allowed, verdict })).toBe(false)
  })

  it('covers the requested or resolved names of asking rules, not of allow rules', async () => {
    const rule = { name: 'r', action: 'ask', source: 'rule' } as const
    const open = { name: 'open', action: 'allow', source: 'rule' } as const
    const link = write('link.ts').accesses.map((access) => ({ ...access, path: 'real.ts' as Path }))
    const asking = (accesses: readonly GuardedAccess[], ...rules: readonly object[]) =>
      ({ ...write(), accesses, verdict: { decision: 'ask', reason: '', rules } }) as unknown as ReturnType<typeof write>
    const both = write('a.ts', 'b.ts').accesses
    const run = approvals(() => 'allow-run')
    await run.ask(asking(both, { ...rule, path: 'a.ts' }, { ...open, path: 'b.ts' }))
    expect(run.covers(asking(both, { ...rule, path: 'a.ts' }))).toBe(true)
    expect(run.covers(asking(both, { ...rule, path: 'b.ts' }))).toBe(false)
    expect(run.covers(asking(both, rule))).toBe(false)
    expect(run.covers(asking(both, { ...rule, path: 'a.ts', source: 'preset' }))).toBe(false)
    expect(run.covers(asking(both, { ...rule, path: 'neither.ts' }))).toBe(false)
    await run.ask(asking(both, rule))
    expect(run.covers(asking(both, rule))).toBe(true)
    expect(run.covers({ ...asking(both, rule), input: { content: 'other' } })).toBe(true)
    await run.ask(asking(link, { ...rule, path: 'link.ts' }))
    expect(run.covers(asking(link, { ...rule, path: 'real.ts' }))).toBe(true)
    expect(run.covers(asking(write('link.ts').accesses, { ...rule, path: 'link.ts' }))).toBe(false)
    expect(run.covers(asking(write('real.ts').accesses, { ...rule, path: 'real.ts' }))).toBe(false)
  })

  it('covers the same rule on the same paths, or a subset, and nothing else', async () => {
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

describe('approvalText of a request', () => {
  it('names the root and the risks, and escapes special characters', () => {
    const question = request('file:list', ['', 'a\u202eb', ''], {
      tool: 'list_directory',
      input: { path: '', reason: 'to\r\nlook\u0007' },
      risks: [{ flag: 'deletesFile', path: 'x\u200by' }],
    })
    const text = approvalText({ ...question, tool: 'list\u001b_directory', diff: undefined } as never)
    expect(text).toContain('list\\u{1b}_directory on ., a\\u{202e}b\n')
    expect(text).toContain('Reason given: to\nlook\\u{7}\n')
    expect(text).toContain('Risk: deletesFile (x\\u{200b}y)')
  })
})

describe('approvalText', () => {
  const question = {
    ...request('file:write:create', ['a.ts']),
    verdict: { decision: 'ask', reason: 'R', rules: [] },
  } as const
  const token = ['gh', 'p_', 'Ab3dE5gH1jK7mN9pQ2sT4vW6xY8zC0eF1hJ3'].join('')
  const key = [
    '-----BEGIN RSA',
    ' PRIVATE KEY-----\nMIIEabc',
    '+/dEf012'.repeat(7),
    '\n-----END RSA',
    ' PRIVATE KEY-----\n',
  ].join('')
  it.each<[string, object, string]>([
    ['the input if there is no preview', { input: { path: 'a' } }, 'write_file on a.ts\nR\n{"path":"a"}'],
    ['the input if the preview is empty', { input: { path: 'a' }, diff: '' }, 'write_file on a.ts\nR\n{"path":"a"}'],
    ['the preview alone', { input: { path: 'a' }, diff: '+x\ty\r\n' }, 'write_file on a.ts\nR\n\n+x\ty\n'],
    ['a plan as text', { accesses: [], input: { plan: 'P\nQ' } }, 'write_file\nR\nP\nQ'],
    [
      'the paths of a plan',
      { accesses: [], input: { plan: 'P', paths: ['**'] } },
      'write_file\nR\nP\n{"paths":["**"]}',
    ],
    ['a plan and its preview', { input: { plan: 'P' }, diff: '+x' }, 'write_file on a.ts\nR\nP\n\n+x'],
    [
      'special characters escaped',
      { diff: 'a\u2028\ud800\u0000b' },
      'write_file on a.ts\nR\n\na\\u{2028}\\u{d800}\\u{0}b',
    ],
    [
      '6000 of a preview',
      { diff: 'x'.repeat(6003) },
      `write_file on a.ts\nR\n\n${'x'.repeat(6000)}\n… 3 more characters`,
    ],
    ['a whole preview of 6000', { diff: 'x'.repeat(6000) }, `write_file on a.ts\nR\n\n${'x'.repeat(6000)}`],
    [
      'twenty paths, and how many more there are',
      { ...request('file:delete', [...'abcdefghijklmnopqrstuvwxyz']), input: { plan: 'P' }, verdict: question.verdict },
      'write_file on a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t and 6 more\nR\nP',
    ],
    ['100 of a name', { tool: 'x'.repeat(101), diff: '+' }, `${'x'.repeat(100)}\n… 1 more character on a.ts\nR\n\n+`],
  ])('shows %s', (_, more, text) => {
    expect(approvalText({ ...question, ...more })).toBe(text)
  })

  it.each<[string, object]>([
    ['the input', { input: { content: `is ${token}` } }],
    ['a secret of several lines', { input: { content: key } }],
    ['the preview', { diff: `+${token}\n+${key}` }],
    ['the reason', { input: { reason: token }, diff: '+' }],
  ])('marks secrets in %s', (_, more) => {
    const text = approvalText({ ...question, ...more })
    expect(text).not.toContain(token.slice(4))
    expect(text).not.toContain('MIIEabc')
  })
})

describe('memoryParking', () => {
  it('keeps the latest 1,000 calls and returns each once', () => {
    const parking = memoryParking()
    for (let i = 0; i <= 1000; i++) parking.put({ id: `${i}` } as never)
    expect(parking.take('0')).toBeUndefined()
    expect(parking.take('1')).toEqual({ id: '1' })
    expect(parking.take('1')).toBeUndefined()
    expect(parking.take('1000')).toEqual({ id: '1000' })
  })
})
