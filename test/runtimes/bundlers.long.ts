import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { markdownTable } from '../docs/generated-block.ts'
import { expectedOfPage, expectedOfWorker } from './bundler-programs.ts'
import { type BundlerProjects, bundlers, installBundlers } from './bundlers.ts'

/** `npm run matrix:bundlers`: installs the packed package and each bundler of the guides, and follows the guides. */
describe('the packed package, built by the commands of the guides', () => {
  let projects: BundlerProjects
  const rows: string[][] = []
  beforeAll(() => {
    projects = installBundlers()
  }, 600_000)
  afterAll(() => {
    projects.remove()
    console.log(markdownTable([['bundler', 'opened in', ...Object.keys(expectedOfPage)], ...rows]))
  })

  it.each(bundlers.map((one) => [one.name, one.platform, one] as const))(
    '%s: every feature works in %s',
    async (...row) => {
      const [, , bundler] = row
      const results = await projects.resultsOf(bundler)
      const expected: Readonly<Record<string, string>> =
        bundler.platform === 'Chromium' ? expectedOfPage : expectedOfWorker
      const cells = Object.keys(expectedOfPage).map((feature) => {
        if (expected[feature] === undefined) return '–'
        return (results as Record<string, unknown>)[feature] === expected[feature] ? 'yes' : '**no**'
      })
      rows.push([bundler.name, bundler.platform, ...cells])
      expect(results).toEqual(expected)
    },
  )
})
