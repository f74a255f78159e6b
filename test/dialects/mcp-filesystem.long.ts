import { expect, it } from 'vitest'
import recorded from './fixtures/mcp-filesystem.json' with { type: 'json' }
import { cases } from './mcp-filesystem-cases.ts'
import { compareCase, shortened } from './mcp-filesystem-compare.ts'
import { askReference, overCommandLine } from './reference-server.ts'

it('the installed reference server returns the recorded answers, and so does `wardspace mcp`', async () => {
  const fresh = shortened(await askReference(cases))
  expect(withoutTimes(fresh)).toEqual(withoutTimes(recorded))
  for (const one of cases) await compareCase(one, fresh, overCommandLine)
})

function withoutTimes(value: unknown): unknown {
  const text = JSON.stringify(value).replace(/(created|modified|accessed): [^\\]+/g, '$1: …')
  return JSON.parse(text.replaceAll(/"size: 4096/g, '"size: …'), (key, part) =>
    // A disk lists names in any order.
    (key === 'text' || key === 'content') && typeof part === 'string' ? [...part].sort().join('') : part,
  )
}
