import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../../dist/backends/memory/index.js'
import { createWorkspace } from '../../../dist/index.js'
import { bash } from '../../../dist/shells/bash/index.js'
import { createThreads } from '../../../src/shells/bash/thread-pool.ts'
import { isLong } from '../../counts.ts'
import { snapshot } from '../../tools/setup.ts'
import type { Answer } from '../setup.ts'

const shell = bash()
afterAll(() => shell.close?.())

/** A workspace of the built package: its process needs a separate file, and errors are recognized by their class. */
async function open(tree: Readonly<Record<string, string>> = {}, of = shell) {
  const backend = memory(tree)
  const workspace = await createWorkspace({ backend, policy: 'autonomous', shell: of })
  return {
    run: (command: string, more: object = {}) => workspace.call('run_command', { command, ...more }) as Promise<Answer>,
    snapshot: () => snapshot(backend as never),
  }
}

describe('a line in a process of Node', () => {
  it.runIf(isLong)('has the effect of a line in the thread of its caller', async () => {
    const here = bash({ worker: false })
    const tree = { 'a.txt': 'one\ntwo\n', 'd/b.txt': 'three\n', '.env': 'PASSWORD=hunter2\n' }
    const line = [
      'cat a.txt | tr o 0 > c.txt; cp -r d e; mkdir -p x/y; ln -s a.txt l; chmod 700 a.txt; stat -c %a a.txt',
      "cat .env; rg -n t . | sort; node -p \"require('fs').readFileSync('a.txt', 'utf8').length\"",
      'echo oops >&2; printf "\\x00\\xff" > bin; wc -c bin; rm -r d; ls -R; cd e; exit 3',
    ].join('\n')
    const [one, other] = [await open(tree), await open(tree, here)]
    const { callId: _, durationMs: __, artifactUri: ___, ...expected } = await other.run(line)
    expect(await one.run(line)).toMatchObject(expected)
    expect(await one.snapshot()).toEqual(await other.snapshot())
    await here.close?.()
  })

  it.each([
    ...(isLong ? [["awk 'BEGIN{NF=1000000000;print $0}'", 'LIMIT_EXCEEDED', 30_000] as const] : []),
    ...(isLong ? [["echo a | sed ':a;s/a/aa/g;ba'", 'COMMAND_TIMEOUT', 1000] as const] : []),
    ['echo a | awk \'$100000000="x"\' | wc -c', 'LIMIT_EXCEEDED', 30_000],
    ["node -e 'for (;;);'", 'COMMAND_TIMEOUT', 1000],
  ] as const)('ends without an effect on the next line: %s', async (line, code, timeoutMs) => {
    const { run, snapshot } = await open({ 'a.txt': 'a' })
    expect(await run(`echo x > b.txt; ${line}`, { timeoutMs })).toMatchObject({ ok: false, code })
    expect(await run('cat a.txt')).toMatchObject({ ok: true, stdout: 'a' })
    expect(Object.keys(await snapshot())).toEqual(['a.txt'])
  })

  it.runIf(isLong)('runs four at a time', async () => {
    const { run } = await open()
    const answers = await Promise.all([1, 2, 3, 4, 5].map((i) => run(`sleep 0.1; echo ${i}`)))
    expect(answers.map(({ ok, stdout, message }) => (ok ? stdout : message))).toEqual([
      '1\n',
      '2\n',
      '3\n',
      '4\n',
      '5\n',
    ])
  })

  it('is refused if the platform starts no process', async () => {
    const threads = createThreads(() => {
      throw new Error('not permitted')
    })
    const options = { timeoutMs: 1000, signal: new AbortController().signal, serve: async () => undefined }
    const request = { line: '', root: '/workspace', cwd: '/', env: {}, timeoutMs: 1000 }
    await expect(threads.run({ type: 'line', request, commands: [] }, options)).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
    })
  })
})

describe('a program with bash()', () => {
  const directory = mkdtempSync(join(tmpdir(), 'program-'))
  afterAll(() => rmSync(directory, { recursive: true }))
  const dist = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../../dist', path)))

  async function start(then: string): Promise<ChildProcess> {
    const file = join(directory, 'program.mjs')
    writeFileSync(
      file,
      `import { memory } from ${dist('backends/memory/index.js')}
      import { createWorkspace } from ${dist('index.js')}
      import { bash } from ${dist('shells/bash/index.js')}
      const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', shell: bash() })
      const run = (command) => workspace.call('run_command', { command })
      await run('true')
      ${then}
      process.send?.('goes on')
      process.disconnect?.()`,
    )
    const program = fork(file, [], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    await once(program, 'message')
    return program
  }

  it('ends although the process of its shell is still warm', async () => {
    const program = await start('')
    const [code] = program.exitCode === null ? await once(program, 'exit') : [program.exitCode]
    expect(code).toBe(0)
  })

  // `childrenOf` reads /proc.
  it.runIf(existsSync('/proc/self/task'))('ends the process of its shell when it is killed', async () => {
    const program = await start(
      `run("sed ':a;s/a/ab/;ba' <<< a"); await new Promise((resolve) => setTimeout(resolve, 300))`,
    )
    const children = childrenOf(program.pid as number)
    expect(children).toHaveLength(1)
    program.kill('SIGKILL')
    await once(program, 'exit')
    await expect.poll(() => children.filter((pid) => existsSync(`/proc/${pid}/exe`)), { timeout: 5000 }).toEqual([])
  })

  // `childrenOf` reads /proc.
  it.runIf(existsSync('/proc/self/task'))('has no process left after the workspace is closed', async () => {
    const program = await start(`setInterval(() => {}, 1000); await workspace.close()`)
    await expect.poll(() => childrenOf(program.pid as number), { timeout: 5000 }).toEqual([])
    program.kill('SIGKILL')
    await once(program, 'exit')
  })
})

function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const text = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')).join(' ')
  return text.split(/\s+/).filter(Boolean).map(Number)
}
