import { type Readable, Transform, type Writable } from 'node:stream'
import {
  hasNoAnswer,
  type MalformedAnswer,
  malformedAnswer,
  unparsableAnswer,
} from '../adapters/mcp/malformed-message.ts'

/** The longest line, in bytes. */
const MAX_LINE = 10 * 1024 * 1024

/** Where the lines of a client go that are no messages. */
export interface LineAnswers {
  /** Gets the answers. Without one, a client would wait. */
  readonly output: Writable
  /** Called for a malformed notification or response, which has no answer. */
  readonly report: (line: string) => void
}

/** Returns a function that takes the output of a client and calls `pass` with each line that is a message of JSON-RPC. */
export function messageReader(
  { output, report }: LineAnswers,
  pass: (line: string, message: object) => void,
): (chunk: Buffer) => void {
  let rest: Buffer[] = []
  let length = 0

  function add(part: Buffer): void {
    length += part.length
    if (length > MAX_LINE) rest = []
    else rest.push(part)
  }

  function take(line: string | undefined): void {
    if (line?.trim() === '') return
    let message: unknown
    let answer: MalformedAnswer | undefined
    if (line === undefined) answer = unparsableAnswer(`it is longer than ${MAX_LINE} bytes`)
    else {
      try {
        message = JSON.parse(line)
        answer = malformedAnswer(message)
      } catch {
        answer = unparsableAnswer('it is not JSON; send one message of JSON-RPC in each line')
      }
    }
    if (answer === undefined) pass(line as string, message as object)
    else if (hasNoAnswer(message)) report(`ignored a message of the client: ${answer.error.message}`)
    else output.write(`${JSON.stringify(answer)}\n`)
  }

  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end))
      take(length > MAX_LINE ? undefined : Buffer.concat(rest).toString('utf8'))
      rest = []
      length = 0
      start = end + 1
    }
    add(chunk.subarray(start))
  }
}

/** Returns the lines of a client that are messages of JSON-RPC. */
export function answeredLines(input: Readable, answers: LineAnswers): Readable {
  const lines = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      read(chunk)
      done()
    },
  })
  const read = messageReader(answers, (line) => lines.push(`${line}\n`))
  return input.pipe(lines)
}

const LINE_FEED = 0x0a
