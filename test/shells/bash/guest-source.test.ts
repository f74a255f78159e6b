import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { guestSourceFile, guestSourceModule } from './guest-bundle.ts'

it('guest-source.ts holds the bundle of guest/*.js: run `npm run build:guest` if this fails', async () => {
  expect(readFileSync(guestSourceFile, 'utf8') === (await guestSourceModule())).toBe(true)
})
