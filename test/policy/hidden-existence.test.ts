import { describe, expect, it } from 'vitest'
import { createFs } from '../../dist/adapters/fs/index.js'
import { type MemoryEntry, memory } from '../../dist/backends/memory/index.js'
import { createWorkspace, type PolicyInput, type Workspace } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import { isLong } from '../counts.ts'

/** Two trees that differ only in what policy hides. */
const open = { 'a.txt': 'a\n', 'src/b.txt': 'b\n', 'to-file': { link: 'src/h.txt' }, 'to-dir': { link: 'hidden' } }
const trees: readonly Readonly<Record<string, MemoryEntry>>[] = [
  { ...open, 'hidden/x.txt': 'top\n', 'src/h.txt': 'top\n' },
  open,
]
const paths = ['hidden/**', 'src/h.txt']

const policies: Readonly<Record<string, PolicyInput>> = {
  'short forms': { preset: 'autonomous', deniedPaths: paths },
  'a rule on files': {
    preset: 'autonomous',
    rules: [{ name: 'hidden', action: 'deny', permissions: ['file:view', 'file:change'], paths }],
  },
  'two rules': {
    preset: 'autonomous',
    rules: paths.map((path, index) => ({
      name: `hidden ${index}`,
      action: 'deny',
      permissions: ['file:view', 'file:change'],
      paths: [path],
    })),
  },
}

/** Hidden files, and paths below them, also through links. */
const names = ['hidden/x.txt', 'src/h.txt', 'hidden/x.txt/n', 'src/h.txt/n', 'to-file/n', 'to-dir/x.txt/n/m']

const calls: Readonly<Record<string, (path: string) => readonly [tool: string, input: Record<string, unknown>]>> = {
  read: (path) => ['read_file', { path }],
  info: (path) => ['file_info', { path }],
  list: (path) => ['list_directory', { path }],
  search: (path) => ['search_text', { query: 'top', path }],
  write: (path) => ['write_file', { path, content: 'x' }],
  append: (path) => ['append_file', { path, content: 'x' }],
  'create a directory': (path) => ['create_directory', { path }],
  delete: (path) => ['delete_file', { path }],
  'move there': (path) => ['move_file', { path: 'a.txt', to: path }],
  'copy from there': (path) => ['copy_file', { path, to: 'new.txt' }],
  'patch both': (path) => [
    'apply_patch',
    { patch: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** Add File: hidden/y\n+x\n*** End Patch\n` },
  ],
  'run there': (path) => ['run_command', { command: 'pwd', cwd: path }],
  'run an invalid line there': (path) => ['run_command', { command: 'pwd (', cwd: path }],
  'start there': (path) => ['start_command', { command: 'pwd', cwd: path }],
  ...Object.fromEntries(
    [
      'touch F',
      'echo x > F',
      'echo x | tee F',
      'cp a.txt F',
      'ln a.txt F',
      'sort -o F a.txt',
      'mkdir -p F',
      'cat F',
    ].map((line) => [line, (path: string) => ['run_command', { command: line.replace('F', path) }] as const]),
  ),
}

const shown = (answer: unknown) =>
  JSON.parse(JSON.stringify(answer, (key, value) => (key === 'durationMs' ? 0 : value)))

/** Calls that create nothing at the path. Others have to be refused below a file. */
const readingCalls: typeof calls = {
  ...Object.fromEntries(Object.entries(calls).filter(([name]) => !/^(write|append|create|move|patch)/.test(name))),
  find: (path) => ['find_files', { pattern: '*', path }],
  diff: (path) => ['diff_workspace', { paths: [path] }],
  edit: (path) => ['edit_file', { path, oldText: 'a', newText: 'b' }],
  'move from there': (path) => ['move_file', { path, to: 'new.txt' }],
  ...Object.fromEntries(
    ['ls F', 'stat F', 'rm F', 'mv F new.txt', 'cd F'].map((line) => [
      line,
      (path: string) => ['run_command', { command: line.replace('F', path) }] as const,
    ]),
  ),
}

/** What a run is shown by a call, and by the report afterwards. */
async function answers(workspace: Workspace, tool: string, input: Record<string, unknown>): Promise<unknown> {
  const run = workspace.run({ id: 'run' })
  return shown([await run.callTool(tool, input), await run.consult('report')])
}

const cases = Object.entries(policies).flatMap(([title, policy], at) =>
  Object.entries(calls)
    .filter((_, index) => isLong || index % 3 === at)
    .map(([name, toCall]) => ({ title, policy, name, toCall })),
)

/** Expects the same answers over both trees. */
async function expectSame(
  both: typeof trees,
  policy: PolicyInput,
  [tool, input]: readonly [string, Record<string, unknown>],
): Promise<void> {
  const [there, absent] = await Promise.all(
    both.map(async (tree) => {
      const given = { backend: memory(tree), clock: () => 0, ids: () => 'run0' }
      const workspace = await createWorkspace({ ...given, policy, shell: bash({ worker: false }) })
      const answer = await answers(workspace, tool, input)
      await workspace.close()
      return answer
    }),
  )
  expect(there, JSON.stringify(input)).toEqual(absent)
}

describe('whether a hidden file exists', () => {
  it.each(cases)('does not show in the answer and the report of: $name, with $title', async ({ policy, toCall }) => {
    for (const path of names) await expectSame(trees, policy, toCall(path))
  })

  // A rule by kind hides the file, and not the names below it.
  it.each(Object.entries(readingCalls))('does not show below a file that its kind hides: %s', async (_, toCall) => {
    const rule = { name: 'notes', permissions: ['file:view', 'file:change'], kinds: ['TEXT_DOC'] } as const
    const policy: PolicyInput = { preset: 'autonomous', rules: [{ ...rule, action: 'deny' }] }
    const links = { ...open, 'to-file': { link: 'n.md' } }
    for (const path of ['n.md/x', 'to-file/x.ts', 'n.md/x/y.md']) {
      await expectSame([{ ...links, 'n.md': 'top\n' }, links], policy, toCall(path))
    }
  })
})

it('metadata of a directory does not tell how often hidden files below it changed', async () => {
  const shownAfter = async (changes: number) => {
    const files = memory({ 'src/b.txt': 'b\n' })
    const owner = await createWorkspace({ backend: files, policy: 'autonomous', clock: () => 0 })
    for (let i = 0; i < changes; i++) {
      await owner.files.write('src/h.txt', `${i}`)
      await owner.files.delete('src/h.txt')
    }
    const policy: PolicyInput = { preset: 'autonomous', deniedPaths: ['src/h.txt'] }
    const given = { backend: files, policy, clock: () => 0, ids: () => 'run0' }
    const workspace = await createWorkspace({ ...given, shell: bash({ worker: false }) })
    const fs = createFs(workspace)
    return shown([
      await Promise.all(['.', 'src'].map((path) => workspace.files.stat(path))),
      await fs.promises.stat('/src'),
      [fs.statSync('/'), fs.statSync('/src')],
      await workspace.files.batch(async (batch) => batch.stat('src')),
      await workspace.callTool('run_command', { command: 'stat . src; ls -lai . src' }),
    ])
  }
  expect(await shownAfter(3)).toEqual(await shownAfter(0))
})

it('a path below a visible file is still told from a missing one', async () => {
  const workspace = await createWorkspace({ backend: memory(open), policy: policies['short forms'] ?? 'autonomous' })
  expect(await workspace.callTool('read_file', { path: 'a.txt/n' })).toMatchObject({ code: 'NOT_A_DIRECTORY' })
})
