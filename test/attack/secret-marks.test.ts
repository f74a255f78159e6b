import { describe, expect, it } from 'vitest'
import { times } from '../counts.ts'
import { hiddenCases, layouts, revealed, ways } from './secret-marks.ts'

const names = Object.keys(ways)
const layoutNames = Object.keys(layouts)

/** Secrets in a layout, so that neighbours differ in both. */
const files = hiddenCases.map((hidden, index) => ({
  hidden,
  layout: layoutNames[index % layoutNames.length] as string,
}))

/** Each way with a few of the files. */
const cases = names.flatMap((name, way) =>
  Array.from({ length: times(1, 50) }, (_, turn) => ({
    name,
    ...(files[(way * 37 + turn * 3) % files.length] as (typeof files)[number]),
  })),
)

describe('a hidden secret', () => {
  it(`does not show after any of ${cases.length} changes of its file`, async () => {
    const leaks: string[] = []
    for (const { name, hidden, layout } of cases) {
      const pieces = await revealed(hidden, layout, ways[name] as (typeof ways)[string])
      if (pieces.length > 0)
        leaks.push(`${hidden.kind} (${hidden.before}${hidden.secret.slice(0, 8)}…), ${layout}: ${name}`)
    }
    expect(leaks).toEqual([])
  })
})
