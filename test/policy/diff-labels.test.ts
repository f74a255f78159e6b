import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../dist/backends/memory/index.js'
import { git } from '../../dist/git/index.js'
import { createWorkspace, type Workspace } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import { everyNth } from '../counts.ts'

const shell = bash({ worker: false })
afterAll(() => shell.close())

const author = { name: 'Ada', email: 'ada@example.org' }
const text = 'one\ntwo\nthree\nfour\n4711\n'

/** What another program does to a labelled file that is committed, before the workspace is opened. */
const states: Readonly<Record<string, (owner: Workspace) => Promise<unknown>>> = {
  changed: ({ files }) => files.append('conf/pin', 'x\n'),
  deleted: ({ files }) => files.delete('conf/pin'),
  renamed: ({ files }) => files.rename('conf/pin', 'conf/other'),
  'moved out': ({ files }) => files.rename('conf/pin', 'moved'),
  'replaced by a directory': ({ files }) => files.delete('conf/pin').then(() => files.write('conf/pin/in', 'x\n')),
  'executable now': ({ files }) => files.setMode('conf/pin', 0o755),
  'beside a new one': ({ files }) => files.write('conf/new', 'x\n'),
}

const run = (command: string) => (workspace: Workspace) => workspace.call('run_command', { command })
/** Looks at the differences. */
const looks: Readonly<Record<string, (workspace: Workspace) => Promise<object>>> = {
  diff_workspace: (workspace) => workspace.call('diff_workspace', {}),
  'diff_workspace, statOnly': (workspace) => workspace.call('diff_workspace', { statOnly: true }),
  'diff_workspace, cut': (workspace) => workspace.call('diff_workspace', { maxBytes: 10 }),
  'diff_workspace of a public path': (workspace) => workspace.call('diff_workspace', { paths: ['a.txt'] }),
  'diff_workspace of the directory': (workspace) => workspace.call('diff_workspace', { paths: ['conf'] }),
  ...Object.fromEntries(
    [
      ...['git diff', 'git diff HEAD', 'git diff --stat', 'git diff --name-only', 'git diff > diff.txt'],
      ...[
        'git diff -- a.txt',
        'git diff HEAD -- conf',
        'git diff --quiet -- a.txt',
        'git diff --quiet HEAD -- conf; echo $?',
      ],
      ...[
        'git add -A; git diff --cached',
        'git add -A; git diff --cached -- a.txt',
        'git add a.txt; git diff --cached',
      ],
      ...['git status', 'git status --short'],
    ].map((command) => [command, run(command)]),
  ),
}

/** States in which `git status` shows other names, and nothing of a content. A name has only the label of what it was made of. */
const named: readonly string[] = ['deleted', 'renamed', 'moved out', 'replaced by a directory', 'beside a new one']

/** Looks at a labelled file in a state. `shown`: the result without what differs in each call. */
async function lookAt(
  look: (workspace: Workspace) => Promise<object>,
  change?: (owner: Workspace) => Promise<unknown>,
) {
  const backend = memory({ 'a.txt': 'a\n', 'conf/pin': text })
  const owner = await createWorkspace({ backend, policy: 'autonomous', git: git({ author }) })
  await owner.git?.init()
  await owner.git?.add('.')
  await owner.git?.commit({ message: 'First' })
  await owner.files.append('a.txt', 'b\n')
  await change?.(owner)
  const workspace = await createWorkspace({
    backend,
    policy: { preset: 'autonomous', labels: { sources: [{ label: 'restricted', paths: ['conf/**'] }] } },
    git: git({ author }),
    shell: { ...shell, async close() {} },
  })
  const result = (await look(workspace)) as Readonly<Record<string, unknown>>
  const { ok, stdout, stderr, exitCode, stat, diff, filesChanged, insertions, deletions, warnings, truncated } = result
  const label = workspace.taint.label()
  await workspace.close()
  const written = await backend.read('diff.txt' as never).catch(() => undefined)
  const file = written && new TextDecoder().decode(written.bytes)
  const shown = {
    ok,
    stdout,
    stderr,
    exitCode,
    stat,
    diff,
    filesChanged,
    insertions,
    deletions,
    warnings,
    truncated,
    file,
  }
  return { shown: JSON.stringify(shown), label, ofResult: result.label }
}

describe('the label of a look at differences', () => {
  it.each(everyNth(Object.entries(looks), 3))(
    'is that of a labelled file if the result depends on its content: %s',
    async (name, look) => {
      const unchanged = await lookAt(look)
      expect(unchanged).toMatchObject({ label: 'public', ofResult: 'public' })
      const wrong: unknown[] = []
      for (const [state, change] of Object.entries(states)) {
        const { shown, label, ofResult } = await lookAt(look, change)
        const isNamed = name.startsWith('git status') && named.includes(state)
        const expected = shown === unchanged.shown || isNamed ? 'public' : 'restricted'
        if (label !== expected || ofResult !== expected) wrong.push([state, expected, label, ofResult, shown])
      }
      expect(wrong).toEqual([])
    },
  )
})
