import { expect, it } from 'vitest'
import { fuzz, fuzzInterpreter } from './fuzz.ts'
import { fuzzScripts } from './scripts.ts'

it('analyzeCommand(): allows no line that starts a forbidden program, of 100,000 generated ones', {
  timeout: 7_200_000,
}, async () => {
  const count = Number(process.env.FUZZ_LINES ?? 100_000)
  const result = await fuzz(count, Number(process.env.FUZZ_SEED ?? 1), 1000)
  console.log(JSON.stringify({ ...result, escaped: result.escaped.length }))
  expect(result.escaped).toEqual([])
  expect(result.wouldHaveStarted).toBeGreaterThan(result.sampled / 5)
})

it('analyzeCommand(): allows no such line in the interpreter of bash(), of 100,000 generated ones', {
  timeout: 7_200_000,
}, async () => {
  const count = Number(process.env.FUZZ_LINES ?? 100_000)
  const result = await fuzzInterpreter(count, Number(process.env.FUZZ_SEED ?? 2), 1000)
  console.log(JSON.stringify({ ...result, escaped: result.escaped.length }))
  expect(result.escaped).toEqual([])
  expect(result.wouldHaveStarted).toBeGreaterThan(result.sampled / 5)
})

it('judgeScripts(): allows no script that starts a forbidden program, of 20,000 generated ones', {
  timeout: 7_200_000,
}, () => {
  const result = fuzzScripts(Number(process.env.FUZZ_SCRIPTS ?? 20_000), Number(process.env.FUZZ_SEED ?? 3), 1000)
  console.log(JSON.stringify({ ...result, escaped: result.escaped.length }))
  expect(result.escaped).toEqual([])
  expect(result.wouldPush).toBeGreaterThan(100)
})
