import { type Readable, Transform, type Writable } from 'node:stream'
import {
  hasNoAnswer,
  type MalformedAnswer,
  malformedAnswer,
  unparsableAnswer,
} from '../adapters/mcp/malformed-message.ts'

/** The longest line, in bytes. The SDK drops longer ones. */
const MAX_LINE = 10 * 1024 * 1024

/**
 * Returns the lines of a client that are messages of JSON-RPC. Others are answered on `output`: the SDK drops them, and a
 * client would wait for an answer. A malformed notification or response gets no answer and is reported.
 */
export function answeredLines(input: Readable, output: Writable, report: (line: string) => void): Readable {
  let rest: Buffer[] = []
  let length = 0
  const lines = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
        add(chunk.subarray(start, end))
        pass(length > MAX_LINE ? undefined : Buffer.concat(rest).toString('utf8'))
        rest = []
        length = 0
        start = end + 1
      }
      add(chunk.subarray(start))
      done()
    },
  })

  function add(part: Buffer): void {
    length += part.length
    if (length > MAX_LINE) rest = []
    else rest.push(part)
  }

  function pass(line: string | undefined): void {
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
    if (answer === undefined) lines.push(`${line}\n`)
    else if (hasNoAnswer(message)) report(`ignored a message of the client: ${answer.error.message}`)
    else output.write(`${JSON.stringify(answer)}\n`)
  }

  return input.pipe(lines)
}

const LINE_FEED = 0x0a
