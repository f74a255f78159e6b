import { methods, RequestError } from '@agentclientprotocol/sdk'
import { afterAll, describe, expect, it } from 'vitest'
import { type AcpOptions, acpClient } from '../../dist/adapters/acp/index.js'
import { memory } from '../../dist/backends/memory/index.js'
import { type ApproveHandler, createWorkspace, type PolicyInput } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import { everyNth } from '../counts.ts'
import { connectAgent } from './acp-agent.ts'

const shell = bash()
afterAll(() => shell.close())

interface Setup extends AcpOptions {
  readonly policy?: PolicyInput
  readonly ask?: ApproveHandler
  readonly files?: Readonly<Record<string, string>>
}

/** A workspace, and an agent of the SDK that is connected to it. */
async function connect({ policy = 'autonomous', ask, files, ...options }: Setup = {}) {
  const workspace = await createWorkspace({
    backend: memory(files ?? { 'a.txt': 'one\ntwo\nthree\n', 'docs/d.md': 'd\n', '.env': 'A=1\n' }),
    shell: { ...shell, async close() {} },
    policy,
    ...(ask === undefined ? {} : { approve: ask }),
  })
  return { workspace, ...(await connectAgent(workspace, options)) }
}

/** The error of a request. */
const errorOf = async (promise: Promise<unknown>) => {
  const answer = await promise.catch((error: unknown) => error)
  expect(answer).toBeInstanceOf(RequestError)
  const { code, message, data } = answer as RequestError
  return { code, message, data }
}

describe('files for an agent of the SDK', () => {
  it('are read whole and in lines, and written', async () => {
    const { read, write, workspace } = await connect()
    expect(await read('/workspace/a.txt')).toEqual({ content: 'one\ntwo\nthree\n' })
    const lines: [object, string][] = [
      [{ line: 2 }, 'two\nthree\n'],
      [{ line: 2, limit: 1 }, 'two\n'],
      [{ line: 3, limit: 9 }, 'three\n'],
      [{ line: 9 }, ''],
      [{ line: 0, limit: 0 }, ''],
      [{ line: null, limit: null }, 'one\ntwo\nthree\n'],
    ]
    for (const [more, content] of lines) expect(await read('/workspace/a.txt', more)).toEqual({ content })
    expect(await write('/workspace/new/b.txt', 'b')).toEqual({})
    expect(await workspace.files.readText('new/b.txt')).toBe('b')
    const written = workspace.auditRecords().find(({ pathsWritten }) => pathsWritten?.includes('new/b.txt'))
    expect(await workspace.undo(written?.toolCallId ?? '')).toMatchObject({ ok: true })
    expect(await workspace.files.exists('new/b.txt')).toBe(false)
  })

  it('are refused with the codes of the protocol', async () => {
    const { read, write } = await connect()
    const missing = await errorOf(read('/workspace/none.txt'))
    expect(missing).toMatchObject({ code: -32002, data: { refusal: 'NOT_FOUND' } })
    expect(missing.message).toBe('Resource not found: /workspace/none.txt')
    const secret = await errorOf(read('/workspace/.env'))
    expect(secret.data).toMatchObject({ refusal: 'POLICY_DENIED_SECRET' })
    expect(secret.message).toContain('without its values')
    for (const path of ['/etc/passwd', '../a.txt', '/workspace/../a.txt', 'C:\\a.txt'])
      expect(await errorOf(write(path, 'x'))).toMatchObject({ code: -32602 })
    expect(await errorOf(read('/workspace/a.txt', { line: -1 }))).toMatchObject({ code: -32602 })
  })

  it('ask, with the cancellation of the request', async () => {
    const asked: string[] = []
    const { read, write, requests, sessionId } = await connect({
      policy: 'supervised',
      ask: ({ tool }, { signal }) => {
        asked.push(tool)
        return asked.length === 1
          ? { deny: 'not now' }
          : new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    expect((await errorOf(write('/workspace/a.txt', 'x'))).message).toContain('not now')
    const stop = new AbortController()
    const cancelled = requests.request(
      methods.client.fs.writeTextFile,
      { sessionId, path: '/workspace/a.txt', content: 'x' },
      { cancellationSignal: stop.signal },
    )
    await expect.poll(() => asked.length).toBe(2)
    stop.abort()
    expect(await errorOf(cancelled)).toMatchObject({ code: -32800 })
    expect(await read('/workspace/a.txt')).toMatchObject({ content: 'one\ntwo\nthree\n' })
  })
})

describe('terminals for an agent of the SDK', () => {
  it('run a line, or a program with arguments, in a directory and with variables', async () => {
    const { requests, sessionId } = await connect()
    const run = async (params: object) => {
      const terminal = await requests.createTerminal({ sessionId, command: '', ...params })
      const status = await terminal.waitForExit()
      const { output, truncated, exitStatus } = await terminal.currentOutput()
      expect(exitStatus).toEqual(status)
      await terminal.release()
      return [output, status.exitCode, truncated]
    }
    expect(await run({ command: 'cat a.txt | head -1; exit 3' })).toEqual(['one\n', 3, false])
    expect(await run({ command: 'echo', args: ['$HOME', "it's", ''] })).toEqual(["$HOME it's \n", 0, false])
    expect(await run({ command: 'cat', args: ['d.md'], cwd: '/workspace/docs' })).toEqual(['d\n', 0, false])
    const env = [{ name: 'WORD', value: "a 'b' $c" }]
    expect(await run({ command: 'echo "$WORD"', env })).toEqual(["a 'b' $c\n", 0, false])
    expect(await run({ command: 'echo äöü', outputByteLimit: 4 })).toEqual(['ü\n', 0, true])
    expect(await run({ command: 'cat /workspace/.env' })).toEqual([
      'cat: /workspace/.env: Permission denied\n',
      1,
      false,
    ])
  })

  it('have refused lines as exit code 126', async () => {
    const policy = { preset: 'autonomous' as const, commands: { deny: ['rm'] } }
    const { requests, sessionId, workspace } = await connect({ policy })
    const terminal = await requests.createTerminal({ sessionId, command: 'rm', args: ['a.txt'] })
    expect(await terminal.waitForExit()).toMatchObject({ exitCode: 126 })
    expect((await terminal.currentOutput()).output).toContain('COMMAND_DENIED')
    expect(await workspace.files.exists('a.txt')).toBe(true)
  })

  it('are stopped by kill, release and close, and belong to their session', async () => {
    const { requests, sessionId, guarded } = await connect()
    const start = () => requests.createTerminal({ sessionId, command: 'sleep 30; touch late.txt' })
    const killed = await start()
    const waiting = killed.waitForExit()
    await killed.kill()
    expect(await waiting).toEqual({ exitCode: null, signal: 'SIGTERM' })
    expect((await killed.currentOutput()).exitStatus).toEqual({ exitCode: null, signal: 'SIGTERM' })
    const other = { sessionId: 'other', terminalId: killed.id }
    expect(await errorOf(requests.request(methods.client.terminal.output, other))).toMatchObject({ code: -32002 })
    await killed.release()
    expect(await errorOf(killed.currentOutput())).toMatchObject({ code: -32002 })
    const last = (await start()).waitForExit()
    await guarded.close()
    expect(await last).toEqual({ exitCode: null, signal: 'SIGTERM' })
  })

  it('are bounded in number', async () => {
    const { requests, sessionId, guarded } = await connect()
    const start = () => requests.createTerminal({ sessionId, command: 'sleep 30' })
    for (let count = 0; count < 64; count++) await start()
    expect((await errorOf(start())).message).toContain('64')
    await guarded.close()
  })
})

describe('permission requests of an agent of the SDK', () => {
  const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })
  const diff = (path: string) => ({ kind: 'edit', content: [{ type: 'diff', path, oldText: 'one', newText: '1' }] })
  const policy = {
    preset: 'autonomous' as const,
    rules: [
      { name: 'final', action: 'deny' as const, permissions: ['file:change' as const], paths: ['docs/**'] },
      { name: 'careful', action: 'ask' as const, permissions: ['file:change' as const], paths: ['a.txt'] },
    ],
    commands: { deny: ['rm'] },
  }

  it('are answered by the policy, once, for the operations that they name', async () => {
    const { permission } = await connect({ policy })
    const cases: [object, string][] = [
      [diff('/workspace/b.txt'), 'yes'],
      // It asks when it is made.
      [diff('/workspace/a.txt'), 'yes'],
      [diff('/workspace/docs/d.md'), 'no'],
      [{ kind: 'edit', content: [...diff('/workspace/b.txt').content, ...diff('/workspace/docs/d.md').content] }, 'no'],
      [{ kind: 'edit', locations: [{ path: '/workspace/docs/d.md' }] }, 'no'],
      [{ kind: 'other', content: diff('/workspace/docs/d.md').content }, 'no'],
      [diff('/etc/passwd'), 'no'],
      [{ kind: 'read', locations: [{ path: '/workspace/a.txt' }] }, 'yes'],
      [{ kind: 'read', locations: [{ path: '/workspace/.env' }] }, 'no'],
      [{ kind: 'delete', locations: [{ path: '/workspace/b.txt' }] }, 'yes'],
      [{ kind: 'delete', locations: [{ path: '/workspace/docs/d.md' }] }, 'no'],
      [{ kind: 'execute', rawInput: { command: 'ls' } }, 'yes'],
      [{ kind: 'execute', rawInput: { command: 'ls; rm a.txt' } }, 'no'],
      [{ kind: 'execute', title: 'rm a.txt' }, 'no'],
      [{ kind: 'execute', title: 'ls' }, 'yes'],
      // Nothing says what these would do.
      [{ kind: 'execute' }, 'no'],
      [{ kind: 'fetch', rawInput: { url: 'https://example.com' } }, 'no'],
      [{}, 'no'],
    ]
    for (const [toolCall, option] of cases)
      expect([toolCall, await permission(toolCall)]).toEqual([toolCall, selected(option)])
  })

  it('are rejected for any denied operation among others, in any form', async () => {
    const { permission } = await connect({ policy })
    const good = diff('/workspace/b.txt').content
    const denied: object[] = [
      ...diff('/workspace/docs/d.md').content.map((change) => ({ content: [change] })),
      { locations: [{ path: '/workspace/.env' }] },
      ...['path', 'file_path', 'filePath', 'notebook_path', 'absolute_path', 'target_file', 'paths', 'directory'].map(
        (name) => ({ rawInput: { [name]: '/workspace/.env' } }),
      ),
      { rawInput: { paths: ['/workspace/b.txt', '/workspace/.env'] } },
      ...['command', 'cmd', 'commands', 'script'].map((name) => ({ rawInput: { [name]: 'ls; rm a.txt' } })),
      { rawInput: { command: 'rm', args: ['a.txt'] } },
      { rawInput: { command: ['rm', 'a.txt'] } },
      { rawInput: { command: ['bash', '-lc', 'rm a.txt'] } },
      { rawInput: { commands: ['ls', 'rm a.txt'] } },
      { rawInput: { edits: [{ path: '/workspace/b.txt' }, { path: '/workspace/.env' }] } },
      { rawInput: { changes: { '/workspace/.env': { type: 'delete' } } } },
      { rawInput: { steps: [[{ command: 'rm', args: ['a.txt'] }]] } },
    ]
    const others: object[] = [
      {},
      { content: good },
      { locations: [{ path: '/workspace/b.txt' }] },
      { rawInput: { command: 'ls' } },
      { rawInput: { path: '/workspace/b.txt' } },
    ]
    const kinds = [
      'read',
      'edit',
      'delete',
      'move',
      'search',
      'execute',
      'think',
      'fetch',
      'switch_mode',
      'other',
      null,
    ]
    let cases = 0
    for (const kind of kinds)
      for (const first of others)
        for (const second of everyNth(denied, 4, cases++)) {
          const call = { ...first, ...second, kind } as { content?: object[]; rawInput?: object }
          const { content } = first as { content?: object[] }
          const { rawInput } = first as { rawInput?: object }
          if (content && 'content' in second) call.content = [...content, ...(second as { content: object[] }).content]
          if (rawInput && 'rawInput' in second) call.rawInput = { ...rawInput, ...(second.rawInput as object) }
          expect([call, await permission(call)]).toEqual([call, selected('no')])
        }
    expect(cases).toBe(kinds.length * others.length)
    const edit = { kind: 'edit', rawInput: { command: 'str_replace', path: '/workspace/b.txt', old_str: '/etc' } }
    expect(await permission(edit)).toEqual(selected('yes'))
  })

  it('are refused if two options have one id, and cancelled by an answer that is not offered', async () => {
    const { requests, sessionId } = await connect({ permission: () => selected('other') as never })
    const ask = (...options: { optionId: string; name: string; kind: 'allow_once' | 'reject_once' }[]) =>
      requests.request(methods.client.session.requestPermission, {
        sessionId,
        toolCall: { toolCallId: 't', ...diff('/workspace/b.txt') } as never,
        options,
      })
    const allow = { optionId: 'a', name: 'Reject', kind: 'allow_once' as const }
    expect(await errorOf(ask({ ...allow, kind: 'reject_once' }, allow))).toMatchObject({ code: -32602 })
    expect(await ask(allow)).toEqual({ outcome: { outcome: 'cancelled' } })
  })

  it('are passed to a person unless a rule denies them', async () => {
    const asked: unknown[] = []
    const { permission } = await connect({
      policy,
      permission: ({ toolCall }) => {
        asked.push(toolCall.kind)
        return selected('always') as never
      },
    })
    expect(await permission(diff('/workspace/b.txt'))).toEqual(selected('always'))
    expect(await permission({ kind: 'fetch' })).toEqual(selected('always'))
    expect(await permission(diff('/workspace/docs/d.md'))).toEqual(selected('no'))
    expect(asked).toEqual(['edit', 'fetch'])
  })
})

describe('acpClient()', () => {
  it('says whether there are terminals', async () => {
    const backend = memory({})
    const bare = await createWorkspace({ backend, policy: 'autonomous' })
    const fs = { readTextFile: true, writeTextFile: true }
    expect(await acpClient(bare).capabilities()).toEqual({ fs, terminal: false })
    expect(await (await connect()).guarded.capabilities()).toEqual({ fs, terminal: true })
  })

  it('reads a missing file as an empty one for agents that need it, and nothing else', async () => {
    const { read } = await connect({ missingFile: 'empty' })
    expect(await read('/workspace/none.txt')).toEqual({ content: '' })
    expect((await errorOf(read('/workspace/.env'))).data).toMatchObject({ refusal: 'POLICY_DENIED_SECRET' })
  })

  it('cancels what waits for an answer at its end', async () => {
    for (const [method, params] of Object.entries({
      'fs/read_text_file': { path: '/workspace/a.txt' },
      'fs/write_text_file': { path: '/workspace/late.txt', content: 'late' },
    })) {
      const { guarded, workspace } = await connect({
        policy: { preset: 'autonomous', rules: [{ name: 'all', action: 'ask', paths: ['**'] }] },
        async ask() {
          await guarded.close()
          return 'allow'
        },
      })
      const error = await errorOf(guarded.answer(method as never, { sessionId: 's', ...params }))
      expect(error, method).toMatchObject({ code: -32800, data: { refusal: 'ABORTED' } })
      expect((await workspace.report()).calls.carriedOut, method).toBe(0)
    }
  })

  it('answers nothing after its end, and names a method that it does not have', async () => {
    const { guarded, workspace } = await connect()
    for (const method of ['fs/nope', 'toString', '']) {
      await expect(guarded.answer(method as never, {})).rejects.toMatchObject({
        code: -32601,
        message: `Method not found: ${method}`,
      })
    }
    const { terminalId } = await guarded.answer('terminal/create', { sessionId: 's', command: 'sleep 30' })
    await guarded.close()
    const requests = {
      'fs/read_text_file': { path: '/workspace/a.txt' },
      'fs/write_text_file': { path: '/workspace/a.txt', content: 'late' },
      'terminal/create': { command: 'echo late > late.txt' },
      'session/request_permission': { toolCall: { toolCallId: 't' }, options: [] },
    }
    for (const [method, params] of Object.entries(requests)) {
      await expect(guarded.answer(method as never, { sessionId: 's', ...params }), method).rejects.toMatchObject({
        code: -32603,
        message: expect.stringContaining('The client is closed'),
      })
    }
    const terminal = { sessionId: 's', terminalId }
    expect(await guarded.answer('terminal/wait_for_exit', terminal)).toEqual({ exitCode: null, signal: 'SIGTERM' })
    expect(await guarded.answer('terminal/output', terminal)).toMatchObject({ output: '' })
    expect(await guarded.answer('terminal/release', terminal)).toEqual({})
    await guarded.close()
    expect([await workspace.files.exists('late.txt'), await workspace.files.readText('a.txt')]).toEqual([
      false,
      'one\ntwo\nthree\n',
    ])
  })

  it('refuses a permission request that names more than 1,000 operations, in any form', async () => {
    const { guarded } = await connect()
    const paths = Array.from({ length: 2000 }, (_, i) => `/workspace/${i}`)
    const forms = {
      locations: { locations: paths.map((path) => ({ path })) },
      content: { content: paths.map((path) => ({ type: 'diff', path, newText: '' })) },
      fields: { rawInput: { paths } },
      names: { rawInput: Object.fromEntries(paths.map((path) => [path, 1])) },
      commands: { kind: 'execute', rawInput: paths.map((path) => ({ command: `ls ${path}` })) },
    }
    for (const [form, toolCall] of Object.entries(forms)) {
      const params = { sessionId: 's', toolCall: { toolCallId: 't', ...toolCall }, options: [] }
      await expect(guarded.answer('session/request_permission', params), form).rejects.toMatchObject({ code: -32602 })
    }
  })

  it('throws errors with codes without the SDK', async () => {
    const { guarded } = await connect({ RequestError: undefined as never })
    const error = await guarded
      .answer('fs/read_text_file', { path: '/workspace/a.txt' })
      .catch((error: unknown) => error)
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('sessionId') })
  })
})
