import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Repetition } from '../../playground/agent/repetition.ts'

type Call = readonly [tool: string, input: unknown, result: unknown]

/** Makes calls in order until one is refused, and returns how many were made. */
function madeOf(calls: readonly Call[], repetition = new Repetition()): number {
  const at = calls.findIndex(([tool, input, result]) => {
    if (repetition.refuse(tool, input) !== undefined) return true
    repetition.note(tool, input, result)
    return false
  })
  expect(repetition.isFound).toBe(at !== -1)
  return at === -1 ? calls.length : at
}

const read = (path: string, content = path): Call => [
  'read_file',
  { path },
  { ok: true, content, callId: Math.random() },
]
const turns = (times: number, ...calls: readonly Call[]) => Array.from({ length: times }, () => calls).flat()

it.each([1, 2, 3, 4, 5, 6, 7, 8])('stops %i calls in turn when they begin for the third time', (period) => {
  const paths = Array.from({ length: period }, (_, at) => `${at}.txt`)
  const loop = turns(3, ...paths.map((path) => read(path)))
  expect(madeOf(loop)).toBe(2 * period)
  // What was called before does not hide the loop.
  expect(madeOf([read('x'), read('0.txt', 'old'), read('y'), ...loop])).toBe(3 + 2 * period)
})

it('names one call, or the number of those in turn', () => {
  const message = (calls: readonly Call[]) => {
    const repetition = new Repetition()
    for (const [tool, input, result] of calls) repetition.note(tool, input, result)
    return repetition.refuse('read_file', { path: 'a' })?.message
  }
  expect(message(turns(2, read('a')))).toMatch(/^The same call of read_file had the same result 2 times in a row/)
  expect(message(turns(2, read('a'), read('b')))).toMatch(/^The same 2 calls had the same results 2 times in a row/)
})

it('counts calls that reach no tool', () => {
  const repetition = new Repetition()
  for (let at = 0; at < 2; at++) {
    repetition.noteFailed('no_tool', {}, 'unknown')
    repetition.note(...read('a'))
    expect(repetition.isFound).toBe(false)
  }
  repetition.noteFailed('no_tool', {}, 'unknown')
  expect(repetition.isFound).toBe(true)
})

it('lets calls go on whose results differ, or that come in another order', () => {
  const test = (at: number): Call => ['run_command', { command: 'npm test' }, { ok: true, stdout: `run ${at}` }]
  const work = Array.from({ length: 20 }, (_, at) => [read('a'), test(at)]).flat()
  expect(madeOf(work)).toBe(work.length)
  const orders = [read('a'), read('b'), read('b'), read('a'), read('a'), read('c'), read('b'), read('a')]
  expect(madeOf(orders)).toBe(orders.length)
})

it('refuses a call exactly if it would begin a third turn of what came before it', () => {
  const calls = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 })
  fc.assert(
    fc.property(calls, (names) => {
      const isThird = (at: number) =>
        [1, 2, 3, 4, 5, 6, 7, 8].some((period) => {
          const [one, two] = [names.slice(at - 2 * period, at - period), names.slice(at - period, at)]
          return at >= 2 * period && one.join() === two.join() && names[at] === two[0]
        })
      const expected = names.findIndex((_, at) => isThird(at))
      expect(madeOf(names.map((name) => read(name)))).toBe(expected === -1 ? names.length : expected)
    }),
  )
})
