import { utf8Length } from '../../files/text/utf8-length.ts'

/**
 * As much of a patch as fits into so many bytes, cut between two files or between two hunks of one, so that what is left
 * still is a patch. A section without hunks is not cut.
 */
export function truncatePatch(
  sections: readonly { readonly text: string; readonly binary: boolean }[],
  maxBytes: number,
): { readonly text: string; readonly truncated: boolean } {
  let text = ''
  let left = maxBytes
  for (const section of sections) {
    const bytes = utf8Length(section.text)
    if (bytes <= left) {
      text += section.text
      left -= bytes
      continue
    }
    // A file that became a link, or stopped being one, is two sections in one, which belong together.
    const isWhole = section.binary || section.text.includes('\ndiff --git ')
    return { text: isWhole ? text : text + wholeHunks(section.text, left), truncated: true }
  }
  return { text, truncated: false }
}

/** Of a section that does not fit: up to the last hunk that does; nothing where not even the first one does. */
function wholeHunks(text: string, maxBytes: number): string {
  let end = 0
  let bytes = 0
  let from = 0
  // Within a hunk each line starts with a space, a sign or a backslash.
  for (let at = text.indexOf('\n@@ '); at !== -1; at = text.indexOf('\n@@ ', from)) {
    bytes += utf8Length(text.slice(from, at + 1))
    if (bytes > maxBytes) break
    // What comes before the first hunk is nothing by itself.
    if (from > 0) end = at + 1
    from = at + 1
  }
  return text.slice(0, end)
}
