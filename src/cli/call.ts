import { askInTerminal } from './ask.ts'
import { openWorkspace, parseOptions } from './options.ts'

/** `wardspace call NAME [JSON]`: one call on a real directory; its result as JSON. */
export async function call(words: string[]): Promise<number> {
  const { values, positionals } = parseOptions(words, 2)
  const [name, json = '{}'] = positionals
  if (name === undefined) throw new TypeError('Which tool? wardspace call NAME [JSON]')
  let input: unknown
  try {
    input = JSON.parse(json)
  } catch (error) {
    throw new TypeError(`The input is no JSON: ${(error as Error).message}`)
  }
  // Somebody who sits there is asked; a script says so.
  const asks = values.ask ?? (process.stdin.isTTY && process.stderr.isTTY)
  const terminal = asks ? askInTerminal() : undefined
  const workspace = await openWorkspace(values, { run: { actor: 'cli' } })
  try {
    const result = await workspace.call(name, input, terminal === undefined ? {} : { approve: terminal.approve })
    process.stdout.write(`${JSON.stringify(result, null, values.json === true ? undefined : 2)}\n`)
    return result.ok ? 0 : 1
  } finally {
    terminal?.close()
    await workspace.close()
  }
}
