import { styleText } from 'node:util'
import { visible } from '../audit/report-text.ts'
import { nodeBackend } from '../backends/node/index.ts'
import { overlay } from '../backends/overlay/index.ts'
import { bash } from '../shells/bash/index.ts'
import { counted } from '../util/counted.ts'
import { readRegularFile } from '../util/regular-file.ts'
import { parseRecording, type Replay, replay as replayRecording } from '../workspace/replay.ts'
import { builtInDialect, dialectOf } from './dialect.ts'
import { parseWords } from './parse-words.ts'
import { oneRoot } from './roots.ts'

const MAX_BYTES = 256 * 1024 * 1024

/**
 * `wardspace replay FILE`: repeats a recording on an overlay over the root, which does not change, and prints the first step
 * with another result.
 */
export async function replay(words: string[]): Promise<number> {
  const { values, positionals } = parseWords('replay', words, 1)
  const [file] = positionals
  if (file === undefined) throw new TypeError('Which recording? wardspace replay FILE')
  let text: string
  try {
    text = readRegularFile(file, { maxBytes: MAX_BYTES }).toString('utf8')
  } catch (error) {
    throw new TypeError(`Cannot read the recording "${file}": ${(error as Error).message}`)
  }
  const entries = entriesOf(file, text)
  const [first] = entries
  const opened = first?.type === 'workspace' ? first : undefined
  const shell = opened?.shell === 'bash' ? { shell: bash() } : {}
  // The recording never names a module to load: only the option does.
  const dialect = await (values.dialect === undefined && opened?.dialect !== undefined
    ? builtInDialect(opened.dialect)
    : dialectOf(values.dialect))
  const options = { backend: overlay(nodeBackend(oneRoot(values.root))), ...shell, ...(dialect && { dialect }) }
  const result = await replayRecording(entries, options)
  process.stdout.write(values.json === true ? `${JSON.stringify(result)}\n` : formatReplay(result))
  return result.ok ? 0 : 1
}

/** @throws TypeError that names the file and its first invalid line */
function entriesOf(file: string, text: string): ReturnType<typeof parseRecording> {
  try {
    return parseRecording(text)
  } catch (error) {
    throw new TypeError(`Cannot read the recording "${file}": ${(error as Error).message}`)
  }
}

function formatReplay(result: Replay): string {
  if (result.ok) return `${styleText('green', 'the same')}  ${counted(result.steps, 'step')} came out as recorded\n`
  const { steps, step, why } = result
  const label = visible(`step ${steps + 1}, ${step.name ?? step.type} of run ${step.runId}`)
  if (why === 'secret') {
    return `${styleText('yellow', 'not repeated')}  ${label}: its input contained a secret, which a recording does not keep; the same before it: ${counted(steps, 'step')}\n`
  }
  const values = `  recorded ${excerpt(result.recorded)}\n  replayed ${excerpt(result.replayed)}\n`
  return `${styleText('red', 'different')}  ${label}, in ${visible(result.field ?? '')}; the same before it: ${counted(steps, 'step')}\n${values}`
}

function excerpt(value: unknown): string {
  const text = visible(JSON.stringify(value))
  return text.length > 300 ? `${text.slice(0, 300).replace(/[\ud800-\udbff]$/, '')}…` : text
}
