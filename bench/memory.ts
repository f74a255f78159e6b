import { Volume } from 'memfs'
import { memfs } from '../src/backends/memfs/index.ts'
import { memory } from '../src/backends/memory/index.ts'
import { sha256 } from '../src/files/hash/sha256.ts'
import type { Path } from '../src/paths/logical-path.ts'
import type { Change } from '../src/storage/backend.ts'

/** The memory backend against a bare memfs volume and the memfs backend: stat and read, commit, fork. */
async function main(): Promise<void> {
  const files = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`src/d${i % 10}/f${i}.ts`, 'x'.repeat(200)]))
  const paths = Object.keys(files) as Path[]
  const ours = memory(files)
  const volume = Volume.fromJSON(Object.fromEntries(Object.entries(files).map(([path, text]) => [`/${path}`, text])))
  const over = memfs(volume)
  const bytes = new TextEncoder().encode('y'.repeat(200))
  const hashing = await time(20_000, () => void sha256(bytes))
  console.log(
    `sha256 of 200 bytes                  ${hashing.toFixed(2)} µs (a commit hashes one version, and one more where the old was never hashed)`,
  )

  console.log('stat + read of a tree of 100 files')
  const read = await time(50_000, async (i) => {
    const path = paths[i % 100] as Path
    await ours.stat(path)
    await ours.read(path)
  })
  const bareRead = await time(20_000, (i) => {
    volume.statSync(`/${paths[i % 100]}`)
    volume.readFileSync(`/${paths[i % 100]}`)
  })
  const overRead = await time(5_000, async (i) => {
    const path = paths[i % 100] as Path
    await over.stat(path)
    await over.read(path)
  })
  report(read, { 'memfs, bare': bareRead, 'memfs(), the backend': overRead })

  console.log('replace one file')
  const change = (i: number): Change[] => [{ path: paths[i % 100] as Path, expect: 'any', to: { type: 'file', bytes } }]
  const commit = await time(50_000, (i) => ours.commit(change(i), { durability: 'relaxed' }))
  const bareWrite = await time(20_000, (i) => volume.writeFileSync(`/${paths[i % 100]}`, bytes))
  const overCommit = await time(5_000, (i) => over.commit(change(i), { durability: 'relaxed' }))
  report(commit, { 'memfs, bare': bareWrite, 'memfs(), the backend': overCommit })

  console.log('replace one file of 10,000 in one directory')
  const wide = memory(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`d/f${i}`, 'x'])))
  const widePath = (i: number) => `d/f${(i * 7919) % 10_000}` as Path
  const wideCommit = await time(20_000, (i) =>
    wide.commit([{ path: widePath(i), expect: 'any', to: { type: 'file', bytes } }], { durability: 'relaxed' }),
  )
  const wideRead = await time(50_000, (i) => wide.read(widePath(i)))
  report(wideCommit, {})
  console.log(`  ours, a read                       ${wideRead.toFixed(2)} µs`)

  console.log('create and delete one file of 10,000')
  const wideCreate = await time(10_000, async (i) => {
    const path = `d/new${i}` as Path
    await wide.commit([{ path, expect: 'absent', to: { type: 'file', bytes } }], { durability: 'relaxed' })
    await wide.commit([{ path, expect: 'any', to: null }], { durability: 'relaxed' })
  })
  report(wideCreate, {})

  console.log('fork of 27,000 files')
  const many = Object.fromEntries(Array.from({ length: 27_000 }, (_, i) => [`a${i % 30}/b${i % 900}/f${i}`, 'x']))
  const started = performance.now()
  const large = memory(many)
  console.log(`  ours, loading                      ${(performance.now() - started).toFixed(0)} ms`)
  const fork = await time(20_000, () => void large.fork())
  const largeVolume = Volume.fromJSON(
    Object.fromEntries(Object.entries(many).map(([path, text]) => [`/${path}`, text])),
  )
  const bareFork = await time(2, () => void Volume.fromJSON(largeVolume.toJSON()))
  report(fork, { 'memfs, by toJSON and fromJSON': bareFork })
}

/** Microseconds per call: the median of nine rounds, after one warm-up round. */
async function time(count: number, action: (i: number) => unknown): Promise<number> {
  const rounds: number[] = []
  for (let round = 0; round < 10; round++) {
    const start = performance.now()
    for (let i = 0; i < count / 9; i++) await action(i)
    if (round > 0) rounds.push(((performance.now() - start) * 1000) / Math.ceil(count / 9))
  }
  return rounds.sort((a, b) => a - b)[4] as number
}

function report(ours: number, others: Readonly<Record<string, number>>): void {
  console.log(`  ours${' '.repeat(31)}${ours.toFixed(2)} µs`)
  for (const [name, other] of Object.entries(others)) {
    console.log(`  ${name.padEnd(35)}${other.toFixed(2)} µs, ${(other / ours).toFixed(1)} times ours`)
  }
}

await main()
