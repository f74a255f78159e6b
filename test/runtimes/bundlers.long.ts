import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GeneratedBlock, markdownTable } from '../docs/generated-block.ts'
import { expectedOfPage, expectedOfServer, expectedOfWorker, MISSING } from './bundler-programs.ts'
import { type Bundler, type BundlerProjects, bundlers, installBundlers, versions } from './bundlers.ts'

const PAGE = join(import.meta.dirname, '../../docs/guide/browser.md')
const features = Object.keys(expectedOfPage)
const expectedOf: Readonly<Record<Bundler['platform'], Readonly<Record<string, string>>>> = {
  Chromium: expectedOfPage,
  Node: expectedOfServer,
  workerd: expectedOfWorker,
  'edge runtime': expectedOfWorker,
}
const block = new GeneratedBlock('bundlers', 'MATRIX=write npm run matrix:bundlers')

/**
 * `npm run matrix:bundlers`: installs the packed package and each bundler of the guides, follows the guides, and prints the matrix. With
 * `MATRIX=write` it also writes the matrix into the guide.
 */
describe('the packed package, built by the commands of the guides', () => {
  let projects: BundlerProjects
  const rows: string[][] = []
  const seconds: string[] = []
  beforeAll(() => {
    projects = installBundlers()
  }, 600_000)
  afterAll(() => projects.remove())

  it.each(bundlers.map((one) => [one.name, one.platform, one] as const))(
    '%s: every feature works in %s',
    async (...row) => {
      const [, , bundler] = row
      const start = performance.now()
      const results = await projects.resultsOf(bundler)
      const expected = expectedOf[bundler.platform]
      const cells = features.map((feature) => {
        if (expected[feature] === undefined || expected[feature] === MISSING) return '–'
        return (results as Record<string, unknown>)[feature] === expected[feature] ? 'yes' : '**no**'
      })
      rows.push([bundler.name, versions[bundler.package] ?? '', bundler.platform, ...cells])
      seconds.push(`${bundler.name} ${((performance.now() - start) / 1000).toFixed(1)} s`)
      expect(results).toEqual(expected)
    },
  )

  it('the guide shows the matrix', () => {
    const table = markdownTable([['bundler', 'version', 'opened in', ...features], ...rows])
    console.log(`${table}\n\n${seconds.join(', ')}`)
    if (rows.length < bundlers.length) return
    expect(table).not.toContain('**no**')
    const page = readFileSync(PAGE, 'utf8')
    if (process.env.MATRIX === 'write') writeFileSync(PAGE, block.replace(page, table))
    else expect(block.read(page)).toBe(table)
  })
})
