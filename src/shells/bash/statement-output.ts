import type { Bash, Command, ResolvedCommandContext } from 'just-bash'
import type { OutputStream } from '../shared/shown-output.ts'

/** The text that the interpreter has added last to the output of a statement or script, in any line of this thread. */
export interface StatementOutput {
  /** Returns the text, once. Ask in the same turn in which it was added. */
  take(stream: OutputStream): string | undefined
  clear(): void
}

/** The interpreter's class that counts all output. */
interface OutputCounter {
  appendOutput(stream: OutputStream, text: string, site?: string, ...rest: unknown[]): number
}

/**
 * Follows the output of statements. just-bash has no hook for it, but it counts each output in an object that commands of its own
 * receive. Returns `undefined` if a version of it works otherwise; then a line shows its output at its end.
 */
export async function followStatementOutput(shell: Bash): Promise<StatementOutput | undefined> {
  const counter = await outputCounterOf(shell)
  if (counter === undefined) return undefined
  const { appendOutput } = counter
  let last: Partial<Record<OutputStream, string>> = {}
  counter.appendOutput = function (this: OutputCounter, stream, text, site, ...rest) {
    if (site === 'statement' || site === 'script') last[stream] = text
    else last = {}
    return appendOutput.call(this, stream, text, site, ...rest)
  }
  return {
    take(stream) {
      const text = last[stream]
      delete last[stream]
      return text
    },
    clear() {
      last = {}
    },
  }
}

/** Registers a command as one of just-bash's own. */
type Register = (command: Command, isExtension: boolean) => void

async function outputCounterOf(shell: Bash): Promise<OutputCounter | undefined> {
  let counter: Partial<OutputCounter> | undefined
  const probe: Command = {
    name: 'probe-output',
    async execute(_args: readonly string[], { executionScope }: ResolvedCommandContext) {
      counter = Object.getPrototypeOf(executionScope ?? {}) as Partial<OutputCounter> | undefined
      return { stdout: '', stderr: '', exitCode: 0 }
    },
  }
  const { registerCommandInternal: register } = shell as unknown as { readonly registerCommandInternal?: Register }
  if (typeof register !== 'function') return undefined
  register.call(shell, probe, false)
  await shell.exec(probe.name).catch(() => {})
  return typeof counter?.appendOutput === 'function' ? (counter as OutputCounter) : undefined
}
