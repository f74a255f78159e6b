import { expect, it } from 'vitest'
import { memoryByteStore } from '../../playground/projects/byte-store.ts'

it('a first save that was interrupted counts as not saved', async () => {
  const kept = memoryByteStore(new Map([['conversation', new Uint8Array()]]))
  expect(await kept.load('conversation')).toBeUndefined()
  await kept.save('conversation', { said: 'hello' })
  expect(await kept.load('conversation')).toEqual({ said: 'hello' })
})
