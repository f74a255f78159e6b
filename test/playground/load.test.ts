import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Playground, startPlayground } from './open.ts'

let playground: Playground

beforeAll(async () => {
  playground = await startPlayground()
}, 240_000)

afterAll(() => playground?.close())

it('loads isolated from other origins, and breaks none of its own rules', async () => {
  const page = await playground.open()
  expect(await page.title()).toBe('Wardspace playground')
  expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true)
  await page.context().close()
})
