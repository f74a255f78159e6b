import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packedTarball } from '../runtimes/packed.ts'
import { install, typeErrors } from './install-row.ts'
import { rows } from './rows.ts'
import { blockOf, type Cells, columns, formatMatrix, runRow } from './run-row.ts'

const home = mkdtempSync(join(tmpdir(), 'wardspace-frameworks-'))
const matrix = new Map<string, Cells>()
let tarball: string

beforeAll(() => {
  tarball = packedTarball()
}, 300_000)
afterAll(() => {
  rmSync(home, { recursive: true, force: true })
  process.stdout.write(`\n${formatMatrix(matrix, columns)}\n`)
})

describe('the lines of docs/guide/models.md with the published packages', () => {
  it.each(rows)('$name: list, call, refuse, approve', async (row) => {
    const project = install(row, tarball, home)
    if (row.kind === 'model' || row.kind === 'client') expect(typeErrors(blockOf(row).code, project)).toBe('')
    const cells = await runRow(row, project)
    matrix.set(row.name, cells)
    expect(cells).toEqual({ list: 'yes', call: 'yes', refuse: 'yes', approve: 'yes' })
    rmSync(project.directory, { recursive: true, force: true })
  })
})
