import { ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import { redact } from '../../files/secrets/index.ts'
import type { Limits } from '../../limits.ts'
import { compileGlobs, type Glob } from '../../paths/glob.ts'
import { checkGlob } from '../../policy/path-patterns.ts'
import type { Tool } from '../../tools/define-tool.ts'
import { boundContent } from '../../tools/shared/bound-content.ts'
import { lastLines } from '../../tools/shared/command-output.ts'
import { resultSize } from '../../tools/shared/result-size.ts'
import { anySignal } from '../../util/abort.ts'
import { OptionError } from '../../util/check-options.ts'
import { withTimeout } from '../../util/timers.ts'
import type { ChangedFile, Check, CheckReport, Finding } from '../state/checks.ts'
import type { RunState } from '../state/run-state.ts'
import type { CheckCall, CheckedCall, OpenChecks } from '../state/workspace-state.ts'
import { CheckFileView } from './check-files.ts'
import { readFindings } from './read-findings.ts'

/**
 * Opens the checks of a workspace.
 *
 * @param checks their fields have the right types
 * @throws TypeError for a check that is neither a function nor a command line, a wrong name or pattern, and two checks of one name
 */
export function openChecks(checks: readonly Check[]): OpenChecks {
  const names = new Set<string>()
  const opened = checks.map((check, index) => {
    const at = `checks[${index}]`
    const { name, command, files = ALL_FILES } = check
    if (!/^[\w.-]{1,64}$/.test(name)) {
      throw wrong(`${at}.name`, 'must have 1 to 64 of the characters A-Z a-z 0-9 . _ -')
    }
    if (names.has(name)) throw wrong(`${at}.name`, `is the name of an earlier check: "${name}"`)
    names.add(name)
    if ((command === undefined) === (check.check === undefined)) {
      throw wrong(at, 'must have either a function "check" or a command line "command"')
    }
    if (command !== undefined && command.trim() === '') throw wrong(`${at}.command`, 'is empty')
    const patterns = typeof files === 'string' ? [files] : files
    if (patterns.length === 0) throw wrong(`${at}.files`, 'is an empty list, so that the check would never run')
    for (const pattern of patterns) checkGlob(pattern, '', `Option "${at}.files" of createWorkspace()`)
    return { check, glob: compileGlobs(patterns, { caseInsensitive: true, composed: true }), state: new Map() }
  })
  return { run: (call) => runChecks(opened, call) }
}

const ALL_FILES = '**'

function wrong(path: string, problem: string): OptionError {
  return new OptionError(`Option "${path}" of createWorkspace() ${problem}`)
}

interface OpenCheck {
  readonly check: Check
  readonly glob: Glob
  readonly state: Map<unknown, unknown>
}

/** Runs the checks at the same time, and records them. */
async function runChecks(checks: readonly OpenCheck[], call: CheckedCall): Promise<readonly CheckReport[]> {
  const view = new CheckFileView(call)
  const changed = changedFiles(call, view)
  const reports = await Promise.all(
    checks.flatMap((open) => {
      const matching = changed.filter(({ path }) => open.glob.matches(path.normalize('NFC')))
      return matching.length === 0 ? [] : [runCheck(open, matching, call)]
    }),
  )
  if (reports.length === 0) return []
  call.audit.setChecks(
    reports.map(({ name, findings, omitted = 0, problem }) => {
      const count = findings.length + omitted
      return problem === undefined ? { name, findings: count } : { name, findings: count, problem }
    }),
  )
  return reports
}

/** The changed files that the agent may read, sorted by path. Vendored and generated files are left out. */
function changedFiles({ applied }: CheckedCall, view: CheckFileView): readonly ChangedFile[] {
  const changed = applied.flatMap(({ path, before, after }): ChangedFile[] => {
    if (before?.type !== 'file' && after?.type !== 'file') return []
    const { protection } = classifyPath(path)
    if (protection === 'vendored' || protection === 'generated' || !view.sees(path)) return []
    if (after?.type !== 'file') return [{ path, change: 'deleted' }]
    return [{ path, change: before?.type === 'file' ? 'changed' : 'created' }]
  })
  return changed.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Runs one check within its time. */
async function runCheck(
  { check, state }: OpenCheck,
  changed: readonly ChangedFile[],
  call: CheckedCall,
): Promise<CheckReport> {
  const { name } = check
  const { limits, events } = call.workspace
  const timeoutMs = check.timeoutMs ?? limits.checkTimeoutMs
  const stop = new AbortController()
  const signal = anySignal(call.options.signal, stop.signal)
  const files = new CheckFileView(call, signal)
  const exception = { type: 'exception', runId: call.run.id, callId: call.audit.id, tool: name } as const
  try {
    const late = () => new ToolError('COMMAND_TIMEOUT', `did not end within ${timeoutMs} ms`)
    const start = (): unknown =>
      check.command === undefined
        ? check.check({ changed, files: files.files, signal, timeoutMs, state })
        : runLine(name, lineOf(check.command, changed), timeoutMs, signal, call)
    // A command line has a time limit of its own, after which its programs need a moment to end.
    const found = await withTimeout(
      Promise.race([Promise.resolve().then(start), cancelled(signal)]),
      check.command === undefined ? timeoutMs : timeoutMs + ENDING_MS,
      late,
    )
    const { findings, errors } = readFindings(found, files)
    const report = boundReport(name, findings, limits)
    if (errors.length === 0) return report
    for (const cause of errors) events.emit({ ...exception, cause })
    return {
      ...report,
      problem: `returned findings in a wrong form: ${errors.length} of ${errors.length + findings.length}`,
    }
  } catch (error) {
    if (!(error instanceof ToolError)) {
      events.emit({ ...exception, cause: error })
    }
    return { name, findings: [], problem: problemOf(error) }
  } finally {
    stop.abort()
  }
}

/** Time for the programs of a command line to end. */
const ENDING_MS = 2000

/** Rejects when the call is cancelled. */
function cancelled(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new ToolError('ABORTED', 'was cancelled'))
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

/** Why a check has no findings. The message of an exception may hold anything, so that only its name is shown. */
function problemOf(error: unknown): string {
  if (error instanceof ToolError) return oneLine(redact(error.message).text)
  const kind = error instanceof Error && /^[A-Za-z]{1,40}$/.test(error.name) ? ` (${error.name})` : ''
  return `failed${kind}`
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Puts the paths of the changed files into a command line. */
function lineOf(command: string, changed: readonly ChangedFile[]): string {
  const paths = changed.filter(({ change }) => change !== 'deleted').map(({ path }) => quoted(path))
  return command.replaceAll('{files}', () => paths.join(' '))
}

/** A path as one word of a command line. A leading dash would be an option. */
function quoted(path: string): string {
  const word = path.startsWith('-') ? `./${path}` : path
  return /^[\w./@%+,:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Runs a command line. Its output is one finding, if it does not end with exit code 0. */
async function runLine(
  name: string,
  line: string,
  timeoutMs: number,
  signal: AbortSignal,
  call: CheckedCall,
): Promise<readonly Finding[]> {
  const { runCommand } = await import('../../tools/run-command.ts')
  const { dialectCall } = call.options
  const options = { signal, dialectCall, check: checkCall(call.run), via: `checks.${name}` }
  const result = await call.call(runCommand as unknown as Tool, { command: line, cwd: '.', timeoutMs }, options)
  if (call.workspace.labels.active && 'label' in result) call.taint.addLabel(result.label as never)
  if (!result.ok) {
    if (result.code === 'COMMAND_TIMEOUT') throw new ToolError('COMMAND_TIMEOUT', `did not end within ${timeoutMs} ms`)
    throw new ToolError(result.code, `was not run: ${result.message}`)
  }
  const { exitCode, stdout, stderr } = result as unknown as { exitCode: number; stdout: string; stderr: string }
  if (exitCode === 0) return []
  const output = [stdout, stderr].map((text) => text.trimEnd()).filter((text) => text !== '')
  const shown = lastLines(output.join('\n'), Math.floor(reportBytes(call.workspace.limits) / 2))
  return [{ message: [`ended with exit code ${exitCode}`, ...(shown === '' ? [] : [shown])].join('\n') }]
}

/** A command line of a check: nobody is asked, and it has no effect. */
function checkCall({ approvals }: RunState): CheckCall {
  return {
    requireApproved(question) {
      if (approvals.opened?.covers(question) === true) return
      throw new ToolError('APPROVAL_REQUIRED', 'it needs an approval, and a check asks for none')
    },
    withoutEffect(proposed) {
      const { shown: _, ...draft } = proposed.draft
      return { ...proposed, draft: { ...draft, changes: [], accesses: [], copiedFrom: [] } }
    },
  }
}

/** Bytes that the report of one check may take in a result. */
function reportBytes({ checkBytes, projectionBytes }: Limits): number {
  return Math.min(checkBytes, Math.floor(projectionBytes / 8))
}

/** Cuts a report at whole findings. Of the first one, a message that is too long by itself is shown in part. */
function boundReport(name: string, findings: readonly Finding[], limits: Limits): CheckReport {
  const maxBytes = reportBytes(limits)
  const shown: Finding[] = []
  let bytes = 0
  for (const finding of findings) {
    bytes += resultSize(finding) + 1
    if (shown.length === limits.checkFindings || (bytes > maxBytes && shown.length > 0)) break
    const message = bytes > maxBytes ? `${boundContent(finding.message, maxBytes / 2)}…` : finding.message
    shown.push({ ...finding, message })
  }
  const omitted = findings.length - shown.length
  return { name, findings: shown, ...(omitted === 0 ? {} : { omitted }) }
}
