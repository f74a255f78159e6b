import { type MemoryEntry, memory } from '../../../src/backends/memory/index.ts'
import type { Shell } from '../../../src/shells/types.ts'
import {
  type WebContainerOptions,
  type WebContainerShell,
  webcontainer,
} from '../../../src/shells/webcontainer/index.ts'
import { check, same } from '../../../src/testing/assert.ts'
import type { Answer } from '../../../src/testing/shell/case.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../../../src/workspace/create-workspace.ts'
import { until } from '../../until.ts'

const SECRET = 'PASSWORD=hunter2-of-the-container'
const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`

interface Bench {
  readonly workspace: Workspace
  readonly shell: WebContainerShell
  call(name: string, input: object): Promise<Answer>
  run(command: string, more?: object): Promise<Answer>
  /** Reads a file of the workspace. */
  text(path: string): Promise<string | undefined>
  /** Returns the files of the workspace in the container, read directly. `plant` adds files first. */
  inside(plant?: Record<string, string>): Promise<Record<string, string>>
}

/** Runs a test with a workspace over the container, and closes it. */
async function withBench(
  tree: Readonly<Record<string, MemoryEntry>>,
  test: (bench: Bench) => Promise<void>,
  benchOptions: Partial<WorkspaceOptions> & { shellOptions?: WebContainerOptions; isJudged?: boolean } = {},
): Promise<void> {
  const { shellOptions, isJudged = false, ...options } = benchOptions
  const shell = webcontainer({ fallback: false, graceMs: 500, ...shellOptions })
  const backend = memory(tree)
  const policy = { preset: 'autonomous', tools: { run_command: 'allow', start_command: 'allow' } } as const
  const workspace = await createWorkspace({ backend, policy, shell: isJudged ? shell : unjudged(shell), ...options })
  const call = (name: string, input: object) => workspace.callTool(name as string, input) as Promise<Answer>
  try {
    await test({
      workspace,
      shell,
      call,
      run: (command, more = {}) => call('run_command', { command, ...more }),
      text: async (path) => {
        const stat = await backend.stat(path as never)
        return stat === undefined
          ? undefined
          : new TextDecoder('utf-8', { ignoreBOM: true }).decode((await backend.read(path as never)).bytes)
      },
      inside,
    })
  } finally {
    await workspace.close()
  }
}

/** The shell with a judge that allows every line. */
function unjudged(shell: Shell): Shell {
  const line = { decision: 'allow', commands: [], accesses: [], reasons: [] } as const
  return {
    ...shell,
    judge: (_, { policy, call }) => ({ line, verdict: policy.evaluate({ ...call, commands: [] }), opens: [] }),
  }
}

const TOP = 'home/wardspace/workspace/'

/** Returns all files of the container. */
async function everything(plant: Record<string, string> = {}): Promise<Record<string, string>> {
  const frame = document.querySelector('iframe')?.contentWindow
  const answer = new Promise<Record<string, string>>((resolve) => {
    addEventListener('message', function listen({ data }) {
      if (data?.type !== 'stand-in') return
      removeEventListener('message', listen)
      resolve(data.told)
    })
  })
  frame?.postMessage({ type: 'stand-in', plant }, '*')
  return answer
}

async function inside(plant: Record<string, string> = {}): Promise<Record<string, string>> {
  const all = await everything(Object.fromEntries(Object.entries(plant).map(([path, text]) => [TOP + path, text])))
  const below = Object.entries(all).filter(([path]) => path.startsWith(TOP))
  return Object.fromEntries(below.map(([path, text]) => [path.slice(TOP.length), text]))
}

async function requireClean(label: string): Promise<void> {
  const all = await everything()
  for (const [path, text] of Object.entries(all)) {
    const isSecretName = /(^|\/)(\.env|id_rsa)(\.\w+)?$/.test(path) && !path.endsWith('.example')
    check(!isSecretName && !path.includes('private'), `${label}: ${path} is in the container`)
    for (const secret of [SECRET, TOKEN, 'the plan']) {
      check(!text.includes(secret), `${label}: ${path} in the container holds a secret`)
    }
  }
}

/** Scenarios against the stand-in, each in a new workspace. They throw if they fail. */
export const scenarios: Record<string, () => Promise<void>> = {
  'copies no unreadable file into the container, by any command or tool': () =>
    withBench(
      {
        '.env': `${SECRET}\n`,
        'conf/.env.production': `${SECRET}\n`,
        'keys/id_rsa': SECRET,
        'private/plan.txt': 'the plan',
        'conf.ts': `const token = '${TOKEN}'\n`,
        'a.txt': 'a\n',
        to: { link: '.env' },
      },
      async ({ workspace, run, call, text }) => {
        const lines = [
          'ls -a',
          'mkdir copied; cp conf.ts a.txt copied',
          'p=.env; cat "$p"',
          'cat to',
          'mv conf.ts other.ts',
          'echo x > new.txt',
        ]
        for (const line of lines) {
          const output = JSON.stringify(await run(line))
          for (const secret of [SECRET, TOKEN, 'the plan']) check(!output.includes(secret), `${line}: ${output}`)
          await requireClean(line)
        }
        // Refused files are left out before the command runs.
        same((await run('true')).refused, undefined, 'what a command tried that looks at nothing')
        // Moved and copied files keep their secrets, which the container never had.
        check((await text('other.ts'))?.includes(TOKEN) === true, `other.ts: got ${await text('other.ts')}`)
        check((await text('copied/conf.ts'))?.includes(TOKEN) === true, 'copied/conf.ts lost its secret')
        await call('write_file', { path: 'b.ts', content: `const b = '${TOKEN}'\n` })
        await run('echo "// more" >> b.ts; cat b.ts')
        await requireClean('a file that a tool wrote')
        same(await text('b.ts'), `const b = '${TOKEN}'\n// more\n`, 'b.ts')
        same(await text('.env'), `${SECRET}\n`, '.env')
        const { refused } = await run('f=.env; echo stolen > "$f"')
        same(refused?.[0]?.path, '.env', 'a change of .env')
        check(
          workspace
            .auditRecords()
            .at(-1)
            ?.refusals?.some(({ path }) => path === '.env') === true,
          'its audit',
        )
        same(await text('.env'), `${SECRET}\n`, '.env after it was written')
        await requireClean('a file of that name that a command made')
      },
      { policy: { preset: 'autonomous', deniedPaths: ['private'], tools: { run_command: 'allow' } } },
    ),

  'lists and audits each attempt to read a file that a line names': () =>
    withBench(
      { '.env': `${SECRET}\n`, 'conf/.env.production': `${SECRET}\n`, 'sub/a.txt': 'a\n' },
      async ({ run, workspace }) => {
        const tries: readonly [line: string, path: string, cwd?: string][] = [
          ['cat .env', '.env'],
          ['cat .env 2> /dev/null; true', '.env'],
          ['cp .env x', '.env'],
          ['ln -s .env soft', '.env'],
          ['grep -f .env sub/a.txt', '.env'],
          ['cat ../.env', '.env', 'sub'],
          ['cd conf && tar cf out.tar .env.production', 'conf/.env.production'],
          ['cat --file=.env', '.env'],
        ]
        for (const [line, path, cwd = '.'] of tries) {
          const answer = await run(line, { cwd })
          const isTold = answer.refused?.some((one: Answer) => one.path === path && one.code === 'POLICY_DENIED_SECRET')
          check(isTold === true, `${line}: the result does not tell: ${JSON.stringify(answer)}`)
          const { refusals } = workspace.auditRecords().at(-1) ?? {}
          check(refusals?.some((one) => one.path === path) === true, `${line}: the audit does not tell`)
          check(!JSON.stringify(answer).includes(SECRET), `${line}: it told the secret`)
        }
        // A redirection is evaluated before anything runs.
        const { code } = await run('cat < .env')
        same(code, 'POLICY_DENIED_SECRET', 'cat < .env')
        check(JSON.stringify(workspace.auditRecords().at(-1)).includes('POLICY_DENIED_SECRET'), 'its audit')
        // Data is not an attempt. A name that is only known at run time is not found, but the file is not there either.
        same((await run('echo .env')).refused, undefined, 'echo .env')
        const result = await run('p=.env; cat "$p"')
        same(
          { exitCode: result.exitCode, refused: result.refused },
          { exitCode: 1, refused: undefined },
          'a name in a variable',
        )
        await requireClean('after all tries')
      },
      { isJudged: true },
    ),

  'reverts a refused change in the container and lists it': () =>
    withBench(
      { 'docs/a.md': 'a\n', 'docs/b.md': 'b\n', 'docs/c/d.md': 'd\n', 'ok.txt': 'old\n' },
      async ({ run, inside, text, workspace }) => {
        const before = await (async () => {
          await run('true')
          return inside()
        })()
        const { ok, refused, filesChanged, callId } = await run(
          'echo x > docs/a.md; rm docs/b.md; rm -r docs/c; mkdir -p docs/new/deep; echo n > docs/new/n.md; echo new > ok.txt',
        )
        same({ ok, filesChanged }, { ok: true, filesChanged: ['ok.txt'] }, 'the result')
        const paths = new Set((refused as { path: string }[]).map(({ path }) => path))
        for (const path of ['docs/a.md', 'docs/b.md', 'docs/c/d.md', 'docs/new'])
          check(paths.has(path), `${path} is not told`)
        same(await inside(), { ...before, 'ok.txt': 'new\n' }, 'the container')
        same(
          [await text('docs/a.md'), await text('docs/b.md'), await text('docs/c/d.md')],
          ['a\n', 'b\n', 'd\n'],
          'docs',
        )
        same((await run('cat docs/a.md docs/b.md docs/c/d.md ok.txt')).stdout, 'a\nb\nd\nnew\n', 'the next command')
        same((await workspace.undo(callId)).ok, true, 'undo')
        same((await run('cat ok.txt')).stdout, 'old\n', 'the container after the undo')
      },
      { policy: { preset: 'autonomous', readOnlyPaths: ['docs'], tools: { run_command: 'allow' } } },
    ),

  'reverts a change set in the container that is refused as a whole': () =>
    withBench(
      { 'a.txt': 'a\n' },
      async ({ run, text }) => {
        const { ok, code } = await run('echo b > a.txt; echo c > c.txt')
        same({ ok, code }, { ok: false, code: 'APPROVAL_DENIED' }, 'the result')
        same(await text('a.txt'), 'a\n', 'a.txt')
        same((await run('cat a.txt; ls')).stdout, 'a\na.txt\n', 'the next command')
      },
      {
        policy: {
          preset: 'autonomous',
          tools: { run_command: 'allow' },
          rules: [{ name: 'ask', action: 'ask', permissions: ['file:write:*'], paths: ['**'] }],
        },
        approve: () => ({ deny: 'no' }),
      },
    ),

  'does not overwrite changes that another call makes while a command runs': () =>
    withBench({ 'a.txt': 'a\n', 'b.txt': 'b\n' }, async ({ run, call, inside, text }) => {
      const wait = 'while [ ! -e go ]; do sleep 0.01; done'
      for (const [line, path] of [
        ['echo mine >> a.txt', 'a.txt'],
        ['rm b.txt', 'b.txt'],
        ['echo mine > new.txt', 'new.txt'],
      ] as const) {
        const running = run(`${line}; echo x > other.txt; touch ready; ${wait}; rm go`)
        await until('the command', async () => 'ready' in (await inside()))
        const theirs = await call('read_file', { path })
        await call('write_file', { path, content: 'theirs\n', expectedSha256: theirs.ok ? theirs.sha256 : null })
        await inside({ go: '' })
        const { ok, code, message } = await running
        same({ ok, code }, { ok: false, code: 'WRITE_CONFLICT' }, line)
        check(message.includes(path), `${line}: ${message}`)
        same([await text(path), await text('other.txt')], ['theirs\n', undefined], `after ${line}`)
        same((await run(`cat ${path}; ls`)).stdout.includes('theirs\n'), true, 'the next command')
        check(!('ready' in (await inside())), 'what was dropped is in the container')
      }
    }),

  'shows the changes of other calls to a background command, and does not count their echo as a change': () =>
    withBench({ 'a.txt': 'a\n' }, async ({ workspace, call, run, inside, text }) => {
      const { id } = await call('start_command', { command: 'sleep 0.05; echo made > made.txt; sleep 600' })
      // The change is committed while the command still runs.
      await until('made.txt', async () => (await text('made.txt')) === 'made\n')
      same((await call('check_command', { id })).state, 'running', 'the state')
      const count = () => workspace.auditRecords().filter(({ phase }) => phase === 'outcome').length
      await call('write_file', { path: 'src/b.txt', content: 'b\n' })
      await call('write_file', { path: '.env', content: SECRET })
      await until('b.txt in the container', async () => (await inside())['src/b.txt'] === 'b\n')
      const countBefore = count()
      // When a later change is visible, the echo has been processed.
      await inside({ 'later.txt': 'later\n', 'node_modules/x/index.js': 'x', '.git/config': 'c' })
      await until('later.txt', async () => (await text('later.txt')) === 'later\n')
      same(count(), countBefore + 1, 'calls in the audit')
      const changed = workspace.auditRecords().at(-1)?.pathsWritten
      same(changed, ['later.txt'], 'what the call changed')
      await requireClean('what others wrote')
      // Files that exist only in the container are not copied back.
      same([await text('node_modules/x/index.js'), await text('.git/config')], [undefined, undefined], 'its own')
      same((await run('cat node_modules/x/index.js src/b.txt')).stdout, 'xb\n', 'a command beside it')
      const stopped = await call('stop_command', { id })
      same(stopped.state, 'ended', 'the state after stop_command')
    }),

  'reverts a refused change of a background command and reports it': () =>
    withBench(
      { 'docs/a.md': 'a\n' },
      async ({ call, inside, text }) => {
        const { id } = await call('start_command', { command: 'echo x > docs/a.md; echo y > y.txt; sleep 600' })
        await until('y.txt', async () => (await text('y.txt')) === 'y\n')
        await until('docs/a.md in the container', async () => (await inside())['docs/a.md'] === 'a\n')
        const { stderr } = await call('check_command', { id })
        check(stderr.includes('docs/a.md'), `the error output: ${stderr}`)
        await call('stop_command', { id })
      },
      { policy: { preset: 'autonomous', readOnlyPaths: ['docs'], tools: { start_command: 'allow' } } },
    ),

  'lets a background command continue after a set of its changes was refused as a whole': () =>
    withBench(
      {},
      async ({ call, inside, text }) => {
        const { id } = await call('start_command', {
          command:
            'mkdir asked; echo x > asked/a.txt; while [ ! -e go ]; do sleep 0.01; done; rm go; echo ok > ok.txt; sleep 600',
        })
        let output = ''
        await until('the refusal', async () => {
          output += (await call('check_command', { id })).stderr
          return output.includes('was put back')
        })
        await until('asked/a.txt in the container', async () => !('asked/a.txt' in (await inside())))
        same(await text('asked/a.txt'), undefined, 'asked/a.txt')
        await inside({ go: '' })
        await until('ok.txt', async () => (await text('ok.txt')) === 'ok\n')
        same((await call('check_command', { id })).state, 'running', 'the state')
        await call('stop_command', { id })
        same(await text('asked/a.txt'), undefined, 'asked/a.txt at the end')
      },
      {
        policy: {
          preset: 'autonomous',
          tools: { start_command: 'allow' },
          rules: [{ name: 'ask', action: 'ask', permissions: ['file:write:*'], paths: ['asked/**'] }],
        },
        approve: () => ({ deny: 'no' }),
      },
    ),

  'supports servers, their URLs, input and the size of the terminal': async () => {
    const events: string[] = []
    const shellOptions: WebContainerOptions = {
      onPort: ({ port }, type) => events.push(`${type} ${port}`),
      previewScript: 'console.log(1)',
      terminal: { cols: 71, rows: 5 },
    }
    await withBench(
      {},
      async ({ call, shell, run }) => {
        same((await run('terminal-size')).stdout, '71x5\n', 'the terminal')
        const { id } = await call('start_command', { command: 'serve 5173' })
        await until('the port', async () => shell.ports().length === 1)
        const url = 'https://5173--stand-in.localhost/'
        same(shell.ports(), [{ port: 5173, url }], 'ports()')
        let output = ''
        await until('the word', async () => {
          output += (await call('check_command', { id })).stderr
          return output.includes(`port 5173: ${url}`)
        })
        await call('stop_command', { id })
        await until('the end of the port', async () => shell.ports().length === 0)
        same(events, ['open 5173', 'ready 5173', 'close 5173'], 'events')
        shell.resize({ cols: 99, rows: 9 })
        same((await run('terminal-size')).stdout, '99x9\n', 'the terminal later')
        const all = await everything()
        check(all['preview-script.json']?.includes('console.log(1)') === true, 'the preview script')
      },
      { shellOptions },
    )
  },

  'passes input to a background command': async () => {
    const shell = webcontainer({ fallback: false })
    const processes: Awaited<ReturnType<NonNullable<typeof shell.start>>>[] = []
    const listening = {
      ...shell,
      async start(command: never) {
        const process = await (shell.start as (command: never) => Promise<(typeof processes)[number]>)(command)
        processes.push(process)
        return process
      },
    }
    const workspace = await createWorkspace({ backend: memory({}), policy: 'autonomous', shell: listening })
    await workspace.call('start_command', { command: 'listen' })
    const [process] = processes
    await process?.write('one\n')
    shell.resize({ cols: 50, rows: 2 })
    await process?.write('two\n')
    await process?.write('exit\n')
    await process?.ended
    const { stdout } = process?.output() ?? {}
    same(stdout, 'listening\nheard one, 120x40\nheard two, 50x2\n', 'what it says')
    same(process?.exitCode, 0, 'exit code')
    const refused = await process?.write('three').then(
      () => false,
      () => true,
    )
    same(refused, true, 'input after its end')
    await workspace.close()
  },

  'passes stdin to a foreground command': async () => {
    const shell = webcontainer({ fallback: false })
    const fed: Shell = { ...shell, run: (command) => shell.run({ ...command, stdin: 'one\n' }) }
    const workspace = await createWorkspace({ backend: memory({}), policy: 'autonomous', shell: fed })
    const { stdout, exitCode } = (await workspace.call('run_command', { command: 'listen' })) as unknown as Answer
    same({ stdout, exitCode }, { stdout: 'listening\nheard one, 120x40\n', exitCode: 0 }, 'what it says')
    await workspace.close()
  },

  'ends the container of a process that does not end, and boots another one for the next command': () =>
    withBench({ 'a.txt': 'a\n' }, async ({ run, call }) => {
      same((await run('cat a.txt')).stdout, 'a\n', 'before')
      same((await run('stubborn', { timeoutMs: 200 })).code, 'COMMAND_TIMEOUT', 'stubborn')
      await call('write_file', { path: 'b.txt', content: 'b\n' })
      same((await run('cat a.txt b.txt')).stdout, 'a\nb\n', 'after')
    }),

  'copies links into a container that keeps them, and applies their changes': () =>
    withBench(
      { 'a.txt': 'a\n', 'b.txt': 'b\n', to: { link: 'a.txt' } },
      async ({ run, shell, inside, workspace, call }) => {
        const state = await shell.ready()
        same(state.runs === 'webcontainer' && state.links, true, 'the state')
        same((await run('cat to; echo more >> to; cat to')).stdout, 'a\na\nmore\n', 'through the link')
        same((await inside()).to, '-> a.txt', 'the link in the container')
        same(
          (await run('rm to; ln -s b.txt to; ln -s b.txt new; cat to new')).filesChanged.sort(),
          ['new', 'to'],
          'new links',
        )
        const { entries } = await call('list_directory', { path: '.' })
        same(entries.filter(({ type }: Answer) => type === 'link').length, 2, 'links in the workspace')
        await workspace.checkpoint()
      },
    ),

  'copies unusual names and bytes there and back': () =>
    withBench(
      {
        constructor: 'c',
        'sub/__proto__': 'p',
        '-n': 'n',
        'a b/é ü.txt': 'x',
        'bytes.bin': Uint8Array.of(0, 255, 128, 13, 10),
      },
      async ({ run, inside, workspace, text }) => {
        const { filesChanged } = await run('ls')
        same(filesChanged, [], 'what a look changes')
        same(
          Object.keys(await inside()).sort(),
          ['-n', 'a b', 'a b/é ü.txt', 'bytes.bin', 'constructor', 'sub', 'sub/__proto__'],
          'names',
        )
        const { callId } = await run(
          'for f in ./-n constructor sub/__proto__ "a b/é ü.txt"; do echo more >> "$f"; done; cp bytes.bin copy.bin',
        )
        same(
          [await text('-n'), await text('constructor'), await text('sub/__proto__'), await text('a b/é ü.txt')],
          ['nmore\n', 'cmore\n', 'pmore\n', 'xmore\n'],
          'files',
        )
        same(await text('copy.bin'), await text('bytes.bin'), 'copy.bin')
        same((await workspace.undo(callId)).ok, true, 'undo')
        same(
          (await run('cat constructor sub/__proto__; ls')).stdout,
          'cp-n\na b\nbytes.bin\nconstructor\nsub\n',
          'after the undo',
        )
      },
    ),

  'counts the copied files as read by every run, and gives a fork its own files': () =>
    withBench(
      { 'restricted/a.txt': 'a\n', 'b.txt': 'b\n' },
      async ({ run, workspace, text, call }) => {
        await run('true')
        const second = workspace.run()
        const { label } = (await second.call('run_command', { command: 'cat restricted/a.txt' })) as unknown as Answer
        same(label, 'restricted', 'the label of what another run was told')
        const fork = await workspace.fork()
        const forked = (command: string) => fork.call('run_command', { command }) as Promise<Answer>
        await forked('echo forked > b.txt')
        same((await run('cat b.txt; echo main > b.txt')).stdout, 'b\n', 'the origin')
        same((await forked('cat b.txt')).stdout, 'forked\n', 'the fork')
        same(await text('b.txt'), 'main\n', 'the origin later')
        await call('start_command', { command: 'sleep 600' })
        same((await forked('cat b.txt')).code, 'SHELL_UNAVAILABLE', 'a fork beside a background command of the origin')
        await fork.close()
      },
      {
        policy: {
          preset: 'autonomous',
          tools: { run_command: 'allow', start_command: 'allow' },
          labels: { sources: [{ label: 'restricted', paths: ['restricted/**'] }] },
        },
      },
    ),

  'refuses a second shell on the same page': () =>
    withBench({}, async ({ run }) => {
      same((await run('true')).exitCode, 0, 'the first')
      const second = webcontainer({ fallback: false })
      const state = await second.ready()
      check(state.runs === 'nothing' && state.reason.includes('only one'), JSON.stringify(state))
      await second.close()
      same((await run('echo on')).stdout, 'on\n', 'the first, still')
    }),
}

/** Scenarios on separate pages, by the API key that selects a stand-in without some features. A page accepts one key. */
export const lacking: Record<string, () => Promise<void>> = {
  'no-links,strips-bom,no-empty': () =>
    withBench(
      { 'a.txt': 'a\n', to: { link: 'a.txt' }, 'bom.txt': '\uFEFFone\n', empty: { directory: true } },
      async ({ run, shell, call, text }) => {
        const state = await shell.ready()
        same(state.runs === 'webcontainer' && state.links, false, 'the state')
        const first = await run('echo b > b.txt; ls')
        same(first.stdout, 'a.txt\nb.txt\nbom.txt\nempty\n', 'what shows')
        // A conversion by the container is not a change of a command.
        same(first.filesChanged, ['b.txt'], 'what the first command changed')
        same((await run('true')).filesChanged, [], 'what the next changed')
        same(await text('bom.txt'), '\uFEFFone\n', 'bom.txt')
        // The same holds for a file that a tool writes.
        const { sha256 } = await call('read_file', { path: 'bom.txt' })
        await call('write_file', { path: 'bom.txt', content: '\uFEFFtwo\n', expectedSha256: sha256 })
        await call('create_directory', { path: 'void/deep' })
        same((await run('true')).filesChanged, [], 'what a command changed after a tool')
        const { filesChanged } = await run('echo more >> bom.txt; echo x > void/deep/x.txt')
        same(filesChanged.sort(), ['bom.txt', 'void/deep/x.txt'], 'what a command changed of it')
        same(await text('bom.txt'), '\uFEFFtwo\nmore\n', 'bom.txt after a command')
        same((await run('rm void/deep/x.txt')).filesChanged, ['void/deep/x.txt'], 'the changes of an empty directory')
        same((await run('true')).filesChanged, [], 'what a look changes')
        const { entries } = await call('list_directory', { path: '.' })
        same(entries.find(({ path }: Answer) => path === 'to')?.type, 'link', 'the link')
      },
      { shellOptions: { apiKey: 'no-links,strips-bom,no-empty' } },
    ),

  async silent() {
    // A boot that never ends does not block another attempt, or close().
    for (const bootTimeoutMs of [100, 150]) {
      const shell = webcontainer({ fallback: false, apiKey: 'silent', bootTimeoutMs })
      const state = await shell.ready()
      check(state.runs === 'nothing' && state.reason.includes(`within ${bootTimeoutMs} ms`), JSON.stringify(state))
      await shell.close()
    }
    const shell = webcontainer({ fallback: false, apiKey: 'silent' })
    const waiting = shell.ready().catch((error: { code?: string }) => error.code)
    await shell.close()
    same(await waiting, 'ABORTED', 'a boot that is waited for when the shell is closed')
  },

  'no-trap': () =>
    withBench(
      { 'sub/a.txt': '' },
      async ({ run, shell }) => {
        const state = await shell.ready()
        same(state.runs === 'webcontainer' && state.tellsCwd, true, 'the state')
        const { exitCode, cwd, stdout } = await run('cd sub && ls')
        same({ exitCode, cwd, stdout }, { exitCode: 0, cwd: 'sub', stdout: 'a.txt\n' }, 'the result')
        same((await run('false')).exitCode, 1, 'the exit code of a failure')
      },
      { shellOptions: { apiKey: 'no-trap' } },
    ),

  'no-trap,dull': () =>
    withBench(
      { 'sub/a.txt': '' },
      async ({ run, shell }) => {
        const state = await shell.ready()
        same(state.runs === 'webcontainer' && state.tellsCwd, false, 'the state')
        const { exitCode, cwd, warnings } = await run('cd sub && ls')
        same({ exitCode, cwd }, { exitCode: 0, cwd: '.' }, 'the result')
        check(JSON.stringify(warnings).includes('does not report'), `its warnings: ${JSON.stringify(warnings)}`)
      },
      { shellOptions: { apiKey: 'no-trap,dull' } },
    ),
}
