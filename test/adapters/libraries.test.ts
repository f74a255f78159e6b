import { expect, it } from 'vitest'
import { libraryRows } from './library-rows.ts'
import { runLibrary } from './run-library.ts'

it('TypeScript compiles a project and serves an editor on wardspace/fs', async () => {
  const row = libraryRows.find(({ name }) => name === 'TypeScript')
  const load = async () => (await import('@typescript/typescript6')).default
  expect(row && (await runLibrary(row, 'memory', load))).toEqual({ passed: 2, failed: [], leftOut: [] })
})
