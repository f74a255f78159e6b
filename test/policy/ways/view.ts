import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { createMcpServer } from '../../../dist/adapters/mcp/index.js'
import { doors, unused } from '../../frameworks/doors.ts'
import { toolRows } from '../../tools/table.ts'
import { acpViews, acpWays } from './acp.ts'
import { asAnswer, command, inBackground, overMcp } from './change.ts'
import { kindsIn } from './kinds.ts'
import { fsViews, fsWays } from './node-fs.ts'
import type { Answer, Subject, Way } from './subject.ts'
import { PLAN, WORD } from './tree.ts'

/** The name of a file below `private` that no way names itself. */
const NAME = /deep\.md/

/** A way to view something, with a pattern that shows that it worked. Default: the word in the files. */
export interface ViewWay extends Way {
  readonly shows?: RegExp
}

const call = (name: string, input: object, shows?: RegExp): ViewWay => ({
  name: `${name} ${JSON.stringify(input)}`,
  act: ({ workspace }) => workspace.callTool(name, input),
  ...(shows === undefined ? {} : { shows }),
})

/** Calls one after another, and returns all answers. An input may use the previous answer. */
const calls = (
  name: string,
  steps: readonly (readonly [tool: string, input: object | ((last: Answer) => object)])[],
) => ({
  name,
  async act({ workspace }: Subject) {
    const answers: Answer[] = []
    for (const [tool, input] of steps) {
      const next = typeof input === 'function' ? input(answers.at(-1) as Answer) : input
      answers.push((await workspace.callTool(tool, next)) as Answer)
    }
    return answers
  },
})

const artifact = (last: Answer) => ({ path: String(last.artifactUri ?? 'artifact://none/none') })

const toolWays: readonly ViewWay[] = [
  ...toolRows.flatMap(([name, { views }]) =>
    'reason' in views ? [] : views.map((input) => call(name, input, name === 'apply_patch' ? /Patched/ : undefined)),
  ),
  call('list_directory', { path: '.', maxDepth: 5 }, NAME),
  call('list_directory', { path: 'private/d' }, NAME),
  call('find_files', { pattern: '**/*.md' }, NAME),
  call('find_files', { pattern: '*', path: 'private/d' }, NAME),
  call('search_text', { query: WORD, filesOnly: true }, NAME),
  call('file_info', { path: PLAN }, /"sizeBytes":21/),
  call('file_info', { path: 'private/d' }, /"type":"directory"/),
  // Errors that quote the file.
  call('edit_file', { path: PLAN, oldText: 'the word is zanzibaR', newText: 'x' }),
  call('apply_patch', { patch: `--- a/${PLAN}\n+++ b/${PLAN}\n@@ -1 +1 @@\n-the word was\n+x\n` }),
  call(
    'apply_patch',
    { patch: `--- a/${PLAN}\n+++ b/${PLAN}\n@@ -1 +1 @@\n-the word is ${WORD}\n+x\n`, dryRun: true },
    /Would patch/,
  ),
  call(
    'write_file',
    { path: PLAN, content: 'x', mode: 'REPLACE_EXISTING', expectedSha256: '0'.repeat(64) },
    /currentSha256/,
  ),
  // The artifacts of changes.
  calls('the artifact of append_file', [
    ['append_file', { path: PLAN, content: 'n\n' }],
    ['read_file', artifact],
  ]),
  calls('the artifact of delete_file', [
    ['delete_file', { path: PLAN }],
    ['read_file', artifact],
  ]),
  calls('the artifact of edit_file', [
    ['edit_file', { path: PLAN, oldText: 'the', newText: 'a' }],
    ['read_file', artifact],
  ]),
  calls('the artifact of rm', [
    ['run_command', { command: `rm ${PLAN}` }],
    ['read_file', artifact],
  ]),
  calls('the artifact of >>', [
    ['run_command', { command: `echo n >> ${PLAN}` }],
    ['read_file', artifact],
  ]),
  calls('the artifact of >', [
    ['run_command', { command: `echo n > ${PLAN}` }],
    ['read_file', artifact],
  ]),
  // Views that copy or rename the file first.
  calls('copy_file, and a read of the copy', [
    ['copy_file', { path: PLAN, to: 'src/p.md' }],
    ['read_file', { path: 'src/p.md' }],
  ]),
  calls('copy_file of the directory', [
    ['copy_file', { path: 'private', to: 'src/p' }],
    ['read_file', { path: 'src/p/plan.md' }],
  ]),
  calls('move_file, and a read', [
    ['move_file', { path: PLAN, to: 'src/p.md' }],
    ['read_file', { path: 'src/p.md' }],
  ]),
  calls('move_file of the directory', [
    ['move_file', { path: 'private', to: 'src/p' }],
    ['search_text', { query: WORD, path: 'src' }],
  ]),
  calls('move_file of a directory below', [
    ['move_file', { path: 'private/d', to: 'src/p' }],
    ['read_file', { path: 'src/p/deep.md' }],
  ]),
  calls('apply_patch that renames', [
    [
      'apply_patch',
      { patch: `diff --git a/${PLAN} b/src/p.md\nsimilarity index 100%\nrename from ${PLAN}\nrename to src/p.md\n` },
    ],
    ['read_file', { path: 'src/p.md' }],
  ]),
  calls('apply_patch that copies', [
    [
      'apply_patch',
      { patch: `diff --git a/${PLAN} b/src/p.md\nsimilarity index 100%\ncopy from ${PLAN}\ncopy to src/p.md\n` },
    ],
    ['read_file', { path: 'src/p.md' }],
  ]),
  calls('mv, and a read', [
    ['run_command', { command: `mv ${PLAN} src/p.md` }],
    ['read_file', { path: 'src/p.md' }],
  ]),
  calls('mv of the directory, and a search', [
    ['run_command', { command: 'mv private src/p' }],
    ['search_text', { query: WORD }],
  ]),
  calls('ln -s, and a read', [
    ['run_command', { command: `ln -s ../${PLAN} src/p.md` }],
    ['read_file', { path: 'src/p.md' }],
  ]),
  calls('ln -s of the directory, and a read', [
    ['run_command', { command: 'ln -s ../private src/p' }],
    ['read_file', { path: 'src/p/plan.md' }],
  ]),
  calls('cp, and the diff', [
    ['run_command', { command: `cp ${PLAN} src/p.md` }],
    ['diff_workspace', { paths: ['src'] }],
  ]),
]

/** Lines that show the word. */
export const showingLines: readonly string[] = [
  'cat private/plan.md',
  'cat private/*.md',
  'cat private/d/*',
  'cat < private/plan.md',
  'cat 0< private/plan.md',
  'cat <> private/plan.md',
  'exec 3< private/plan.md; cat <&3',
  'read -r a b c d < private/plan.md; echo $d',
  'mapfile -t a < private/plan.md; echo "$a"',
  'while read -r l; do echo "$l"; done < private/plan.md',
  'echo "$(cat private/plan.md)"',
  'echo "$(< private/plan.md)"',
  'cat <(cat private/plan.md)',
  'cat <<X\n$(cat private/plan.md)\nX',
  'cat <<< "$(cat private/plan.md)"',
  'cd private && cat plan.md',
  'cd private/d; cat ../plan.md',
  'pushd private > /dev/null; cat plan.md',
  'cat src/../private/plan.md',
  'cat /workspace/private/plan.md',
  'f() { cat private/plan.md; }; f',
  '(cat private/plan.md)',
  '{ cat private/plan.md; }',
  'if true; then cat private/plan.md; fi',
  'for f in private/*.md; do cat "$f"; done',
  'true && cat private/plan.md',
  '! cat private/plan.md',
  'trap "cat private/plan.md" EXIT',
  '(cd private; trap "cat plan.md" EXIT)',
  'echo "$(trap "cat private/plan.md" EXIT)"',
  '(cd private && cat *.md) > p; cat p',
  'cat private/plan.md & wait',
  'cat src/x.md private/plan.md',
  'cat private/plan.md | cat',
  'cat private/plan.md >&2',
  'head private/plan.md',
  'head -c 100 private/plan.md',
  'tail private/plan.md',
  'tail -n +1 private/plan.md',
  'tac private/plan.md',
  'rev private/plan.md | rev',
  'nl private/plan.md',
  'grep word private/plan.md',
  'grep -r word .',
  'grep -rh zan private',
  'grep -f private/d/deep.md private/plan.md',
  'egrep zan private/plan.md',
  'fgrep zan private/plan.md',
  'rg word',
  'rg -z zan private || rg zan private',
  'sed p private/plan.md',
  'sed -n 1p private/plan.md',
  "awk '{ print }' private/plan.md",
  "awk '{ print $4 }' private/plan.md",
  'sort private/plan.md',
  'uniq private/plan.md',
  'cut -d" " -f4 private/plan.md',
  'tr a-y a-y < private/plan.md',
  'paste private/plan.md src/x.md',
  'join private/d/deep.md private/d/deep.md',
  'comm private/d/deep.md src/x.md',
  'column private/plan.md',
  'fold -w 80 private/plan.md',
  'expand private/plan.md',
  'unexpand private/plan.md',
  'diff private/plan.md src/x.md',
  'diff -u src/x.md private/plan.md',
  'base64 private/plan.md | base64 -d',
  'od -c private/plan.md | tr -d " \\n0-9" ',
  'strings private/plan.md',
  'xargs < private/plan.md',
  'echo private/plan.md | xargs cat',
  'show private/plan.md',
  'show-bytes private/plan.md',
  'take private/plan.md p && show p',
  'move private p && show p/plan.md',
  'split private/plan.md s && cat s*',
  'gzip -c private/plan.md | gunzip',
  'gzip -k private/plan.md && gzip -dc private/plan.md.gz',
  'tar -cf t.tar private && tar -xOf t.tar private/plan.md',
  'tar -cf - private | tar -xf - -C src && cat src/private/plan.md',
  'jq -R . private/plan.md',
  'jq -n --rawfile a private/plan.md "\\$a"',
  'yq -p yaml . private/d/deep.md',
  'cp private/plan.md p && cat p',
  'cp -r private p && cat p/plan.md',
  'mv private/plan.md p && cat p',
  'mv private p && cat p/plan.md',
  'ln -s private/plan.md p && cat p',
  'ln private/plan.md p && cat p',
  'ln -s private p && cat p/plan.md',
  'tee p < private/plan.md',
  'dirname "$(cat private/plan.md)"/x',
  'basename "$(cat private/plan.md)"',
  'printf "%s" "$(cat private/plan.md)"',
  'find private -name plan.md -exec cat {} \\;',
  'find private -type f -exec cat {} +',
  'find . -name "*.md" -exec grep zan {} \\;',
  'bash -c "cat private/plan.md"',
  'sh -c "cat private/plan.md"',
  'bash view.sh',
  'eval "cat private/plan.md"',
  'env cat private/plan.md',
  'timeout 5 cat private/plan.md',
  'time cat private/plan.md',
  'command cat private/plan.md',
  '\\cat private/plan.md',
  'npm run view',
  'node view.cjs',
  'x=$(cat private/plan.md); echo "$x"',
  'test "$(cat private/d/deep.md)" = zanzibar && echo zanz""ibar',
]

/** Lines that show a name. */
const namingLines: readonly string[] = [
  'ls private/d',
  'ls -R',
  'ls -la private/d',
  'echo private/d/*',
  'echo */*/*',
  'find .',
  'find private',
  'find . -name "d*"',
  'tree',
  'du -a .',
  'rg --files',
  'grep -rl zan .',
  'cd private/d && ls',
  'for f in private/d/*; do echo "$f"; done',
  'printf "%s\\n" private/*/*.md',
  'stat private/d/*',
  'wc private/d/*',
  'md5sum private/d/*',
  'file private/d/*',
  'tar -cvf /dev/null private || tar -cvf t.tar private',
  'rm -rfv private; ls -d private/d/*',
]

const nodeCalls: readonly (readonly [code: string, shows?: RegExp])[] = [
  ["fs.readFileSync('private/plan.md', 'utf8')"],
  ["String(fs.readFileSync('/workspace/private/plan.md'))"],
  ["fs.readdirSync('private/d')", NAME],
  ["fs.readdirSync('private', { recursive: true })", NAME],
  ["fs.readdirSync('private/d', { withFileTypes: true }).map((e) => e.name)", NAME],
  ["fs.statSync('private/plan.md').size", /\b21\b/],
  ["fs.lstatSync('private/plan.md').size", /\b21\b/],
  ["(fs.copyFileSync('private/plan.md', 'p'), fs.readFileSync('p', 'utf8'))"],
  ["(fs.cpSync('private', 'p', { recursive: true }), fs.readFileSync('p/plan.md', 'utf8'))"],
  ["(fs.renameSync('private/plan.md', 'p'), fs.readFileSync('p', 'utf8'))"],
  ["(fs.renameSync('private', 'p'), fs.readFileSync('p/plan.md', 'utf8'))"],
  ["(fs.symlinkSync('private/plan.md', 'p'), fs.readFileSync('p', 'utf8'))"],
]
const nodeLines: readonly ViewWay[] = [
  ...nodeCalls.map(([code, shows]) => ({
    ...command(`node -e "const fs = require('fs'); console.log(${code})"`),
    ...(shows === undefined ? {} : { shows }),
  })),
  command("node -e \"require('fs').promises.readFile('private/plan.md', 'utf8').then(console.log)\""),
  command("node -e \"require('fs').readFile('private/plan.md', 'utf8', (e, t) => console.log(t))\""),
]

/** Everything committed; then a file below private is changed and one deleted, and one is renamed in another commit. */
const history =
  'git init -q && git add -A && git commit -qm one && echo more >> private/plan.md && git rm -q private/d/deep.md 2> /dev/null; rm private/d/deep.md'
const gitLines: readonly (readonly [line: string, shows?: RegExp])[] = [
  ['git diff'],
  ['git diff HEAD'],
  ['git diff HEAD -- private/plan.md'],
  ['git diff --stat', NAME],
  ['git diff --name-only', NAME],
  ['git diff --name-status HEAD', NAME],
  ['git show HEAD:private/plan.md'],
  ['git show HEAD'],
  ['git show --stat HEAD', NAME],
  ['git status', NAME],
  ['git status --short', NAME],
  ['git checkout -- private/d/deep.md; cat private/d/*'],
  ['git checkout -q HEAD -- private; cat private/d/*'],
  ['git restore private/d; cat private/d/*'],
  ['git add -A && git diff --cached'],
  ['mv private p; git add -A; git diff --cached HEAD'],
  ['git stash -q; git stash show -p'],
  ['git stash -q -u; git stash show', NAME],
  ['git stash -q; git show stash', NAME],
  ['git stash -q; git stash pop; cat private/d/*', NAME],
]
const commitChanges = ({ free, ok }: Subject) => ok(free, 'run_command', { command: `${history}; git commit -qam two` })
const gitWays: readonly ViewWay[] = [
  ...gitLines.map(([line, shows]) => ({
    ...command(line),
    prepare: ({ free, ok }: Subject) => ok(free, 'run_command', { command: history }),
    ...(shows === undefined ? {} : { shows }),
  })),
  {
    name: 'diff_workspace in a repository',
    prepare: ({ free, ok }) => ok(free, 'run_command', { command: history }),
    act: ({ workspace }) => workspace.call('diff_workspace', {}),
  },
  ...['git format-patch --stdout HEAD~1', 'git format-patch --stdout -1 > src/p.patch; cat src/p.patch'].map(
    (line) => ({
      ...command(line),
      prepare: commitChanges,
    }),
  ),
  {
    name: 'git.formatPatch',
    prepare: commitChanges,
    act: ({ workspace }) => asAnswer(workspace.git?.formatPatch({ base: 'HEAD~1' })),
  },
  {
    name: 'git.pullRequest',
    prepare: commitChanges,
    act: ({ workspace }) => asAnswer(workspace.git?.pullRequest({ base: 'HEAD~1' })),
  },
]

const change = ({ free, ok }: Subject) =>
  ok(free, 'run_command', { command: 'echo more >> private/plan.md; rm -r private/d' })

const operationWays: readonly ViewWay[] = [
  { ...call('diff_workspace', {}), prepare: change },
  { ...call('diff_workspace', { paths: ['private'] }), prepare: change },
  { ...call('diff_workspace', { statOnly: true }, NAME), prepare: change },
  ...['append_file', 'delete_file'].map((tool): ViewWay => {
    let id = ''
    return {
      name: `the undo of ${tool}, and its artifact`,
      async prepare({ free, ok }) {
        id = (await ok(free, tool, tool === 'append_file' ? { path: PLAN, content: 'n\n' } : { path: PLAN })).callId
      },
      async act({ workspace }) {
        const undone = (await workspace.undo(id)) as Answer
        return [undone, await workspace.callTool('read_file', artifact(undone))]
      },
    }
  }),
  {
    name: 'a rollback, and its artifact',
    prepare: async (subject) => {
      subject.workspace.checkpoint()
      await change(subject)
    },
    async act({ workspace }) {
      const undone = (await workspace.rollback(workspace.checkpoints()[0]?.id ?? '')) as Answer
      return [undone, await workspace.callTool('read_file', artifact(undone))]
    },
  },
  {
    name: 'a read in a fork',
    async act({ workspace, task }) {
      const fork = await workspace.fork({ id: 'fork', task })
      return fork.call('read_file', { path: PLAN })
    },
  },
  {
    name: 'the diff of a fork',
    async act({ workspace, task, ok }) {
      const fork = await workspace.fork({ id: 'fork', task })
      await ok(fork.run({ id: 'inner' }), 'append_file', { path: PLAN, content: 'n\n' })
      return fork.call('diff_workspace', {})
    },
  },
  { name: 'files.read', act: ({ workspace }) => asAnswer(workspace.files.read(PLAN)) },
  {
    name: 'files.readBytes',
    act: ({ workspace }) => asAnswer(workspace.files.readBytes(PLAN).then((bytes) => new TextDecoder().decode(bytes))),
  },
  { name: 'files.readText', act: ({ workspace }) => asAnswer(workspace.files.readText(PLAN)) },
  {
    name: 'files.readable',
    act: ({ workspace }) => asAnswer(workspace.files.readable(PLAN).then((stream) => new Response(stream).text())),
  },
  {
    name: 'files.copy',
    act: ({ workspace }) =>
      asAnswer(workspace.files.copy(PLAN, 'copy.md').then(() => workspace.files.readText('copy.md'))),
  },
  {
    name: 'files.rename',
    act: ({ workspace }) =>
      asAnswer(workspace.files.rename(PLAN, 'moved.md').then(() => workspace.files.readText('moved.md'))),
  },
  {
    name: 'files.link',
    act: ({ workspace }) => asAnswer(workspace.files.link('l.md', PLAN).then(() => workspace.files.readText('l.md'))),
  },
  { name: 'files.batch', act: ({ workspace }) => asAnswer(workspace.files.batch((files) => files.readText(PLAN))) },
  { name: 'files.entries', shows: NAME, act: ({ workspace }) => asAnswer(workspace.files.entries('private/d')) },
  {
    name: 'files.stat',
    shows: /"type":"file"/,
    act: ({ workspace }) => asAnswer(workspace.files.stat('private/d/deep.md')),
  },
  { name: 'files.list', shows: NAME, act: ({ workspace }) => asAnswer(workspace.files.list('private/d')) },
  ...['cat private/plan.md', 'node view.cjs', 'npm run view'].map((line) => ({
    name: `start_command ${line}`,
    act: ({ workspace }: Subject) => inBackground(workspace, line),
  })),
  {
    name: 'stop_command',
    async act({ workspace }) {
      // The command has ended when it is stopped, unless the machine is busy.
      for (let wait = 100; ; wait *= 4) {
        const { ok, id } = (await workspace.callTool('start_command', { command: 'cat private/plan.md' })) as Answer
        if (ok === true) await new Promise((resolve) => setTimeout(resolve, wait))
        const answer = (await workspace.callTool('stop_command', { id: String(id) })) as Answer
        if (ok !== true || answer.exitCode !== STOPPED || wait > 10_000) return answer
      }
    },
  },
]

/** The exit code of a command that was stopped. */
const STOPPED = 143

/** Calls of each dialect, of every tool that shows files. */
export const dialectViews: Readonly<
  Record<string, readonly (readonly [tool: string, input: object, shows?: RegExp])[]>
> = {
  'mcp-filesystem': [
    ['read_file', { path: '/workspace/private/plan.md' }],
    ['read_text_file', { path: '/workspace/private/plan.md', head: 1 }],
    ['read_text_file', { path: '/workspace/private/plan.md', tail: 2 }],
    ['read_media_file', { path: '/workspace/private/plan.md' }, /dGhlIHdvcmQ/],
    ['read_multiple_files', { paths: ['/workspace/private/plan.md', '/workspace/src/x.md'] }],
    ['list_directory', { path: '/workspace/private/d' }, NAME],
    ['list_directory_with_sizes', { path: '/workspace/private/d' }, NAME],
    ['directory_tree', { path: '/workspace' }, NAME],
    ['search_files', { path: '/workspace', pattern: '**/*.md' }, NAME],
    ['get_file_info', { path: '/workspace/private/plan.md' }, /\b21\b/],
    ['edit_file', { path: '/workspace/private/plan.md', edits: [{ oldText: 'the', newText: 'a' }], dryRun: true }],
  ],
  'python-harness': [
    ['read_file', { path: PLAN }],
    ['list_directory', { path: '.', recursive: true }, NAME],
    ['search_files', { pattern: 'word' }],
    ['find_files', { pattern: '**/*.md' }, NAME],
    ['file_info', { path: PLAN }, /\b21\b/],
    ['run_command', { command: 'cat private/plan.md' }],
  ],
  anthropic: [
    ['str_replace_based_edit_tool', { command: 'view', path: '/workspace/private/plan.md' }],
    ['str_replace_based_edit_tool', { command: 'view', path: '/workspace/private/d' }, NAME],
    ['bash', { command: 'cat private/plan.md' }],
    ['memory', { command: 'view', path: '/memories/plan.md' }],
    ['memory', { command: 'view', path: '/memories' }, /plan\.md/],
  ],
  codex: [['shell', { command: ['cat', PLAN] }]],
  deepagents: [
    ['ls', { path: '/private/d' }, NAME],
    ['read_file', { file_path: '/private/plan.md' }],
    ['glob', { pattern: '**/*.md' }, NAME],
    ['grep', { pattern: 'word', output_mode: 'content' }],
    ['execute', { command: 'cat private/plan.md' }],
  ],
  exec: [
    ['exec.read', { path: PLAN }],
    ['exec.run', { command: 'cat private/plan.md' }],
    ['exec.ls', { path: 'private/d' }, NAME],
  ],
  gemini: [
    ['list_directory', { dir_path: 'private/d' }, NAME],
    ['read_file', { file_path: PLAN }],
    ['glob', { pattern: '**/*.md' }, NAME],
    ['grep_search', { pattern: 'word' }],
    ['read_many_files', { include: ['private/**'] }],
    ['run_shell_command', { command: 'cat private/plan.md' }],
  ],
  mastra: [
    ['mastra_workspace_read_file', { path: PLAN }],
    ['mastra_workspace_list_files', { path: '.', maxDepth: 5 }, NAME],
    ['mastra_workspace_file_stat', { path: PLAN }, /\b21\b/],
    ['mastra_workspace_grep', { pattern: 'word' }],
    ['mastra_workspace_execute_command', { command: 'cat private/plan.md' }],
  ],
  'file-read-write': [
    ['file_read', { path: PLAN }],
    ['memory_get', { id: 'plan' }],
    ['memory_search', { query: WORD }],
    ['memory_recall', { query: WORD }],
  ],
  'snake-case': [
    ['read_file', { path: PLAN }],
    ['list_directory', { path: 'private/d' }, NAME],
    ['search_files', { query: 'word' }],
    ['run_command', { command: 'cat private/plan.md' }],
  ],
  'patch-and-diff': [
    ['list_dir', { path: 'private/d' }, NAME],
    ['read_file', { path: PLAN }],
    ['search_text', { query: 'word' }],
  ],
  'named-roots': [
    ['read_file', { path: '/workspace/private/plan.md' }],
    ['list_directory', { path: '/workspace', recursive: true }, NAME],
  ],
}

const dialectWays: readonly ViewWay[] = Object.entries(dialectViews).flatMap(([dialect, ways]) =>
  ways.map(([tool, input, shows]) => ({
    ...call(tool, input, shows),
    name: `${dialect} ${tool} ${JSON.stringify(input)}`,
    dialect,
  })),
)

/** A request by the official client of the Model Context Protocol. */
async function withClient(workspace: unknown, use: (client: Client) => Promise<unknown>): Promise<Answer> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: {} })
  const [here, there] = InMemoryTransport.createLinkedPair()
  await createMcpServer(workspace as never).connect(there)
  await client.connect(here)
  try {
    return await asAnswer(use(client))
  } finally {
    await client.close()
  }
}

const mcpWays: readonly ViewWay[] = [
  ...(
    [
      ['read_file', { path: PLAN }],
      ['search_text', { query: WORD }],
      ['run_command', { command: 'cat private/plan.md' }],
      ['memory_get', { id: 'plan' }],
    ] as const
  ).map(([name, input]) => ({
    name: `mcp ${name} ${JSON.stringify(input)}`,
    act: ({ workspace }: Subject) => overMcp(workspace, name, input),
  })),
  {
    name: 'mcp resources/list',
    shows: NAME,
    act: ({ workspace }) => withClient(workspace, (client) => client.listResources()),
  },
  {
    name: 'mcp resources/read',
    act: ({ workspace }) =>
      withClient(workspace, async (client) => {
        const { resources } = await client.listResources()
        const uri = resources.find((resource) => resource.uri.endsWith('plan.md'))?.uri
        const other = resources.find((resource) => resource.uri.endsWith('src/x.md'))?.uri.replace('src/x.md', PLAN)
        return client.readResource({ uri: uri ?? other ?? PLAN })
      }),
  },
]

/** The functions that open a workspace for the tools of a framework. */
const doorShows: Readonly<Record<string, RegExp>> = { size: /"size":9/, true: /"value":true/, answer: /"ok":true/ }
const doorWays: readonly ViewWay[] = doors.flatMap(({ name, open }) =>
  Object.keys(open(unused).views).map((use) => ({
    name: `${name} ${use}`,
    ...(use.includes(', ') && { shows: doorShows[use.split(', ')[1] ?? ''] ?? NAME }),
    act: ({ workspace }: Subject) => asAnswer(open(workspace).views[use]?.()),
  })),
)

const groups: Readonly<Record<string, readonly ViewWay[]>> = {
  tool: toolWays,
  line: showingLines.map(command),
  naming: namingLines.map((line) => ({ ...command(line), shows: NAME })),
  node: nodeLines,
  git: gitWays,
  operation: operationWays,
  dialect: dialectWays,
  mcp: mcpWays,
  framework: doorWays,
  fs: fsWays(fsViews, asAnswer),
  acp: acpWays(acpViews, asAnswer),
}

/** Every way to view something below `private`. */
export const viewWays: readonly ViewWay[] = Object.values(groups).flat()

/** The kind of a way to view something. */
export const kindOfView = kindsIn(groups)
