import { expect, it } from 'vitest'
import { memoryByteStore } from '../../playground/projects/byte-store.ts'
import { openArchive } from '../../playground/session/archive.ts'

it('a first save that was interrupted counts as not saved', async () => {
  const kept = memoryByteStore(new Map([['conversation', new Uint8Array()]]))
  expect(await kept.load('conversation')).toBeUndefined()
  await kept.save('conversation', { said: 'hello' })
  expect(await kept.load('conversation')).toEqual({ said: 'hello' })
})

it.each([true, false])(
  'a copy has the conversations that are not open (removed by the browser: %s)',
  async (isRemoved) => {
    const bytes = new Map<string, Uint8Array>()
    const archive = await openArchive({ kept: memoryByteStore(bytes) })
    const conversation = { items: [{ kind: 'person', text: 'Hello' }], pick: { kind: 'builtin' } } as const
    await archive.put({ ...conversation, messages: undefined })
    const [{ id } = { id: '' }] = archive.all.value
    if (isRemoved) bytes.clear()
    const kept = memoryByteStore()
    await archive.copyTo(kept)
    const copy = await openArchive({ kept })
    expect(copy.all.value).toEqual([{ id, title: 'Hello' }])
    expect(await copy.swap(undefined, id)).toEqual(conversation)
  },
)
