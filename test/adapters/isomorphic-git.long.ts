import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumArgs, chromiumPath } from '../runtimes/chromium.ts'
import { prepareSuite, runSuite, type SuiteResult } from './isomorphic-git-suite.ts'
import { type StorageName, storages } from './library-storages.ts'

/**
 * The own tests of isomorphic-git. They are not published as a package: the variable has a directory with a clone of
 * github.com/isomorphic-git/isomorphic-git.
 */
const clone = join(process.env.WARDSPACE_SUITES ?? '', 'isomorphic-git')
const isThere = process.env.WARDSPACE_SUITES !== undefined && existsSync(join(clone, '__tests__'))

/** Why cases fail, by the message or the name. What matches nothing here is a failure of ours. */
const leftOut: readonly (readonly [reason: string, pattern: RegExp])[] = [
  [
    'need a server',
    /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|packfile is empty|errors if missing refspec|--prune-tags|onAuth \+ cancel/,
  ],
  ['plant links that lead out of the workspace', /symlink-leading-path/],
  ['want the permission bits that the umask of their own run gives', /file permissions/],
  ['replace modules of their own runner', /server-only\.test-httpClient/],
  ['want the version of the built package', /test-version/],
]

/** In a page, every request to a server fails in one way, and the cases that look at the failure fail in theirs. */
const leftOutInPage: typeof leftOut = [
  ['need a server', /Failed to fetch|dumb" HTTP|pull fast-forward only|onAuthFailure|http plugin for Node/],
  ...leftOut,
]

/** The layout has no links. */
const leftOutInFiles: typeof leftOut = [
  ['have links in their files, which the layout does not have', /this storage has no links/],
  ...leftOutInPage,
]

const home = mkdtempSync(join(tmpdir(), 'wardspace-isomorphic-git-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

// Without the clone there is nothing to run: the repository is too large to be fetched by a test.
describe.skipIf(!isThere)('the own tests of isomorphic-git on wardspace/fs', () => {
  beforeAll(() => prepareSuite(clone, home), 600_000)

  function check(storage: string, { passed, failed, skipped }: SuiteResult, reasons: typeof leftOut): void {
    const reasonOf = ({ name, message }: (typeof failed)[number]) =>
      reasons.find(([, pattern]) => pattern.test(`${name}\n${message}`))?.[0]
    const counts = new Map<string, number>()
    for (const one of failed) {
      const reason = reasonOf(one)
      if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1)
    }
    console.log(`isomorphic-git on ${storage}: ${passed} passed, ${skipped} skipped by the suite`, counts)
    expect(failed.filter((one) => reasonOf(one) === undefined)).toEqual([])
    expect(passed).toBeGreaterThan(550)
  }

  it.each(Object.keys(storages) as StorageName[])(
    'pass on %s, but for those that are left out',
    (storage) => check(storage, runSuite(home, storage), leftOut),
    3_600_000,
  )

  it.each([
    ['OPFS packed', leftOutInPage],
    ['OPFS files', leftOutInFiles],
  ] as const)(
    'pass on %s in Chromium, but for those that are left out',
    async (storage, reasons) => {
      const browser = { path: await chromiumPath(), args: chromiumArgs }
      check(storage, runSuite(home, storage, browser), reasons)
    },
    3_600_000,
  )
})
