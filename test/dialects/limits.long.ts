import { describe, expect, it } from 'vitest'
import { dialects } from '../../src/dialects/index.ts'
import { ignoredLimits, limitNames } from './limit-checks.ts'

describe('a limit that a workspace sets', () => {
  let effective = 0

  it.each(Object.entries(dialects).map(([name, create]) => [name, create()] as const))(
    'applies in %s where it applies to the tools of the workspace, for every limit',
    async (name, dialect) => {
      const result = await ignoredLimits(name, dialect, limitNames)
      expect(result.ignored).toEqual([])
      effective += result.effective
    },
  )

  it('is counted', () => {
    console.log(`calls of dialects that ${limitNames.length} limits change: ${effective}`)
    expect(effective).toBeGreaterThan(400)
  })
})
