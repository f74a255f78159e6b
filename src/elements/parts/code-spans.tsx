import { scrollable } from './focusable.ts'

/** Code within a line. */
const CODE = /`([^`\n]+)`/

const isFence = (line: string) => /^```[^`]*$/.test(line)
const isEnd = (line: string) => /^```[ \t]*$/.test(line)

/** Splits a text into text and blocks of code between lines of three backticks, by turns. */
function blocksOf(text: string): readonly string[] {
  const lines = text.split('\n')
  const lastEnd = lines.findLastIndex(isEnd)
  const parts: string[] = []
  let begin = 0
  for (let at = 0; at + 1 < lastEnd; at++) {
    if (!isFence(lines[at] ?? '')) continue
    let end = at + 2
    while (!isEnd(lines[end] ?? '')) end++
    parts.push(lines.slice(begin, at).join('\n'), lines.slice(at + 1, end).join('\n'))
    begin = end + 1
    at = end
  }
  return [...parts, lines.slice(begin).join('\n')]
}

/** A text of a person as it was typed, except that what stands between backticks is code. */
export function CodeSpans({ text }: { readonly text: string }) {
  return (
    <>
      {blocksOf(text).map((part, at) =>
        at % 2 === 0 ? (
          part.split(CODE).map((span, index) => (index % 2 === 0 ? span : <code key={index}>{span}</code>))
        ) : (
          <pre key={at} class="box" {...scrollable}>
            {part}
          </pre>
        ),
      )}
    </>
  )
}
