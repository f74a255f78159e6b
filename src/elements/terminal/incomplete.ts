import { ownValue } from '../../util/own-value.ts'

/** Words that begin a construct of bash, and the words that end it. */
const ends: Readonly<Record<string, string>> = { if: 'fi', case: 'esac', do: 'done', '{': '}' }

/** Whether bash needs more lines to know where a text ends: in quotes, constructs, here-documents and after a backslash. */
export function isIncomplete(text: string): boolean {
  const open: string[] = []
  const documents: { readonly end: string; readonly isIndented: boolean }[] = []
  let isStart = true
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at)
    const quoted = /^(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S])/.exec(rest)
    if (quoted !== null) {
      at += quoted[0].length
      isStart = false
      continue
    }
    if (/^['"\\]/.test(rest)) return true
    const document = /^<<(-?)[ \t]*(['"]?)([^\s'"<>|;&()]+)\2/.exec(rest)
    if (document !== null && !rest.startsWith('<<<')) {
      documents.push({ end: document[3] ?? '', isIndented: document[1] === '-' })
      at += document[0].length
      continue
    }
    if (rest.startsWith('<<<')) {
      at += 3
      continue
    }
    const character = text[at]
    if (character === '\n') {
      at += 1
      isStart = true
      for (const { end, isIndented } of documents.splice(0)) {
        const after = text.slice(at)
        const found = after.split('\n').findIndex((line) => (isIndented ? line.replace(/^\t+/, '') : line) === end)
        if (found === -1) return true
        at +=
          after
            .split('\n')
            .slice(0, found + 1)
            .join('\n').length + 1
      }
      continue
    }
    if (character === '#' && (at === 0 || /[\s;&|(]/.test(text[at - 1] ?? ''))) {
      at += /^[^\n]*/.exec(rest)?.[0].length ?? 0
      continue
    }
    const word = /^[^\s;&|()'"\\<>#]+/.exec(rest)?.[0]
    if (word !== undefined) {
      const end = ownValue(ends, word)
      if (isStart && word === open.at(-1)) open.pop()
      else if (isStart && end !== undefined) open.push(end)
      else if (word.endsWith('}') && open.at(-1) === '}' && isStart) open.pop()
      isStart = isStart && /^(?:if|then|else|elif|while|until|do|!|\{|time)$/.test(word)
      at += word.length
      continue
    }
    if (character === '(') open.push(')')
    else if (character === ')' && open.at(-1) === ')') open.pop()
    if (/[;&|()]/.test(character ?? '')) isStart = true
    at += 1
  }
  return open.length > 0 || documents.length > 0 || /(?:&&|\|\|?)\s*$/.test(text)
}
