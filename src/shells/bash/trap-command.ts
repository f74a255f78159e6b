import type { ExecResult } from 'just-bash'

/** The traps of one script or subshell. */
export interface TrapFrame {
  /** Actions by the name of their signal. */
  readonly actions: Map<string, string>
  /** Those of the shell that began the subshell: shown until the subshell sets its own. They do not run in it. */
  inherited?: ReadonlyMap<string, string> | undefined
  /** `$0` of the script. It is another one in a script that runs by its path. */
  scriptName?: string | undefined
  /** The exit code of the script, before its action runs. */
  status: number
  isRunningAction: boolean
}

/** The order is that of the numbers, from 0. */
const SIGNALS =
  'EXIT HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(
    ' ',
  )

/** Conditions that the interpreter does not report, with what to write instead. */
const unavailable: ReadonlyMap<string, string> = new Map([
  ['ERR', 'use "command || { ...; }", or an action on EXIT that tests $?'],
  ['DEBUG', 'use set -x'],
  ['RETURN', 'write the commands at the end of the function'],
])

const USAGE = 'trap: usage: trap [-p] [[action] signal ...]\n'

/**
 * `trap`, as that of bash. No signal reaches a line, so only the action on EXIT ever runs.
 *
 * @param frame the script that runs, if it can run an action at its end
 * @param scriptName `$0`
 */
export function trapCommand(
  args: readonly string[],
  frame: TrapFrame | undefined,
  scriptName: string | undefined,
): ExecResult {
  const [first] = args
  const operands = first === '--' || first === '-p' ? args.slice(1) : args
  if (first === '-p' || operands.length === 0) return printTraps(operands, frame)
  if (first !== '--' && /^-./.test(first as string))
    return fail(`${first}: option is not available in this shell; use -p`, 2)
  const isReset = operands.length === 1 || /^\d+$/.test(operands[0] as string)
  const [action = '', ...specs] = isReset ? ['-', ...operands] : operands
  if (operands.length === 1 && signalOf(operands[0] as string) === undefined)
    return { stdout: '', stderr: USAGE, exitCode: 2 }
  const reasons = specs.map((spec) => setTrap(spec, action, frame, scriptName)).filter((reason) => reason !== undefined)
  return reasons.length === 0 ? done('') : fail(reasons.join('\ntrap: '), 1)
}

/** Returns a reason if the trap cannot be set. */
function setTrap(
  spec: string,
  action: string,
  frame: TrapFrame | undefined,
  scriptName: string | undefined,
): string | undefined {
  const signal = signalOf(spec)
  if (signal === undefined) return `${spec}: invalid signal specification`
  if (frame !== undefined) frame.inherited = undefined
  if (action === '-') {
    frame?.actions.delete(signal)
    return undefined
  }
  const instead = unavailable.get(signal)
  if (instead !== undefined && action !== '') return `${signal}: not available in this shell; ${instead}`
  const canRun = frame !== undefined && frame.scriptName === scriptName
  if (signal === 'EXIT' && action !== '' && !canRun)
    return 'EXIT: not available in a script that runs by its path; run it as "bash SCRIPT"'
  if (canRun) frame.actions.set(signal, action)
  return undefined
}

function printTraps(specs: readonly string[], frame: TrapFrame | undefined): ExecResult {
  const unknown = specs.find((spec) => signalOf(spec) === undefined)
  if (unknown !== undefined) return fail(`${unknown}: invalid signal specification`, 1)
  const signals = specs.length === 0 ? SIGNALS : specs.map(signalOf)
  let stdout = ''
  for (const signal of signals) {
    const action = (frame?.inherited ?? frame?.actions)?.get(signal as string)
    if (action === undefined) continue
    stdout += `trap -- '${action.replaceAll("'", `'\\''`)}' ${signal === 'EXIT' ? '' : 'SIG'}${signal}\n`
  }
  return done(stdout)
}

/** Returns the name of a signal without its prefix `SIG`. `undefined` for a number or a name that is no signal. */
function signalOf(spec: string): string | undefined {
  if (/^\d+$/.test(spec)) return SIGNALS[Number(spec)]
  const name = spec.toUpperCase().replace(/^SIG/, '')
  return SIGNALS.includes(name) || unavailable.has(name) ? name : undefined
}

function done(stdout: string): ExecResult {
  return { stdout, stderr: '', exitCode: 0 }
}

function fail(reason: string, exitCode: number): ExecResult {
  return { stdout: '', stderr: `trap: ${reason}\n`, exitCode }
}
