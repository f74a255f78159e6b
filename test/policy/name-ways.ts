import { git } from '../../dist/git/index.js'
import { createWorkspace, type Workspace, type WorkspaceRun } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import type { Backend } from '../../dist/storage/kit.js'
import type { Label } from '../../src/policy/labels.ts'
import { TOKEN } from './label-tree.ts'
import { labelsFor, rank } from './label-ways.ts'

/** Ways to make names of labelled content, and to show them. The tests try every pair, each in a run of its own. */

const shell = bash({ worker: false })

export const closeShell = (): Promise<void> => shell.close()

/** The forms of the token that the ways make and show. */
const forms: readonly string[] = [
  TOKEN,
  Buffer.from(TOKEN).toString('base64'),
  TOKEN.toLowerCase(),
  // The first letter, which is a name of its own.
  '1-T',
].flatMap((form) => [form, [...form].reverse().join('')])

const isShown = (text: string): boolean => forms.some((form) => text.includes(form))

/** The calls that a way makes. All results are checked. */
export interface NameSteps {
  readonly workspace: Workspace
  readonly run: WorkspaceRun
  tool(name: string, input: object): Promise<Record<string, unknown>>
  line(command: string): Promise<Record<string, unknown>>
  background(command: string): Promise<void>
  keep<T>(result: T): T
  /** Returns a new run. */
  other(): WorkspaceRun
  /** Replaces the workspace by one of another process, which continues the history. */
  reopen(): Promise<void>
}

export interface NameWay {
  readonly name: string
  act(steps: NameSteps): Promise<unknown>
}

const line = (command: string): NameWay => ({ name: command, act: (steps) => steps.line(command) })
const FIRST = '$(head -1 conf/x.txt)'
const COMMIT = 'git add -A; git commit -qm all'

/** Makes links to names that do not exist. */
export const linkMakers: readonly NameWay[] = [
  `ln -s "${FIRST}" tmp/link`,
  `ln -s "${FIRST}" tmp/two; ln -s two tmp/link`,
  `ln -s "${FIRST}/below" tmp/two; ln -s two/q tmp/link`,
  `x="${FIRST}"; ln -s "new/$x" tmp/link`,
  `ln -s "../free/${FIRST}" tmp/link`,
  `ln -s "${FIRST}" link; mv link tmp/link`,
  `mkdir tmp/d; ln -s "../${FIRST}" tmp/d/link; cp -r tmp/d tmp/e; mv tmp/d/link tmp/e/l; cp -P tmp/e/l tmp/link`,
  `node -e "const fs = require('fs'); fs.symlinkSync(fs.readFileSync('conf/x.txt', 'utf8').slice(0, 9), 'tmp/link')"`,
].map(line)

/** Makes names in `tmp/`, or of branches. */
export const makers: readonly NameWay[] = [
  ...linkMakers,
  ...[
    `mkdir "tmp/t${FIRST}"`,
    `mkdir -p "tmp/t${FIRST}/below/t${FIRST}"; echo free > "tmp/t${FIRST}/below/index.txt"`,
    `touch "tmp/${FIRST}"`,
    `echo free > "tmp/${FIRST}.txt"`,
    `echo free | tee "tmp/${FIRST}" > /dev/null`,
    'head -1 conf/x.txt | xargs -I{} touch tmp/{}.txt',
    'read x < conf/x.txt; cd tmp; mkdir "$x"; cd "$x"; touch "$x"',
    `touch "tmp/$(head -1 conf/x.txt | rev)"`,
    `touch "tmp/$(head -1 conf/x.txt | tr -d '\\n' | base64)"`,
    `touch "tmp/$(head -1 conf/x.txt | tr A-Z a-z)"`,
    'i=0; for c in $(head -1 conf/x.txt | fold -w 1); do i=$((i+1)); touch "tmp/$i-$c"; done',
    `x="${FIRST}"; mv notes.txt "tmp/$x"`,
    `x="${FIRST}"; cp notes.txt "tmp/$x"`,
    `x="${FIRST}"; trap 'touch "tmp/$x"' EXIT`,
    `(trap 'mkdir "tmp/${FIRST}"' EXIT)`,
    `x="${FIRST}"; cp -r mid "tmp/$x"`,
    `x="${FIRST}"; mv mid "tmp/$x"`,
    `ln -s ../notes.txt "tmp/${FIRST}"`,
    `ln notes.txt "tmp/${FIRST}"`,
    `x="${FIRST}"; mkdir tmp/p; touch "tmp/p/$x"; mv tmp/p tmp/q`,
    `x="${FIRST}"; touch "tmp/$x"; mv "tmp/$x" "tmp/z$x"`,
    `node -e "const fs = require('fs'); fs.mkdirSync('tmp/' + fs.readFileSync('conf/x.txt', 'utf8').split('\\n')[0])"`,
    `node -e "const fs = require('fs'); fs.renameSync('notes.txt', 'tmp/' + fs.readFileSync('conf/x.txt', 'utf8').slice(0, 9))"`,
    `git branch "b-${FIRST}"`,
    `git checkout -q -b "${FIRST}"`,
    `git switch -q -c "feature/${FIRST}"`,
    `touch "tmp/${FIRST}"; ${COMMIT}`,
    `touch "tmp/${FIRST}"; ${COMMIT}; rm -r tmp`,
    `touch "tmp/${FIRST}"; git add -A; rm -r tmp`,
  ].map(line),
  {
    name: 'rm -r .git; git init -b',
    async act({ workspace, line }) {
      await workspace.run({ id: 'remover' }).call('run_command', { command: 'git status' })
      return line(`git checkout -q -b "${FIRST}"; git branch -q -D main`)
    },
  },
  { name: 'start_command touch', act: (steps) => steps.background(`touch "tmp/${FIRST}"`) },
  ...(
    [
      ['create_directory', (name: string) => ({ path: `tmp/${name}` })],
      ['create_directory', (name: string) => ({ path: `tmp/${name}/below`, createParents: true })],
      ['write_file', (name: string) => ({ path: `tmp/${name}/a.txt`, content: 'free' })],
      ['append_file', (name: string) => ({ path: `tmp/${name}`, content: 'free' })],
      ['move_file', (name: string) => ({ path: 'notes.txt', to: `tmp/${name}` })],
      ['move_file', (name: string) => ({ path: 'mid', to: `tmp/${name}` })],
      ['copy_file', (name: string) => ({ path: 'notes.txt', to: `tmp/${name}.txt` })],
      ['copy_file', (name: string) => ({ path: 'mid', to: `tmp/${name}` })],
      [
        'apply_patch',
        (name: string) => ({ patch: `*** Begin Patch\n*** Add File: tmp/${name}.txt\n+free\n*** End Patch\n` }),
      ],
      ['run_command', (name: string) => ({ command: `mkdir tmp/${name}` })],
      ['run_command', (name: string) => ({ command: `git checkout -q -b ${name}` })],
    ] as const
  ).map(
    ([tool, input], index): NameWay => ({
      name: `read_file, ${tool} (${index})`,
      async act(steps) {
        const { content } = await steps.tool('read_file', { path: 'conf/x.txt' })
        return steps.tool(tool, input(String(content).split('\n')[0] as string))
      },
    }),
  ),
]

/** What happens to the names before they are shown. */
export const hops: readonly NameWay[] = [
  { name: 'nothing', act: async () => undefined },
  line('mv tmp old; mkdir tmp; mv old tmp/old'),
  line('cp -r tmp new; mv new tmp/new'),
  line('for f in tmp/*; do mv "$f" "$f.moved"; done'),
  line('git stash; git checkout -q HEAD -- . ; git restore .'),
  {
    name: 'move_file',
    async act({ other, keep }) {
      keep(await other().call('move_file', { path: 'tmp', to: 'free/tmp' }))
      keep(await other().call('copy_file', { path: 'free/tmp', to: 'tmp' }))
    },
  },
  {
    name: 'undo of a deletion',
    async act({ workspace, other, keep }) {
      const { callId } = keep(await other().call('run_command', { command: 'rm -r tmp' })) as { callId?: string }
      keep(await workspace.undo(String(callId)))
    },
  },
  {
    name: 'fork and commit',
    async act({ workspace, keep }) {
      const fork = await workspace.fork({ id: 'fork' })
      keep(await fork.call('run_command', { command: 'mv tmp tmp2; mkdir tmp; mv tmp2 tmp/f' }))
      keep(await fork.commit())
    },
  },
  { name: 'another process', act: (steps) => steps.reopen() },
]

/** Lines that show names. Each is tried alone, with a redirection into a sink, and rewritten by `rev`. */
const showing: readonly string[] = [
  'ls tmp',
  'ls -lR',
  'echo tmp/* tmp/*/*',
  'find .',
  'find tmp -type d',
  'for f in tmp/*; do echo "$f"; done',
  'printf "%s\\n" tmp/**',
  'cd tmp; ls',
  'trap "ls tmp" EXIT',
  'cd tmp/*; pwd',
  'tree',
  'stat tmp/*',
  'file tmp/*',
  'du -a',
  'readlink tmp/link',
  'realpath tmp/*',
  'wc -c tmp/*',
  'head tmp/* tmp/*/*',
  'grep -rl "" .',
  'grep -rc free .',
  'rg --files',
  'tar -cf - tmp',
  'git status',
  'git status --short --branch',
  'git status -uall',
  'git branch',
  'git branch --show-current',
  'git branch -v',
  'git rev-parse --abbrev-ref HEAD',
  'git log --oneline',
  'git show --stat',
  'git show --name-only',
  'git diff --name-only HEAD',
  'git diff --cached',
  'git add -A; git commit -m all',
  'git checkout -q HEAD -- .; ls tmp',
  'cat .git/HEAD',
  `node -e "console.log(require('fs').readdirSync('tmp'))"`,
  `node -e "console.log(require('fs').readlinkSync('tmp/link'))"`,
]

const tools: readonly (readonly [string, object])[] = [
  ['list_directory', { path: '.', maxDepth: 9 }],
  ['list_directory', { path: 'tmp' }],
  ['find_files', { pattern: '**' }],
  ['search_text', { query: 'f', mode: 'regex' }],
  ['search_text', { query: 'hello', path: 'tmp' }],
  ['diff_workspace', {}],
  ['file_info', { path: 'tmp/link' }],
  ['file_info', { path: 'tmp/TOKEN7292' }],
  ['read_file', { path: 'tmp/TOKEN7290.txt' }],
  ['delete_file', { path: 'tmp', recursive: true }],
]

/** Uses `tmp/link`: results and errors show where it leads. */
export const linkShows: readonly NameWay[] = (
  [
    ['file_info', {}],
    ['read_file', {}],
    ['list_directory', {}],
    ['find_files', { pattern: '**' }],
    ['search_text', { query: 'a' }],
    ['write_file', { content: 'x' }],
    ['append_file', { content: 'x' }],
    ['edit_file', { oldText: 'a', newText: 'b' }],
    ['replace_range', { startLine: 1, endLine: 1, newText: 'b' }],
    ['delete_file', {}],
    ['move_file', { to: 'tmp/other' }],
    ['copy_file', { to: 'tmp/other' }],
    ['create_directory', {}],
    ['diff_workspace', {}],
    ['run_command', { command: 'echo x > tmp/link' }],
    ['run_command', { command: 'mkdir -p tmp/link/x && cd tmp/link && pwd' }],
    ['run_command', { command: 'ls', cwd: 'tmp/link' }],
  ] as const
).flatMap(([name, input]): NameWay[] =>
  ('command' in input ? [input] : ['tmp/link', 'tmp/link/a'].map((path) => ({ path, ...input }))).map((full) => ({
    name: `${name} ${JSON.stringify(full)}`,
    act: (steps) => steps.tool(name, full),
  })),
)

/** Shows the names in results, or takes them into a sink. */
export const shows: readonly NameWay[] = [
  ...showing.flatMap((command) => [
    line(command),
    line(`{ ${command}; } > pub/out.txt`),
    line(`{ ${command}; } | rev > pub/out.txt`),
  ]),
  ...[
    'cp -r tmp pub/t',
    'mv tmp pub/t',
    'cp -r tmp/* pub/',
    'mv tmp/* pub/',
    'ln -s ../tmp pub/t',
    'for f in tmp/*; do touch "pub/x$(basename "$f")"; done',
    'tar -cf - tmp | tar -xf - -C pub',
    'cp -P tmp/link pub/link',
    'mv tmp/link pub/link',
    'git branch > pub/b.txt; git commit -qm "$(git branch --show-current)" --allow-empty; git log > pub/l.txt',
  ].map(line),
  ...tools.map(
    ([name, input]): NameWay => ({
      name: `${name} ${JSON.stringify(input)}`,
      act: (steps) => steps.tool(name, input),
    }),
  ),
  { name: 'copy_file into the sink', act: (steps) => steps.tool('copy_file', { path: 'tmp', to: 'pub/t' }) },
  { name: 'move_file into the sink', act: (steps) => steps.tool('move_file', { path: 'tmp', to: 'pub/t' }) },
  { name: 'start_command', act: (steps) => steps.background('ls -R tmp; git status; ls tmp > pub/out.txt') },
  {
    name: 'fork',
    async act({ workspace, keep }) {
      const fork = await workspace.fork({ id: 'shower' })
      keep(await fork.call('run_command', { command: 'ls -R tmp; ls tmp > pub/out.txt' }))
      keep(await fork.commit())
    },
  },
]

export const nameTree = {
  'conf/x.txt': `${TOKEN}\nsecond\n`,
  'pub/index.txt': 'hello\n',
  'mid/index.txt': 'hello\n',
  'tmp/a.txt': 'free\n',
  'notes.txt': 'notes\n',
}

/** The result of one pair of ways. */
export interface NameLeaks {
  readonly leaks: readonly string[]
  /** Whether the name was shown anywhere, which proves that the ways work. */
  readonly isEffective: boolean
}

/**
 * Makes names in one run, shows them in another, and searches results and the sink for the token.
 *
 * @param label the label of the content; `none` if other content is restricted
 */
export async function tryNames(
  make: NameWay,
  hop: NameWay,
  show: NameWay,
  label: Label | 'none',
  backend: Backend,
): Promise<NameLeaks> {
  const leaks: string[] = []
  let shown = 0
  const labels =
    label === 'none'
      ? { ...labelsFor('restricted'), sources: [{ label: 'restricted', paths: ['other/**'] }] as const }
      : labelsFor(label)
  const keep = <T>(result: T): T => {
    const { callId: _, ...fields } = { ...(result as Record<string, unknown>) }
    if (label === 'none') {
      if (fields.label !== undefined && fields.label !== 'public') leaks.push(`labelled: ${JSON.stringify(fields)}`)
      return result
    }
    const text = JSON.stringify(fields)
    if (!isShown(text)) return result
    shown += 1
    const { label: own } = result as { label?: Label }
    if (rank(own) < rank(label)) leaks.push(`shown as ${own}: ${text.slice(0, 400)}`)
    return result
  }
  let runs = 0
  const open = (history?: ReturnType<Workspace['history']>) =>
    createWorkspace({
      backend,
      policy: { preset: 'autonomous', labels },
      shell: { ...shell, close: async () => {} },
      git: git(),
      tools: 'full',
      run: { id: history === undefined ? 'main' : `main${runs++}` },
      ...(history === undefined ? {} : { history }),
    })
  let workspace = await open()
  const steps = (): NameSteps => {
    const run = workspace.run({ id: `run${runs++}` })
    const tool = async (name: string, input: object) =>
      keep((await run.callTool(name, input)) as unknown as Record<string, unknown>)
    return {
      workspace,
      run,
      tool,
      keep,
      line: (command) => tool('run_command', { command }),
      async background(command) {
        const { id } = await tool('start_command', { command })
        for (let i = 0; i < 2000; i++) {
          const { state } = await tool('check_command', { id })
          if (state !== 'running') return
          await new Promise((resolve) => setTimeout(resolve, 2))
        }
      },
      other: () => workspace.run({ id: `run${runs++}` }),
      async reopen() {
        workspace = await open(structuredClone(workspace.history()))
      },
    }
  }
  await workspace.call('run_command', { command: 'git init -q; git add -A; git commit -qm one' })
  await make.act(steps())
  await hop.act(steps())
  shown = 0
  await show.act(steps())
  const inSink = await textsBelow(backend, 'pub')
  if (isShown(inSink)) {
    shown += 1
    if (label !== 'public' && label !== 'none') leaks.push(`in the sink: ${inSink.slice(0, 300)}`)
  }
  return { leaks, isEffective: shown > 0 }
}

/** Returns the names, link targets and contents below a directory. */
async function textsBelow(backend: Backend, directory: string): Promise<string> {
  if ((await backend.stat(directory as never))?.type !== 'directory') return ''
  let text = ''
  for (const { name, type } of await backend.list(directory as never)) {
    const path = `${directory}/${name}` as never
    text += `${name}\n`
    if (type === 'directory') text += await textsBelow(backend, path)
    else if (type === 'link') text += await backend.readLink(path)
    else text += new TextDecoder().decode((await backend.read(path)).bytes)
  }
  return text
}
