/** A line of a patch as people see it. */
export interface PatchLine {
  readonly kind: '' | 'file' | 'head' | 'hunk' | 'plus' | 'minus'
  readonly text: string
  /** Its numbers before and after the change, of which an added and a removed line have one. */
  readonly numbers?: readonly [old: number | undefined, now: number | undefined]
}

/** Reads a patch for people: a file is its path, and the header of a hunk is in the numbers of its lines. */
export function patchLines(patch: string): readonly PatchLine[] {
  const lines: PatchLine[] = []
  // Lines of the hunk that are still to come. What begins like a header may be a line of a file.
  let old = 0
  let now = 0
  let oldLeft = 0
  let nowLeft = 0
  for (const text of patch.replace(/\n$/, '').split('\n')) {
    if (oldLeft > 0 || nowLeft > 0) {
      if (text.startsWith('+')) {
        lines.push({ kind: 'plus', text, numbers: [undefined, now++] })
        nowLeft--
      } else if (text.startsWith('-')) {
        lines.push({ kind: 'minus', text, numbers: [old++, undefined] })
        oldLeft--
      } else if (text.startsWith('\\')) lines.push({ kind: 'head', text })
      else {
        lines.push({ kind: '', text, numbers: [old++, now++] })
        oldLeft--
        nowLeft--
      }
      continue
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text)
    if (hunk !== null) {
      old = Number(hunk[1])
      oldLeft = Number(hunk[2] ?? 1)
      now = Number(hunk[3])
      nowLeft = Number(hunk[4] ?? 1)
      // The first hunk follows the name of its file.
      if (lines.at(-1)?.numbers) lines.push({ kind: 'hunk', text: '⋯' })
      continue
    }
    const file = /^diff --git .* b\/(.*)/s.exec(text)
    if (file !== null) lines.push({ kind: 'file', text: file[1] ?? text })
    else if (!/^(?:index |--- |\+\+\+ )/.test(text))
      lines.push({ kind: text.startsWith('@@') ? 'hunk' : kindOf(text), text })
  }
  return lines
}

/** The kind of a line outside of a hunk of git, such as one of a patch in another form. */
function kindOf(text: string): PatchLine['kind'] {
  if (text.startsWith('+')) return 'plus'
  return text.startsWith('-') ? 'minus' : 'head'
}
