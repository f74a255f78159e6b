import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { nodeOf } from '../runtimes/node-versions.ts'
import type { Row } from './rows.ts'
import type { Project } from './run-row.ts'

const top = join(import.meta.dirname, '../..')

/** Installs the packed file and the packages of a row in an empty directory. */
export function install(row: Pick<Row, 'name' | 'packages' | 'runsInNode20'>, tarball: string, home: string): Project {
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

/** Compiles lines against the types of the packages of a project. */
export function typeErrors(code: string, { directory }: Project): string {
  writeFileSync(join(directory, 'lines.ts'), `${code}\nexport {}\n`)
  symlinkSync(join(top, 'node_modules/@types'), join(directory, 'types'))
  const compilerOptions = {
    ...{ target: 'es2022', lib: ['es2023', 'dom'], module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true },
    ...{ typeRoots: ['./types'], types: ['node'] },
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['lines.ts'] }))
  const compiler = join(top, 'node_modules/typescript/bin/tsc')
  return spawnSync(process.execPath, [compiler, '--pretty', 'false', '-p', directory], { encoding: 'utf8' }).stdout
}
