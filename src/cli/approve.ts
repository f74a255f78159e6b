import { statSync } from 'node:fs'
import { approvalText } from '../policy/approval-text.ts'
import { directoryParking } from '../policy/directory-parking.ts'
import type { ParkedCall } from '../policy/parked-calls.ts'
import { didYouMean } from '../util/check-options.ts'
import { answerOf } from './ask.ts'
import { dialectOf } from './dialect.ts'
import { requireLastingApproval } from './one-call.ts'
import { openWorkspace, requireValidValues } from './options.ts'
import { parseWords } from './parse-words.ts'
import { inCommandLineWords } from './refusals.ts'

/**
 * `wardspace approve [ID [ANSWER]] --parked DIR`: lists the calls that wait for an approval, shows one of them, or answers it.
 * An answered call is carried out or refused, once.
 */
export async function approve(words: string[]): Promise<number> {
  const { values, positionals } = parseWords('approve', words, 3)
  const [id, answer] = positionals
  if (values.parked === undefined) throw new TypeError('Which directory? wardspace approve --parked DIR')
  // The store creates its directory, and a misspelled one would look as if nothing were waiting.
  if (statSync(values.parked, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new TypeError(`Cannot list the parked calls: there is no directory ${JSON.stringify(values.parked)}`)
  }
  await requireValidValues(values)
  const waiting = directoryParking(values.parked).list()
  if (id === undefined || answer === undefined) {
    const selected = id === undefined ? waiting : waiting.filter((call) => call.id === id)
    if (id !== undefined && selected.length === 0) {
      const ids = waiting.map((call) => call.id)
      process.stderr.write(
        `wardspace: no call waits for the approval "${id}"${didYouMean(id, ids, 'those that wait are')}\n`,
      )
      return 1
    }
    print(selected, values.json === true)
    return 0
  }
  const typed = answerOf(answer)
  const parked = waiting.find((call) => call.id === id)
  if (parked !== undefined && !(typeof typed === 'object' && 'deny' in typed)) requireLastingApproval(parked.tool)
  const workspace = await openWorkspace(values, { run: { actor: 'cli' } }, await dialectOf(values.dialect))
  try {
    const result = inCommandLineWords(await workspace.resume(id, typed))
    process.stdout.write(`${JSON.stringify(result, null, values.json === true ? undefined : 2)}\n`)
    return result.ok ? 0 : 1
  } finally {
    await workspace.close()
  }
}

function print(calls: readonly ParkedCall[], json: boolean): void {
  if (json) process.stdout.write(`${JSON.stringify(calls)}\n`)
  else if (calls.length === 0) process.stdout.write('No calls are waiting.\n')
  for (const { id, at, request } of json ? [] : calls) {
    process.stdout.write(`${id}  ${new Date(at).toISOString()}\n${approvalText(request)}\n\n`)
  }
}
