import { checkArgument, isFunction, isPositive, refuseSurplus } from '../../util/check-options.ts'

/** Collects the end of a stream of text. */
export interface OutputTail {
  /** Appends UTF-8; a character may be split over two calls. */
  add(bytes: Uint8Array): void
  /** Appends text. */
  addText(text: string): void
  /** Returns the text since the last call, or its end if it was too long. */
  take(): string
}

/** Keeps at least the last `maxLength` characters, and at most twice as many. `onText` is called with all text. */
export function createOutputTail(maxLength: number, onText?: (text: string) => void): OutputTail {
  refuseSurplus('createOutputTail()', 2, arguments)
  checkArgument('createOutputTail()', 'maxLength', maxLength, isPositive)
  if (onText !== undefined) checkArgument('createOutputTail()', 'onText', onText, isFunction)
  const decoder = new TextDecoder('utf-8')
  let parts: string[] = []
  let length = 0
  function append(text: string): void {
    if (text === '') return
    onText?.(text)
    parts.push(text)
    length += text.length
    if (length <= maxLength * 2) return
    const end = parts.join('').slice(-maxLength)
    parts = [end]
    length = end.length
  }
  return {
    add: (bytes) => append(decoder.decode(bytes, { stream: true })),
    addText: append,
    take() {
      const text = parts.join('')
      parts = []
      length = 0
      return text
    },
  }
}
