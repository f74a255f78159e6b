import { describe, expect, it } from 'vitest'
import { counts, unknownFields } from './safety-calls.ts'
import { checkSafetyFields, checkUnknownFields, openedDialects } from './safety-checks.ts'

describe.each(openedDialects)('$name, all of its tools', (opened) => {
  it('gives every safety field its effect, in both spellings, or refuses it before anything happens', async () => {
    expect(await checkSafetyFields(opened)).toEqual(counts[opened.name])
  })

  it('refuses any other field, and names it', async () => {
    expect(await checkUnknownFields(opened)).toBe(unknownFields[opened.name])
  })
})
