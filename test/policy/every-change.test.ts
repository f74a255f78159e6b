import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { overlay } from '../../dist/backends/overlay/index.js'
import { dialects } from '../../dist/dialects/index.js'
import { createWorkspace } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import type { Backend } from '../../dist/storage/backend.js'
import { oneOfEach, part } from '../counts.ts'
import { toolRows } from '../tools/table.ts'
import { changeWays, dialectChanges, kindOfChange } from './ways/change.ts'
import { withDisk } from './ways/on-disk.ts'
import { closeShell, memory, type Outcome, type Rule, treeText, tryWay, type Way } from './ways/subject.ts'
import { wayTree } from './ways/tree.ts'

const setting = { permission: 'file:change', paths: ['docs/**'], notes: 'docs/notes' }

/** Uses a way over a backend, with and without a rule on `file:change`, and compares what is below docs. */
async function expectGuarded(way: Way, create: () => Promise<Backend> | Backend): Promise<void> {
  const attempt = async (rule: Rule, more: { reply?: 'allow' } = {}): Promise<Outcome> => {
    const files = await create()
    const backend = way.isOverlay ? overlay(files) : files
    return tryWay(way, { rule, setting, backend, observe: () => treeText(files, 'docs'), ...more })
  }
  const free = await attempt('none')
  expect(free.after, `without a rule: ${JSON.stringify(free.answer)}`).not.toBe(free.before)
  expect(free.questions).toEqual([])

  const denied = await attempt('deny')
  expect(denied.after, 'denied').toBe(denied.before)
  expect(denied.questions).toEqual([])
  expect(denied.codes).toContain('POLICY_DENIED')

  const rejected = await attempt('ask')
  expect(rejected.after, 'the request is denied').toBe(rejected.before)
  expect(rejected.questions).toEqual([{ tool: expect.any(String), rules: ['the rule'] }])
  expect(rejected.codes).toContain('APPROVAL_DENIED')

  const approved = await attempt('ask', { reply: 'allow' })
  expect(approved.after, 'the request is approved').toBe(free.after)
  expect(approved.questions).toEqual(rejected.questions)
}

const onMemory = part(oneOfEach(changeWays, kindOfChange))
const onDisk = part(oneOfEach(changeWays, (way) => kindOfChange(way).split(' ')[0] ?? '', 'last'))

afterAll(() => {
  closeShell()
  console.log(
    `ways to change a path: ${changeWays.length}; tried without a rule, denied, asked and approved: ${onMemory.length} in memory, ${onDisk.length} on disk`,
  )
})

describe('a rule on file:change', () => {
  it.each(onMemory)('holds in memory for $name', async (way) => {
    await expectGuarded(way, () => memory(wayTree))
  })

  it.each(onDisk)('holds on disk for $name', (way) => withDisk((create) => expectGuarded(way, create)))
})

it.each([
  ['README.md', "permissions: ['file:change'], paths: ['docs/**']"],
  ['docs/policy.md', 'permissions = ["file:change"]\npaths = ["docs/**"]'],
  ['docs/guide/write-a-policy.md', "permissions: ['file:change'], paths: ['docs/**']"],
])('%s contains the rule that this file tests', (file, rule) => {
  expect(readFileSync(file, 'utf8')).toContain(rule)
})

describe('the ways to change a path', () => {
  // `WARDSPACE_PART` splits them.
  it.skipIf(process.env.WARDSPACE_PART !== undefined)(
    'are tried in memory with every kind, and on disk with every group',
    () => {
      const kinds = (ways: readonly Way[]) => new Set(ways.map(kindOfChange))
      const groups = (ways: readonly Way[]) => new Set(ways.map((way) => kindOfChange(way).split(' ')[0]))
      expect(kinds(onMemory)).toEqual(kinds(changeWays))
      expect(groups(onDisk)).toEqual(groups(changeWays))
      expect(kinds(changeWays).size).toBeGreaterThan(30)
    },
  )

  it('are at least 300, each once', () => {
    expect(new Set(changeWays.map(({ name }) => name)).size).toBe(changeWays.length)
    expect(changeWays.length).toBeGreaterThanOrEqual(300)
  })

  it('contain every tool that changes files', async () => {
    const policy = { preset: 'autonomous', memory: {} } as const
    const workspace = await createWorkspace({ backend: memory(), policy, shell: bash() })
    const changing = workspace.tools.filter(({ mutates }) => mutates).map(({ name }) => name)
    const names = toolRows.filter(([, { changes }]) => !('reason' in changes)).map(([name]) => name as string)
    // The ways of the command tools are the lists of lines. submit_plan and stop_command change no file themselves.
    const others = ['run_command', 'start_command', 'stop_command', 'submit_plan']
    expect(changing.filter((name) => !names.includes(name) && !others.includes(name))).toEqual([])
    await workspace.close()
  })

  it('contain every tool of every dialect that uses a changing tool', () => {
    const changing = toolRows
      .filter(([name, { changes }]) => !('reason' in changes) || /^(run|start)_command$/.test(name))
      .map(([name]) => name as string)
    const missing = Object.entries(dialects).flatMap(([name, create]) =>
      create()
        .tools.filter(({ uses, mayUse = [] }) => [...uses, ...mayUse].some((name) => changing.includes(name)))
        .map((tool) => `${name} ${tool.name}`)
        // Appends to a file at the root.
        .filter((tool) => tool !== 'gemini save_memory')
        .filter((tool) => !dialectChanges[name]?.some(([own]) => `${name} ${own}` === tool)),
    )
    expect(missing).toEqual([])
  })
})
