import { expect, it } from 'vitest'
import { keptInMemory } from '../../playground/projects/kept.ts'

it('what a page began to save for the first time, and never wrote, was not kept', async () => {
  const kept = keptInMemory(new Map([['conversation', new Uint8Array()]]))
  expect(await kept.load('conversation')).toBeUndefined()
  await kept.save('conversation', { said: 'hello' })
  expect(await kept.load('conversation')).toEqual({ said: 'hello' })
})
