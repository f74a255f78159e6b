import { describe, expect, it } from 'vitest'
import { type OpfsOptions, opfs } from '../../../src/backends/opfs.ts'
import { backendContract, registerContract } from '../../../src/testing/index.ts'

let count = 0
const fresh = (): string => {
  count += 1
  return `test-${Date.now().toString(36)}-${count}`
}

function packed(options: OpfsOptions) {
  return async () => {
    const name = fresh()
    const open = () => opfs({ ...options, name, persist: false })
    return { backend: await open(), reopen: open, dispose: () => removeWorkspace(name) }
  }
}

registerContract('OPFS packed, from the page over a worker', backendContract({ name: 'packed', create: packed({}) }), {
  describe,
  it,
})

registerContract('OPFS packed, on the page', backendContract({ name: 'packed', create: packed({ access: 'async' }) }), {
  describe,
  it,
})

describe('opfs', () => {
  it('tells where it stores, and how much room there is', async () => {
    const name = fresh()
    const backend = await opfs({ name })
    const info = await backend.info()
    expect(info).toMatchObject({ layout: 'packed', access: 'sync', inWorker: true, warnings: [] })
    expect(typeof info.persisted).toBe('boolean')
    expect(info.quota).toBeGreaterThan(info.usage as number)
    await backend.close()
    await removeWorkspace(name)
  })
})

async function removeWorkspace(name: string): Promise<void> {
  const all = await (await navigator.storage.getDirectory()).getDirectoryHandle('wardspace')
  await all.removeEntry(name, { recursive: true })
}
