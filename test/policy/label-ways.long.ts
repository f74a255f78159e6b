import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../dist/backends/memory/index.js'
import { nodeBackend } from '../../dist/backends/node/index.js'
import type { Backend } from '../../dist/storage/kit.js'
import { labelNames } from '../../src/policy/labels.ts'
import { part } from '../counts.ts'
import { tree } from './label-tree.ts'
import { closeShell, freeTree, hops, tryFreeWay, tryWays, ways, writeTree } from './label-ways.ts'

const counts = { cases: 0, effective: 0, chains: 0, chained: 0 }
afterAll(async () => {
  console.log(
    `ways ${ways.length} × labels × sinks × backends: ${counts.cases} cases, ${counts.effective} effective; ` +
      `chains of ways: ${counts.chains}, ${counts.chained} effective`,
  )
  await closeShell()
})

const sinks = ['pub/out.txt', 'mid/out.txt', 'tmp/out.txt']

/** Runs an action on a new backend of each kind. */
async function onEachBackend(act: (backend: Backend, name: string) => Promise<void>): Promise<void> {
  await act(memory(tree), 'memory')
  const root = await mkdtemp(join(tmpdir(), 'wardspace-labels-'))
  try {
    await writeTree(root)
    await act(nodeBackend(root), 'disk')
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

describe('labelled content', () => {
  it.each(part(ways))(
    'keeps each label on the way to each sink: $name',
    async (way) => {
      for (const label of labelNames) {
        for (const to of sinks) {
          await onEachBackend(async (backend, name) => {
            const { leaks, isEffective } = await tryWays([{ way, from: 'conf/x.txt', to }], label, backend)
            counts.cases += 1
            if (isEffective) counts.effective += 1
            expect({ label, to, name, leaks }).toEqual({ label, to, name, leaks: [] })
            if (label === 'public') expect({ to, name, isEffective }).toEqual({ to, name, isEffective: true })
          })
        }
      }
    },
    120_000,
  )

  it('does not label other content in the same workspace', async () => {
    for (const way of hops) {
      const result = await tryFreeWay(way, memory(freeTree))
      expect({ way: way.name, ...result }).toEqual({ way: way.name, labels: [], isEffective: true })
    }
  }, 120_000)

  it('keeps its label through chains of ways, each in another run', async () => {
    const hop = fc.constantFrom(...hops)
    const place = fc.constantFrom('tmp/one.txt', 'tmp/two.txt', 'notes.txt')
    const chain = fc.tuple(hop, place, hop, place, hop, fc.constantFrom(...sinks), fc.constantFrom(...labelNames))
    await fc.assert(
      fc.asyncProperty(chain, async ([first, one, second, two, third, to, label]) => {
        const legs = [
          { way: first, from: 'conf/x.txt', to: one },
          { way: second, from: one, to: two },
          { way: third, from: two, to },
        ]
        const { leaks, isEffective } = await tryWays(legs, label, memory(tree))
        counts.chains += 1
        if (isEffective) counts.chained += 1
        expect(leaks).toEqual([])
      }),
      { numRuns: 1500 },
    )
  }, 1_800_000)
})
