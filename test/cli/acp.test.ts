import { type ChildProcess, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import {
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionNotification,
} from '@agentclientprotocol/sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import { main, runCli } from './run-cli.ts'

const script = join(import.meta.dirname, 'fixtures/acp-agent.mjs')

/** Whether a process is there, and is no zombie that its parent has not waited for. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

interface Answer {
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly refusal?: string } }
  readonly capabilities?: unknown
}

describe('wardspace acp, between an editor and an agent of the SDK', () => {
  let home: string
  let root: string
  let child: ChildProcess
  let editor: ClientConnection
  let asked: RequestPermissionRequest[]
  let updates: SessionNotification[]
  let choice: string

  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-acp-')))
    root = join(home, 'project')
    mkdirSync(join(root, 'src'), { recursive: true })
    writeFileSync(join(root, 'a.txt'), 'one\n')
    writeFileSync(join(root, '.env'), 'PASSWORD=hunter2\n')
    writeFileSync(join(home, 'outside.txt'), 'outside\n')
    asked = []
    updates = []
    choice = 'once'
  })

  afterEach(() => {
    editor?.close()
    child?.kill()
    rmSync(home, { recursive: true, force: true })
  })

  async function start(...options: string[]): Promise<void> {
    const words = ['acp', '--root', root, ...options, '--', process.execPath, script]
    child = spawn(process.execPath, [main, ...words], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, XDG_STATE_HOME: join(home, 'state') },
    })
    const app = client({ name: 'editor' })
      .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        asked.push(params)
        return { outcome: { outcome: 'selected', optionId: choice } }
      })
      // The editor would do these, unguarded.
      .onRequest(methods.client.fs.readTextFile, () => ({ content: 'of the editor' }))
      .onRequest(methods.client.fs.writeTextFile, () => ({}))
      .onRequest('*', () => ({ content: 'of the editor' }))
    editor = app.connect(
      ndJsonStream(Writable.toWeb(child.stdin as never), Readable.toWeb(child.stdout as never) as never),
    )
    await editor.agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    })
  }

  const open = (cwd = root) => editor.agent.request(methods.agent.session.new, { cwd, mcpServers: [] })

  /** Makes the agent send these requests, and returns the answers that it gets. */
  async function agentDoes(...requests: readonly { method: string; params?: object }[]): Promise<Answer[]> {
    const { sessionId } = await open()
    await editor.agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: 'text', text: JSON.stringify(requests) }],
    })
    const update = updates.at(-1)?.update as { content: { text: string } }
    return JSON.parse(update.content.text) as Answer[]
  }

  const read = (path: string) => ({ method: 'fs/read_text_file', params: { path } })
  const write = (path: string, content: string) => ({ method: 'fs/write_text_file', params: { path, content } })

  it('answers for files by the policy, with paths of the machine', async () => {
    symlinkSync(root, join(home, 'link'))
    await start('--policy', 'autonomous')
    const [first, whole, secret, outside, absolute, written, linked] = await agentDoes(
      read(join(root, 'a.txt')),
      read(join(root, '.env')),
      read(join(home, 'outside.txt')),
      read(join(root, '../outside.txt')),
      write(join(root, 'src/b.txt'), 'b\n'),
      write(join(home, 'project/../outside.txt'), 'b\n'),
    )
    expect(first?.capabilities).toMatchObject({ fs: { readTextFile: true, writeTextFile: true }, terminal: false })
    expect(whole?.result).toEqual({ content: 'one\n' })
    expect(secret?.error?.data?.refusal).toBe('POLICY_DENIED_SECRET')
    expect(outside?.error?.code).toBe(-32602)
    expect(absolute?.error?.code).toBe(-32602)
    expect(written?.result).toEqual({})
    expect(linked?.error?.code).toBe(-32602)
    expect(readFileSync(join(root, 'src/b.txt'), 'utf8')).toBe('b\n')
    expect(readFileSync(join(home, 'outside.txt'), 'utf8')).toBe('outside\n')
    expect(asked).toEqual([])
  })

  it('asks the person at the editor for approvals, and shows the change', async () => {
    await start('--policy', 'supervised')
    const change = write(join(root, 'a.txt'), 'two\n')
    choice = 'no'
    expect((await agentDoes(change))[1]?.error?.data?.refusal).toBe('APPROVAL_DENIED')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n')
    choice = 'once'
    expect((await agentDoes(change))[1]?.result).toEqual({})
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('two\n')
    const [{ toolCall, options } = {} as RequestPermissionRequest] = asked
    const [{ content: { text = '' } = {} } = {}] = toolCall.content as { content?: { text?: string } }[]
    const [, call = '', diff = ''] = /^```text\n(.*)\n```\n\n```diff\n(.*)\n```$/s.exec(text) ?? []
    expect(call).toMatch(/^write_file on a\.txt\n/)
    expect(call).not.toContain('-one')
    expect(diff).toMatch(/-one\n\+two\n$/)
    expect(diff).toMatch(/^(---|diff|@@)/)
    expect(toolCall.locations).toEqual([{ path: join(root, 'a.txt') }])
    expect(options.map(({ kind }) => kind)).toEqual(['allow_once', 'allow_always', 'reject_once'])
    choice = 'run'
    await agentDoes(write(join(root, 'a.txt'), 'three\n'), write(join(root, 'a.txt'), 'four\n'))
    expect(asked).toHaveLength(3)
    // Another session is another run.
    await agentDoes(write(join(root, 'a.txt'), 'five\n'))
    expect(asked).toHaveLength(4)
  })

  it('runs terminals in the workspace, at the path of the machine', async () => {
    await start('--policy', 'autonomous', '--shell', 'bash')
    const run = (params: object) => [
      { method: 'terminal/create', params },
      { method: 'terminal/wait_for_exit', params: { terminalId: 'last' } },
      { method: 'terminal/output', params: { terminalId: 'last' } },
    ]
    const answers = await agentDoes(
      ...run({ command: `cat ${join(root, 'a.txt')}; pwd; cat .env`, cwd: root }),
      ...run({ command: 'pwd', cwd: join(root, 'src') }),
      ...run({ command: `cat ${join(home, 'outside.txt')}` }),
    )
    expect(answers[0]?.capabilities).toMatchObject({ terminal: true })
    expect(answers[3]?.result?.output).toBe(`one\n${root}\ncat: .env: Permission denied\n`)
    expect(answers[6]?.result?.output).toBe(`${join(root, 'src')}\n`)
    expect(answers[9]?.result?.output).toMatch(/No such file/)
    // The editor does not know the terminal.
    const shown = updates.map(({ update }) => update).find(({ sessionUpdate }) => sessionUpdate === 'tool_call')
    expect(shown).toMatchObject({ content: [{ type: 'content', content: { type: 'text' } }] })
  })

  it('passes permission requests that no rule denies to the editor, and answers the others', async () => {
    await start('--policy', 'autonomous')
    const ask = (toolCall: object) => ({
      method: 'session/request_permission',
      params: {
        toolCall: { toolCallId: 't', ...toolCall },
        options: [
          { optionId: 'once', name: 'x', kind: 'allow_once' },
          { optionId: 'no', name: 'y', kind: 'reject_once' },
        ],
      },
    })
    const edit = (path: string) => ({ kind: 'edit', content: [{ type: 'diff', path, newText: 'x' }] })
    const answers = await agentDoes(
      ask(edit(join(root, 'a.txt'))),
      ask(edit(join(root, '.env'))),
      ask({ kind: 'fetch' }),
      // There is no shell.
      ask({ kind: 'execute', title: 'ls' }),
    )
    const options = answers.slice(1).map(({ result }) => (Object(result?.outcome) as { optionId?: string }).optionId)
    expect(options).toEqual(['once', 'no', 'once', 'no'])
    expect(asked.map(({ toolCall }) => toolCall.kind)).toEqual(['edit', 'fetch'])
    expect(asked[0]?.toolCall.content).toEqual([{ type: 'diff', path: join(root, 'a.txt'), newText: 'x' }])
  })

  it('lets no other request through to the editor, and no session outside of the root', async () => {
    await start('--policy', 'autonomous')
    const methodsOfOthers = [
      'fs/delete_file',
      'fs/read_binary_file',
      '_zed/open',
      'mcp/message',
      'FS/read_text_file',
      'session/prompt',
    ]
    const answers = await agentDoes(
      ...methodsOfOthers.map((method) => ({ method, params: { path: join(root, 'a.txt') } })),
    )
    expect(answers.slice(1).map(({ error }) => error?.code)).toEqual(methodsOfOthers.map(() => -32601))
    for (const cwd of [home, '/', `${root}-other`, join(root, '..'), `${root}/../project`]) {
      await expect(open(cwd), cwd).rejects.toMatchObject({ code: -32602 })
    }
    await expect(
      editor.agent.request(methods.agent.session.new, { cwd: root, additionalDirectories: [home], mcpServers: [] }),
    ).rejects.toMatchObject({ code: -32602 })
    const other = await agentDoes({
      method: 'fs/read_text_file',
      params: { sessionId: 'session-99', path: join(root, 'a.txt') },
    })
    expect(other[1]?.error?.code).toBe(-32002)
  })

  it.runIf(isLong)('ends with the editor, and with an agent that does not start', async () => {
    await start('--policy', 'autonomous')
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.stdin?.end()
    expect(await ended).toBe(0)
    // An agent that ignores the signal, with a process that holds its output.
    const stubborn = `
      const { spawn } = require('node:child_process')
      process.on('SIGTERM', () => {})
      const child = spawn('sleep', ['600'], { stdio: 'inherit' })
      require('node:fs').writeFileSync(${JSON.stringify(join(home, 'pid'))}, String(child.pid))
      setInterval(() => {}, 1000)
    `
    const ignoring = spawn(
      process.execPath,
      [main, 'acp', '--root', root, '--policy', 'autonomous', '--', process.execPath, '-e', stubborn],
      { stdio: ['pipe', 'ignore', 'inherit'] },
    )
    await expect.poll(() => existsSync(join(home, 'pid')) && readFileSync(join(home, 'pid'), 'utf8')).toMatch(/^\d+$/)
    const over = new Promise((resolve) => ignoring.once('close', resolve))
    ignoring.stdin.end()
    expect(await over).toBe(0)
    const held = Number(readFileSync(join(home, 'pid'), 'utf8'))
    await expect.poll(() => isRunning(held)).toBe(false)
    const missing = await runCli(['acp', '--root', root, '--policy', 'autonomous', '--', join(home, 'none')])
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('Cannot start the agent') })
    const failing = await runCli([
      'acp',
      '--root',
      root,
      '--policy',
      'autonomous',
      '--',
      process.execPath,
      '-e',
      'process.exit(3)',
    ])
    expect(failing.code).toBe(1)
    const none = await runCli(['acp', '--root', root, '--policy', 'autonomous'])
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('Which agent?') })
  })
})
