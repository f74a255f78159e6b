import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { guestSourceFile, guestSourceModule } from './guest-bundle.ts'

it('guest-source.ts is the current bundle of guest/*.js (written by `npm run build:guest`)', async () => {
  expect(readFileSync(guestSourceFile, 'utf8') === (await guestSourceModule())).toBe(true)
})
