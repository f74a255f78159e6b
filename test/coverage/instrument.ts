import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Coverage, FileCoverage } from './merge.ts'

const top = join(import.meta.dirname, '../..')
const home = join(top, 'node_modules/.cache/wardspace/coverage')

/** Matches the coverage data in the code. It is large, and only the counters are needed there. */
const everything = /var coverageData = \{[\s\S]*?\n {2}\};/

interface Instrumenter {
  instrumentSync(code: string, file: string): string
  lastFileCoverage(): FileCoverage
}

/**
 * Writes each file of `src/` with counters to a directory, and returns all statements, functions and branches. The tool is
 * installed separately from the project.
 */
export function instrument(directory: string, toldTo: { file: string; address: string }): Coverage {
  const instrumenter = load().createInstrumenter({
    esModules: true,
    compact: false,
    parserPlugins: ['typescript'],
    // Pages may forbid eval.
    coverageGlobalScopeFunc: false,
    coverageGlobalScope: 'globalThis',
  })
  const realm = JSON.stringify(join(import.meta.dirname, 'realm.ts'))
  const { file: message, address } = toldTo
  const prelude = `import { tellWhatRuns as tells_ } from ${realm}; tells_(${JSON.stringify(message)}, ${JSON.stringify(address)})`
  const coverage: Record<string, FileCoverage> = {}
  for (const name of readdirSync(join(top, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    const file = join(top, 'src', name)
    const copy = join(directory, name)
    const code = instrumenter.instrumentSync(readFileSync(file, 'utf8'), file)
    const one = instrumenter.lastFileCoverage()
    const { s, f, b } = one
    coverage[file] = one
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(
      copy,
      `${prelude};\n${code.replace(everything, () => `var coverageData = { ...${JSON.stringify({ s, f, b })}, hash };`)}`,
    )
  }
  return coverage
}

function load(): { createInstrumenter(options: object): Instrumenter } {
  const installed = createRequire(join(home, 'package.json'))
  if (!existsSync(join(home, 'node_modules/istanbul-lib-instrument'))) {
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, 'package.json'), '{ "private": true }\n')
    execFileSync('npm', ['install', '--silent', 'istanbul-lib-instrument@6.0.3'], { cwd: home, stdio: 'inherit' })
  }
  return installed('istanbul-lib-instrument')
}
