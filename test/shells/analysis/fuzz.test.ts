import { expect, it } from 'vitest'
import { times } from '../../counts.ts'
import { fuzz, fuzzInterpreter } from './fuzz.ts'
import { fuzzScripts } from './scripts.ts'

it('analyzeCommand(): allows no generated line that starts a forbidden program in bash or dash', {
  timeout: 120_000,
}, async () => {
  const result = await fuzz(times(150, 600), 20_261_121, times(15, 60))
  expect(result.escaped).toEqual([])
  expect(result.passed).toBeGreaterThan(times(15, 60))
  expect(result.startedHarmless).toBeGreaterThan(times(2, 8))
  // Many refused lines do start a forbidden program, so the generator and the record work.
  expect(result.wouldHaveStarted).toBeGreaterThan(result.sampled / 5)
})

it('analyzeCommand(): allows no generated line that starts a forbidden program in the interpreter of bash()', async () => {
  const result = await fuzzInterpreter(times(250, 500), 20_261_123, times(20, 40))
  expect(result.escaped).toEqual([])
  expect(result.passed).toBeGreaterThan(times(20, 40))
  expect(result.startedHarmless).toBeGreaterThan(times(0, 4))
  expect(result.wouldHaveStarted).toBeGreaterThan(result.sampled / 5)
})

it('judgeScripts(): allows no generated script that starts a forbidden program in bash or dash', {
  timeout: 120_000,
}, () => {
  const result = fuzzScripts(times(50, 80), 3)
  expect(result.escaped).toEqual([])
  expect(result.allowed).toBeGreaterThan(times(5, 10))
  expect(result.wouldPush).toBeGreaterThan(times(1, 3))
})
