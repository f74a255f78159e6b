import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../dist/backends/memory/index.js'
import { nodeBackend } from '../../dist/backends/node/index.js'
import type { Label } from '../../src/policy/labels.ts'
import { part } from '../counts.ts'
import { closeShell, hops, makers, type NameWay, nameTree, shows, tryNames } from './name-ways.ts'

const counts = { cases: 0, leaky: 0, effective: 0, hops: 0, disk: 0, unlabelled: 0 }
afterAll(async () => {
  console.log(
    `makers ${makers.length} × shows ${shows.length}: ${counts.cases} cases, ${counts.leaky} leak; ` +
      `${counts.effective} show a public name; with hops: ${counts.hops}; on disk: ${counts.disk}; unlabelled: ${counts.unlabelled}`,
  )
  await closeShell()
})

const nothing = hops[0] as NameWay

async function tryOnDisk(make: NameWay, hop: NameWay, show: NameWay, label: Label) {
  const root = await mkdtemp(join(tmpdir(), 'wardspace-names-'))
  try {
    for (const [path, text] of Object.entries(nameTree)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    }
    return await tryNames(make, hop, show, label, nodeBackend(root))
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

describe('a name that is made of labelled content', () => {
  it.each(part(makers))(
    'keeps its label in every way to show it: $name',
    async (make) => {
      const leaks: object[] = []
      for (const [index, show] of shows.entries()) {
        const result = await tryNames(make, nothing, show, 'restricted', memory(nameTree))
        counts.cases += 1
        if (result.leaks.length > 0) leaks.push({ show: show.name, leaks: result.leaks })
        const isPublic = await tryNames(make, nothing, show, 'public', memory(nameTree))
        if (isPublic.isEffective) counts.effective += 1
        const hop = hops[(index % (hops.length - 1)) + 1] as NameWay
        const moved = await tryNames(make, hop, show, 'restricted', memory(nameTree))
        counts.hops += 1
        if (moved.leaks.length > 0) leaks.push({ show: show.name, hop: hop.name, leaks: moved.leaks })
      }
      counts.leaky += leaks.length
      expect(leaks).toEqual([])
    },
    600_000,
  )

  it('keeps its label on disk', async () => {
    for (const [m, make] of makers.entries()) {
      for (const [s, show] of shows.entries()) {
        if ((m * 7 + s * 3) % 13 !== 0) continue
        const hop = hops[(m + s) % hops.length] as NameWay
        const { leaks } = await tryOnDisk(make, hop, show, 'restricted')
        counts.disk += 1
        expect({ make: make.name, hop: hop.name, show: show.name, leaks }).toMatchObject({ leaks: [] })
      }
    }
  }, 1_800_000)
})

describe('a name that is made of unlabelled content', () => {
  it('stays public in a workspace with restricted content', async () => {
    for (const [m, make] of makers.entries()) {
      for (const [s, show] of shows.entries()) {
        if ((m * 7 + s * 3) % 5 !== 0) continue
        const hop = hops[(m + s) % hops.length] as NameWay
        const { leaks } = await tryNames(make, hop, show, 'none', memory(nameTree))
        counts.unlabelled += 1
        expect({ make: make.name, hop: hop.name, show: show.name, leaks }).toMatchObject({ leaks: [] })
      }
    }
  }, 1_800_000)
})
