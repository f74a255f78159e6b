import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A program that makes content grow by one way, and prints the error, the time and the memory that it took. */
const program = `
import { createWorkspace } from './dist/index.js'
import { memory } from './dist/backends/memory/index.js'
import { createFs } from './dist/adapters/fs/index.js'
const [cases, budget] = JSON.parse(process.argv[1])
const MB = Buffer.alloc(1 << 20, 120)
const ended = (stream, write) => new Promise((resolve, reject) => { stream.on('close', resolve).on('error', reject); write(stream) })
const ways = {
  truncate: (fs, n) => fs.promises.truncate('/a', n),
  ftruncate: async (fs, n) => { const h = await fs.promises.open('/a', 'r+'); await h.truncate(n) },
  'ftruncate of a log': async (fs, n) => { const h = await fs.promises.open('/a', 'a'); await h.truncate(n) },
  position: async (fs, n) => { const h = await fs.promises.open('/a', 'r+'); await h.write(Buffer.from('x'), 0, 1, n) },
  start: (fs, n) => ended(fs.createWriteStream('/a', { flags: 'r+', start: n }), (s) => s.end('x')),
  writes: async (fs, n) => { const h = await fs.promises.open('/n', 'w'); for (let i = 0; i < n; i += MB.length) await h.write(MB) },
  appends: async (fs, n) => { const h = await fs.promises.open('/a', 'a'); for (let i = 0; i < n; i += MB.length) await h.write(MB) },
  'writes of a stream': async (fs, n) => { let error; const s = fs.createWriteStream('/n'); s.on('error', (e) => { error = e }); for (let i = 0; i < n && !error; i += MB.length) if (!s.write(MB)) await new Promise((r) => s.once('drain', r).once('close', r)); if (error) throw error },
  handles: async (fs, n) => { for (let i = 0; i * (1 << 24) < n; i++) await (await fs.promises.open('/h' + i, 'w')).truncate(1 << 24) },
  'files.writable': async (fs, n, w) => { const s = (await w.files.writable('n')).getWriter(); s.closed.catch(() => {}); for (let i = 0; i < n; i += MB.length) await s.write(MB) },
  'files.write': (fs, n, w) => w.files.write('n', new Uint8Array(n)),
  'files.append': (fs, n, w) => w.files.append('n', new Uint8Array(n)),
  'a write of a batch': (fs, n, w) => w.files.batch((files) => files.write('n', new Uint8Array(n))),
}
const results = []
const limits = budget === null ? {} : { bytesWrittenPerRun: budget }
for (const [way, size] of cases) {
  const w = await createWorkspace({ backend: memory({ a: 'hello' }), policy: { preset: 'autonomous', limits } })
  const [began, before] = [process.cpuUsage(), process.resourceUsage().maxRSS]
  const code = await ways[way](createFs(w), size, w).then(() => 'done', (e) => [e.code, e.cause?.code ?? null])
  const { user, system } = process.cpuUsage(began)
  results.push({ way, size, code, cpuMs: (user + system) / 1000, mb: (process.resourceUsage().maxRSS - before) / 1024 })
}
console.log(JSON.stringify(results))
process.exit(0)
`

function grow(cases: readonly (readonly [way: string, size: number])[], budget: number | null) {
  const args = ['--input-type=module', '-e', program, JSON.stringify([cases, budget])]
  const output = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', timeout: 60_000 })
  return JSON.parse(output) as { way: string; size: number; code: unknown; cpuMs: number; mb: number }[]
}

const handleWays = ['truncate', 'ftruncate', 'ftruncate of a log', 'position', 'start']
const chunkWays = ['writes', 'appends', 'writes of a stream', 'handles', 'files.writable']
const fileWays = ['files.write', 'files.append', 'a write of a batch']

describe('content that grows in memory', () => {
  it.each([
    ['the budget of the run', 100, 2 ** 24],
    ['the largest content', null, 2 ** 30],
  ])('is refused by %s before the memory is taken', (_, budget, smallest) => {
    const sizes = [smallest, 2 ** 32 - 1, Number.MAX_SAFE_INTEGER]
    const cases = [
      ...handleWays.flatMap((way) => sizes.map((size) => [way, size] as const)),
      ...(budget === null ? [] : chunkWays.map((way) => [way, 2 ** 30] as const)),
      ...fileWays.map((way) => [way, 2 ** 30] as const),
    ]
    for (const { way, size, code, cpuMs, mb } of grow(cases, budget)) {
      const isTool = way.startsWith('files.') || way.includes('batch')
      const named = JSON.stringify([way, size])
      expect(code, named).toEqual(isTool ? ['LIMIT_EXCEEDED', null] : ['EFBIG', 'LIMIT_EXCEEDED'])
      expect(mb, named).toBeLessThan(100)
      expect(cpuMs, named).toBeLessThan(1000)
    }
  })

  it('is counted for all open files of a run, and released when they are closed', () => {
    const budget = 40 * 2 ** 20
    const [many, few] = grow(
      [
        ['handles', 2 ** 26],
        ['handles', 2 ** 25],
      ],
      budget,
    )
    expect([many?.code, few?.code]).toEqual([['EFBIG', 'LIMIT_EXCEEDED'], 'done'])
  })
})
