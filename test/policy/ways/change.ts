import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { createMcpServer } from '../../../dist/adapters/mcp/index.js'
import type { DialectWorkspace } from '../../../src/index.ts'
import { doors, unused } from '../../frameworks/doors.ts'
import { toolRows } from '../../tools/table.ts'
import { acpChanges, acpWays } from './acp.ts'
import { kindsIn } from './kinds.ts'
import { fsChanges, fsWays } from './node-fs.ts'
import type { Answer, Subject, Way } from './subject.ts'
import { A_SHA256, OLD_SHA256, wayTree } from './tree.ts'

/** The inputs of the table of tools. */
const toolWays: readonly Way[] = toolRows.flatMap(([name, { changes }]) =>
  'reason' in changes
    ? []
    : changes.map((input) => ({
        name: `${name} ${JSON.stringify(input)}`,
        act: ({ workspace }: Subject) => workspace.callTool(name, input),
      })),
)

/** Lines that change something below docs. */
export const changingLines: readonly string[] = [
  // Redirections.
  'echo n > docs/a.md',
  'echo n >> docs/a.md',
  'echo n > docs/new.md',
  'echo n >| docs/a.md',
  ': > docs/a.md',
  '> docs/a.md',
  'echo n &> docs/new.md',
  'echo n &>> docs/a.md',
  'ls nothing 2> docs/new.md',
  'ls nothing 2>> docs/a.md',
  'echo n 1> docs/a.md',
  'echo n <> docs/new.md',
  'cat <<X > docs/new.md\nn\nX',
  'cat <<< n > docs/new.md',
  'cd docs && echo n > new.md',
  'cd docs/b && echo n > ../a.md',
  'pushd docs && echo n > new.md && popd',
  'echo n > /workspace/docs/a.md',
  'echo n > ./src/../docs/a.md',
  'for i in 1 2; do echo $i; done > docs/new.md',
  '{ echo n; echo m; } > docs/new.md',
  '(echo n) > docs/new.md',
  'if true; then echo n; fi > docs/new.md',
  'exec 3> docs/new.md; echo n >&3',
  'exec 3>> docs/a.md; echo n >&3',
  'exec > docs/new.md; echo n',
  'cat src/x.md | cat > docs/new.md',
  'f() { echo n > docs/a.md; }; f',
  'echo $(echo n > docs/a.md)',
  'cat <(echo n > docs/a.md)',
  'while read -r l; do echo "$l" > docs/new.md; done < src/x.md',
  // Commands that write.
  'cp src/x.md docs/a.md',
  'cp src/x.md docs/',
  'cp -r src docs/src',
  'cp -r src/. docs/b',
  'cp docs/a.md docs/z.md',
  'mv src/x.md docs/',
  'mv docs/a.md src/',
  'mv docs/a.md src/x.md',
  'mv docs src/docs',
  'mv src docs/',
  'mv docs/a.md docs/z.md',
  'mv docs/b src/b',
  'mv -f src/x.md docs/a.md',
  'mv docs/a.md docs/b/c.md',
  'rm docs/a.md',
  'rm -f docs/a.md',
  'rm -rf docs',
  'rm -rf docs/b',
  'rm -r ./docs/*',
  'cd docs && rm *.md',
  'mkdir docs/n',
  'mkdir -p docs/n/m',
  'rm docs/b/c.md && rmdir docs/b',
  'mkdir src/e && mv src/e docs/e',
  'touch docs/new.md',
  'chmod 700 docs/a.md',
  'chmod -R 700 docs',
  'ln -s ../src/x.md docs/l',
  'ln src/x.md docs/l',
  'ln docs/a.md docs/l',
  'ln -s docs l && echo n > l/a.md',
  'ln -s docs/a.md l && echo n > l',
  'ln -s docs l && rm l/a.md',
  'ln -s docs l && mv src/x.md l/',
  'ln docs/a.md l && echo n > l && mv l docs/a.md',
  'echo n | tee docs/a.md',
  'echo n | tee -a docs/a.md',
  'echo n | tee src/n.md docs/n.md > /dev/null',
  'sort -o docs/a.md src/x.md',
  "sed -i 's/one/1/' docs/a.md",
  'sed -i -e 1d docs/a.md docs/b/c.md',
  'awk \'BEGIN { print 1 > "docs/new.md" }\'',
  'awk \'BEGIN { print 1 >> "docs/a.md" }\'',
  'awk \'{ print > "docs/new.md" }\' src/x.md',
  'awk \'{ f = "docs/" "new.md"; print > f }\' src/x.md',
  'gzip docs/a.md',
  'gzip -k docs/a.md',
  'gzip src/x.md && mv src/x.md.gz docs/ && gunzip docs/x.md.gz',
  'tar -cf docs/t.tar src',
  'tar -cf t.tar src && tar -xf t.tar -C docs',
  'mkdir s && cp docs/b/c.md s/a.md && cd s && tar -cf ../t.tar a.md && cd ../docs && tar -xf ../t.tar',
  'split src/x.md docs/p',
  'sqlite3 docs/t.db "create table t (a)"',
  'echo "a: 1" > v.yaml && cp v.yaml docs/v.yaml',
  'patch -p1 < change.patch',
  'patch -p1 -i change.patch',
  'sed s,docs/,, change.patch > c.patch && cd docs && patch -p1 < ../c.patch',
  'mapfile -t a < src/x.md && echo "$a" > docs/new.md',
  'printf n > docs/new.md',
  'seq 3 > docs/new.md',
  'column src/x.md > docs/new.md',
  'base64 src/x.md > docs/a.md',
  'uniq src/x.md docs/new.md; uniq src/x.md > docs/new.md',
  // Commands that start others.
  'find docs -name a.md -delete',
  'find docs -name "*.md" -exec rm {} \\;',
  'find docs -name "*.md" -exec rm {} +',
  'echo docs/new.md | xargs touch',
  // Commands of one's own.
  'save docs/a.md n',
  'save docs/new.md n',
  'add docs/a.md n',
  'drop docs/a.md',
  'drop docs',
  'take src/x.md docs/new.md',
  'take src docs/new',
  'move docs/a.md src/a.md',
  'move src/x.md docs/x.md',
  'make docs/n',
  'mode docs/a.md',
  'point ../src/x.md docs/l.md',
  'cd docs && save a.md n',
  'bash -c "echo n > docs/a.md"',
  'sh -c "rm docs/a.md"',
  'bash -c "cd docs; bash -c \'rm a.md\'"',
  'eval "rm docs/a.md"',
  '(cd docs; rm a.md)',
  'bash <<< "rm docs/a.md"',
  'bash <<X\nrm docs/a.md\nX',
  'env X=1 rm docs/a.md',
  'timeout 5 rm docs/a.md',
  'time rm docs/a.md',
  'command rm docs/a.md',
  '\\rm docs/a.md',
  'true && rm docs/a.md',
  'false || rm docs/a.md',
  '! rm docs/a.md',
  'rm docs/a.md & wait',
  'case x in x) rm docs/a.md ;; esac',
  '(cd src && cat *) > docs/new.md',
  '{ cd src; cat x.md; } >> docs/a.md',
  'trap "rm docs/a.md" EXIT',
  'trap "echo n > docs/new.md" 0; exit 1',
  '(cd docs; trap "rm a.md" EXIT)',
  'f() { trap "rm -r docs/b" EXIT; }; f',
  'bash -c "trap \'rm docs/a.md\' EXIT"',
  'npm run change',
  'npm test',
  'node change.cjs',
  'node change.mjs',
  'node --test change.test.cjs',
  'bash change.sh',
  'sh ./change.sh',
  'node -r ./change.cjs -e 1 || node -e "require(\'./change.cjs\')"',
]

/** Calls of `node:fs` that change something below docs. */
const nodeCalls: readonly string[] = [
  "writeFileSync('docs/a.md', 'n')",
  "writeFileSync('docs/new.md', 'n')",
  "writeFileSync('/workspace/docs/a.md', 'n')",
  "writeFileSync('docs/a.md', 'n', { flag: 'a' })",
  "appendFileSync('docs/a.md', 'n')",
  "unlinkSync('docs/a.md')",
  "rmSync('docs/a.md')",
  "rmSync('docs', { recursive: true })",
  "rmSync('docs/b', { recursive: true, force: true })",
  "renameSync('docs/a.md', 'src/a.md')",
  "renameSync('src/x.md', 'docs/x.md')",
  "renameSync('docs', 'src/docs')",
  "renameSync('docs/a.md', 'docs/z.md')",
  "copyFileSync('src/x.md', 'docs/x.md')",
  "copyFileSync('src/x.md', 'docs/a.md')",
  "cpSync('src', 'docs/src', { recursive: true })",
  "mkdirSync('docs/n')",
  "mkdirSync('docs/n/m', { recursive: true })",
  "symlinkSync('../src/x.md', 'docs/l')",
  "chmodSync('docs/a.md', 0o700)",
  "truncateSync('docs/a.md', 1)",
  "writeFile('docs/a.md', 'n', () => {})",
  "appendFile('docs/a.md', 'n', () => {})",
  "unlink('docs/a.md', () => {})",
  "rename('docs/a.md', 'src/a.md', () => {})",
  "promises.writeFile('docs/a.md', 'n')",
  "promises.appendFile('docs/a.md', 'n')",
  "promises.rm('docs/a.md')",
  "promises.unlink('docs/a.md')",
  "promises.rename('docs/a.md', 'src/a.md')",
  "promises.copyFile('src/x.md', 'docs/x.md')",
  "promises.mkdir('docs/n')",
]
const nodeLines = [
  ...nodeCalls.map((call) => `node -e "require('fs').${call}"`),
  "node -p \"require('fs').rmSync('docs/a.md')\"",
]

export const command = (line: string): Way => ({
  name: line,
  act: ({ workspace }) => workspace.call('run_command', { command: line }),
})

/** Runs a line in the background and waits for its end. */
export async function inBackground(run: Pick<Subject['workspace'], 'call'>, line: string): Promise<Answer> {
  const started = (await run.call('start_command', { command: line })) as Answer
  if (started.ok !== true) return started
  return endOf(run, String(started.id))
}

/** Waits until a background command has ended. Returns its last state with everything that it printed. */
async function endOf(run: Pick<Subject['workspace'], 'call'>, id: string): Promise<Answer> {
  let text = ''
  for (;;) {
    const state = (await run.call('check_command', { id })) as Answer
    text += `${state.stdout ?? ''}${state.stderr ?? ''}`
    if (state.ok !== true || state.state !== 'running') return { ...state, shown: text }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const background = (line: string): Way => ({
  name: `start_command ${line}`,
  act: ({ workspace }) => inBackground(workspace, line),
})

/** Ways to revert calls that changed docs. */
const revertWays: readonly Way[] = [
  ['append_file', { path: 'docs/a.md', content: 'n' }] as const,
  ['write_file', { path: 'docs/new.md', content: 'n' }] as const,
  ['delete_file', { path: 'docs/a.md' }] as const,
  ['move_file', { path: 'docs/b', to: 'src/b' }] as const,
  ['move_file', { path: 'src/x.md', to: 'docs/x.md' }] as const,
  ['create_directory', { path: 'docs/n' }] as const,
  ['run_command', { command: 'rm -r docs/b; echo n > docs/a.md' }] as const,
  ['run_command', { command: 'chmod 700 docs/a.md' }] as const,
].flatMap(([tool, input]): Way[] => {
  let revert = ''
  const prepare = async ({ workspace, free, ok }: Subject) => {
    revert = workspace.checkpoint().id
    return (await ok(free, tool, input)).callId as string
  }
  const name = `${tool} ${JSON.stringify(input)}`
  return [
    {
      name: `undo of ${name}`,
      prepare: async (subject) => (revert = await prepare(subject)),
      act: ({ workspace }) => workspace.undo(revert),
    },
    { name: `rollback of ${name}`, prepare, act: ({ workspace }) => workspace.rollback(revert) },
    {
      name: `undo of the undo of ${name}`,
      async prepare(subject) {
        const undone = await subject.free.undo(await prepare(subject))
        if (!undone.ok) throw new Error(JSON.stringify(undone))
        revert = undone.callId as string
      },
      act: ({ workspace }) => workspace.undo(revert),
    },
  ]
})

/** Commits of changes that were made in an overlay. */
const commitWays: readonly Way[] = [
  ['append_file', { path: 'docs/a.md', content: 'n' }] as const,
  ['delete_file', { path: 'docs/a.md' }] as const,
  ['move_file', { path: 'docs/b', to: 'src/b' }] as const,
  ['move_file', { path: 'src/d', to: 'docs/d' }] as const,
  ['create_directory', { path: 'docs/n' }] as const,
  ['run_command', { command: 'ln -s ../src/x.md docs/l' }] as const,
].flatMap(([tool, input]): Way[] => [
  {
    name: `commit of a fork after ${tool} ${JSON.stringify(input)}`,
    async act({ workspace, task, ok }) {
      const fork = await workspace.fork({ id: 'fork', task })
      await ok(fork.run({ id: 'inner' }), tool, input)
      return fork.commit()
    },
  },
  {
    name: `commit of an overlay after ${tool} ${JSON.stringify(input)}`,
    isOverlay: true,
    prepare: ({ free, ok }) => ok(free, tool, input),
    act: ({ workspace }) => workspace.commit(),
  },
])

/** `docs/b/c.md` is changed, staged and deleted; the branch `other` and the commit before have more and other files. */
const history = [
  'git init -q && echo 0 > docs/a.md && git add -A && git commit -qm zero',
  'echo 1 > docs/a.md && git add -A && git commit -qm one',
  'git checkout -q -b other && echo o > docs/o.md && git add -A && git commit -qm two && git checkout -q main',
]
const dirty = 'echo edited > docs/a.md && rm docs/b/c.md'
const gitLines: readonly (readonly [line: string, isClean?: boolean])[] = [
  ['git checkout -- docs/a.md'],
  ['git checkout HEAD -- docs'],
  ['git checkout other -- docs/o.md'],
  ['git checkout .'],
  ['cd docs && git checkout -- .'],
  ['git restore docs/a.md'],
  ['git restore docs'],
  ['git reset --hard'],
  ['git checkout -f other'],
  ['git checkout other', true],
  ['git switch other', true],
  ['git switch -q --detach other', true],
  ['git checkout HEAD~1', true],
  ['git checkout -b third other', true],
  ['git -C docs checkout -f other'],
  ['true; git checkout -q other && echo done', true],
  ['bash -c "git reset --hard"'],
  ['git stash'],
  ['git stash push -q -u -m x'],
]
const prepareGit = async ({ free, ok }: Subject, isClean = false) => {
  const result = await ok(free, 'run_command', { command: [...history, ...(isClean ? [] : [dirty])].join('\n') })
  if (result.exitCode !== 0) throw new Error(JSON.stringify(result))
}
const prepareStash = async (subject: Subject) => {
  await prepareGit(subject)
  await subject.ok(subject.free, 'run_command', { command: 'git stash -q' })
}
const gitWays: readonly Way[] = [
  ...['git stash pop', 'git stash apply -q 0'].map((line): Way => ({ ...command(line), prepare: prepareStash })),
  {
    name: 'git.stash',
    prepare: (subject) => prepareGit(subject),
    act: ({ workspace }) => asAnswer(workspace.git?.stash({ untracked: true })),
  },
  {
    name: 'git.applyStash',
    prepare: prepareStash,
    act: ({ workspace }) => asAnswer(workspace.git?.applyStash()),
  },
  ...gitLines.map(([line, isClean]): Way => ({ ...command(line), prepare: (subject) => prepareGit(subject, isClean) })),
  ...gitLines.slice(0, 1).map(([line]): Way => ({ ...background(line), prepare: (subject) => prepareGit(subject) })),
  {
    name: 'git.checkout',
    prepare: (subject) => prepareGit(subject, true),
    act: ({ workspace }) => asAnswer(workspace.git?.checkout('other')),
  },
  {
    name: 'git.checkout with force',
    prepare: (subject) => prepareGit(subject),
    act: ({ workspace }) => asAnswer(workspace.git?.checkout('other', { force: true })),
  },
  {
    name: 'git.restore',
    prepare: (subject) => prepareGit(subject),
    act: ({ workspace }) => asAnswer(workspace.git?.restore(['docs'])),
  },
  {
    name: 'git.restore from a commit',
    prepare: (subject) => prepareGit(subject),
    act: ({ workspace }) => asAnswer(workspace.git?.restore(['docs/o.md'], { from: 'other' })),
  },
]

/** Returns the answer of a function that throws its refusals. */
export async function asAnswer(promise: Promise<unknown> | undefined): Promise<Answer> {
  try {
    return { ok: true, value: await promise }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return { ok: false, code, message }
  }
}

const N_BYTES = new TextEncoder().encode('n')

/** The functions of `workspace.files`. */
const fileWays: readonly Way[] = [
  { name: 'files.write', act: ({ workspace }) => asAnswer(workspace.files.write('docs/new.md', 'n', null)) },
  {
    name: 'files.write that replaces',
    act: ({ workspace }) => asAnswer(workspace.files.write('docs/a.md', 'n', A_SHA256)),
  },
  { name: 'files.write of bytes', act: ({ workspace }) => asAnswer(workspace.files.write('docs/new.md', N_BYTES)) },
  {
    name: 'files.write of bytes that replaces',
    act: ({ workspace }) => asAnswer(workspace.files.write('docs/a.md', N_BYTES)),
  },
  { name: 'files.append', act: ({ workspace }) => asAnswer(workspace.files.append('docs/a.md', 'n')) },
  { name: 'files.makeDirectory', act: ({ workspace }) => asAnswer(workspace.files.makeDirectory('docs/n')) },
  { name: 'files.link', act: ({ workspace }) => asAnswer(workspace.files.link('docs/l', 'a.md')) },
  { name: 'files.rename', act: ({ workspace }) => asAnswer(workspace.files.rename('docs/a.md', 'src/a.md')) },
  {
    name: 'files.rename onto',
    act: ({ workspace }) => asAnswer(workspace.files.rename('src/x.md', 'docs/a.md', { overwrite: true })),
  },
  { name: 'files.rename of a directory', act: ({ workspace }) => asAnswer(workspace.files.rename('docs', 'd')) },
  { name: 'files.copy', act: ({ workspace }) => asAnswer(workspace.files.copy('src/x.md', 'docs/x.md')) },
  { name: 'files.copy of a directory', act: ({ workspace }) => asAnswer(workspace.files.copy('src', 'docs/src')) },
  { name: 'files.delete', act: ({ workspace }) => asAnswer(workspace.files.delete('docs/a.md')) },
  {
    name: 'files.delete of a directory',
    act: ({ workspace }) => asAnswer(workspace.files.delete('docs', { recursive: true })),
  },
  {
    name: 'files.writable',
    act: ({ workspace }) =>
      asAnswer(workspace.files.writable('docs/a.md').then((stream) => new Blob(['n']).stream().pipeTo(stream))),
  },
  {
    name: 'files.batch',
    act: ({ workspace }) => asAnswer(workspace.files.batch((files) => files.append('docs/a.md', 'n'))),
  },
  { name: 'files.remove', act: ({ workspace }) => asAnswer(workspace.files.remove('docs/a.md', A_SHA256)) },
]

/** Calls of each dialect, of every tool that uses a changing one. */
export const dialectChanges: Readonly<Record<string, readonly (readonly [tool: string, input: object])[]>> = {
  'mcp-filesystem': [
    ['write_file', { path: '/workspace/docs/new.md', content: 'n' }],
    ['edit_file', { path: '/workspace/docs/a.md', edits: [{ oldText: 'one', newText: '1' }] }],
    ['create_directory', { path: '/workspace/docs/n' }],
    ['move_file', { source: '/workspace/docs/a.md', destination: '/workspace/src/a.md' }],
    ['move_file', { source: '/workspace/src/x.md', destination: '/workspace/docs/x.md' }],
  ],
  'python-harness': [
    ['write_file', { path: 'docs/new.md', content: 'n' }],
    ['edit_file', { path: 'docs/a.md', old_text: 'one', new_text: '1' }],
    ['create_directory', { path: 'docs/n' }],
    ['run_command', { command: 'rm docs/a.md' }],
    ['start_command', { command: 'rm docs/a.md' }],
  ],
  anthropic: [
    ['str_replace_based_edit_tool', { command: 'create', path: '/workspace/docs/new.md', file_text: 'n' }],
    [
      'str_replace_based_edit_tool',
      { command: 'str_replace', path: '/workspace/docs/a.md', old_str: 'one', new_str: '1' },
    ],
    [
      'str_replace_based_edit_tool',
      { command: 'insert', path: '/workspace/docs/a.md', insert_line: 0, insert_text: 'n' },
    ],
    ['bash', { command: 'rm docs/a.md' }],
    ['memory', { command: 'create', path: '/memories/new.md', file_text: 'n' }],
    ['memory', { command: 'str_replace', path: '/memories/old.md', old_str: 'old', new_str: 'n' }],
    ['memory', { command: 'insert', path: '/memories/old.md', insert_line: 0, insert_text: 'n' }],
    ['memory', { command: 'delete', path: '/memories/old.md' }],
    ['memory', { command: 'rename', old_path: '/memories/old.md', new_path: '/memories/n.md' }],
  ],
  codex: [
    ['apply_patch', { input: '*** Begin Patch\n*** Delete File: docs/a.md\n*** End Patch\n' }],
    ['shell', { command: ['rm', 'docs/a.md'] }],
    ['shell', { command: ['bash', '-lc', 'echo n > docs/a.md'] }],
    ['shell', { command: ['apply_patch', '*** Begin Patch\n*** Add File: docs/new.md\n+n\n*** End Patch\n'] }],
  ],
  deepagents: [
    ['write_file', { file_path: '/docs/new.md', content: 'n' }],
    ['edit_file', { file_path: '/docs/a.md', old_string: 'one', new_string: '1' }],
    ['delete', { file_path: '/docs/a.md' }],
    ['execute', { command: 'rm docs/a.md' }],
  ],
  exec: [
    ['exec.write', { path: 'docs/new.md', content: 'n' }],
    ['exec.run', { command: 'rm docs/a.md' }],
  ],
  gemini: [
    ['write_file', { file_path: 'docs/new.md', content: 'n' }],
    ['replace', { file_path: 'docs/a.md', instruction: 'x', old_string: 'one', new_string: '1' }],
    ['replace', { file_path: 'docs/new.md', instruction: 'x', old_string: '', new_string: '1' }],
    ['run_shell_command', { command: 'rm docs/a.md' }],
    ['run_shell_command', { command: 'rm docs/a.md', is_background: true }],
  ],
  mastra: [
    ['mastra_workspace_write_file', { path: 'docs/new.md', content: 'n' }],
    ['mastra_workspace_edit_file', { path: 'docs/a.md', old_string: 'one', new_string: '1' }],
    ['mastra_workspace_delete', { path: 'docs/a.md' }],
    ['mastra_workspace_mkdir', { path: 'docs/n' }],
    ['mastra_workspace_execute_command', { command: 'rm docs/a.md' }],
    ['mastra_workspace_execute_command', { command: 'rm docs/a.md', background: true }],
  ],
  'file-read-write': [
    ['file_write', { path: 'docs/new.md', content: 'n' }],
    ['file_write', { path: 'docs/a.md', content: 'n', append: true }],
    ['memory_store', { id: 'old', content: 'n', expectedSha256: OLD_SHA256 }],
  ],
  'snake-case': [
    ['write_file', { path: 'docs/new.md', content: 'n' }],
    ['edit_file', { path: 'docs/a.md', old_text: 'one', new_text: '1' }],
    ['run_command', { command: 'rm docs/a.md' }],
  ],
  'patch-and-diff': [
    ['write_file', { path: 'docs/new.md', content: 'n' }],
    ['apply_patch', { patch: wayTree['change.patch'] }],
  ],
  'named-roots': [
    ['write_file', { path: '/workspace/docs/new.md', content: 'n' }],
    ['append_file', { path: '/workspace/docs/a.md', content: 'n' }],
    ['delete_file', { path: '/workspace/docs/a.md' }],
  ],
}

const dialectWays: readonly Way[] = Object.entries(dialectChanges).flatMap(([dialect, calls]) =>
  calls.map(
    ([tool, input]): Way => ({
      name: `${dialect} ${tool} ${JSON.stringify(input)}`,
      dialect,
      // Some tools change only a file that was viewed.
      async prepare({ workspace }) {
        const { path } = input as { path?: string }
        if (tool === 'memory' || tool.startsWith('str_')) await workspace.callTool(tool, { command: 'view', path })
      },
      async act({ workspace }) {
        const answer = await workspace.callTool(tool, input)
        // Some dialects have no tool that waits for a background command.
        if (/start_command|background/.test(`${tool} ${JSON.stringify(input)}`))
          await endOf((workspace as unknown as DialectWorkspace).own as Pick<Subject['workspace'], 'call'>, 'process-1')
        return answer
      },
    }),
  ),
)

/** Calls by the official client of the Model Context Protocol. */
export async function overMcp(workspace: unknown, name: string, input: object): Promise<Answer> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: {} })
  const [here, there] = InMemoryTransport.createLinkedPair()
  await createMcpServer(workspace as never).connect(there)
  await client.connect(here)
  const result = (await client.callTool({ name, arguments: { ...input } })) as Answer
  await client.close()
  return { ok: result.isError !== true, ...result }
}

const mcpWays: readonly Way[] = (
  [
    ['write_file', { path: 'docs/new.md', content: 'n' }],
    ['append_file', { path: 'docs/a.md', content: 'n' }],
    ['delete_file', { path: 'docs/a.md' }],
    ['move_file', { path: 'docs/b', to: 'src/b' }],
    ['apply_patch', { patch: wayTree['change.patch'] }],
    ['run_command', { command: 'rm docs/a.md' }],
    ['memory_store', { id: 'old', content: 'n', expectedSha256: OLD_SHA256 }],
  ] as const
).map(([name, input]) => ({
  name: `mcp ${name} ${JSON.stringify(input)}`,
  act: ({ workspace }) => overMcp(workspace, name, input),
}))

/** The functions that open a workspace for the tools of a framework. */
const doorWays: readonly Way[] = doors.flatMap(({ name, open }) =>
  Object.keys(open(unused).changes).map((use) => ({
    name: `${name} ${use}`,
    act: ({ workspace }: Subject) => asAnswer(open(workspace).changes[use]?.()),
  })),
)

const groups: Readonly<Record<string, readonly Way[]>> = {
  tool: toolWays,
  line: changingLines.map(command),
  node: nodeLines.map(command),
  background: ['echo n > docs/a.md', 'rm docs/a.md', 'mv docs src/docs', 'mkdir docs/n', 'node change.cjs'].map(
    background,
  ),
  revert: revertWays,
  commit: commitWays,
  git: gitWays,
  file: fileWays,
  dialect: dialectWays,
  mcp: mcpWays,
  framework: doorWays,
  fs: fsWays(fsChanges, asAnswer),
  acp: acpWays(acpChanges, asAnswer),
}

/** Every way to change something below `docs`. */
export const changeWays: readonly Way[] = Object.values(groups).flat()

/** The kind of a way to change something. */
export const kindOfChange = kindsIn(groups)
