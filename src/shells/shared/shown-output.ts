import type { CommandOutput } from '../types.ts'

/** The name of an output stream. */
export type OutputStream = keyof CommandOutput

/** The output of a line that is shown while the line runs, each part once. */
export interface ShownOutput {
  /** Shows a piece of a stream. */
  add(stream: OutputStream, text: string): void
  /** Call before the line runs again from its start: output that it repeats is not shown again. */
  restart(): void
  /** Shows the rest of the complete output. */
  end(output: CommandOutput): void
}

/** Passes output on to a listener. */
export function createShownOutput(listener: (stream: OutputStream, text: string) => void): ShownOutput {
  const streams = { stdout: createShownText(), stderr: createShownText() }
  const pass = (stream: OutputStream, text: string) => {
    if (text !== '') listener(stream, text)
  }
  return {
    add: (stream, text) => pass(stream, streams[stream].add(text)),
    restart() {
      streams.stdout.restart()
      streams.stderr.restart()
    },
    end({ stdout, stderr }) {
      pass('stdout', streams.stdout.rest(stdout))
      pass('stderr', streams.stderr.rest(stderr))
    },
  }
}

interface ShownText {
  /** Adds a piece. Returns the part of it that is not shown yet. */
  add(piece: string): string
  restart(): void
  /** Returns the part of the complete text that is not shown yet. */
  rest(text: string): string
}

function createShownText(): ShownText {
  let shown = ''
  /** Length of the text that this run has produced. It is equal to the start of the shown text. */
  let length = 0
  function add(piece: string): string {
    if (length === shown.length) {
      shown += piece
      length += piece.length
      return piece
    }
    const known = commonLength(shown.slice(length), piece)
    const rest = piece.slice(known)
    if (rest !== '') shown = shown.slice(0, length + known) + rest
    length += piece.length
    return rest
  }
  return {
    add,
    restart() {
      length = 0
    },
    rest(text) {
      return text.slice(text.startsWith(shown) ? shown.length : commonLength(shown, text))
    },
  }
}

/** Returns the length of the start that two texts have in common. */
function commonLength(a: string, b: string): number {
  const max = Math.min(a.length, b.length)
  let length = 0
  while (length < max && a[length] === b[length]) length += 1
  return length
}
