/** Quoted texts, and words that stand for an earlier line: `!!`, `!$`, `!3`, `!-2` and `!git`. */
const WORDS = /'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|(?<![^\s;&|(])!(?:[!$]|-?\d+|[A-Za-z.][^\s'"`;&|()<>]*)|!!/g

/** Replaces what stands for earlier lines, as bash does outside of quotes. `missing`: a word for which there is no line. */
export function withHistory(
  text: string,
  history: readonly string[],
): { readonly text: string; readonly missing: string | undefined } {
  let missing: string | undefined
  const replaced = (word: string): string => {
    const line = lineOf(word.slice(1), history)
    if (line === undefined) missing ??= word
    return line ?? word
  }
  const [, from, to = ''] = /^\^([^^]+)\^([^^]*)\^?$/.exec(text) ?? []
  if (from !== undefined) {
    const last = history.at(-1)
    return last?.includes(from) ? { text: last.replace(from, () => to), missing } : { text, missing: text }
  }
  const all = text.replace(WORDS, (word) => {
    if (word.startsWith('!')) return replaced(word)
    return word.startsWith('"') ? word.replace(/\\[\s\S]|!!/g, (part) => (part === '!!' ? replaced(part) : part)) : word
  })
  return { text: all, missing }
}

function lineOf(word: string, history: readonly string[]): string | undefined {
  if (word === '!') return history.at(-1)
  if (word === '$')
    return history
      .at(-1)
      ?.match(/(?:'[^']*'|"[^"]*"|\S)+/g)
      ?.at(-1)
  if (/^-?\d+$/.test(word)) return history.at(Number(word) - (word.startsWith('-') ? 0 : 1))
  return history.findLast((line) => line.startsWith(word))
}
