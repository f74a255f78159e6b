import type { Success } from '../call/state/call.ts'
import { type DialectResult, isDialectResult } from '../dialects/runtime/types.ts'
import type { Failure } from '../errors.ts'
import { askInTerminal } from './ask.ts'
import { dialectOf } from './dialect.ts'
import { requireLastingEffect } from './one-call.ts'
import { openWorkspace } from './options.ts'
import { parseInput } from './parse-input.ts'
import { parseWords, refuseAskAndPark } from './parse-words.ts'
import { adviceFor, inCommandLineWords } from './refusals.ts'

/** `wardspace call NAME [JSON]`: makes one call on a real directory and prints the result as JSON, or in the form of the dialect. */
export async function call(words: string[]): Promise<number> {
  const { values, positionals } = parseWords('call', words, 2)
  const [name, json = '{}'] = positionals
  if (name === undefined) throw new TypeError('Which tool? wardspace call NAME [JSON]')
  const input = parseInput(json)
  refuseAskAndPark(values)
  // A script has no terminal, so it asks only with --ask. Calls that wait are not asked about here.
  const asks = values.ask ?? (values.parked === undefined && process.stdin.isTTY && process.stderr.isTTY)
  const terminal = asks ? askInTerminal() : undefined
  const dialect = await dialectOf(values.dialect)
  const workspace = await openWorkspace(values, { run: { actor: 'cli' } }, dialect)
  try {
    await requireLastingEffect(workspace, dialect, name, input)
    const options = terminal === undefined ? {} : { approve: terminal.approve }
    const result: CallResult = await workspace.callTool(name, input, options)
    const shown = isDialectResult(result) ? result : inCommandLineWords(result)
    process.stdout.write(`${formatResult(shown, values.json === true)}\n`)
    const advice = adviceFor(result, values)
    if (advice !== undefined) process.stderr.write(`${advice}\n`)
    return (isDialectResult(result) ? !result.isError : result.ok) ? 0 : 1
  } finally {
    terminal?.close()
    await workspace.close()
  }
}

type CallResult = Success | Failure | DialectResult

/** Formats a result as JSON, but text of a dialect as it is. With `json`, the complete result. */
function formatResult(result: CallResult, json: boolean): string {
  if (json) return JSON.stringify(result)
  const value = isDialectResult(result) ? result.output : result
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
