import { afterAll, describe, expect, it } from 'vitest'
import { part, times } from '../../counts.ts'
import { BombRunner } from './bomb-runner.ts'
import { bombs } from './bombs.ts'

/** Bombs that still do harm, with the reason. */
const knownBombs: ReadonlyMap<string, string> = new Map([])

/** Bombs of different kinds, which also run in the short test. */
const always = [
  "awk 'BEGIN{NF=1000000000;print $0}'",
  "echo a | sed ':a;s/a/aa/g;ba'",
  'node -e "for (;;);"',
  'grep -r b . > out',
]

const step = times(400, 1)
const selected = part(
  bombs.filter(
    ({ kind, line }, i) =>
      i % step === 0 || (always.includes(line) && !/^output of (a largest file|three files|one line)$/.test(kind)),
  ),
)
// A line that runs until its time limit costs that time.
const runner = new BombRunner(times(1000, 2000))
afterAll(() => runner.close())

describe('a bomb in bash()', () => {
  it('is one of at least 150 different lines', () => {
    expect(new Set(bombs.map(({ kind, line }) => `${kind} ${line}`)).size).toBe(bombs.length)
    expect(bombs.length).toBeGreaterThanOrEqual(150)
    for (const line of [...knownBombs.keys(), ...always]) expect(bombs.map((bomb) => bomb.line)).toContain(line)
  })

  // A loaded machine may suspend a program for a second. A real effect of a bomb occurs again.
  it.each(selected.map((bomb) => [bomb.kind, bomb.line.slice(0, 100), bomb] as const))(
    'does not harm the program that runs it: %s: %s',
    { retry: 1 },
    async (_, __, bomb) => {
      const { harm } = await runner.run(bomb)
      if (!knownBombs.has(bomb.line)) expect(harm).toEqual([])
    },
  )
})
