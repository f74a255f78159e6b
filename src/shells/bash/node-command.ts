import type { Command, ExecResult, ResolvedCommandContext } from 'just-bash'
import { ToolError } from '../../errors.ts'
import type { Script, ScriptFiles, ScriptResult, TestReport } from './node-emulation/script.ts'
import { findTests } from './test-files.ts'
import { resolvePath } from './virtual-paths.ts'

/** Runs one script, wherever that is best done. @throws ToolError where it was ended from outside */
export type ScriptRunner = (script: Script, files: ScriptFiles) => Promise<ScriptResult>

const VERSION = 'v20.19.0'

interface Asked {
  code?: { text: string; prints: boolean }
  isModule: boolean
  isTest: boolean
  isCheck: boolean
  namePattern?: string
  operands: string[]
}

/**
 * `node`: scripts, code and tests, in an engine of our own. `endLine`: told of what ended a script from outside, and so
 * ends all of its line.
 */
export function nodeCommand(runner: ScriptRunner, endLine: (why: ToolError) => void): Command {
  const run: ScriptRunner = (script, files) =>
    runner(script, files).catch((error: unknown) => {
      if (error instanceof ToolError && error.code !== 'SHELL_UNAVAILABLE') endLine(error)
      const why = error instanceof ToolError ? error.message : 'the engine failed'
      return { stdout: '', stderr: `node: ${why}\n`, exitCode: 134 }
    })
  return {
    name: 'node',
    async execute(args, context) {
      const asked = parse(args)
      if (typeof asked === 'string') return { stdout: asked, stderr: '', exitCode: 0 }
      if ('refused' in asked) return { stdout: '', stderr: `node: ${asked.refused}\n`, exitCode: 9 }
      if (asked.isTest) return runTests(asked, context, run)
      const { main, rest } = mainOf(asked, context)
      const result = await run({ ...base(context), main, args: rest, isTest: false }, context.fs)
      const tests = result.tests === undefined ? '' : summary([result.tests])
      return { stdout: result.stdout + tests, stderr: result.stderr, exitCode: result.exitCode }
    },
  }
}

function base({ cwd, exportedEnv, stdin }: ResolvedCommandContext): Omit<Script, 'main' | 'args' | 'isTest'> {
  return { cwd, env: exportedEnv ?? {}, stdin: String(stdin) }
}

function mainOf(asked: Asked, context: ResolvedCommandContext): { main: Script['main']; rest: string[] } {
  const { code, isModule, operands } = asked
  if (code !== undefined) return { main: { kind: 'code', ...code, isModule }, rest: operands }
  const [file, ...rest] = operands
  if (file !== undefined && file !== '-') return { main: { kind: 'file', path: resolvePath(context.cwd, file) }, rest }
  const text = new TextDecoder().decode(Uint8Array.from(String(context.stdin), (char) => char.charCodeAt(0)))
  return { main: { kind: 'code', text, prints: false, isModule }, rest }
}

/** What the arguments ask for; a text to print; or what is not known here. */
function parse(args: readonly string[]): Asked | string | { refused: string } {
  const asked: Asked = { isModule: false, isTest: false, isCheck: false, operands: [] }
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (!arg.startsWith('-') || arg === '-' || arg === '--') {
      asked.operands = args.slice(arg === '--' ? i + 1 : i) as string[]
      if (!asked.isTest) break
      // Among the files to be tested, options may still come.
      asked.operands = []
      for (const later of args.slice(i)) {
        if (later.startsWith('--test-name-pattern=')) asked.namePattern = later.slice(20)
        else if (!later.startsWith('--')) asked.operands.push(later)
      }
      break
    }
    const [flag = arg, given] = arg.startsWith('--') && arg.includes('=') ? splitAt(arg, '=') : [arg]
    const value = () => given ?? args[++i]
    if (flag === '-v' || flag === '--version') return `${VERSION}\n`
    if (flag === '-h' || flag === '--help') return HELP
    if (flag === '-e' || flag === '--eval' || flag === '-p' || flag === '--print' || flag === '-pe') {
      const text = value()
      if (text === undefined) return { refused: `${flag} requires an argument` }
      asked.code = { text, prints: flag.includes('p') }
    } else if (flag === '--test') asked.isTest = true
    else if (flag === '--test-name-pattern') asked.namePattern = value() ?? ''
    else if (flag === '--input-type') asked.isModule = value() === 'module'
    else if (flag === '--test-reporter' || flag === '--test-concurrency' || flag === '--test-timeout') value()
    else if (!/^--(no-warnings|enable-source-maps|trace-\w+|test-only|no-deprecation|experimental-\S+)$/.test(flag)) {
      return { refused: `${flag} is not available in this shell` }
    }
  }
  return asked
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return [text.slice(0, at), text.slice(at + 1)]
}

const HELP = `Usage: node [script.js] [arguments], node -e CODE, node -p CODE, node --test [files]
A JavaScript engine of this shell, not Node itself: CommonJS and ES modules with fs, path, process, assert, events,
util, timers and node:test over the files of the workspace; no network, no processes, no native modules.
`

async function runTests(asked: Asked, context: ResolvedCommandContext, run: ScriptRunner): Promise<ExecResult> {
  const started = performance.now()
  const files = await findTests(asked.operands, context.cwd, context.fs)
  const reports: TestReport[] = []
  const more = asked.namePattern === undefined ? {} : { namePattern: asked.namePattern }
  let stdout = ''
  let stderr = ''
  for (const path of files) {
    const shown = path.startsWith(`${context.cwd}/`) ? path.slice(context.cwd.length + 1) : path
    const main = { kind: 'file', path } as const
    const result = await run({ ...base(context), stdin: '', main, args: [], isTest: true, ...more }, context.fs)
    stdout += result.stdout
    stderr += result.stderr
    const isBad = result.exitCode !== 0
    if (result.tests !== undefined && (!isBad || result.tests.totals.fail > 0)) {
      const failures = result.tests.failures.map((one) => ({ ...one, file: shown }))
      reports.push({ ...result.tests, failures })
      continue
    }
    // A file without tests, or one that failed beside them, is a test itself.
    stdout += `${isBad ? '✖' : '✔'} ${shown}\n`
    reports.push(wholeFile(shown, result.exitCode, result.stderr))
  }
  stdout += summary(reports, performance.now() - started)
  return { stdout, stderr, exitCode: reports.some(({ totals }) => totals.fail > 0) ? 1 : 0 }
}

function wholeFile(file: string, exitCode: number, text: string): TestReport {
  const isBad = exitCode !== 0
  const totals = { tests: 1, suites: 0, pass: isBad ? 0 : 1, fail: isBad ? 1 : 0, cancelled: 0, skipped: 0, todo: 0 }
  return { totals, failures: isBad ? [{ name: file, file, text: text.trimEnd() || `exit code ${exitCode}` }] : [] }
}

function summary(reports: readonly TestReport[], ms?: number): string {
  const keys = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const
  const lines = keys.map((key) => `ℹ ${key} ${reports.reduce((sum, { totals }) => sum + totals[key], 0)}`)
  if (ms !== undefined) lines.push(`ℹ duration_ms ${Math.round(ms)}`)
  const failures = reports.flatMap((report) => report.failures)
  if (failures.length > 0) lines.push('', '✖ failing tests:')
  for (const { name, file, text } of failures) lines.push('', `test at ${file}`, `✖ ${name}`, text.replace(/^/gm, '  '))
  return `${lines.join('\n')}\n`
}
