import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { approvalRows } from './approval-rows.ts'
import { rows } from './rows.ts'
import { frameworkBlocks, runRow } from './run-row.ts'

const top = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(top, 'node_modules/ai/package.json'), 'utf8')) as { version: string }
/** The rows whose packages this project installs. The others are in `frameworks.long.ts`. */
const installedRows = [`AI SDK ${version.split('.')[0]}`, 'MCP client 1', 'MCP client 2']
let directory: string

/** Links a directory of this project into the `node_modules` of the project in which the rows run. */
function link(target: string, name: string): void {
  const path = join(directory, 'node_modules', name)
  mkdirSync(dirname(path), { recursive: true })
  if (!existsSync(path)) symlinkSync(join(top, target), path)
}

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'wardspace-frameworks-'))
  link('.', 'wardspace')
  mkdirSync(join(directory, 'node_modules/.bin'))
  const script = `#!/bin/sh\nexec node '${join(top, 'dist/cli/main.js')}' "$@"\n`
  writeFileSync(join(directory, 'node_modules/.bin/wardspace'), script, { mode: 0o755 })
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('the lines of frameworks in docs/guide/models.md', () => {
  it('belong to a tested framework each', () => {
    const names = frameworkBlocks().map(({ framework }) => framework)
    expect([...new Set([...rows, ...approvalRows].map(({ block }) => block))].sort()).toEqual(names.sort())
  })

  it.each(rows.filter(({ name }) => installedRows.includes(name)))(
    'list, call, are refused and ask for approval: $name',
    async (row) => {
      for (const name of Object.keys(row.packages)) link(`node_modules/${name}`, name)
      expect(await runRow(row, { directory, node: process.execPath })).toEqual({
        list: 'yes',
        call: 'yes',
        refuse: 'yes',
        approve: 'yes',
      })
    },
  )
})
