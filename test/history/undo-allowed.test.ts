import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { createWorkspace, type PolicyInput } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { part, times } from '../counts.ts'
import { snapshot } from '../tools/setup.ts'

const files = {
  'docs/a.md': 'one\n',
  'docs/sub/b.md': 'two\n',
  'src/x.md': 'x\n',
  'src/sub/y.md': 'y\n',
  'o.txt': 'o\n',
} as const
/** Links beside the files, with targets that a policy closes and others. */
const links = { closed: 'docs', 'src/closed.md': '../docs/a.md', open: 'src', dangling: 'docs/none' } as const

/** Policies that close `docs` to changes. A rule on single permissions may allow a creation and not its undo, which deletes. */
const policies: Readonly<Record<string, Exclude<PolicyInput, string>>> = {
  deniedPaths: { preset: 'autonomous', deniedPaths: ['docs/**'] },
  'deniedPaths below': { preset: 'autonomous', deniedPaths: ['docs/sub/**'] },
  readOnlyPaths: { preset: 'autonomous', readOnlyPaths: ['docs/**'] },
  'readOnlyPaths below': { preset: 'autonomous', readOnlyPaths: ['docs/sub/**', 'docs/a.md'] },
  'a rule': {
    preset: 'autonomous',
    rules: [{ name: 'final', action: 'deny', permissions: ['file:change'], paths: ['docs/**'] }],
  },
  'a rule on a link': {
    preset: 'autonomous',
    rules: [{ name: 'final', action: 'deny', permissions: ['file:change'], paths: ['docs/**', 'open'] }],
  },
}

const roots: string[] = []
const shell = bash({ worker: false })
afterAll(() => {
  shell.close()
  for (const root of roots) rmSync(root, { recursive: true, force: true })
})

const inMemory = () =>
  memory({ ...files, ...Object.fromEntries(Object.entries(links).map(([path, link]) => [path, { link }])) })
const backends: Readonly<Record<string, () => Backend>> = {
  memory: inMemory,
  overlay: () => overlay(inMemory()),
  'overlay of node': () => overlay(backends.node?.() as Backend),
  node() {
    const base = mkdtempSync(join(tmpdir(), 'undo-allowed-'))
    roots.push(base)
    const root = join(base, 'root')
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    }
    for (const [path, link] of Object.entries(links)) symlinkSync(link, join(root, path))
    return nodeBackend(root, { stateDir: join(base, 'state') })
  },
}

const from = ['docs', 'docs/a.md', 'docs/sub', 'src', 'src/x.md', 'o.txt', ...Object.keys(links), 'none', 'src/none']
const to = ['new', 'src/new', 'docs/new', 'deep/er/new', 'o.txt', 'src', 'closed', 'open', 'dangling', 'src/closed.md']

/** Ways to change the tree, with a path or two. */
const oneWay: readonly ((path: string) => Call)[] = [
  (path) => sh(`rm ${path}`),
  (path) => sh(`rm -r ${path}`),
  (path) => sh(`rmdir ${path}`),
  (path) => sh(`echo more >> ${path}`),
  (path) => sh(`echo new > ${path}`),
  (path) => sh(`mkdir -p ${path}/n/m`),
  (path) => sh(`chmod +x ${path}`),
  (path) => sh(`sed -i s/o/x/ ${path}`),
  (path) => sh(`node -e "require('fs').rmSync('${path}', { recursive: true })"`),
  (path) => ['delete_file', { path }],
  (path) => ['append_file', { path, content: 'more\n' }],
  (path) => ['create_directory', { path: `${path}/n` }],
]
const twoWays: readonly ((path: string, other: string) => Call)[] = [
  (path, other) => sh(`ln -s ${path} ${other}`),
  (path, other) => sh(`ln -sf ${path} ${other}`),
  (path, other) => sh(`rm -rf ${other}; ln -s ${path} ${other}`),
  (path, other) => sh(`ln ${path} ${other}`),
  (path, other) => sh(`cp ${path} ${other}`),
  (path, other) => sh(`cp -r ${path} ${other}`),
  (path, other) => sh(`cp -P ${path} ${other}`),
  (path, other) => sh(`mv ${path} ${other}`),
  (path, other) => sh(`node -e "require('fs').symlinkSync('${path}', '${other}')"`),
  (path, other) => ['move_file', { path, to: other }],
  (path, other) => ['copy_file', { path, to: other }],
]
type Call = readonly [tool: string, input: object]
const sh = (command: string): Call => ['run_command', { command }]
const calls = [
  ...oneWay.flatMap((way) => [...from, ...to].map((path) => way(path))),
  ...twoWays.flatMap((way) => from.flatMap((path) => to.map((other) => way(path, other)))),
]

const cases = part(
  Object.keys(backends).flatMap((backend, position) =>
    Object.keys(policies).flatMap((policy, index) =>
      calls
        .filter((_, at) => (at + position * 7 + index * 3) % times(587, 1) === 0)
        .map((call) => ({ backend, policy, call })),
    ),
  ),
)

it(`a change that policy allows can be undone and done again, in any of ${cases.length} cases`, async () => {
  const wrong: string[] = []
  let changed = 0
  for (const { backend: kind, policy, call } of cases) {
    const backend = (backends[kind] as (typeof backends)[string])()
    const options = { backend, policy: policies[policy] as PolicyInput, shell: { ...shell, async close() {} } }
    const workspace = await createWorkspace(options)
    const checkpoint = workspace.checkpoint()
    const before = await snapshot(backend)
    const result = await workspace.callTool(call[0], call[1])
    const after = await snapshot(backend)
    if (JSON.stringify(after) !== JSON.stringify(before)) {
      changed += 1
      const note = (step: string, answer: { readonly ok: boolean }, state: object, expected: object) => {
        if (answer.ok && JSON.stringify(state) === JSON.stringify(expected)) return
        wrong.push(`${kind}, ${policy}: ${JSON.stringify(call)}: ${step}: ${JSON.stringify(answer).slice(0, 200)}`)
      }
      const undone = await workspace.undo(String(result.callId))
      note('undo', undone, await snapshot(backend), before)
      const redone = await workspace.undo(String((undone as { callId?: string }).callId))
      note('redo', redone, await snapshot(backend), after)
      note('rollback', await workspace.rollback(checkpoint.id), await snapshot(backend), before)
    }
    await workspace.close()
  }
  expect(wrong).toEqual([])
  expect(changed).toBeGreaterThan(cases.length / 10)
})
