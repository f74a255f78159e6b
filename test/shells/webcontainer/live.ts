import { memory } from '../../../src/backends/memory/index.ts'
import { type WebContainerState, webcontainer } from '../../../src/shells/webcontainer/index.ts'
import { check, same } from '../../../src/testing/assert.ts'
import type { Answer } from '../../../src/testing/shell/case.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'

export interface LiveReport {
  readonly state: WebContainerState
  /** `ok` or the message of the failure, by check. */
  readonly outcomes: Readonly<Record<string, string>>
}

const SECRET = 'PASSWORD=hunter2-live'

/** Checks for the vendor's runtime, in syntax that its shell supports. Without Node, as in the stand-in, some are left out. */
export async function live({ hasNode, apiKey }: { hasNode: boolean; apiKey?: string }): Promise<LiveReport> {
  const shell = webcontainer({ fallback: false, bootTimeoutMs: 120_000, ...(apiKey === undefined ? {} : { apiKey }) })
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
  const backend = memory({
    'package.json': '{"name":"live","version":"1.0.0","type":"module","scripts":{"test":"node --test"}}\n',
    'a.txt': 'a é\n',
    'bytes.bin': bytes,
    'bom.txt': '\uFEFFone\r\ntwo\n',
    'docs/final.md': 'final\n',
    'sub/b.txt': 'b\n',
    to: { link: 'a.txt' },
    '.env': `${SECRET}\n`,
    'server.js': "import http from 'node:http'\nhttp.createServer((_, to) => to.end('on')).listen(4321)\n",
    'writer.js':
      "import { spawn } from 'node:child_process'\nimport { writeFileSync } from 'node:fs'\nif (process.argv[2] === 'child') setInterval(() => writeFileSync('beat.txt', String(Date.now())), 50)\nelse { spawn(process.execPath, ['writer.js', 'child'], { stdio: 'ignore' }); setInterval(() => {}, 1000) }\n",
    'test/one.test.js': "import test from 'node:test'\ntest('passes', () => {})\n",
  })
  const workspace = await createWorkspace({
    backend,
    shell,
    policy: {
      preset: 'autonomous',
      readOnlyPaths: ['docs'],
      tools: { run_command: 'allow', start_command: 'allow' },
    },
  })
  const call = (name: string, input: object) => workspace.callTool(name as string, input) as Promise<Answer>
  const run = (command: string, more = {}) => call('run_command', { command, ...more })
  const read = async (path: string) => (await call('read_file', { path })).content
  const outcomes: Record<string, string> = {}
  async function attempt(name: string, action: () => Promise<void>): Promise<void> {
    try {
      await action()
      outcomes[name] = 'ok'
    } catch (error) {
      outcomes[name] = (error as Error).message
    }
  }
  const withNode: typeof attempt = async (name, action) => {
    if (hasNode) await attempt(name, action)
  }
  const pause = () => new Promise((resolve) => setTimeout(resolve, 300))

  const state = await shell.ready()
  check(state.runs === 'webcontainer', `There is no container: ${JSON.stringify(state)}`)
  await attempt('a read changes nothing, with texts, bytes, byte order marks and links', async () => {
    const { ok, stdout, exitCode, filesChanged } = await run('cat a.txt')
    same({ ok, stdout, exitCode, filesChanged }, { ok: true, stdout: 'a é\n', exitCode: 0, filesChanged: [] }, 'cat')
  })
  await attempt('exit codes', async () => {
    same((await run('exit 3')).exitCode, 3, 'exit 3')
    same((await run('cat nothing-there')).exitCode, 1, 'cat of nothing')
  })
  await attempt('written, moved and removed files are applied, and one undo reverts them', async () => {
    const { callId, filesChanged } = await run('cp a.txt c.txt && mv sub/b.txt sub/d.txt && mkdir made && rm bytes.bin')
    for (const path of ['c.txt', 'sub/b.txt', 'sub/d.txt', 'made', 'bytes.bin']) {
      check(filesChanged.includes(path), `${path} is not among ${JSON.stringify(filesChanged)}`)
    }
    same((await workspace.undo(callId)).ok, true, 'undo')
    same((await run('cat sub/b.txt')).stdout, 'b\n', 'the container after the undo')
    same((await backend.read('bytes.bin' as never)).bytes.join(), bytes.join(), 'bytes.bin')
  })
  await attempt('a refused change is reverted and listed', async () => {
    const { refused } = await run('cp a.txt docs/final.md')
    same(refused?.[0]?.path, 'docs/final.md', 'what was refused')
    same((await run('cat docs/final.md')).stdout, 'final\n', 'the next command')
  })
  await attempt('a protected file does not exist', async () => {
    const output = JSON.stringify([await run('cat .env'), await run('ls -a')])
    check(!output.includes(SECRET), output)
  })
  await attempt('the final directory is reported', async () => {
    const { cwd } = await run('cd sub')
    same(cwd, state.tellsCwd ? 'sub' : '.', 'cwd')
  })
  await attempt('a command starts in a directory', async () => {
    same((await run('cat b.txt', { cwd: 'sub' })).stdout, 'b\n', 'cat')
  })
  await withNode('Node runs its test runner', async () => {
    const { stdout, exitCode } = await run('npm test', { timeoutMs: 120_000 })
    check(exitCode === 0 && stdout.includes('pass 1'), `npm test: ${stdout}`)
  })
  await withNode('bytes written by Node are kept', async () => {
    await run("node -e \"require('fs').writeFileSync('all.bin', Buffer.from(Array.from({length:256},(_,i)=>i)))\"")
    same((await backend.read('all.bin' as never)).bytes.join(), bytes.join(), 'all.bin')
  })
  await withNode('an installed package stays in the container', async () => {
    const { exitCode, stdout } = await run('npm install is-number@7', { timeoutMs: 120_000 })
    same(exitCode, 0, stdout)
    same((await run('node -p "require(\'is-number\')(5)"')).stdout, 'true\n', 'its use')
    same((await call('file_info', { path: 'node_modules' })).ok, false, 'node_modules in the workspace')
  })
  await withNode('a server reports its port until it is stopped', async () => {
    const { id } = await call('start_command', { command: 'node server.js' })
    for (let i = 0; shell.ports().length === 0 && i < 100; i++) await pause()
    same(shell.ports()[0]?.port, 4321, 'the port')
    await call('stop_command', { id })
    for (let i = 0; shell.ports().length > 0 && i < 20; i++) await pause()
    same(shell.ports().length, 0, 'ports after stop_command')
  })
  await withNode('children end with a stopped command', async () => {
    same((await run('node writer.js', { timeoutMs: 5000 })).code, 'COMMAND_TIMEOUT', 'writer.js')
    await pause()
    same((await run('ls')).filesChanged, [], 'what was written after the end')
  })
  await withNode('files of a background command are found while it runs', async () => {
    const { id } = await call('start_command', {
      command: "node -e \"require('fs').writeFileSync('live.txt', 'on'); setInterval(() => {}, 1000)\"",
    })
    for (let i = 0; (await read('live.txt')) !== 'on' && i < 50; i++) await pause()
    same(await read('live.txt'), 'on', 'live.txt')
    await call('stop_command', { id })
  })
  await workspace.close()
  return { state, outcomes }
}
