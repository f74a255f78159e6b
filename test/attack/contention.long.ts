import { expect, it } from 'vitest'
import { contend } from './contention.ts'

it('5,000 rounds of 16 processes have exactly one winner each', async () => {
  expect(await contend(16, 5000)).toMatchObject({ rounds: 5000, wrong: [], strays: [] })
})

it('1,000 rounds with a killed holder have exactly one winner each', async () => {
  expect(await contend(16, 1000, { kill: true })).toMatchObject({ rounds: 1000, wrong: [], strays: [] })
})
