import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeOf } from '../runtimes/node-versions.ts'
import { packedTarball } from '../runtimes/packed.ts'
import { type Row, rows } from './rows.ts'
import { blockOf, type Cells, formatMatrix, type Project, runRow } from './run-row.ts'

const top = join(import.meta.dirname, '../..')
const home = mkdtempSync(join(tmpdir(), 'wardspace-frameworks-'))
const matrix = new Map<string, Cells>()
let tarball: string

beforeAll(() => {
  tarball = packedTarball()
}, 300_000)
afterAll(() => {
  rmSync(home, { recursive: true, force: true })
  process.stdout.write(`\n${formatMatrix(matrix)}\n`)
})

/** Installs the packed file and the packages of a row in an empty directory. */
function install(row: Row): Project {
  const directory = join(home, row.name.replace(/\W+/g, '-'))
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }')
  const node = row.runsInNode20 ? process.execPath : nodeOf(24)
  const packages = Object.entries(row.packages).map(([name, version]) => `${name}@${version}`)
  const options = ['--silent', '--no-audit', '--no-fund', '--ignore-scripts']
  execFileSync('npm', ['install', ...options, tarball, ...packages], {
    cwd: directory,
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  })
  return { directory, node }
}

/** Compiles the lines of a row against the types of its packages. */
function typeErrors(row: Row, { directory }: Project): string {
  writeFileSync(join(directory, 'lines.ts'), `${blockOf(row).code}\nexport {}\n`)
  symlinkSync(join(top, 'node_modules/@types'), join(directory, 'types'))
  const compilerOptions = {
    ...{ target: 'es2022', lib: ['es2023', 'dom'], module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true },
    ...{ typeRoots: ['./types'], types: ['node'] },
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['lines.ts'] }))
  const compiler = join(top, 'node_modules/typescript/bin/tsc')
  return spawnSync(process.execPath, [compiler, '--pretty', 'false', '-p', directory], { encoding: 'utf8' }).stdout
}

describe('the lines of docs/guide/models.md with the published packages', () => {
  it.each(rows)('$name: list, call, refuse, approve', async (row) => {
    const project = install(row)
    if (row.kind === 'model' || row.kind === 'client') expect(typeErrors(row, project)).toBe('')
    const cells = await runRow(row, project)
    matrix.set(row.name, cells)
    expect(cells).toEqual({ list: 'yes', call: 'yes', refuse: 'yes', approve: 'yes' })
    rmSync(project.directory, { recursive: true, force: true })
  })
})
