import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { openWriter } from '../../../src/backends/opfs/byte-cursor.ts'
import { Contents, StoredFile } from '../../../src/backends/opfs/contents.ts'
import type { Lease } from '../../../src/backends/opfs/lease.ts'
import { openPacked, type PackedBackend } from '../../../src/backends/opfs/packed.ts'
import { PayloadReader } from '../../../src/backends/opfs/payload-reader.ts'
import { RECORD_HEADER } from '../../../src/backends/opfs/record-frame.ts'
import { encodeCommit, encodeSnapshot, replayRecord } from '../../../src/backends/opfs/records.ts'
import type { Slots } from '../../../src/backends/opfs/slots.ts'
import type { ToolError } from '../../../src/errors.ts'
import { sha256Cached } from '../../../src/files/hash/sha256.ts'
import type { Backend, Change, DirectoryNode, TreeNode } from '../../../src/storage/backend.ts'
import { directoryNode, nodeAt } from '../../../src/storage/tree.ts'
import { cachedHashOf } from '../../../src/storage/tree-commit.ts'
import { at, bytesOf, change, directory, file, link, snapshot, textAt } from '../../../src/testing/backend/case.ts'
import { backendContract, registerContract } from '../../../src/testing/index.ts'
import { everyNth, isLong, times } from '../../counts.ts'
import { type FaultyDisk, faultyDisk, onlyOne } from './faulty-slots.ts'

/** Almost every read of a content is one of the journal. */
const options = { clock: () => 0, random: () => 7, maxBytes: 1e9, keptBytes: 0 }
const open = (disk: FaultyDisk, more = {}) => openPacked(onlyOne(disk), { ...options, ...more })

registerContract(
  'packed, over slots in memory',
  backendContract({
    name: 'packed',
    async create() {
      const disk = faultyDisk()
      return { backend: await open(disk), reopen: () => open(disk.afterKill()) }
    },
  }),
  { describe, it },
)

interface Step {
  readonly set: readonly Change[]
  readonly durability: 'durable' | 'relaxed'
}

const names = ['a', 'b', 'd', 'd/x', 'd/y', 'd/e', 'd/e/z']
const anyState = fc.oneof(
  { weight: 4, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => file(bytes)) },
  { weight: 1, arbitrary: fc.constantFrom(file('x'.repeat(700)), file('run', 0o755)) },
  { weight: 2, arbitrary: fc.constant(directory) },
  { weight: 1, arbitrary: fc.constant(link('a')) },
  { weight: 2, arbitrary: fc.constant(null) },
)
const anyChange = fc
  .tuple(fc.constantFrom(...names), anyState, fc.constantFrom(undefined, ...names))
  .map(([path, to, from]) => change(path, to, 'any', from === path ? undefined : from))
const anyStep: fc.Arbitrary<Step> = fc.record({
  set: fc.uniqueArray(anyChange, { minLength: 1, maxLength: 4, selector: ({ path }) => path }),
  durability: fc.constantFrom('durable', 'relaxed'),
})
const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 12 })

/** With compactions that never begin, that begin after each commit, and that take several commits. */
const anyCompaction = fc.constantFrom({}, { slackBytes: -1e6 }, { slackBytes: -1e6, stepBytes: 1 })

/** Keeps few contents, and compacts every few commits. */
const few = { keptBytes: 600, slackBytes: -1e6, stepBytes: 200 }

const show = async (backend: Backend) => JSON.stringify([...(await snapshot(backend))].sort())

/** The states of a reference implementation; `undefined` for refused commits. */
async function statesOf(steps: readonly Step[]) {
  const reference = memory()
  const states = [await show(reference)]
  for (const { set } of steps) {
    await reference.commit(set, { durability: 'relaxed' }).catch(() => undefined)
    states.push(await show(reference))
  }
  return states
}

/** Runs until the kill. Returns how many steps were acknowledged, and the last durable one of them. */
async function runSteps(disk: FaultyDisk, steps: readonly Step[], more = {}) {
  let acknowledged = 0
  let durable = 0
  try {
    const backend = await open(disk, more)
    for (const [i, { set, durability }] of steps.entries()) {
      try {
        await backend.commit(set, { durability })
        acknowledged = i + 1
        // A set that changes nothing needs no flush.
        if (durability === 'durable') durable = i + 1
      } catch (error) {
        if ((error as ToolError).code === 'BACKEND_ERROR') return { acknowledged, durable }
        acknowledged = i + 1
      }
    }
  } catch {
    // Killed during opening.
  }
  return { acknowledged, durable }
}

describe('packed workspace after a kill', () => {
  it('has each set completely or not at all, for every byte and operation', async () => {
    const compacted = new Set<string>()
    await fc.assert(
      fc.asyncProperty(
        anySteps,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.boolean(),
        anyCompaction,
        async (steps, where, byByte, more) => {
          const states = await statesOf(steps)
          const whole = faultyDisk()
          await runSteps(whole, steps, more)
          if (whole.bytes(1).length > 0) compacted.add(JSON.stringify(more))
          const disk = faultyDisk()
          if (byByte) disk.killAt({ byte: Math.floor(where * whole.written) })
          else disk.killAt({ operation: Math.floor(where * whole.operations) })
          const { acknowledged } = await runSteps(disk, steps, more)
          const after = disk.afterKill()
          const match = await show(await open(after))
          expect(states.slice(acknowledged, acknowledged + 2)).toContain(match)
          // The recovered state stays, and accepts further commits.
          const again = await open(after.afterKill())
          expect(await show(again)).toBe(match)
          await again.commit([change('new', file('n'))], { durability: 'durable' })
          expect(await show(await open(after.afterKill()))).toBe(match)
        },
      ),
      { numRuns: times(25, 200) },
    )
    expect(compacted.size, 'compactions of one and of several steps').toBe(2)
  })

  it('has every durable commit and no partial set after a power cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        anySteps,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 200, maxLength: 200 }),
        anyCompaction,
        async (steps, where, luck, more) => {
          const states = await statesOf(steps)
          const whole = faultyDisk()
          await runSteps(whole, steps, more)
          const disk = faultyDisk()
          disk.killAt({ byte: Math.floor(where * whole.written * 1.2) })
          const { durable } = await runSteps(disk, steps, more)
          let at = 0
          const after = disk.afterPowerCut(() => luck[at++ % luck.length] as number)
          const entry = await show(await open(after))
          const possible = states.slice(durable)
          expect(possible).toContain(entry)
          expect(await show(await open(after.afterKill()))).toBe(entry)
        },
      ),
      { numRuns: times(25, 200) },
    )
  })

  it.each([
    ['small files', 4],
    ['a file that is larger than a record', 300_000],
  ])('has everything, for every operation and many bytes of a compaction of %s', async (_, keptBytes) => {
    const small = { slackBytes: 5_000 - keptBytes }
    const before = faultyDisk()
    const backend = await open(before, small)
    await backend.commit(
      [change('d', directory), change('d/kept', file('k'.repeat(keptBytes), 0o755), 'any'), change('l', link('d'))],
      {
        durability: 'durable',
        at: 77,
      },
    )
    await backend.commit([change('big', file('0'.repeat(3_000)))], { durability: 'durable' })
    await backend.commit([change('big', file('1'.repeat(3_000)))], { durability: 'durable' })
    const ready = before.afterKill()
    const last = [change('big', file('2'.repeat(100)))]
    const run = async (disk: FaultyDisk) => {
      const opened = await open(disk, small)
      const old = await show(opened)
      await opened.commit(last, { durability: 'durable' })
      return [old, await show(opened), await facts(opened)] as const
    }
    const probe = ready.afterKill()
    const [old, now, nodes] = await run(probe)
    const compacted = await open(probe.afterKill())
    expect(probe.bytes(0).length + probe.bytes(1).length, 'it was compacted').toBeLessThan(1_000 + keptBytes)
    expect(await show(compacted)).toBe(now)
    expect(await facts(compacted), 'including tags and times').toEqual(nodes)
    for (let operation = 0; operation <= probe.operations; operation++) {
      const disk = ready.afterKill()
      disk.killAt({ operation })
      await run(disk).catch(() => undefined)
      const result = await show(await open(disk.afterKill()))
      expect([old, now], `killed at operation ${operation}`).toContain(result)
      let state = operation + 1
      const random = () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        return state / 2 ** 32
      }
      const cut = await show(await open(disk.afterPowerCut(random)))
      expect([old, now], `power cut at operation ${operation}`).toContain(cut)
    }
    for (let byte = 0; byte <= probe.written; byte += 1 + Math.floor(probe.written / times(17, 197))) {
      const disk = ready.afterKill()
      disk.killAt({ byte })
      await run(disk).catch(() => undefined)
      expect([old, now], `killed at byte ${byte}`).toContain(await show(await open(disk.afterKill())))
    }
  })
})

describe('damaged packed workspace', () => {
  it('reports the damage or has an earlier state, never a partial one', async () => {
    const disk = faultyDisk()
    const backend = await open(disk)
    const states = [await show(backend)]
    for (let i = 0; i < 6; i++) {
      await backend.commit([change('a', file(`a${i}`)), change('b', file(`b${i}`))], { durability: 'durable' })
      states.push(await show(backend))
    }
    const whole = disk.bytes(0).slice()
    let reported = 0
    for (let bit = 0; bit < whole.length * 8; bit += times(167, 11)) {
      const broken = whole.slice()
      broken[bit >> 3] = (broken[bit >> 3] as number) ^ (1 << (bit & 7))
      const flipped = faultyDisk([broken, new Uint8Array()])
      try {
        expect(states).toContain(await show(await open(flipped)))
        // Only damage to the last record looks like a kill.
        expect(states.slice(-2)).toContain(await show(await open(faultyDisk([broken, new Uint8Array()]))))
      } catch (error) {
        expect((error as ToolError).code, String(error)).toBe('BACKEND_ERROR')
        expect(flipped.bytes(0), 'the slot is unchanged').toEqual(broken)
        reported += 1
      }
    }
    expect(reported).toBeGreaterThan((whole.length * 8) / times(167, 11) / 2)
  })

  it('is not confused by a file that looks like a journal', async () => {
    const disk = faultyDisk()
    const backend = await open(disk, { random: () => 0x12345678 })
    for (let i = 0; i < 4; i++) await backend.commit([change('a', file(`a${i}`))], { durability: 'durable' })
    const other = faultyDisk()
    const hostile = await open(other, { random: () => 0x0badcafe })
    for (let i = 0; i < 9; i++) await hostile.commit([change('x', file(`x${i}`))], { durability: 'durable' })
    const bytesWritten = disk.written
    disk.killAt({ byte: bytesWritten + 2_000 })
    await backend
      .commit([change('evil', file(other.bytes(0).slice())), change('pad', file('p'.repeat(9_000)))], {
        durability: 'durable',
      })
      .catch(() => {})
    const again = await open(disk.afterKill())
    expect([...(await snapshot(again)).keys()]).toEqual(['a'])
  })

  it('reports a damaged snapshot', async () => {
    const disk = faultyDisk()
    const backend = await open(disk, { slackBytes: 0 })
    for (let i = 0; i < 5; i++) await backend.commit([change('a', file(`${i}`.repeat(900)))], { durability: 'durable' })
    await backend.close()
    const slots = [disk.bytes(0).slice(), disk.bytes(1).slice()] as const
    const present = slots.find(({ length }) => length > 0) as Uint8Array
    const last = present.length - 1
    present[last] = (present[last] as number) ^ 1
    await expect(open(faultyDisk(slots))).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot open the workspace: the storage is damaged, its snapshot is broken',
    })
  })

  it('refuses a journal of a newer version, and leaves it unchanged', async () => {
    const disk = faultyDisk()
    await (await open(disk)).commit([change('a', file('a'))], { durability: 'durable' })
    const { crc32 } = await import('../../../src/util/crc32.ts')
    const bytes = disk.bytes(0).slice()
    const view = new DataView(bytes.buffer)
    view.setUint32(4, 2, true)
    view.setUint32(44, crc32(bytes.subarray(0, 44)), true)
    const later = faultyDisk([bytes, new Uint8Array()])
    await expect(open(later)).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: expect.stringContaining('newer version'),
    })
    expect(later.bytes(0)).toEqual(bytes)
  })
})

describe('packed workspace in full storage', () => {
  it('refuses with NO_SPACE, loses nothing, and accepts commits that fit', async () => {
    const disk = faultyDisk()
    const backend = await open(disk)
    await backend.commit([change('a', file('a'))], { durability: 'durable' })
    disk.quota = disk.bytes(0).length + 500
    const before = await show(backend)
    const big = backend.commit([change('a', file('A')), change('big', file('x'.repeat(2_000)))], {
      durability: 'durable',
    })
    const small = backend.commit([change('small', file('s'))], { durability: 'durable' })
    await expect(big).rejects.toMatchObject({ code: 'NO_SPACE' })
    await small
    expect(await show(backend)).toBe(before.replace(']]', '],["small","file 420 1 s"]]'))
    expect(await show(await open(disk.afterKill()))).toBe(await show(backend))
  })

  it('continues after a failed flush or truncation', async () => {
    const disk = faultyDisk()
    const backend = await open(disk)
    await backend.commit([change('a', file('1'))], { durability: 'durable' })
    disk.failingFlushes = 1
    await expect(backend.commit([change('a', file('2'))], { durability: 'durable' })).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
    })
    disk.failingFlushes = 1
    disk.failingTruncations = 1
    const third = backend.commit([change('b', file('3'))], { durability: 'durable' })
    await expect(third).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    await backend.commit([change('c', file('4'))], { durability: 'durable' })
    const now = await show(backend)
    expect(now).toContain('["a","file 420 1 1"]')
    expect(now).toContain('["c","file 420 1 4"]')
    expect(await show(await open(disk.afterKill()))).toBe(now)
  })

  it('enforces maxBytes in the same way', async () => {
    const backend = await open(faultyDisk(), { maxBytes: 10 })
    await backend.commit([change('a', file('12345678'))], { durability: 'durable' })
    const over = backend.commit([change('b', file('123'))], { durability: 'durable' })
    await expect(over).rejects.toMatchObject({ code: 'NO_SPACE' })
    await backend.commit([change('a', null), change('b', file('123'))], { durability: 'durable' })
    expect([...(await snapshot(backend)).keys()]).toEqual(['b'])
  })
})

describe('journal', () => {
  it('does not store moved or appended content twice', async () => {
    const disk = faultyDisk()
    const backend = await open(disk)
    const text = 'x'.repeat(100_000)
    await backend.commit([change('a', file(text))], { durability: 'durable' })
    const before = disk.written
    await backend.commit([change('a', null), change('b', file(text), 'absent', 'a')], { durability: 'durable' })
    const longer = file(`${text}tail`)
    await backend.commit([{ ...change('b', { ...longer, sharedPrefix: text.length } as Change['to']) }], {
      durability: 'durable',
    })
    expect(disk.written - before).toBeLessThan(500)
    expect(await show(await open(disk.afterKill()))).toBe(await show(backend))
  })

  it('restores the same nodes, tags and times, and never reuses a tag', async () => {
    const disk = faultyDisk()
    const backend = await open(disk)
    const states = new Set<string>()
    for (let i = 0; i < 50; i++) {
      await backend.commit([change(`f${i % 7}`, file(`${i}`))], { durability: 'relaxed', at: i })
      const tag = (await backend.stat(`f${i % 7}` as never))?.tag as string
      expect(states.has(tag)).toBe(false)
      states.add(tag)
    }
    expect(await facts(await open(disk.afterKill()))).toEqual(await facts(backend))
  })

  it('is compacted', async () => {
    const disk = faultyDisk()
    const backend = await open(disk, { slackBytes: 10_000 })
    for (let i = 0; i < 300; i++) {
      await backend.commit([change('f', file(String(i).repeat(1_000)))], { durability: 'relaxed' })
      expect(disk.bytes(0).length + disk.bytes(1).length).toBeLessThan(25_000)
    }
    expect(disk.written, 'compactions write less than the content itself').toBeLessThan(2 * 900_000)
    expect(await show(await open(disk.afterKill()))).toBe(await show(backend))
  })

  it('writes a bounded part of a compaction after each commit, and all commits since', async () => {
    const disk = faultyDisk()
    const MiB = 1024 * 1024
    const large = Array.from({ length: 5 }, (_, i) => change(`large${i}`, file(`${i}`.repeat(MiB))))
    const backend = await open(disk, { slackBytes: 0 })
    await backend.commit(large, { durability: 'relaxed' })
    for (const one of large) await backend.commit([one], { durability: 'relaxed' })
    const parts: number[] = []
    for (let i = 0; disk.bytes(0).length > 0; i++) {
      const before = disk.written
      await backend.commit([change('small', file(`${i}`))], { durability: 'durable' })
      parts.push(disk.written - before)
      expect(parts.length).toBeLessThan(50)
    }
    expect(parts.length).toBeGreaterThan(3)
    expect(Math.max(...parts)).toBeLessThan(MiB)
    expect(await show(await open(disk.afterPowerCut(() => 0)))).toBe(await show(backend))
  })
})

describe('a commit that others come before', () => {
  const both = (backend: PackedBackend) =>
    ['first', 'second'].map((text) => backend.commit([change('a', file(text), 'absent')], { durability: 'durable' }))

  it('is refused when what came before can be read', async () => {
    const disk = faultyDisk()
    const backend = await open(disk)
    const { write } = disk.slots
    disk.slots.write = async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return write(...args)
    }
    const [first, second] = both(backend)
    await expect(second).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    expect(await textAt(backend, 'a')).toBe('first')
    await first
  })

  it('succeeds if those could not be written', async () => {
    const disk = faultyDisk()
    const backend = await open(disk)
    const { write } = disk.slots
    let failures = 1
    disk.slots.write = async (...args) => {
      if (failures-- > 0) throw Object.assign(new Error('full'), { name: 'QuotaExceededError' })
      return write(...args)
    }
    const [first, second] = both(backend)
    await expect(first).rejects.toMatchObject({ code: 'NO_SPACE' })
    await second
    expect(await textAt(backend, 'a')).toBe('second')
  })
})

describe('the old slot of a compaction', () => {
  it.runIf(isLong)('is truncated step by step, and left over by a kill in between', async () => {
    const disk = faultyDisk()
    const MiB = 1024 * 1024
    // A small commit is the first that the compaction is worth.
    const backend = await open(disk, { slackBytes: 9 * MiB + 500 })
    for (let i = 0; i < 3; i++) {
      await backend.commit([change('large', file(`${i}`.repeat(9 * MiB)))], { durability: 'relaxed' })
    }
    let cuts = 0
    for (let i = 0; disk.bytes(0).length > 0; i++) {
      const { length } = disk.bytes(0)
      await backend.commit([change('small', file(`${i}`))], { durability: 'durable' })
      expect(i).toBeLessThan(60)
      if (disk.bytes(0).length > length) continue
      if (disk.bytes(0).length < length) cuts += 1
      if (cuts !== 1) continue
      const now = await show(backend)
      for (const after of [disk.afterKill(), disk.afterPowerCut(() => 0), disk.afterPowerCut(() => 1)]) {
        expect((await show(await open(after))) === now, 'nothing is lost').toBe(true)
        expect(after.bytes(0).length).toBe(0)
      }
    }
    expect(cuts).toBeGreaterThan(2)
    expect((await show(await open(disk.afterKill()))) === (await show(backend))).toBe(true)
  })
})

describe('contents', () => {
  it('are read when they are asked for, except those of ignore files', async () => {
    const disk = faultyDisk()
    const backend = await open(disk)
    const names = Array.from({ length: 50 }, (_, i) => `f${i}`)
    const set = [...names.map((name) => change(name, file(name.repeat(100)))), change('.gitignore', file('*.tmp\n'))]
    await backend.commit(set, { durability: 'durable' })
    const again = await open(disk.afterKill(), { keptBytes: 5_000 })
    const loaded = () => [...again.tree().entries()].flatMap(([name, node]) => (inMemory(node) ? [name] : []))
    expect(loaded()).toEqual(['.gitignore'])
    expect(await textAt(again, 'f7')).toBe('f7'.repeat(100))
    expect(loaded()).toEqual(['.gitignore', 'f7'])
    const { bytes } = await again.read(at('f8'), { start: 1, end: 4 })
    expect(new TextDecoder().decode(bytes)).toBe('8f8')
    const scanned: string[] = []
    const paths = [...names, 'none', '.gitignore'].map(at)
    await again.scan(paths, (path, content) => scanned.push(`${path} ${content.length}`) > 0)
    expect(scanned).toEqual([...names.map((name) => `${name} ${100 * name.length}`), '.gitignore 6'])
    expect(loaded().length, 'not more than may stay').toBeLessThan(15)
    await again.scan(paths, (_, content) => expect(content.length).toBeLessThan(7) === undefined, 100)
  })

  describe('that are damaged', () => {
    const damaged = { code: 'BACKEND_ERROR', message: expect.stringContaining('its content is broken') }
    const damages = {
      'in one byte': (bytes: Uint8Array, where: number) => bytes.fill(1, where + 50, where + 51),
      'all of them': (bytes: Uint8Array, where: number) => bytes.fill(0, where),
      'cut off': (bytes: Uint8Array, where: number) => bytes.subarray(0, where + 50),
    }
    const content = (size: number) => file('a'.repeat(size))
    const sha256Of = (size: number) => sha256Cached(bytesOf('a'.repeat(size)))
    /** The operations on the file `d/a`, with what is there afterwards. */
    const operations: Readonly<
      Record<string, (size: number) => readonly [changes: readonly Change[], text: string | undefined]>
    > = {
      'a deletion': () => [[change('d/a', null)], undefined],
      'a deletion of the known version': (size) => [[change('d/a', null, { sha256: sha256Of(size) })], undefined],
      'a deletion of its directory': () => [[change('d/a', null), change('d', null)], undefined],
      'a replacement': () => [[change('d/a', file('new'))], 'new'],
      'a replacement of the known version': (size) => [[change('d/a', file('new'), { sha256: sha256Of(size) })], 'new'],
      'the same content again': (size) => [[change('d/a', content(size))], 'a'.repeat(size)],
      'a move over it': () => [[change('b', null), change('d/a', file('b'), 'any', 'b')], 'b'],
      'a move of it, by who has the content': (size) => [
        [change('d/a', null), change('c', content(size), 'any', 'd/a')],
        undefined,
      ],
      'an addition to the known content': (size) => {
        const to = { type: 'file', bytes: bytesOf(`${'a'.repeat(size)}!`), sharedPrefix: size } as const
        return [[change('d/a', to)], `${'a'.repeat(size)}!`]
      },
      'a link': (size) => [[change('d/a', link('../b'), { sha256: sha256Of(size) })], undefined],
      'a directory': (size) => [[change('d/a', directory, { sha256: sha256Of(size) })], undefined],
    }

    /** A disk whose last content is damaged after the opening, of a file with or without a hash. */
    async function withDamage(damage: keyof typeof damages, size: number, isHashed: boolean, more: object) {
      const disk = faultyDisk()
      const first = await open(disk)
      const plain = { durability: 'durable' } as const
      await first.commit([change('d', directory), change('b', file('b'))], plain)
      const bytes = bytesOf('a'.repeat(size))
      if (isHashed) sha256Cached(bytes)
      await first.commit([change('d/a', { type: 'file', bytes })], plain)
      const where = disk.bytes(0).length - size
      const backend = await open(disk, more)
      const { read } = disk.slots
      disk.slots.read = async (slot, at, length) => {
        const bytes = slot === 0 ? damages[damage](disk.bytes(0).slice(0, where + size), where) : disk.bytes(slot)
        return at < where + size ? bytes.slice(at, at + length) : read(slot, at, length)
      }
      return { disk, backend }
    }

    const cases = Object.keys(damages).flatMap((damage) =>
      [900, 300_000].flatMap((size) => [true, false].map((isHashed) => ({ damage, size, isHashed }) as const)),
    ) as { readonly damage: keyof typeof damages; readonly size: number; readonly isHashed: boolean }[]

    it.each(everyNth(cases, 4))(
      '$damage ($size bytes, hash: $isHashed) keep no operation from the file',
      async (one) => {
        for (const [name, operation] of Object.entries(operations)) {
          const { disk, backend } = await withDamage(one.damage, one.size, one.isHashed, {})
          await expect(backend.read(at('d/a')), name).rejects.toMatchObject(damaged)
          await expect(
            backend.scan([at('d/a')], () => true),
            name,
          ).rejects.toMatchObject(damaged)
          const [changes, text] = operation(one.size)
          const knows = changes.some(({ expect }) => typeof expect === 'object')
          const committed = backend.commit(changes, { durability: 'durable' })
          if (knows && !one.isHashed) {
            // Nobody has said what the content was: the version is that of what is left.
            await expect(committed, name).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
            continue
          }
          const { applied } = await committed
          const before = applied.find(({ path }) => path === at('d/a'))?.before
          if (one.isHashed) expect(before, name).toMatchObject({ size: one.size, sha256: sha256Of(one.size) })
          if (text !== undefined) expect(await textAt(backend, 'd/a'), name).toBe(text)
          const now = await show(backend)
          expect(await show(await open(disk.afterKill())), name).toBe(now)
        }
      },
    )

    it.each(Object.keys(damages) as (keyof typeof damages)[])(
      '%s end no commit of other files, no compaction takes them over, and none is missing once they are deleted',
      async (damage) => {
        for (const size of [900, 300_000]) {
          const { disk, backend } = await withDamage(damage, size, true, { slackBytes: -1e9 })
          for (let i = 0; i < 9; i++) await backend.commit([change('b', file(`${i}`))], { durability: 'durable' })
          await expect(backend.read(at('d/a'))).rejects.toMatchObject(damaged)
          expect(await textAt(backend, 'b')).toBe('8')
          expect(disk.bytes(1), 'no snapshot').toHaveLength(0)
          const again = await open(disk.afterKill())
          expect([await textAt(again, 'd/a'), await textAt(again, 'b')], 'nothing was changed').toEqual([
            'a'.repeat(size),
            '8',
          ])
          await backend.commit([change('d/a', null)], { durability: 'durable' })
          for (let i = 0; i < 9 && disk.bytes(1).length === 0; i++) {
            await backend.commit([change('b', file(`${i}`.repeat(size)))], { durability: 'durable' })
          }
          expect(disk.bytes(1).length, 'a snapshot').toBeGreaterThan(0)
          expect(await show(await open(disk.afterKill()))).toBe(await show(backend))
        }
      },
    )
  })

  it('are the same after compactions that found no space', async () => {
    let ended = 0
    let failed = 0
    await fc.assert(
      fc.asyncProperty(anySteps, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), async (steps, isFull) => {
        const disk = faultyDisk()
        const reference = memory()
        const { write } = disk.slots
        let refused = 0
        disk.slots.write = (...args) =>
          write(...args).catch((error) => {
            refused += 1
            throw error
          })
        const backend = await open(disk, { ...few, stepBytes: 1 })
        for (const [i, { set, durability }] of steps.entries()) {
          disk.quota = isFull[i] ? disk.bytes(0).length + disk.bytes(1).length + 200 : Number.POSITIVE_INFINITY
          const code = await backend.commit(set, { durability }).then(
            () => undefined,
            (error: ToolError) => error.code,
          )
          if (code === 'NO_SPACE') refused -= 1
          else await reference.commit(set, { durability }).catch(() => undefined)
          if (disk.bytes(0).length === 0) ended += 1
          expect(await contentsOf(backend.tree())).toEqual(await contentsOf(reference.tree()))
        }
        failed += refused
        expect(await show(await open(disk.afterKill()))).toBe(await show(reference))
      }),
      { numRuns: times(50, 100) },
    )
    expect(failed, 'compactions without space').toBeGreaterThan(10)
    expect(ended, 'compactions that ended').toBeGreaterThan(10)
  })

  it('of every earlier tree stay the same, after any commits, compactions and reads at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(anySteps, fc.array(fc.constantFrom(...names), { maxLength: 30 }), async (steps, reads) => {
        const disk = faultyDisk()
        const reference = memory()
        let backend = await open(disk, few)
        let trees: [DirectoryNode, DirectoryNode][] = []
        const pending: Promise<unknown>[] = []
        for (const [i, { set, durability }] of steps.entries()) {
          if (i % 5 === 4) {
            await Promise.all(pending.splice(0))
            await backend.close()
            trees = []
            backend = await open(disk, few)
          }
          for (const name of reads.slice(i * 3, i * 3 + 3)) {
            pending.push(backend.read(at(name)).catch(() => undefined))
          }
          const wanted = await Promise.allSettled([
            backend.commit(set, { durability }),
            reference.commit(set, { durability }),
          ])
          expect(wanted[0].status, 'commit').toBe(wanted[1].status)
          trees.push([backend.tree(), reference.tree()])
        }
        await Promise.all(pending)
        for (const [tree, expected] of trees) expect(await contentsOf(tree)).toEqual(await contentsOf(expected))
        expect(await show(backend)).toBe(await show(reference))
      }),
      { numRuns: times(30, 100) },
    )
  })

  it('that grow are read from a bounded number of places', async () => {
    const disk = faultyDisk()
    const backend = await open(disk, { keptBytes: 0 })
    let text = 'x'.repeat(300)
    await backend.commit([change('log', file(text))], { durability: 'relaxed' })
    for (let i = 0; i < 200; i++) {
      const to = { ...file(`${text}${i}`), sharedPrefix: text.length } as Change['to']
      text += i
      await backend.commit([change('log', to), change('other', file(`${i}`))], { durability: 'relaxed' })
      const node = nodeAt(backend.tree(), at('log')) as StoredFile
      expect(node.segments.length).toBeLessThan(70)
    }
    expect(await textAt(backend, 'log')).toBe(text)
    for (const length of [text.length - 1, 320, 301, 300, 290, 0]) {
      text = `${text.slice(0, length)}!`
      await backend.commit([change('log', { ...file(text), sharedPrefix: length } as Change['to'])], {
        durability: 'relaxed',
      })
      await backend.read(at('other'))
      expect(inMemory(nodeAt(backend.tree(), at('log')) as TreeNode)).toBe(false)
      expect(await textAt(backend, 'log')).toBe(text)
      expect(await textAt(await open(disk.afterKill()), 'log')).toBe(text)
    }
  })

  it('that grow or move during a compaction are read from its new slot', async () => {
    const disk = faultyDisk()
    const backend = await open(disk, { slackBytes: -1e6, stepBytes: 1 })
    const contents = new Map(['one', 'two', 'log'].map((name) => [name, name.repeat(200)]))
    const set = [...contents].map(([name, text]) => change(name, file(text)))
    await backend.commit(set, { durability: 'relaxed' })
    let switched = 0
    let slot: 0 | 1 = 0
    for (let i = 0; i < 120; i++) {
      const log = contents.get('log') as string
      const [from, to] = contents.has('moved') ? ['moved', 'one'] : ['one', 'moved']
      const moved = contents.get(from) as string
      contents.delete(from)
      contents.set(to, moved)
      contents.set('log', `${log}${i}`)
      const longer = { ...file(`${log}${i}`), sharedPrefix: log.length } as Change['to']
      const changes = [change('log', longer), change(from, null), change(to, file(moved), 'absent', from)]
      await backend.commit(changes, { durability: 'relaxed' })
      if (disk.bytes(slot).length === 0) {
        switched += 1
        slot = slot === 0 ? 1 : 0
      }
      for (const [name, text] of contents) expect(await textAt(backend, name), `${name} after ${i}`).toBe(text)
    }
    expect(switched).toBeGreaterThan(3)
    const again = await open(disk.afterKill())
    for (const [name, text] of contents) expect(await textAt(again, name)).toBe(text)
  })

  it('are what the file has before or after a commit that is made meanwhile', async () => {
    const disk = faultyDisk()
    const backend = await open(disk, few)
    const content = (i: number) => `${i}`.repeat(500)
    await backend.commit([change('a', file(content(0))), change('b', file('b'.repeat(700)))], { durability: 'relaxed' })
    const { read } = disk.slots
    disk.slots.read = async (...args) => {
      await new Promise((resolve) => setImmediate(resolve))
      return read(...args)
    }
    for (let i = 1; i < 60; i++) {
      const readings = [textAt(backend, 'a'), textAt(backend, 'b'), contentsOf(backend.tree())]
      await backend.commit([change('a', file(content(i)))], { durability: 'relaxed' })
      expect([content(i - 1), content(i)]).toContain(await readings[0])
      expect(await readings[1]).toBe('b'.repeat(700))
      expect(JSON.stringify(await readings[2])).toContain(content(i - 1))
    }
  })
})

/** Slots while a tab has the lease. */
interface Held {
  readonly slots: Slots
  giveUp(): Promise<void>
  isOpen: boolean
}

describe('records that another tab wrote after the lease was lost', () => {
  /** Two tabs over one storage, between which the test passes the lease. */
  async function twoTabs(more = {}) {
    const disk = faultyDisk()
    const givers: (() => Promise<void>)[] = []
    const tab = async () => {
      const lease: Lease = {
        async acquire(giveUp) {
          for (const other of givers.splice(0)) await other()
          givers.push(giveUp)
          return disk.slots
        },
        async close() {},
      }
      return openPacked(lease, { ...options, ...more })
    }
    return { disk, givers, one: await tab(), other: await tab() }
  }
  const text = (i: number) => file(`${i}`.repeat(900))

  it('are read once, without reading the others again', async () => {
    const { one, other } = await twoTabs()
    await one.commit([change('a', file('1'))], { durability: 'durable' })
    await other.commit([change('b', file('2'))], { durability: 'durable' })
    expect(await show(one)).toBe(await show(other))
  })

  it('are found after its compactions', async () => {
    for (const [compactions, stepBytes] of [
      [1, 1e6],
      [2, 1e6],
      [3, 1e6],
      [1, 1],
      [2, 1],
      [3, 1],
    ] as const) {
      const { one, other } = await twoTabs({ slackBytes: 0, stepBytes })
      await one.commit([change('a', text(0))], { durability: 'durable' })
      for (let i = 0; i < 3 * compactions; i++) await other.commit([change('a', text(i))], { durability: 'durable' })
      expect(await show(one)).toBe(await show(other))
      expect(await show(one)).toContain(`${3 * compactions - 1}`)
    }
  })

  it('are not lost by a compaction that another tab began', async () => {
    const { one, other } = await twoTabs({ slackBytes: 0, stepBytes: 1 })
    for (let i = 0; i < 60; i++) {
      const tab = Math.floor(i / 3) % 2 === 0 ? one : other
      await tab.commit([change('a', text(i)), change(`b${i % 5}`, text(i))], { durability: 'durable' })
      if (i % 7 === 0) expect(await show(one)).toBe(await show(other))
    }
    expect(await show(one)).toBe(await show(other))
    expect(await show(one)).toContain('595959')
  })

  it('leave unchanged files the same nodes, whose contents can be read after its compactions', async () => {
    for (const rounds of [1, 2, 9]) {
      const { one, other } = await twoTabs({ slackBytes: 0, stepBytes: 1_000, keptBytes: 0 })
      await one.commit([change('same', text(1)), change('a', text(2)), change('b', text(3))], { durability: 'durable' })
      await other.stat(at('a'))
      await show(one)
      const before = one.tree()
      for (let i = 0; i < rounds; i++) await other.commit([change('a', text(i))], { durability: 'durable' })
      const node = before.get('same')
      const old = before.get('a')
      expect(await textAt(one, 'b')).toBe('3'.repeat(900))
      expect(one.tree() === before).toBe(false)
      expect(one.tree().get('same') === node).toBe(true)
      expect(inMemory(node as TreeNode)).toBe(false)
      expect(await contentOf(node)).toBe('1'.repeat(900))
      const content = await contentOf(old)
      expect([undefined, '2'.repeat(900)], 'the replaced content').toContain(content)
      expect(await textAt(one, 'a')).toBe(`${rounds - 1}`.repeat(900))
      expect(await textAt(one, 'b')).toBe('3'.repeat(900))
    }
  })

  it('are read with the contents that belong to them, while the files are closed and opened again', async () => {
    let lost = 0
    await fc.assert(
      fc.asyncProperty(anySteps, fc.array(fc.constantFrom(...names), { maxLength: 30 }), async (steps, reads) => {
        const disk = faultyDisk()
        let holder: Held | undefined
        let turn: Promise<unknown> = Promise.resolve()
        const usable = (held: Held | undefined) => {
          if (held?.isOpen) return
          lost += 1
          throw new DOMException('The handle is closed', 'InvalidStateError')
        }
        /** Files that are closed when the lease passes on, as synchronous handles are. */
        const slotsOf = (mine: () => Held): Slots => ({
          ...disk.slots,
          async read(slot, at, length) {
            await new Promise((resolve) => setImmediate(resolve))
            usable(mine())
            return disk.slots.read(slot, at, length)
          },
          async write(...args) {
            usable(mine())
            return disk.slots.write(...args)
          },
        })
        const tab = () => {
          let mine: Held | undefined
          const acquire = async (giveUp: () => Promise<void>): Promise<Slots> => {
            if (holder !== undefined && holder === mine) return holder.slots
            const last = holder
            holder = undefined
            await last?.giveUp()
            if (last !== undefined) last.isOpen = false
            const now: Held = { slots: slotsOf(() => now), giveUp, isOpen: true }
            holder = now
            mine = now
            return now.slots
          }
          const lease: Lease = {
            acquire(giveUp) {
              if (holder !== undefined && holder === mine) return acquire(giveUp)
              const acquired = turn.then(() => acquire(giveUp))
              turn = acquired
              return acquired
            },
            async close() {},
          }
          return openPacked(lease, { ...options, ...few, keptBytes: 0 })
        }
        const tabs = [await tab(), await tab()] as const
        const reference = memory()
        const constant = ['k0', 'k1', 'k2']
        for (const backend of [tabs[0], reference]) {
          await backend.commit(
            constant.map((name) => change(name, file(name.repeat(150)))),
            { durability: 'durable' },
          )
        }
        for (const [i, { set, durability }] of steps.entries()) {
          const [one, other] = i % 3 === 0 ? [tabs[1], tabs[0]] : tabs
          const resultOf = (backend: Backend, name: string) =>
            textAt(backend, name).catch((error: ToolError) => error.code)
          const possible = (name: string) => resultOf(reference, name)
          const wanted = [...constant, ...reads.slice(i * 3, i * 3 + 3)]
          const before = await Promise.all(wanted.map(possible))
          const reading = wanted.map((name) => resultOf(one, name))
          await other.commit(set, { durability }).catch(() => undefined)
          await reference.commit(set, { durability }).catch(() => undefined)
          const after = await Promise.all(wanted.map(possible))
          for (const [at, result] of (await Promise.all(reading)).entries()) {
            expect([before[at], after[at]]).toContain(result)
          }
          expect(await show(one)).toBe(await show(reference))
        }
        expect(await show(tabs[0])).toBe(await show(tabs[1]))
      }),
      { numRuns: times(10, 60) },
    )
    expect(lost, 'readings of closed files').toBeGreaterThan(10)
  })

  it('are read again if the lease is lost while a content is read', async () => {
    const { disk, givers, one, other } = await twoTabs({ slackBytes: 0, keptBytes: 0 })
    await one.commit([change('a', text(1)), change('b', text(2))], { durability: 'durable' })
    await show(one)
    const { read } = disk.slots
    for (const lost of [true, false]) {
      disk.slots.read = async (...args) => {
        disk.slots.read = read
        if (lost) throw Object.assign(new Error('lost'), { name: 'LeaseLostError' })
        for (const giveUp of givers.splice(0)) void giveUp()
        return read(...args)
      }
      expect(await textAt(one, 'a')).toBe('1'.repeat(900))
      await other.commit([change('b', text(lost ? 3 : 4))], { durability: 'durable' })
      expect(await textAt(one, 'b')).toBe((lost ? '3' : '4').repeat(900))
    }
  })

  it('are found if the old slot could not be truncated', async () => {
    const { disk, one, other } = await twoTabs({ slackBytes: 0 })
    await one.commit([change('a', text(0))], { durability: 'durable' })
    await other.commit([change('a', text(1))], { durability: 'durable' })
    // The second of its three truncations is that of the old slot.
    const { truncate } = disk.slots
    let count = 0
    disk.slots.truncate = async (slot, size) => {
      count += 1
      if (size === 0 && disk.bytes(slot).length > 0) throw new Error('it is busy')
      return truncate(slot, size)
    }
    await other.commit([change('a', text(2))], { durability: 'durable' })
    await other.commit([change('b', file('behind the snapshot'))], { durability: 'durable' })
    expect(count).toBeGreaterThan(1)
    expect([disk.bytes(0).length, disk.bytes(1).length].filter(Boolean), 'both slots exist').toHaveLength(2)
    disk.slots.truncate = truncate
    expect(await show(one)).toBe(await show(other))
  })

  it('are ignored if the journal is shorter than expected', async () => {
    const { disk, givers, one } = await twoTabs()
    await one.commit([change('a', file('1'))], { durability: 'relaxed' })
    const size = disk.bytes(0).length
    await one.commit([change('b', file('2'))], { durability: 'relaxed' })
    for (const giveUp of givers.splice(0)) await giveUp()
    await disk.slots.truncate(0, size)
    expect([...(await snapshot(one)).keys()]).toEqual(['a'])
  })

  it('are ignored if they do not follow each other', async () => {
    const disk = faultyDisk()
    const backend = await open(disk)
    const ends: number[] = []
    for (const name of ['a', 'b', 'c']) {
      await backend.commit([change(name, file(name))], { durability: 'relaxed' })
      ends.push(disk.bytes(0).length)
    }
    // The third record replaces the second: it is intact and of this journal, but at another position.
    const bytes = disk.bytes(0)
    const mixed = new Uint8Array([...bytes.subarray(0, ends[0]), ...bytes.subarray(ends[1])])
    expect([...(await snapshot(await open(faultyDisk([mixed, new Uint8Array()])))).keys()]).toEqual(['a'])
  })

  it('keep the order of a waiting commit, whenever the lease is lost', async () => {
    const { disk, givers, one, other } = await twoTabs()
    await one.commit([change('a', file('1'))], { durability: 'durable' })
    await new Promise((resolve) => setImmediate(resolve))
    const committed = one.commit([change('b', file('2'))], { durability: 'durable' })
    for (const giveUp of givers.splice(0)) void giveUp()
    await committed
    // Only the write notices the loss.
    const { write } = disk.slots
    disk.slots.write = async () => {
      disk.slots.write = write
      throw Object.assign(new Error('lost'), { name: 'LeaseLostError' })
    }
    const again = one.commit([change('c', file('3'))], { durability: 'durable' })
    for (const giveUp of givers.splice(0)) givers.push(giveUp)
    await again
    expect([...(await snapshot(other)).keys()]).toEqual(['a', 'b', 'c'])
  })
})

describe('openPacked', () => {
  it('refuses calls after close, and closes once', async () => {
    const backend = await open(faultyDisk())
    await backend.close()
    await backend.close()
    const closed = { code: 'BACKEND_ERROR', message: 'Cannot continue: the backend is closed' }
    await expect(backend.stat('a' as never)).rejects.toMatchObject(closed)
    await expect(backend.commit([change('a', null)], { durability: 'durable' })).rejects.toMatchObject(closed)
  })

  it('rejects every waiting commit if the lease cannot be acquired', async () => {
    let giveUp = async () => {}
    let isGone = false
    const disk = faultyDisk()
    const backend = await openPacked(
      {
        async acquire(input) {
          if (isGone) throw new Error('the worker failed')
          giveUp = input
          return disk.slots
        },
        async close() {},
      },
      options,
    )
    await giveUp()
    isGone = true
    const commits = ['a', 'b'].map((name) => backend.commit([change(name, file('1'))], { durability: 'durable' }))
    for (const one of await Promise.allSettled(commits)) {
      expect(one).toMatchObject({
        reason: { code: 'BACKEND_ERROR', message: expect.stringContaining('Cannot open the workspace') },
      })
    }
    isGone = false
    await backend.commit([change('a', file('1'))], { durability: 'durable' })
  })

  it('names no path if the flush for an empty set fails', async () => {
    const disk = faultyDisk()
    const backend = await open(disk)
    await backend.commit([change('a', file('1'))], { durability: 'relaxed' })
    disk.failingFlushes = 1
    await expect(backend.commit([], { durability: 'durable' })).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    await backend.commit([], { durability: 'durable' })
    expect(await show(await open(disk.afterPowerCut(() => 0)))).toBe(await show(backend))
  })

  it('continues in its journal if there is no space for a compaction', async () => {
    const disk = faultyDisk()
    const backend = await open(disk, { slackBytes: 0 })
    await backend.commit([change('a', file('1'.repeat(9_000)))], { durability: 'durable' })
    disk.quota = 27_000
    for (const i of [2, 3, 4]) {
      const committed = backend.commit([change('a', file(`${i}`.repeat(i === 4 ? 100 : 8_000)))], {
        durability: 'durable',
      })
      await committed
    }
    await backend.close()
    expect(disk.bytes(0).length, 'the complete journal').toBeGreaterThan(25_000)
    expect(disk.bytes(1)).toHaveLength(0)
    expect(await textAt(await open(disk.afterKill()), 'a')).toBe('4'.repeat(100))
  })

  it('opens again after a compaction that failed and could not be undone', async () => {
    const disk = faultyDisk()
    const backend = await open(disk, { slackBytes: 0 })
    await backend.commit([change('a', file('1'.repeat(900)))], { durability: 'durable' })
    disk.failingTruncations = 2
    for (let i = 2; i < 9; i++) {
      await backend.commit([change('a', file(`${i}`.repeat(900)))], { durability: 'durable' })
    }
    expect(disk.failingTruncations).toBe(0)
    expect(await show(await open(disk.afterKill()))).toBe(await show(backend))
  })
})

describe('record', () => {
  const EMPTY = directoryNode({ type: 'directory', size: 0, tag: '0.0' })
  const payload = (write: (writer: ReturnType<typeof openWriter>) => void) => {
    const bytes = new Uint8Array(1_000)
    const writer = openWriter(bytes, 0)
    write(writer)
    return bytes.subarray(0, writer.at)
  }
  const contents = new Contents({
    journal: () => undefined,
    current: () => undefined,
    isStale: () => false,
    maxBytes: 1e6,
  })
  const replay = (root: DirectoryNode, bytes: Uint8Array) =>
    replayRecord(root, new PayloadReader(async (at, length) => bytes.slice(at, at + length), 0, bytes.length), 1, {
      contents,
      generation: 1,
      previous: EMPTY,
    })

  it.each<[string, string, Parameters<typeof payload>[0]]>([
    ['a record of a type', 'The record has an unknown type', (to) => to.u8(9)],
    [
      'a state',
      'The record contains an unknown state',
      (to) => {
        to.u8(1)
        to.f64(0)
        to.u8(9)
        to.text('a')
      },
    ],
    [
      'a node',
      'The record contains an unknown node',
      (to) => {
        to.u8(2)
        to.u8(9)
        to.text('a')
        to.text('tag')
        to.f64(0)
      },
    ],
    [
      'a content',
      'The record extends a file that does not exist',
      (to) => {
        to.u8(1)
        to.f64(0)
        to.u8(5)
        to.text('a')
        to.u16(0o644)
        to.bytes(new Uint8Array(32))
        to.text('nothing')
        to.f64(1)
        to.f64(0)
      },
    ],
    [
      'its end',
      'The record ends too early',
      (to) => {
        to.u8(1)
        to.f64(0)
        to.u8(4)
        to.text('a')
        to.u16(0o644)
        to.bytes(new Uint8Array(32))
        to.f64(7)
      },
    ],
    [
      'a length',
      'The record ends too early',
      (to) => {
        to.u8(1)
        to.f64(0)
        to.u8(4)
        to.text('a')
        to.u16(0o644)
        to.bytes(new Uint8Array(32))
        to.f64(Number.NaN)
      },
    ],
  ])('is refused if %s is unknown', async (_, message, write) => {
    await expect(replay(EMPTY, payload(write))).rejects.toThrow(new RangeError(message))
  })

  it('contains the complete content if the shared prefix is longer than the old file', async () => {
    for (const present of [file('y'.repeat(500)), file('short'), directory, null]) {
      const disk = faultyDisk()
      const backend = await open(disk)
      if (present !== null) await backend.commit([change('a', present)], { durability: 'durable' })
      const to = { ...file('x'.repeat(600)), sharedPrefix: 400 } as Change['to']
      const tag = (await backend.stat('a' as never))?.tag
      await backend.commit([change('a', to, tag === undefined ? 'absent' : { tag })], { durability: 'durable' })
      expect(await show(await open(disk.afterKill()))).toBe(JSON.stringify([['a', `file 420 600 ${'x'.repeat(600)}`]]))
    }
  })

  it('contains a known hash, which is not computed again', async () => {
    const disk = faultyDisk()
    const backend = await open(disk, { slackBytes: 0 })
    const bytes = bytesOf('1'.repeat(900))
    const hash = sha256Cached(bytes)
    await backend.commit([change('a', file(bytes))], { durability: 'durable' })
    const hashes = async () => {
      const again = await open(disk.afterKill(), { slackBytes: 0 })
      const node = nodeAt(again.tree(), 'a' as never)
      return node?.type === 'file' ? cachedHashOf(node) : undefined
    }
    expect(await hashes(), 'from a commit').toBe(hash)
    for (let i = 0; i < 5; i++) await backend.commit([change('b', file(`${i}`.repeat(900)))], { durability: 'durable' })
    await backend.close()
    expect(await hashes(), 'from a snapshot').toBe(hash)
  })

  it('splits a snapshot into as many records as needed', async () => {
    const disk = faultyDisk()
    const backend = await open(disk, { slackBytes: 0 })
    for (const i of [1, 2, 3]) {
      await backend.commit([change('a', file(`${i}`.repeat(4_500_000)))], { durability: 'durable' })
    }
    await backend.close()
    expect(disk.bytes(0).length + disk.bytes(1).length).toBeLessThan(5_000_000)
    expect(await textAt(await open(disk.afterKill()), 'a')).toBe('3'.repeat(4_500_000))
  })

  it('has default modes and no time if none are given', async () => {
    const bare = new StoredFile(contents, { type: 'file', size: 1, tag: '1.1' }, undefined)
    const bytes = bytesOf('1')
    bare.bytes = bytes
    const tree = directoryNode(EMPTY.stat, [['a', bare]])
    let snapshotted = EMPTY
    const journal = { slots: faultyDisk().slots, slot: 0, generation: 1 } as const
    for await (const { head } of encodeSnapshot(tree, journal)) {
      snapshotted = await replay(snapshotted, head.subarray(RECORD_HEADER))
    }
    expect(nodeAt(snapshotted, at('a'))?.stat).toEqual({ ...bare.stat, mode: 0o644, modifiedAt: 0 })
    const after = { type: 'file', sha256: sha256Cached(bytes), size: 1 } as const
    const receipt = { applied: [{ path: at('a'), before: null, after }] }
    const record = encodeCommit([change('a', file(bytes))], { root: tree, receipt }, EMPTY, 5)
    const committed = await replay(EMPTY, record?.head.subarray(RECORD_HEADER) as Uint8Array)
    expect(nodeAt(committed, at('a'))?.stat).toMatchObject({ mode: 0o644, modifiedAt: 5 })
  })
})

function inMemory(node: TreeNode): boolean {
  return node.type === 'file' && node.bytes !== undefined
}

async function contentOf(node: TreeNode | undefined): Promise<string | undefined> {
  const bytes = node?.type === 'file' ? (node.bytes ?? (await node.load?.())) : undefined
  return bytes && new TextDecoder().decode(bytes)
}

/** All contents of a tree by path. */
async function contentsOf(tree: DirectoryNode, prefix = ''): Promise<[string, string | undefined][]> {
  const all: [string, string | undefined][] = []
  for (const [name, node] of tree.entries()) {
    if (node.type === 'directory') all.push(...(await contentsOf(node, `${prefix}${name}/`)))
    else if (node.type === 'file') all.push([`${prefix}${name}`, await contentOf(node)])
  }
  return all
}

async function facts(backend: PackedBackend): Promise<unknown[]> {
  const matches: unknown[] = []
  const visit = (path: string, node: TreeNode) => {
    matches.push([path, node.stat])
    if (node.type === 'directory') for (const [name, child] of node.entries()) visit(`${path}/${name}`, child)
  }
  visit('', backend.tree())
  return matches
}
