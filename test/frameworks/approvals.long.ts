import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packedTarball } from '../runtimes/packed.ts'
import { approvalRows } from './approval-rows.ts'
import { install, typeErrors } from './install-row.ts'
import { approvalCode, runApprovals } from './run-approvals.ts'

const home = mkdtempSync(join(tmpdir(), 'wardspace-approvals-'))
let tarball: string

beforeAll(() => {
  tarball = packedTarball()
}, 300_000)
afterAll(() => rmSync(home, { recursive: true, force: true }))

it.each(approvalRows)('$name: the framework asks with the id of the call, and continues it', async (row) => {
  const project = install(row, tarball, home)
  expect(typeErrors(approvalCode(row), project)).toBe('')
  const { requests, results, content, output } = await runApprovals(row, project)
  expect(requests, output).toEqual(['call_2'])
  expect(results.map((text) => /^(Read|Edited)/.exec(text)?.[0])).toEqual(['Read', 'Edited', 'Read'])
  expect(content).toBe('42')
  rmSync(project.directory, { recursive: true, force: true })
})
