import { describe, expect, it } from 'vitest'
import { checkSafetyFields, checkUnknownFields, openedDialects } from './safety-checks.ts'

/** Cases of all dialects: calls × safety fields × values × spellings, and tools × unknown fields. */
const total = { effective: 0, refused: 0, unknown: 0 }

describe.each(openedDialects)('$name, all of its tools', (opened) => {
  it('applies every safety field, in both spellings, or refuses it before any effect', async () => {
    const { effective, refused } = await checkSafetyFields(opened)
    total.effective += effective
    total.refused += refused
  })

  it('refuses any other field, and names it', async () => {
    total.unknown += await checkUnknownFields(opened)
  })
})

describe('the fields of all dialects', () => {
  it('are counted', () => {
    console.log(
      `safety fields: ${total.effective} with effect, ${total.refused} refused; unknown fields refused: ${total.unknown}`,
    )
    expect(total.effective).toBeGreaterThanOrEqual(720)
    expect(total.refused).toBeGreaterThanOrEqual(300)
    expect(total.unknown).toBeGreaterThanOrEqual(6800)
  })
})
