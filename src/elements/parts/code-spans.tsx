import { scrollable } from './focusable.ts'

/** A block of code between lines of three backticks, or code within a line. */
const CODE = /(?:^|\n)```[^\n`]*\n([\s\S]*?)\n```[ \t]*(?:\n|$)|`([^`\n]+)`/

/** A text of a person as it was typed, except that what stands between backticks is code. */
export function CodeSpans({ text }: { readonly text: string }) {
  // By turns: text, a block, code within a line. Of the last two, one is undefined.
  return (
    <>
      {text.split(CODE).map((part: string | undefined, at) => {
        if (part === undefined || at % 3 === 0) return part
        return at % 3 === 2 ? (
          <code key={at}>{part}</code>
        ) : (
          <pre key={at} class="box" {...scrollable}>
            {part}
          </pre>
        )
      })}
    </>
  )
}
