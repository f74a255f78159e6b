import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { libraryRows } from './library-rows.ts'
import { runLibrary, type StorageName, storages } from './run-library.ts'

const home = mkdtempSync(join(tmpdir(), 'wardspace-libraries-'))
const table: string[] = []

beforeAll(() => {
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  const packages = libraryRows.flatMap((row) =>
    Object.entries(row.packages).map(([name, version]) => `${name}@${version}`),
  )
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
    cwd: home,
  })
}, 600_000)
afterAll(() => {
  rmSync(home, { recursive: true, force: true })
  process.stdout.write(
    `\n| library | storage | passed | failed | left out |\n| --- | --- | --- | --- | --- |\n${table.join('\n')}\n`,
  )
})

const require = createRequire(join(home, 'package.json'))

describe.each(libraryRows)('$name on wardspace/fs', (row) => {
  it.each(Object.keys(storages) as StorageName[])('%s', async (storage) => {
    const load = (name: string) => import(pathToFileURL(require.resolve(name)).href)
    const { passed, failed, leftOut } = await runLibrary(row, storage, load)
    table.push(`| ${row.name} | ${storage} | ${passed} | ${failed.length} | ${leftOut.length} |`)
    expect(failed).toEqual([])
    expect(passed + leftOut.length).toBe(Object.keys(row.cases).length)
  })
})
