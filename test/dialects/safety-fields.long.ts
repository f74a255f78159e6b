import { describe, expect, it } from 'vitest'
import { checkSafetyFields, checkUnknownFields, openedDialects, silentValues } from './safety-checks.ts'

/** Cases of all dialects: calls × safety fields × values × spellings, and tools × unknown fields. */
const total = { effective: 0, refused: 0, unknown: 0, values: 0, lists: 0 }

describe.each(openedDialects)('$name, all of its tools', (opened) => {
  it('applies every safety field, in both spellings, or refuses it before any effect', async () => {
    const { effective, refused } = await checkSafetyFields(opened)
    total.effective += effective
    total.refused += refused
  })

  it('refuses any other field, and names it', async () => {
    total.unknown += await checkUnknownFields(opened)
  })

  it('ignores no value of a field, and lists its own fields', async () => {
    const { effective, refused, lists, silent, wrongHints } = await silentValues(opened)
    expect({ silent, wrongHints }).toEqual({ silent: [], wrongHints: [] })
    total.values += effective + refused
    total.lists += lists
  })
})

describe('the fields of all dialects', () => {
  it('are counted', () => {
    console.log(
      `safety fields: ${total.effective} with effect, ${total.refused} refused; unknown fields refused: ${total.unknown}; values of fields: ${total.values}, lists of fields: ${total.lists}`,
    )
    expect(total.effective).toBeGreaterThanOrEqual(720)
    expect(total.refused).toBeGreaterThanOrEqual(300)
    expect(total.unknown).toBeGreaterThanOrEqual(6800)
    expect(total.values).toBeGreaterThanOrEqual(15_000)
    expect(total.lists).toBeGreaterThanOrEqual(10_000)
  })
})
