import type { Command, ExecResult, ResolvedCommandContext } from 'just-bash'
import { ToolError } from '../../errors.ts'
import type { LiveOutput } from './live-output.ts'
import type { Script, ScriptFiles, ScriptResult, ScriptStreams, TestReport } from './node-emulation/script.ts'
import { withOwnTexts } from './own-texts.ts'
import { PERSON_INPUT, type PersonInput } from './person-input.ts'
import { findTests } from './test-files.ts'
import { resolvePath } from './virtual-paths.ts'

/** Runs one script, in a thread or here. @throws ToolError if it was ended from outside */
export type ScriptRunner = (script: Script, files: ScriptFiles, streams: ScriptStreams) => Promise<ScriptResult>

const VERSION = 'v20.19.0'

interface NodeOptions {
  code?: { text: string; prints: boolean }
  isModule: boolean
  isTest: boolean
  isCheck: boolean
  namePattern?: string
  operands: string[]
}

/** What `node` uses. `endLine` is called with the error that ended a script from outside, and ends its whole line. */
export interface NodeHost {
  readonly root: string
  readonly runner: ScriptRunner
  endLine(reason: ToolError): void
  readonly live?: LiveOutput | undefined
  readonly input?: PersonInput | undefined
}

/** Runs a script of the command `node`. */
type ScriptRun = (script: Omit<Script, 'root'>, files: ScriptFiles) => Promise<ScriptResult>

/** `node`: runs scripts, code and tests in an engine of our own. */
export function nodeCommand({ root, runner, endLine, live, input }: NodeHost): Command {
  const run: ScriptRun = (script, files) => {
    const isAsking = script.stdin === PERSON_INPUT
    const streams = { onOutput: live?.writerFor('node'), input: isAsking ? input : undefined }
    const stdin = isAsking ? '' : script.stdin
    return runner({ ...script, stdin, root }, files, streams).then(withOwnTexts, (error: unknown) => {
      if (error instanceof ToolError && error.code !== 'SHELL_UNAVAILABLE') endLine(error)
      const reason = error instanceof ToolError ? error.message : 'the engine failed'
      return { stdout: '', stderr: `node: ${reason}\n`, exitCode: 134 }
    })
  }
  return {
    name: 'node',
    async execute(args, context) {
      const options = parse(args)
      if (typeof options === 'string') return { stdout: options, stderr: '', exitCode: 0 }
      if ('refused' in options) return { stdout: '', stderr: `node: ${options.refused}\n`, exitCode: 9 }
      if (options.isTest) return runTests(options, context, run)
      const { main, args: scriptArgs } = mainOf(options, context)
      const result = await run({ ...base(context), main, args: scriptArgs, isTest: false }, context.fs)
      const tests = result.tests === undefined ? '' : summary([result.tests])
      return { stdout: result.stdout + tests, stderr: result.stderr, exitCode: result.exitCode }
    },
  }
}

function base({ cwd, exportedEnv, stdin }: ResolvedCommandContext): Omit<Script, 'root' | 'main' | 'args' | 'isTest'> {
  return { cwd, env: exportedEnv ?? {}, stdin: String(stdin) }
}

function mainOf(options: NodeOptions, context: ResolvedCommandContext): { main: Script['main']; args: string[] } {
  const { code, isModule, operands } = options
  if (code !== undefined) return { main: { kind: 'code', ...code, isModule }, args: operands }
  const [file, ...fileArgs] = operands
  if (file !== undefined && file !== '-')
    return { main: { kind: 'file', path: resolvePath(context.cwd, file) }, args: fileArgs }
  const text = new TextDecoder().decode(Uint8Array.from(String(context.stdin), (char) => char.charCodeAt(0)))
  return { main: { kind: 'code', text, prints: false, isModule }, args: fileArgs }
}

/** Parses the arguments. Returns options, a text to print, or the reason of a refusal. */
function parse(args: readonly string[]): NodeOptions | string | { refused: string } {
  const options: NodeOptions = { isModule: false, isTest: false, isCheck: false, operands: [] }
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (!arg.startsWith('-') || arg === '-' || arg === '--') {
      options.operands = args.slice(arg === '--' ? i + 1 : i) as string[]
      if (!options.isTest) break
      // Options may follow the files to be tested.
      options.operands = []
      for (const later of args.slice(i)) {
        if (later.startsWith('--test-name-pattern=')) options.namePattern = later.slice(20)
        else if (!later.startsWith('--')) options.operands.push(later)
      }
      break
    }
    const [flag = arg, inlineValue] = arg.startsWith('--') && arg.includes('=') ? splitAt(arg, '=') : [arg]
    const value = () => inlineValue ?? args[++i]
    if (flag === '-v' || flag === '--version') return `${VERSION}\n`
    if (flag === '-h' || flag === '--help') return HELP
    if (flag === '-e' || flag === '--eval' || flag === '-p' || flag === '--print' || flag === '-pe') {
      const text = value()
      if (text === undefined) return { refused: `${flag} requires an argument` }
      options.code = { text, prints: flag.includes('p') }
    } else if (flag === '--test') options.isTest = true
    else if (flag === '--test-name-pattern') options.namePattern = value() ?? ''
    else if (flag === '--input-type') options.isModule = value() === 'module'
    else if (flag === '--test-reporter' || flag === '--test-concurrency' || flag === '--test-timeout') value()
    else if (!/^--(no-warnings|enable-source-maps|trace-\w+|test-only|no-deprecation|experimental-\S+)$/.test(flag)) {
      return { refused: `${flag} is not available in this shell` }
    }
  }
  return options
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return [text.slice(0, at), text.slice(at + 1)]
}

const HELP = `Usage: node [script.js] [arguments], node -e CODE, node -p CODE, node --test [files]
A JavaScript engine of this shell, not Node itself: CommonJS and ES modules with fs, path, process, assert, events,
util, timers and node:test over the files of the workspace; no network, no processes, no native modules.
`

async function runTests(options: NodeOptions, context: ResolvedCommandContext, run: ScriptRun): Promise<ExecResult> {
  const started = performance.now()
  const files = await findTests(options.operands, context.cwd, context.fs)
  const reports: TestReport[] = []
  const filter = options.namePattern === undefined ? {} : { namePattern: options.namePattern }
  let stdout = ''
  let stderr = ''
  for (const path of files) {
    const displayPath = path.startsWith(`${context.cwd}/`) ? path.slice(context.cwd.length + 1) : path
    const main = { kind: 'file', path } as const
    const result = await run({ ...base(context), stdin: '', main, args: [], isTest: true, ...filter }, context.fs)
    stdout += result.stdout
    stderr += result.stderr
    const isBad = result.exitCode !== 0
    if (result.tests !== undefined && (!isBad || result.tests.totals.fail > 0)) {
      const failures = result.tests.failures.map((failure) => ({ ...failure, file: displayPath }))
      reports.push({ ...result.tests, failures })
      continue
    }
    // A file without tests, or one that failed outside of them, counts as a test itself.
    stdout += `${isBad ? '✖' : '✔'} ${displayPath}\n`
    reports.push(wholeFile(displayPath, result.exitCode, result.stderr))
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
