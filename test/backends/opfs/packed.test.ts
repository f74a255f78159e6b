import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { openWriter } from '../../../src/backends/opfs/byte-cursor.ts'
import type { Lease } from '../../../src/backends/opfs/lease.ts'
import { openPacked, type PackedBackend } from '../../../src/backends/opfs/packed.ts'
import { RECORD_HEADER } from '../../../src/backends/opfs/record-frame.ts'
import { encodeCommit, encodeSnapshot, replayRecord } from '../../../src/backends/opfs/records.ts'
import type { ToolError } from '../../../src/errors.ts'
import { sha256Cached } from '../../../src/files/hash/sha256.ts'
import type { Backend, Change, TreeNode } from '../../../src/storage/backend.ts'
import { directoryNode, nodeAt } from '../../../src/storage/tree.ts'
import { cachedHashOf } from '../../../src/storage/tree-commit.ts'
import { at, bytesOf, change, directory, file, link, snapshot, textAt } from '../../../src/testing/backend/case.ts'
import { backendContract, registerContract } from '../../../src/testing/index.ts'
import { type FaultyDisk, faultyDisk, onlyOne } from './faulty-slots.ts'

const options = { clock: () => 0, random: () => 7, maxBytes: 1e9 }
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
      { numRuns: 200 },
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
      { numRuns: 200 },
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
    for (let byte = 0; byte <= probe.written; byte += 1 + Math.floor(probe.written / 197)) {
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
    for (let bit = 0; bit < whole.length * 8; bit += 11) {
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
    expect(reported).toBeGreaterThan((whole.length * 8) / 11 / 2)
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

describe('the old slot of a compaction', () => {
  it('is truncated step by step, and left over by a kill in between', async () => {
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
  ])('is refused if %s is unknown', (_, message, write) => {
    expect(() => replayRecord(EMPTY, payload(write), 1)).toThrow(new RangeError(message))
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

  it('has default modes and no time if none are given', () => {
    const bytes = bytesOf('1')
    const bare = { type: 'file', bytes, stat: { type: 'file', size: 1, tag: '1.1' } } as const
    const tree = directoryNode(EMPTY.stat, [['a', bare]])
    const snapshotted = [...encodeSnapshot(tree)].reduce(
      (root, { head }) => replayRecord(root, head.subarray(RECORD_HEADER), 1),
      EMPTY,
    )
    expect(nodeAt(snapshotted, 'a' as never)?.stat).toEqual({ ...bare.stat, mode: 0o644, modifiedAt: 0 })
    const after = { type: 'file', sha256: sha256Cached(bytes), size: 1 } as const
    const record = encodeCommit(
      [change('a', file(bytes))],
      { applied: [{ path: at('a'), before: null, after }] },
      EMPTY,
      5,
    ) as Uint8Array
    const committed = replayRecord(EMPTY, record.subarray(RECORD_HEADER), 1)
    expect(nodeAt(committed, 'a' as never)?.stat).toMatchObject({ mode: 0o644, modifiedAt: 5 })
  })
})

async function facts(backend: PackedBackend): Promise<unknown[]> {
  const matches: unknown[] = []
  const visit = (path: string, node: TreeNode) => {
    matches.push([path, node.stat])
    if (node.type === 'directory') for (const [name, child] of node.entries()) visit(`${path}/${name}`, child)
  }
  visit('', backend.tree())
  return matches
}
