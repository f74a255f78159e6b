import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createReadHistory } from '../../src/history/read-history.ts'
import type { Path } from '../../src/paths/logical-path.ts'

const a = 'a.ts' as Path
const b = 'b.ts' as Path
const lines = (start: number, end: number, total: number) => ({ start, end, total })

describe('read history', () => {
  it('marks a version as fully read once its ranges cover every line', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 30 }),
        fc.array(fc.tuple(fc.integer({ min: -2, max: 35 }), fc.integer({ min: -2, max: 35 })), { maxLength: 12 }),
        (total, ranges) => {
          const history = createReadHistory()
          const values = new Set<number>()
          for (const [start, end] of ranges) {
            history.noteVersion({ path: a, sha256: 'v', lines: lines(start, end, total) })
            for (let line = Math.max(1, start); line <= Math.min(end, total); line++) values.add(line)
            expect(history.hasReadWhole(a, 'v')).toBe(values.size === total)
          }
          if (ranges.length === 0) expect(history.hasReadWhole(a, 'v')).toBe(false)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('keeps versions, paths and runs apart', () => {
    const history = createReadHistory()
    history.noteVersion({ path: a, sha256: 'v1', lines: lines(1, 5, 10) })
    history.noteVersion({ path: a, sha256: 'v2', lines: lines(6, 10, 10) })
    expect([history.hasReadWhole(a, 'v1'), history.hasReadWhole(a, 'v2')]).toEqual([false, false])
    history.noteVersion({ path: a, sha256: 'v1', lines: 'all' })
    expect([history.hasReadWhole(a, 'v1'), history.hasReadWhole(b, 'v1')]).toEqual([true, false])
    expect([history.latestVersion(a), history.latestVersion(b)]).toEqual(['v1', undefined])
    expect(createReadHistory().hasReadWhole(a, 'v1')).toBe(false)
  })

  it('keeps the latest 64 versions of a path, for any path name', () => {
    const history = createReadHistory()
    const odd = '__proto__' as Path
    for (let i = 0; i < 1000; i++) history.noteVersion({ path: odd, sha256: `v${i}`, lines: 'all' })
    const remembered = Array.from({ length: 1000 }, (_, i) => `v${i}`).filter((v) => history.hasReadWhole(odd, v))
    expect(remembered.length).toBe(64)
    expect(remembered.at(-1)).toBe('v999')
    expect(history.latestVersion(odd)).toBe('v999')
    history.noteVersion({ path: odd, sha256: 'v990', lines: lines(1, 1, 2) })
    expect(history.latestVersion(odd)).toBe('v990')
  })
})
