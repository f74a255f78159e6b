import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nodeBackend } from '../../dist/backends/node/index.js'
import { createWorkspace } from '../../dist/index.js'
import type { Shell } from '../../dist/shells/author.js'
import { bash } from '../../dist/shells/bash/index.js'
import { nodeShell } from '../../dist/shells/node/index.js'
import type { Backend } from '../../dist/storage/backend.js'
import { probeSandbox } from '../../src/shells/node/probe.ts'
import { part, times } from '../counts.ts'
import {
  type AbsentWay,
  absentCommand,
  absentLines,
  absentTree,
  absentWays,
  FREE,
  HIDDEN,
  hiddenText,
  systemLines,
} from './ways/absent.ts'
import {
  type Answer,
  closeShell,
  memory,
  type Outcome,
  type Rule,
  type Subject,
  treeText,
  tryWay,
} from './ways/subject.ts'

const secrets = {
  name: 'secrets may be changed',
  action: 'allow',
  permissions: ['file:change'],
  paths: ['private/.env*'],
  overrides: ['secret'],
}
const settingOf = (permission: string) => ({ permission, paths: ['private/**'], notes: 'private', others: [secrets] })

interface Case {
  readonly title: string
  readonly rule: Rule
  readonly permission: string
  readonly path: string
}

/** The rules that hide the files. Without a rule, the protection of secrets hides the content of one, and not its name. */
const cases: readonly Case[] = (
  [
    ['deny', 'file:view'],
    ['deny', 'file:read'],
    ['deny', 'file:list'],
    ['ask', 'file:view'],
    ['none', ''],
  ] as const
).flatMap(([rule, permission]) =>
  (rule === 'none' ? HIDDEN.slice(2) : HIDDEN).map((path) => ({
    title: `${path} with rule ${rule} ${permission}`,
    rule,
    permission,
    path,
  })),
)

const counts = { kept: 0, created: 0 }
const systemWays = [...absentLines, ...systemLines].map(absentCommand)

afterAll(() => {
  closeShell()
  console.log(
    `ways to write what looks absent: ${absentWays.length} with bash(), ${systemWays.length} with nodeShell(); hidden files kept: ${counts.kept}; new files created: ${counts.created}`,
  )
})

interface Files {
  readonly backend: Backend
  readonly shell?: Shell
}

async function attempt(way: AbsentWay, each: Case, path: string, files: Files): Promise<Outcome> {
  const { name, dialect } = way
  const act = {
    ...{ name, prepare: async (subject: Subject) => way.prepare?.(subject, path) },
    act: (subject: Subject) => way.act(subject, path),
    ...(dialect === undefined ? {} : { dialect }),
  }
  const observe = path === FREE ? () => treeText(files.backend, path) : () => hiddenText(files.backend)
  // A shell without a sandbox asks about every command.
  const reply = each.rule === 'ask' ? { deny: 'no' } : 'allow'
  return tryWay(act, { rule: each.rule, setting: settingOf(each.permission), observe, reply, ...files })
}

/** Uses a way on each hidden file, or in a short run on one of them, and on a path where nothing exists. */
async function expectKept(way: AbsentWay, create: () => Promise<Files>, { canCreate = true } = {}): Promise<void> {
  const turn = [...way.name].reduce((sum, character) => sum + character.charCodeAt(0), 0)
  const problems: string[] = []
  for (const [at, each] of cases.entries()) {
    if ((at + turn) % times(cases.length, 1) !== 0) continue
    if (way.isForOrdinary && each.path === HIDDEN[2]) continue
    if (way.reads && each.permission === 'file:list') continue
    if (each.rule === 'none' && (!way.creates || way.removes)) continue
    const { before, after, answer } = await attempt(way, each, each.path, await create())
    if (after !== before) problems.push(`${each.title} is lost: ${JSON.stringify(answer)}`)
    else counts.kept++
  }
  if (way.creates && canCreate) {
    const { before, after, answer } = await attempt(way, cases[0] as Case, FREE, await create())
    if (after === before) problems.push(`${FREE} is not created: ${JSON.stringify(answer)}`)
    else counts.created++
  }
  expect(problems).toEqual([])
}

/** Calls a function with a directory on the disk, which has the files of the ways in a new directory for each workspace. */
async function onDisk(use: (create: () => Promise<string>) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'wardspace-hidden-'))
  let count = 0
  try {
    await use(async () => {
      const root = join(home, String(count++))
      for (const [path, text] of Object.entries(absentTree)) {
        await mkdir(dirname(join(root, path)), { recursive: true })
        await writeFile(join(root, path), text)
      }
      return root
    })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

const every = (ways: readonly AbsentWay[], few: number, first = 0) =>
  part(ways.filter((_, at) => (at + first) % times(few, 1) === 0))

describe('a hidden file', () => {
  it.each(every(absentWays, 19))('keeps its content in memory after $name', async (way) => {
    await expectKept(way, async () => ({ backend: memory(absentTree) }))
  })

  it.each(every(absentWays, 60, 5))('keeps its content on disk after $name', async (way) => {
    await onDisk((create) => expectKept(way, async () => ({ backend: nodeBackend(await create()) })))
  })

  const probe = probeSandbox()
  const sandboxes = [{ sandbox: 'none' as const, title: 'without a sandbox' }]
  if ('sandbox' in probe) sandboxes.push({ sandbox: probe.sandbox as never, title: 'in a sandbox' })
  describe.each(sandboxes)('in nodeShell() $title', ({ sandbox }) => {
    it.each(every(systemWays, 45, 8))('keeps its content after $name', async (way) => {
      await onDisk(async (create) => {
        const open: { close?(): Promise<void> }[] = []
        const inNewRoot = async () => {
          const root = await create()
          const files = { backend: nodeBackend(root), shell: nodeShell({ root, sandbox }) }
          open.push(files.shell, files.backend)
          return files
        }
        try {
          // Programs see the directory without a sandbox, and cannot write there in one.
          await expectKept(way, inNewRoot, { canCreate: false })
        } finally {
          for (const each of open) await each.close?.()
        }
      })
    })
  })
})

describe('a command that cannot see a file', () => {
  const policy = {
    preset: 'autonomous',
    rules: [{ name: 'unseen', action: 'deny', permissions: ['file:view'], paths: ['private/**', 'src/s.md'] }],
  } as const
  const run = async (command: string) => {
    const workspace = await createWorkspace({ backend: memory(absentTree), policy, shell: bash() })
    const result = (await workspace.call('run_command', { command })) as Answer
    await workspace.close()
    return result
  }

  it('is told that the file exists and which rule hides it', async () => {
    const message =
      'Cannot change "private/plan.md": it exists, but is not visible here. Policy denies file:read of "private/plan.md": rule "unseen"'
    expect((await run('touch private/plan.md')).refused).toEqual([
      expect.objectContaining({ path: 'private/plan.md', code: 'POLICY_DENIED', message }),
    ])
  })

  it('is not told the names of the files in a directory that it would remove or move', async () => {
    for (const line of ['rm -rf src', 'mv src old']) {
      const result = await run(line)
      expect(result.refused).toEqual([expect.objectContaining({ path: 'src', code: 'POLICY_DENIED' })])
      expect(JSON.stringify(result)).not.toContain('s.md')
    }
  })

  it('changes what it has created itself', async () => {
    const line = 'echo a > private/n; echo b >> private/n; mkdir private/m; echo c > private/m/n; touch private/m/n'
    expect(await run(line)).toMatchObject({ exitCode: 0, filesChanged: ['private/m', 'private/m/n', 'private/n'] })
  })
})

describe('a rule that asks about viewing', () => {
  it('asks once, with the change of the command, before a hidden file is replaced', async () => {
    const way = absentCommand('echo n > F; touch D/d/deep.md')
    const ask = cases.find(({ rule }) => rule === 'ask') as Case
    for (const reply of ['allow', { deny: 'no' }] as const) {
      const backend = memory(absentTree)
      const { before, after, questions } = await tryWay(
        { name: way.name, act: (subject) => way.act(subject, ask.path) },
        { rule: 'ask', setting: settingOf(ask.permission), backend, observe: () => hiddenText(backend), reply },
      )
      expect(questions).toEqual([{ tool: 'run_command', rules: ['the rule'] }])
      expect(after === before).toBe(reply !== 'allow')
    }
  })
})
