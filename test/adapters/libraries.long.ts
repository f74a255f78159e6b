import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveGit } from '../git/http-server.ts'
import { git, temporary } from '../git/repositories.ts'
import { onPage } from '../runtimes/host-chromium.ts'
import { pageCalls } from '../runtimes/page-calls.ts'
import { bundleLibraries, pagePackages } from './bundle-libraries.ts'
import type { LibraryPageApi } from './library-page.ts'
import { type LibraryRow, libraryRows } from './library-rows.ts'
import { storages } from './library-storages.ts'
import type { OpfsStorageName } from './library-storages-opfs.ts'
import { libraryBlock, libraryPage, libraryTable } from './library-table.ts'
import { type LibraryResult, runLibrary } from './run-library.ts'

const home = mkdtempSync(join(tmpdir(), 'wardspace-libraries-'))
const results = new Map<string, LibraryResult>()
const inNode = Object.keys(storages) as (keyof typeof storages)[]
const inPage: readonly OpfsStorageName[] = ['OPFS packed', 'OPFS files']
const all = [...inNode, ...inPage]
let served: string
let server: Awaited<ReturnType<typeof serveGit>>

beforeAll(async () => {
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  const packages = [pagePackages, ...libraryRows.map((row) => row.packages)].flatMap((versions) =>
    Object.entries(versions).map(([name, version]) => `${name}@${version}`),
  )
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
    cwd: home,
  })
  served = temporary()
  server = await serveGit(served, {
    // A page of another origin may ask.
    instead(request, response) {
      response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*')
      if (request.method === 'OPTIONS') response.end()
      return request.method === 'OPTIONS'
    },
  })
}, 600_000)
afterAll(async () => {
  await server?.close()
  rmSync(home, { recursive: true, force: true })
  if (results.size < all.length * libraryRows.length) return
  const table = libraryTable(libraryRows, all, ({ name }, storage) => results.get(`${name} ${storage}`)?.passed ?? 0)
  process.stdout.write(`\n${table}\n`)
  if (process.env.LIBRARIES === 'write')
    writeFileSync(libraryPage, libraryBlock.replace(readFileSync(libraryPage, 'utf8'), table))
})

const require = createRequire(join(home, 'package.json'))
const load = (name: string) => import(pathToFileURL(require.resolve(name)).href)

/** Creates a repository with one commit on the server. */
function newRemote(name: string): { readonly url: string; readonly directory: string } {
  const work = join(served, `${name}-work`)
  git(served, 'init', '-q', '-b', 'main', work)
  writeFileSync(join(work, 'a.txt'), 'one\n')
  git(work, 'add', '.')
  git(work, 'commit', '-q', '-m', 'first')
  git(served, 'clone', '-q', '--bare', work, `${name}.git`)
  const directory = join(served, `${name}.git`)
  git(directory, 'config', 'http.receivepack', 'true')
  return { url: `${server.url}/${name}.git`, directory }
}

const heads = new Set<string>()

/** Checks the results, and what a library pushed. */
function check(row: LibraryRow, storage: string, result: LibraryResult, directory: string): void {
  results.set(`${row.name} ${storage}`, result)
  expect(result.failed).toEqual([])
  expect(result.passed + result.leftOut.length).toBe(Object.keys(row.cases).length)
  if (row.needsRemote === undefined) return
  git(directory, 'fsck', '--strict')
  heads.add(git(directory, 'log', '--format=%H %s', 'main'))
  expect([...heads], 'every storage has pushed the same commits').toHaveLength(1)
  expect([...heads][0]).toMatch(/^\w+ second\n\w+ first\n$/)
}

describe.each(inNode)('libraries on wardspace/fs: %s', (storage) => {
  it.each(libraryRows)('$name', async (row) => {
    const { url, directory } = newRemote(`${storage}-${libraryRows.indexOf(row)}`)
    const { default: http } = await load('isomorphic-git/http/node')
    check(row, storage, await runLibrary(row, storages[storage], { load, remote: { url, http } }), directory)
  })
})

describe('libraries on wardspace/fs in Chromium', () => {
  let files: Awaited<ReturnType<typeof bundleLibraries>>
  beforeAll(async () => {
    files = await bundleLibraries(libraryRows, home)
  })

  it.each(inPage)('%s', async (storage) => {
    const ask = pageCalls<LibraryPageApi>()
    await onPage(
      (path) => files.get(path),
      async (page) => {
        await page.waitForFunction(() => 'api' in globalThis)
        for (const row of libraryRows) {
          const { url, directory } = newRemote(`${storage.replace(' ', '-')}-${libraryRows.indexOf(row)}`)
          const result = await ask(page, 'run', row.name, storage, url)
          check(row, storage, result, directory)
        }
      },
    )
  })
})
