import { memory } from '../../dist/backends/memory/index.js'
import { git } from '../../dist/git/index.js'
import { createWorkspace, type Workspace, type WorkspaceRun } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import type { LabelPolicy } from '../../src/policy/labels.ts'

/**
 * Two worlds that differ in the content of one restricted file only. Whatever a reader sees is equal in both, or labelled in
 * one of them. Commits are made in many ways, and read in many ways.
 */

const labels: LabelPolicy = {
  sources: [{ label: 'restricted', paths: ['customers/**'] }],
  sinks: [{ name: 'site', ceiling: 'public', paths: ['site/**'] }],
}

/** One shell for all workspaces. */
const shell = bash({ worker: false })

export const closeShell = (): Promise<void> => shell.close()

type Result = Readonly<Record<string, unknown>>

/** A command line, or the name and the input of a tool. */
type Step = string | readonly [tool: string, input: object]

/** Makes a commit that contains the restricted content, or has such an ancestor. */
export interface Way {
  readonly name: string
  act(workspace: Workspace): Promise<void>
}

const call = (run: WorkspaceRun, step: Step): Promise<Result> =>
  (typeof step === 'string' ? run.callTool('run_command', { command: step }) : run.callTool(...step)) as Promise<Result>

/** Each step in a run of its own, so that no run knows what another one has read. */
const steps = (...list: readonly Step[]): Way => ({
  name: list.map((step) => (typeof step === 'string' ? step : step[0])).join(' | '),
  async act(workspace) {
    for (const step of list) await call(workspace.run({}), step)
  },
})

const copied = 'cp customers/k.txt x.txt'
const commit = 'git add x.txt; git commit -qm c'

export const ways: readonly Way[] = [
  steps(`${copied}; ${commit}`),
  steps(copied, 'git add x.txt', 'git commit -qm c'),
  steps(`${copied}; git add x.txt`, 'git commit -qm c'),
  steps(`${copied}; git add x.txt; rm x.txt`, 'git commit -qm c'),
  steps(`${copied}; git add x.txt; echo free > x.txt`, 'git commit -qm c'),
  steps('mv customers/k.txt x.txt; git add -A; git commit -qm c'),
  steps('git add customers; git commit -qm c'),
  steps('git add .', 'git commit -qm c'),
  steps('git commit -qam c'),
  steps('cat customers/k.txt > x.txt', commit),
  steps('cat customers/k.txt > x.txt; git add x.txt; git commit -qm c'),
  steps(
    'head -c1 customers/k.txt > d/e/x.txt',
    'mkdir -p d/e; head -c1 customers/k.txt > d/e/x.txt',
    'git add d',
    'git commit -qm c',
  ),
  steps('echo 1 >> a.txt; git add -A; git commit -qam c'),
  steps(['copy_file', { path: 'customers/k.txt', to: 'x.txt' }], commit),
  steps(['move_file', { path: 'customers/k.txt', to: 'x.txt' }], 'git add -A; git commit -qm c'),
  steps('git commit -q --allow-empty -m "$(cat customers/k.txt)"'),
  steps('git commit -q --allow-empty -m "$(cat customers/k.txt)"', 'echo 1 >> a.txt; git commit -qam d'),
  steps('touch "$(cat customers/k.txt).txt"', 'git add .; git commit -qm c'),
  steps(copied, commit, 'git commit -q --amend -m e'),
  steps(copied, commit, 'rm x.txt; git commit -qam e'),
  steps(copied, 'git checkout -q -b side', commit, 'git checkout -q main'),
  steps(copied, 'git checkout -q -b side', commit, 'git checkout -q --detach'),
  steps('git commit -qam c', 'git checkout -q HEAD~1 -- customers', 'git commit -qm d'),
  {
    name: 'the program commits',
    async act({ git: repository }) {
      await repository?.add('.')
      await repository?.commit({ message: 'c' })
    },
  },
  {
    name: 'a fork commits',
    async act(workspace) {
      const fork = await workspace.fork()
      for (const step of [copied, commit, 'rm x.txt']) await call(fork.run({}), step)
      await fork.commit()
      await fork.close()
    },
  },
  {
    name: 'a commit that is undone in part',
    async act(workspace) {
      await call(workspace.run({}), copied)
      await call(workspace.run({}), commit)
      const { callId } = await call(workspace.run({}), 'rm x.txt')
      await workspace.undo(String(callId))
    },
  },
]

/** Ways that commit only public files. */
export const freeWays: readonly Way[] = [
  steps('echo 1 >> a.txt; git add a.txt; git commit -qm c'),
  steps('cat customers/k.txt > x.txt', 'echo 1 >> a.txt; git commit -qam c'),
  steps(['write_file', { path: 'b.txt', content: 'b\n' }], 'git add b.txt', 'git commit -qm c'),
  steps('git checkout -q -b side; echo 2 > c.txt; git add c.txt; git commit -qm c', 'git checkout -q main'),
]

/** What a reader tries. ID is the commit that HEAD names in the first world, which a reader could have computed. */
export const readings: readonly Step[] = [
  'git rev-parse HEAD',
  'git rev-parse --short HEAD',
  'git rev-parse --verify side',
  'git log',
  'git log --format=%H',
  'git log -1 --oneline',
  'git log --reverse --format=%h',
  'git log side --format=%H',
  'git show --stat',
  'git show -s --format=%H side',
  'git show HEAD~1 --stat',
  'git branch -v',
  'git branch -a',
  'git branch -D side',
  'git status',
  'git status --short',
  'git status --porcelain --branch',
  'git diff',
  'git diff --stat HEAD',
  'git diff HEAD~1 | grep index',
  'git diff --name-status HEAD~1 HEAD',
  'git show HEAD:x.txt',
  'git show HEAD:customers/k.txt',
  'git checkout --detach',
  'git checkout -q --detach; git status',
  'git checkout -q --detach; git branch',
  'git checkout side',
  'git switch -c other',
  'git reset --hard',
  'git reset',
  'git commit --allow-empty -m e',
  'git commit --amend -m e --allow-empty',
  'git restore --source HEAD~1 -S a.txt',
  'git rev-parse --verify ID',
  'git diff --quiet ID HEAD && echo same',
  'git log -1 --format=%s ID',
  'git branch guess ID && git branch',
  'git checkout -q ID && git branch --show-current',
  'git checkout -q ID -- a.txt; echo $?',
  'git show ID:a.txt',
  'git ls-tree HEAD',
  'git for-each-ref',
  'git reflog',
  'git show-ref',
  'git describe --always',
  'git cat-file -p HEAD',
  'cat .git/HEAD .git/refs/heads/main',
  'ls -R .git',
  'find . -newer a.txt | sort',
  ['diff_workspace', {}],
  ['diff_workspace', { statOnly: true }],
  ['diff_workspace', { base: 'HEAD' }],
  ['diff_workspace', { base: 'HEAD~1', paths: ['a.txt'] }],
  ['diff_workspace', { base: 'side', paths: ['a.txt'] }],
  ['diff_workspace', { base: 'ID', paths: ['a.txt'] }],
  ['diff_workspace', { base: 'ID', statOnly: true, paths: ['b.txt'] }],
  ['apply_patch', { patch: '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n' }],
  [
    'apply_patch',
    { patch: '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n', expectedBaseCommit: 'ID', dryRun: true },
  ],
  ['list_directory', { path: '.', maxDepth: 3 }],
  ['read_file', { path: '.git/HEAD' }],
]

interface Observation {
  readonly label: unknown
  readonly text: string
}

/** What a reader sees in the two worlds. */
export interface Pair {
  readonly reading: string
  readonly labels: readonly unknown[]
  /** The results, if they differ and no label says so. */
  readonly unlabelled: readonly string[]
}

/** Reads every world in the same ways. */
export async function compareWorlds(way: Way, selected: readonly Step[] = readings, tracked = true): Promise<Pair[]> {
  let id = ''
  const worlds: Observation[][] = []
  for (const secret of ['1', '2']) {
    const origin = await openWorld(secret, way, tracked)
    if (id === '') id = (await origin.git?.log({ depth: 1 }))?.[0]?.commit ?? ''
    const observations: Observation[] = []
    for (const reading of selected) {
      const workspace = await origin.fork()
      observations.push(await observe(workspace, reading, id))
      await workspace.close()
    }
    worlds.push(observations)
    await origin.close()
  }
  const [first = [], second = []] = worlds
  return selected.map((reading, index) => {
    const [a, b] = [first[index], second[index]]
    const labels = [a?.label, b?.label]
    const differs = labels.every((label) => label === 'public') && a?.text !== b?.text
    return { reading: JSON.stringify(reading), labels, unlabelled: differs ? [String(a?.text), String(b?.text)] : [] }
  })
}

function counter(): () => string {
  let last = 0
  return () => `id-${++last}`
}

async function openWorld(secret: string, way: Way, tracked: boolean): Promise<Workspace> {
  const customers = tracked ? {} : { '.gitignore': 'customers\n' }
  const backend = memory({ 'a.txt': 'one\n', 'customers/k.txt': '0\n', ...customers })
  const workspace = await createWorkspace({
    backend,
    policy: { preset: 'autonomous', labels },
    shell,
    git: git(),
    clock: () => 1_700_000_000_000,
    ids: counter(),
  })
  await workspace.git?.init()
  await workspace.git?.add('.')
  await workspace.git?.commit({ message: 'i' })
  const to = { type: 'file', bytes: new TextEncoder().encode(`${secret}\n`) } as const
  await backend.commit([{ path: 'customers/k.txt' as never, expect: 'any', to }], { durability: 'relaxed' })
  await way.act(workspace)
  const { label } = await call(workspace.run({}), 'echo')
  // A reader that knew something already would be labelled for that.
  if (label !== 'public') throw new Error(`a new run begins ${label}`)
  return workspace
}

async function observe(workspace: Workspace, reading: Step, id: string): Promise<Observation> {
  const step = JSON.parse(JSON.stringify(reading).replaceAll('ID', id)) as Step
  const { label, ...result } = await call(workspace.run({}), step)
  return { label, text: JSON.stringify(result) }
}
