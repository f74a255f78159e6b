import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { pythonHarness } from '../../src/dialects/python-harness/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { isLong } from '../counts.ts'
import { ignoredLimits, ignoredSearchTimeouts, softLimits } from './limit-checks.ts'

describe('a limit that a workspace sets', () => {
  let effective = 0

  it.each(Object.entries(dialects).map(([name, create]) => [name, create()] as const))(
    'applies in %s where it applies to the tools of the workspace, for a sample of the calls',
    async (name, dialect) => {
      const result = await ignoredLimits(name, dialect, softLimits, { sample: true })
      expect(result.ignored).toEqual([])
      effective += result.effective
    },
  )

  it.runIf(isLong)('applies to the time of every search of every dialect', async () => {
    let searches = 0
    for (const [name, create] of Object.entries(dialects)) {
      const { effective: count, ignored } = await ignoredSearchTimeouts(name, create())
      expect(ignored, name).toEqual([])
      searches += count
    }
    expect(searches).toBeGreaterThanOrEqual(10)
  })

  it('is counted', () => {
    console.log(`calls of dialects that ${softLimits.length} limits change: ${effective}`)
    expect(effective).toBeGreaterThan(45)
  })
})

describe('the default of a field of a dialect', () => {
  it('is the limit that the workspace sets, in the listed schema too', async () => {
    const workspace = await createWorkspace({
      backend: memory({ 'a.txt': Array.from({ length: 50 }, (_, index) => `line ${index}\n`).join('') }),
      policy: 'autonomous',
      dialect: pythonHarness(),
      limits: { readLines: 10, searchMatches: 3 },
    })
    const shown = async (input: object) => {
      const { output } = await workspace.call('read_file', { path: 'a.txt', ...input })
      return String((output as { output: string }).output).match(/line \d+/g)?.length
    }
    expect(await shown({})).toBe(10)
    expect(await shown({ limit: null })).toBe(10)
    expect(await shown({ limit: 20 })).toBe(20)
    expect(await shown({ start_line: 11, end_line: 40 })).toBe(30)
    const search = workspace.tools.find(({ name }) => name === 'search_files')
    expect(search?.inputSchema.parse({ pattern: 'x' })).toMatchObject({ max_results: 3 })
  })
})
