import { describe, expect, it } from 'vitest'
import type { Path } from '../../../src/paths/logical-path.ts'
import { risksOf } from '../../../src/policy/risk/index.ts'

const paths = ['a.ts', 'a.py', 'a.go', 'a.rs', 'A.java', 'a.test.ts']
const pieces = [
  ...['(', '{', '(\nexport {', '"', '`${', '/[', 'r#"', '/*', "'"],
  ...['#[cfg_attr(', '@A(', 'export const a = <', 'it . a '],
]

describe('hostile programs', () => {
  it.each(pieces.flatMap((piece) => paths.map((path) => [piece, path] as const)))(
    '%j repeated costs little in %s',
    (piece, path) => {
      const cost = (bytes: number) => {
        const text = piece.repeat(Math.floor(bytes / piece.length))
        const change = { path: path as Path, to: { type: 'file' as const, bytes: new TextEncoder().encode('x') } }
        const before = { type: 'file' as const, bytes: new TextEncoder().encode(text) }
        const times = [1, 2, 3, 4, 5].map(() => {
          const started = process.cpuUsage()
          risksOf([{ change, before }])
          const { user, system } = process.cpuUsage(started)
          return user + system
        })
        return Math.min(...times)
      }
      cost(10_000)
      // Four times as much may cost four times as much, and not sixteen.
      expect(cost(240_000) / Math.max(1000, cost(60_000))).toBeLessThan(10)
    },
  )
})
