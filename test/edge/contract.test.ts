import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CaseResult } from './worker.ts'
import { startWorker, subjectBindings } from './workerd.ts'

let workerd: Miniflare

beforeAll(async () => {
  workerd = await startWorker('worker.ts', subjectBindings)
})
afterAll(() => workerd.dispose())

async function get(path: string): Promise<unknown> {
  const response = await workerd.dispatchFetch(`http://edge${path}`)
  expect(response.status).toBe(200)
  return response.json()
}

describe('in workerd', () => {
  it('nothing of Node is there', async () => {
    expect(await get('/runtime')).toEqual({ process: 'undefined', agent: 'Cloudflare-Workers' })
  })

  for (const backend of ['durable-object', 'object-store']) {
    it(`${backend} keeps the contract`, async () => {
      const results = (await get(`/contract/${backend}`)) as CaseResult[]
      expect(results.filter(({ error }) => error !== undefined)).toEqual([])
      const skipped = results.filter(({ skipped }) => skipped !== undefined)
      for (const { skipped: reason } of skipped)
        expect(reason).toMatch(/^the backend (offers no (tree|fork)|has links)$/)
      expect(results.length - skipped.length).toBeGreaterThanOrEqual(104)
    })
  }
})
