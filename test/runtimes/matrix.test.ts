import { beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { backendContract, shellContract } from '../../src/testing/index.ts'
import { isLong } from '../counts.ts'
import { type Runs, runRuntimes, runtimeNames } from './matrix.ts'
import { subjects } from './program-disk.ts'
import { storyOver } from './story.ts'
import { differenceOf, faultsOf } from './table.ts'

/** Names without the sizes of trees, which are smaller over slow storage. */
const sized = (names: readonly string[]) => [...new Set(names.map((name) => name.replaceAll(/\d[\d,]*/g, 'N')))].sort()

const neverUsed = () => {
  throw new Error('Only the names are read')
}

describe('the contract, the tests of the tools and the story', () => {
  let runs: Runs
  let message: string
  beforeAll(async () => {
    message = await storyOver(() => ({ backend: memory() }))
    runs = await runRuntimes()
  }, 600_000)

  it.for(runtimeNames)(
    'in %s: no case fails, and only cases of capabilities that a backend declares absent are skipped',
    (name, { task }) => {
      const { cells } = runs.ran[name] ?? { cells: [] }
      task.meta.cells = cells
      task.meta.leftOut = runs.leftOut
      expect(cells.length).toBeGreaterThan(0)
      expect(cells.flatMap(faultsOf)).toEqual([])
    },
  )

  it.for(runtimeNames)('in %s: the same calls have the same results and records over every backend', (name) => {
    const stories = Object.entries(runs.ran[name]?.stories ?? {})
    expect(stories.length).toBeGreaterThan(0)
    for (const [backend, story] of stories) expect(differenceOf(message, story), backend).toBe('')
  })

  it.for(Object.entries(subjects()))(
    'in Node over %s: the same calls have the same results and records',
    async ([, create]) => {
      expect(differenceOf(message, await storyOver(create))).toBe('')
    },
  )

  it.for([
    ['workerd', 'Chromium'],
    ['Deno', 'Bun'],
  ])('%s and %s run each case of a contract, both of them in the long run', (names) => {
    const contracts = names.flatMap((name) => runs.ran[name]?.contracts ?? [])
    const web = ['memory', 'Durable Object', ...(isLong ? ['R2'] : [])]
    const backends = names.includes('Bun') ? Object.keys(subjects()) : web
    const ofBackends = backends.flatMap((name) =>
      backendContract({ name, create: neverUsed }).map((one) => `${name} > ${one.name}`),
    )
    const ofBash = shellContract({ name: 'bash', create: neverUsed }).map((one) => `bash > ${one.name}`)
    expect(sized(contracts.filter((name) => isLong || !name.startsWith('R2 > ')))).toEqual(
      sized([...ofBackends, ...ofBash]),
    )
  })

  it('each test file runs in one of the runtimes, in the long run in each', () => {
    const ran = runtimeNames.flatMap((name) => runs.ran[name]?.files ?? [])
    const expected = isLong ? runtimeNames.flatMap(() => runs.files) : runs.files
    expect(ran.sort()).toEqual(expected.toSorted())
  })

  it('the story contains every tool that needs no shell, refusals, undos and records', () => {
    for (const part of ['"ok":true', '"ok":false', '"undo"', '"rollback"', '"commit"', '"records"'])
      expect(message).toContain(part)
    expect(message.length).toBeGreaterThan(50_000)
  })
})
