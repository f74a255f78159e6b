import {
  closeSync,
  constants,
  fstatSync,
  fsync,
  mkdirSync,
  mkdtempSync,
  openSync,
  promises,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { nodeBackend } from '../src/backends/node/index.ts'
import { sha256 } from '../src/files/hash/sha256.ts'
import type { Path } from '../src/paths/logical-path.ts'
import { median } from './measure.ts'

/**
 * The cost of protection against links that are swapped in: the node backend against realpath, check and open, at depth 6,
 * in pairs in one run. The ratio is the median of the pairs. Both sides of a write sync the file and its directory.
 */
const base = realpathSync(mkdtempSync(join(tmpdir(), 'node-races-')))
const root = join(base, 'root')
const path = 'a/b/c/d/e/f/file.txt' as Path
const location = join(root, path)
const content = new Uint8Array(4096).fill(120)
const fsyncAsync = promisify(fsync)
mkdirSync(dirname(location), { recursive: true })
writeFileSync(location, content)
const backend = nodeBackend(root, { stateDir: join(base, 'state') })

function check(): string {
  const real = realpathSync(location)
  if (!real.startsWith(`${root}/`)) throw new Error('outside')
  return real
}

async function readSynchronously(): Promise<void> {
  const fd = openSync(check(), constants.O_RDONLY)
  const bytes = new Uint8Array(fstatSync(fd).size)
  readSync(fd, bytes, 0, bytes.length, 0)
  closeSync(fd)
}

async function readAsynchronously(): Promise<void> {
  const real = await promises.realpath(location)
  if (!real.startsWith(`${root}/`)) throw new Error('outside')
  await promises.readFile(real)
}

async function writeDurably(): Promise<void> {
  const real = check()
  const fd = openSync(`${real}.tmp`, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666)
  writeSync(fd, content)
  await fsyncAsync(fd)
  closeSync(fd)
  renameSync(`${real}.tmp`, real)
  const directory = openSync(dirname(real), constants.O_RDONLY)
  await fsyncAsync(directory)
  closeSync(directory)
}

async function writeRelaxed(): Promise<void> {
  const real = check()
  const fd = openSync(`${real}.tmp`, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666)
  writeSync(fd, content)
  closeSync(fd)
  renameSync(`${real}.tmp`, real)
}

/** The extra work of a writer that reports or expects the replaced version. */
async function hashOld(): Promise<void> {
  await readSynchronously()
  sha256(content)
}

const change = [{ path, expect: 'any', to: { type: 'file', bytes: content } }] as const

async function compare(
  name: string,
  ours: () => Promise<unknown>,
  theirs: () => Promise<unknown>,
  pairs: number,
  each: number,
) {
  const ratios: number[] = []
  const times: number[] = []
  for (let i = -2; i < pairs; i++) {
    const [a, b] =
      i % 2 === 0
        ? [await time(ours, each), await time(theirs, each)]
        : [await time(theirs, each), await time(ours, each)]
    const [own, other] = i % 2 === 0 ? [a, b] : [b, a]
    // The first pairs warm up.
    if (i >= 0) {
      ratios.push(own / other)
      times.push(own)
    }
  }
  console.log(`${name}: ${median(ratios).toFixed(2)} (ours ${(median(times) * 1000).toFixed(1)} µs)`)
}

async function time(action: () => Promise<unknown>, each: number): Promise<number> {
  const start = performance.now()
  for (let i = 0; i < each; i++) await action()
  return (performance.now() - start) / each
}

await compare('read against synchronous realpath and open', () => backend.read(path), readSynchronously, 31, 300)
await compare('read against fs.promises', () => backend.read(path), readAsynchronously, 31, 100)
await compare(
  'canonical and read against synchronous realpath and open',
  async () => backend.read(await backend.canonical(path)),
  readSynchronously,
  31,
  300,
)
await compare('durable replace', () => backend.commit(change, { durability: 'durable' }), writeDurably, 31, 20)
await compare(
  'durable replace, old content hashed by both',
  () => backend.commit(change, { durability: 'durable' }),
  async () => {
    await hashOld()
    await writeDurably()
  },
  31,
  20,
)
await compare(
  'relaxed replace, old content hashed by both',
  () => backend.commit(change, { durability: 'relaxed' }),
  async () => {
    await hashOld()
    await writeRelaxed()
  },
  31,
  20,
)
await compare('relaxed replace', () => backend.commit(change, { durability: 'relaxed' }), writeRelaxed, 31, 20)
await backend.close()
rmSync(base, { recursive: true, force: true })
