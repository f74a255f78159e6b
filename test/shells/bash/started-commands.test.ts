import { afterAll, describe, expect, it } from 'vitest'
import { memory as builtMemory } from '../../../dist/backends/memory/index.js'
import { createWorkspace as createBuilt } from '../../../dist/index.js'
import { bash as builtBash } from '../../../dist/shells/bash/index.js'
import { type MemoryEntry, memory } from '../../../src/backends/memory/index.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'
import { everyNth, part, times } from '../../counts.ts'
import type { Answer } from '../setup.ts'
import { allowing, filesFor, refusing, scripts, starters } from './started-commands.ts'

const inProcess = builtBash()
const inThread = bash({ worker: false })
afterAll(() => Promise.all([inProcess.close(), inThread.close()]))

const policyWith = (policy: object) => ({ preset: 'autonomous', ...policy }) as const

const shells = {
  'in the thread of the caller': (files: Record<string, MemoryEntry>, policy: object) =>
    createWorkspace({ backend: memory(files), policy: policyWith(policy), shell: inThread }),
  'in its process': (files: Record<string, MemoryEntry>, policy: object) =>
    createBuilt({ backend: builtMemory(files), policy: policyWith(policy), shell: inProcess }),
}

interface Run {
  readonly answer: Answer & { readonly refused?: readonly { path: string; code: string; message: string }[] }
  readonly isRemoved: boolean
}

/** Runs a line in a workspace whose `s.sh` is the script. */
async function run(shell: keyof typeof shells, script: string, line: string, policy: object): Promise<Run> {
  const workspace = await shells[shell](filesFor(script), policy)
  try {
    const answer = (await workspace.call('run_command', { command: line })) as unknown as Run['answer']
    return { answer, isRemoved: answer.filesChanged?.includes('x.txt') === true }
  } finally {
    await workspace.close()
  }
}

type Case = readonly [shell: keyof typeof shells, script: string, line: string]

/** All combinations in the long run; otherwise a few scripts and lines, which differ by the number. */
function cases(number: number): Case[] {
  const all = (Object.keys(shells) as (keyof typeof shells)[]).flatMap((shell) =>
    starters.flatMap((line) => Object.values(scripts).map((script): Case => [shell, script, line])),
  )
  const step = times(2801, 1)
  return part(all.filter((_, index) => index % step === (number * 29) % step))
}

const numbered = (policies: Readonly<Record<string, object>>) =>
  Object.entries(policies).map(([name, policy], number) => [name, policy, number] as const)

describe('a command that a script starts', () => {
  it('is refused in every script, and runs in every one without a policy on commands', async () => {
    const failed: unknown[] = []
    for (const [name, script] of everyNth(Object.entries(scripts), 3)) {
      const { isRemoved } = await run('in the thread of the caller', script, 'bash s.sh', refusing['a denylist'] ?? {})
      const isRemovedWithout =
        times(0, 1) === 0 || (await run('in the thread of the caller', script, 'bash s.sh', {})).isRemoved
      if (isRemoved || !isRemovedWithout) failed.push(name)
    }
    expect(failed).toEqual([])
  })

  it.each(numbered(refusing))('is refused and recorded by %s', async (_, policy, number) => {
    const failed: unknown[] = []
    for (const [shell, script, line] of cases(number)) {
      const { answer, isRemoved } = await run(shell, script, line, policy)
      const isReported =
        answer.ok &&
        /rm: not allowed: .*(rm|keep files)/.test(answer.stderr) &&
        answer.refused?.some(({ path, code }) => /(^|\/)rm$/.test(path) && code === 'COMMAND_DENIED')
      if (isRemoved || !isReported) failed.push([shell, script, line, answer.stderr ?? answer.message])
    }
    expect(failed).toEqual([])
  })

  it.each(numbered(allowing))('runs if %s does not refuse it', async (_, policy, number) => {
    const failed: unknown[] = []
    for (const [shell, script, line] of cases(number)) {
      const { answer, isRemoved } = await run(shell, script, line, policy)
      if (!isRemoved || answer.refused !== undefined)
        failed.push([shell, script, line, answer.stderr ?? answer.message])
    }
    expect(failed).toEqual([])
  })
})

describe('a denied command in a script', () => {
  it.each([
    ['env rm', 'env A=1 rm x.txt'],
    ['env rm', 'v=rm; env -i A=1 $v x.txt'],
    ['timeout rm', 'timeout -k 1 9 rm x.txt'],
    ['command rm', 'command -p rm x.txt'],
    ['xargs rm', 'echo x.txt | xargs -n 1 rm'],
    ['find -exec rm', 'find . -name x.txt -exec rm {} +'],
    ['rm -rf', 'rm -f -r x.txt'],
    ['rm -rf', 'o=--force; rm $o --recursive x.txt'],
    ['env rm -rf', 'env A=1 rm -fr x.txt'],
    ['./rm.sh', 'bash rm.sh'],
    ['./rm.sh', '. ./rm.sh'],
    ['./rm.sh', 'd=.; sh $d/rm.sh'],
    ['./rm.sh', 'env A=1 bash -e ./rm.sh'],
    ['./rm.sh', 'd=/workspace; $d/rm.sh'],
    ['rm *', 'shopt -s expand_aliases\nalias a=r r=rm\na x.txt'],
    ['rm x.txt', `shopt -s expand_aliases\nalias a='rm x.txt'\na`],
    ['rm -f x.txt', `shopt -s expand_aliases\nalias rm='rm -f'\nrm x.txt`],
  ])('is refused in every form: %s refuses %j', async (entry, script) => {
    const denied = await run('in the thread of the caller', script, 'bash s.sh', { commands: { deny: [entry] } })
    expect(denied).toMatchObject({ isRemoved: false, answer: { ok: true } })
    expect(denied.answer.stderr).toContain(`not allowed: Policy denies "${entry}"`)
    const other = await run('in the thread of the caller', script, 'bash s.sh', { commands: { deny: [`${entry} y`] } })
    expect(other.isRemoved).toBe(true)
  })
})

describe('the labels of a command that a script starts', () => {
  const labelled = {
    sources: [
      { label: 'restricted', paths: ['y.txt'] },
      { label: 'internal', commands: ['rm *'] },
    ],
    sinks: [{ name: 'removal', ceiling: 'internal', commands: ['rm *x.txt'] }],
  }

  it('are those of the policy for its output and for what it receives', async () => {
    const failed: unknown[] = []
    const some = cases(41).filter((_, index) => index % times(6, 1) === 0)
    for (const [shell, script, line] of some) {
      const { answer, isRemoved } = await run(shell, script, line, { labels: labelled })
      if (!isRemoved || answer.label !== 'internal' || answer.refused !== undefined)
        failed.push([shell, script, line, answer.label, answer.stderr ?? answer.message])
      const reading = await run(shell, script, `cat y.txt > /dev/null; ${line}`, { labels: labelled })
      const isReported = reading.answer.refused?.some(({ code, path }) => code === 'TAINT_DENIED' && /rm$/.test(path))
      if (reading.isRemoved || isReported !== true)
        failed.push([shell, script, line, reading.answer.refused, reading.answer.stderr ?? reading.answer.message])
    }
    expect(failed).toEqual([])
  })

  it('do not apply to other commands', async () => {
    const { answer } = await run('in the thread of the caller', 'f() { echo rm x.txt; }; f', 'bash s.sh', {
      labels: labelled,
    })
    expect(answer).toMatchObject({ ok: true, stdout: 'rm x.txt\n', label: 'public' })
  })
})

describe('the approval of a line', () => {
  const files = {
    ...{ 'a.txt': '1', 'b.txt': '1', 's.sh': 'rm b.txt\n', 'lib.sh': 'g() { rm b.txt; }\n' },
    'package.json': '{"scripts":{"z":"rm b.txt"}}',
  }
  const rules = [{ name: 'keep files', action: 'ask', commands: ['rm *'] }] as const
  const remaining = async (line: string) => {
    const policy = policyWith({ rules })
    const workspace = await createWorkspace({ backend: memory(files), policy, shell: inThread, approve: () => 'allow' })
    await workspace.call('run_command', { command: line })
    const listing = await workspace.call('list_directory', { path: '.' })
    await workspace.close()
    return ['a.txt', 'b.txt'].filter((name) => JSON.stringify(listing).includes(`"${name}"`))
  }
  const others = [
    'bash s.sh',
    './s.sh',
    'sh s.sh',
    '. ./s.sh',
    'source ./lib.sh; g',
    'npm run z',
    'xargs bash s.sh',
    'eval "bash s.sh"',
  ]

  it.each(['f() { rm "$1"; }; f a.txt', 'for x in a.txt; do rm "$x"; done', 'x=a.txt; rm "$x"', 'rm a.t*'])(
    'covers what the line starts, and nothing that a file starts: %s',
    async (line) => {
      expect(await remaining(line)).toEqual(['b.txt'])
      const removed: string[] = []
      for (const other of others) if (!(await remaining(`${line}; ${other}`)).includes('b.txt')) removed.push(other)
      expect(removed).toEqual([])
    },
  )

  it.each(['echo a.txt | xargs rm', 'find . -name a.txt -exec rm {} +', `sh -c 'rm "$1"' _ a.txt`])(
    'covers what the commands of the line start: %s',
    async (line) => expect(await remaining(line)).toEqual(['b.txt']),
  )
})
