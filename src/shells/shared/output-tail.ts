/** The end of a stream of text. */
export interface OutputTail {
  add(bytes: Uint8Array): void
  addText(text: string): void
  /** What came since the last time, or the end of it. */
  take(): string
}

/** Keeps at least the last so many characters of what comes, and never more than twice that. */
export function createOutputTail(most: number, onText?: (text: string) => void): OutputTail {
  const decoder = new TextDecoder('utf-8')
  let parts: string[] = []
  let length = 0
  function keep(text: string): void {
    if (text === '') return
    onText?.(text)
    parts.push(text)
    length += text.length
    if (length <= most * 2) return
    const end = parts.join('').slice(-most)
    parts = [end]
    length = end.length
  }
  return {
    add: (bytes) => keep(decoder.decode(bytes, { stream: true })),
    addText: keep,
    take() {
      const text = parts.join('')
      parts = []
      length = 0
      return text
    },
  }
}
