import { GeneratedBlock, markdownTable } from '../docs/generated-block.ts'
import type { LibraryRow } from './library-rows.ts'

/** The page with the counts. */
export const libraryPage = 'docs/guide/git.md'

/** The counts of the page. */
export const libraryBlock = new GeneratedBlock('libraries', 'LIBRARIES=write npm run test:libraries')

/** Returns the numbers of cases that pass as a Markdown table, by row and storage. */
export function libraryTable(
  rows: readonly LibraryRow[],
  storages: readonly string[],
  passed: (row: LibraryRow, storage: string) => number,
): string {
  const lines = rows.map((row) => [
    row.name,
    Object.keys(row.cases).join('; '),
    ...storages.map((storage) => `${passed(row, storage)} of ${Object.keys(row.cases).length}`),
  ])
  return markdownTable([['library', 'cases', ...storages], ...lines])
}
