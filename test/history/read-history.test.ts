import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createReadHistory } from '../../src/history/read-history.ts'
import type { Path } from '../../src/paths/logical-path.ts'

const a = 'a.ts' as Path
const b = 'b.ts' as Path
const lines = (start: number, end: number, total: number) => ({ start, end, total })

describe('the read ledger', () => {
  it('has seen a version whole when its ranges cover every line', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 30 }),
        fc.array(fc.tuple(fc.integer({ min: -2, max: 35 }), fc.integer({ min: -2, max: 35 })), { maxLength: 12 }),
        (total, ranges) => {
          const ledger = createReadHistory()
          const seen = new Set<number>()
          for (const [start, end] of ranges) {
            ledger.note({ path: a, sha256: 'v', lines: lines(start, end, total) })
            for (let line = Math.max(1, start); line <= Math.min(end, total); line++) seen.add(line)
            expect(ledger.hasReadWhole(a, 'v')).toBe(seen.size === total)
            expect(ledger.saw(a, 'v')).toBe(true)
          }
          if (ranges.length === 0) expect(ledger.saw(a, 'v')).toBe(false)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('does not mix versions, paths or runs', () => {
    const ledger = createReadHistory()
    ledger.note({ path: a, sha256: 'v1', lines: lines(1, 5, 10) })
    ledger.note({ path: a, sha256: 'v2', lines: lines(6, 10, 10) })
    expect([ledger.hasReadWhole(a, 'v1'), ledger.hasReadWhole(a, 'v2')]).toEqual([false, false])
    ledger.note({ path: a, sha256: 'v1', lines: 'all' })
    expect([ledger.hasReadWhole(a, 'v1'), ledger.hasReadWhole(b, 'v1'), ledger.saw(b, 'v1')]).toEqual([
      true,
      false,
      false,
    ])
    expect(createReadHistory().saw(a, 'v1')).toBe(false)
  })

  it('counts what the run wrote whole, and what it made of a whole', () => {
    const ledger = createReadHistory()
    ledger.wrote(a, 'v1')
    expect(ledger.hasReadWhole(a, 'v1')).toBe(true)
    ledger.wrote(a, 'v2', 'v1')
    expect(ledger.hasReadWhole(a, 'v2')).toBe(true)
    ledger.note({ path: b, sha256: 'w1', lines: lines(1, 5, 10) })
    ledger.wrote(b, 'w2', 'w1')
    expect([ledger.saw(b, 'w2'), ledger.hasReadWhole(b, 'w2')]).toEqual([true, false])
    ledger.note({ path: b, sha256: 'w2', lines: 'all' })
    ledger.wrote(b, 'w2', 'unknown')
    expect(ledger.hasReadWhole(b, 'w2')).toBe(true)
  })

  it('follows a move', () => {
    const ledger = createReadHistory()
    ledger.note({ path: a, sha256: 'v', lines: lines(1, 5, 10) })
    ledger.carried(a, b, 'v')
    ledger.note({ path: b, sha256: 'v', lines: lines(6, 10, 10) })
    expect([ledger.hasReadWhole(b, 'v'), ledger.hasReadWhole(a, 'v')]).toEqual([true, false])
    ledger.carried(a, b, 'v')
    expect(ledger.hasReadWhole(b, 'v')).toBe(true)
    ledger.carried(a, b, 'never seen')
    expect(ledger.saw(b, 'never seen')).toBe(false)
  })

  it('is bounded for each path, and takes any name', () => {
    const ledger = createReadHistory()
    const odd = '__proto__' as Path
    for (let i = 0; i < 1000; i++) ledger.wrote(odd, `v${i}`)
    expect(ledger.versions().length).toBe(64)
    expect(ledger.hasReadWhole(odd, 'v999')).toBe(true)
    expect(ledger.saw(odd, 'v0')).toBe(false)
    expect(ledger.versions().at(-1)).toEqual({ path: odd, sha256: 'v999', whole: true })
  })
})
