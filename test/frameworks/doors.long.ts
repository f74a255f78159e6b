import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packedTarball } from '../runtimes/packed.ts'
import { doorRows } from './door-rows.ts'
import { install, typeErrors } from './install-row.ts'
import { type DoorCells, doorColumns, doorPage, runDoor } from './run-door.ts'
import { blockOf, formatMatrix } from './run-row.ts'

const home = mkdtempSync(join(tmpdir(), 'wardspace-doors-'))
const matrix = new Map<string, DoorCells>()
let tarball: string

beforeAll(() => {
  tarball = packedTarball()
}, 300_000)
afterAll(() => {
  rmSync(home, { recursive: true, force: true })
  process.stdout.write(`\n${formatMatrix(matrix, doorColumns)}\n`)
})

describe('the lines of docs/guide/sandboxes.md with the published packages', () => {
  it.each(doorRows)('$name: every cell of the table', async (row) => {
    const project = install(row, tarball, home)
    expect(typeErrors(blockOf(row, doorPage).code, project)).toBe('')
    const cells = await runDoor(row, project)
    matrix.set(row.name, cells)
    expect(Object.entries(cells).filter(([, cell]) => cell !== 'yes' && cell !== '–')).toEqual([])
    rmSync(project.directory, { recursive: true, force: true })
  })
})
