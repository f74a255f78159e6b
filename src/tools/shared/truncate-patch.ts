import { utf8Length } from '../../files/text/utf8-length.ts'

/**
 * Cuts a patch to `maxBytes`, between two files or between two hunks, so that the rest is a valid patch. Never cuts a
 * section without hunks.
 */
export function truncatePatch(
  sections: readonly { readonly text: string; readonly binary: boolean }[],
  maxBytes: number,
): { readonly text: string; readonly truncated: boolean } {
  let text = ''
  let remaining = maxBytes
  for (const section of sections) {
    const bytes = utf8Length(section.text)
    if (bytes <= remaining) {
      text += section.text
      remaining -= bytes
      continue
    }
    // The two parts of a file that became a link, or a link that became a file, belong together.
    const isWhole = section.binary || section.text.includes('\ndiff --git ')
    return { text: isWhole ? text : text + wholeHunks(section.text, remaining), truncated: true }
  }
  return { text, truncated: false }
}

/** Returns the start of a section up to the last hunk that fits, or nothing if the first hunk does not fit. */
function wholeHunks(text: string, maxBytes: number): string {
  let end = 0
  let bytes = 0
  let from = 0
  // Lines inside a hunk start with a space, a sign or a backslash.
  for (let at = text.indexOf('\n@@ '); at !== -1; at = text.indexOf('\n@@ ', from)) {
    bytes += utf8Length(text.slice(from, at + 1))
    if (bytes > maxBytes) break
    // The header before the first hunk is not a patch by itself.
    if (from > 0) end = at + 1
    from = at + 1
  }
  return text.slice(0, end)
}

/** Cuts the text of a patch as {@link truncatePatch} does. */
export function truncatePatchText(text: string, maxBytes: number): string {
  // Lines inside a hunk or a binary patch never start so.
  const texts = text.split(/^(?=diff --git )/m)
  const sections: { text: string; binary: boolean }[] = []
  for (const part of texts) {
    const previous = sections.at(-1)
    // The two parts of a file that became a link have the same header.
    if (previous !== undefined && firstLine(previous.text) === firstLine(part)) previous.text += part
    else sections.push({ text: part, binary: part.includes('\nGIT binary patch\n') })
  }
  return truncatePatch(sections, maxBytes).text
}

function firstLine(text: string): string {
  return text.slice(0, text.indexOf('\n'))
}

/** Returns the sections that a cut patch shows in part, and those that it leaves out. */
export function cutSections<S extends { readonly text: string }>(
  sections: readonly S[],
  text: string,
): { readonly partial: readonly S[]; readonly omitted: readonly S[] } {
  const partial: S[] = []
  const omitted: S[] = []
  let start = 0
  for (const section of sections) {
    const end = start + section.text.length
    if (start >= text.length && end > start) omitted.push(section)
    else if (end > text.length) partial.push(section)
    start = end
  }
  return { partial, omitted }
}
