import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { libraryRows } from './library-rows.ts'
import { storages } from './library-storages.ts'
import { libraryBlock, libraryPage, libraryTable } from './library-table.ts'
import { countOf, runLibrary } from './run-library.ts'

it('TypeScript compiles a project and serves an editor on wardspace/fs', async () => {
  const row = libraryRows.find(({ name }) => name === 'TypeScript')
  const load = async () => (await import('@typescript/typescript6')).default
  expect(row && (await runLibrary(row, storages.memory, { load }))).toEqual({ passed: 3, failed: [], leftOut: [] })
})

it('the page has the number of cases of each library', () => {
  const names = ['memory', 'node', 'OPFS packed', 'OPFS files']
  const table = libraryTable(libraryRows, names, (row, storage) => countOf(row, storage === 'memory'))
  expect(libraryBlock.read(readFileSync(libraryPage, 'utf8'))).toBe(table)
})
