import { cellsOf } from './cells.ts'

/** Mark the beginning and the end of a sentence. The output of commands never has them. */
const [BEGIN, END] = ['\x0e', '\x0f']
const marked = /\x0e([^\x0e\x0f]*)\x0f/g

/** Marks a text that the page itself says: it breaks at words, and not where the width of the terminal ends. */
export function sentence(text: string): string {
  return `${BEGIN}${text.replace(/[\x0e\x0f]/g, '')}${END}`
}

/** Returns a text as a terminal of a width shows it. All but the marked sentences stays as it is. */
export function fitted(text: string, width: number): string {
  return text.includes(BEGIN) ? text.replace(marked, (_, said: string) => brokenAtWords(said, width)) : text
}

function brokenAtWords(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => {
      const rows: string[] = []
      let row = ''
      for (const word of line.split(/(?<= )(?! )/)) {
        const isFull = row !== '' && cellsOf(row, width) + cellsOf(word.trimEnd(), width) > width
        if (isFull) rows.push(row)
        row = isFull ? word : row + word
      }
      // A space that follows a full row would begin a row of its own.
      return [...rows, row].map((each) => (cellsOf(each, width) > width ? each.trimEnd() : each)).join('\n')
    })
    .join('\n')
}
