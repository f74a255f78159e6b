/** Commands that read their standard input while they have at most so many operands, with their options that take a value. */
const readers: Readonly<Record<string, readonly [operands: number, withValue: string]>> = {
  ...Object.fromEntries(
    'cat tac rev nl uniq wc base64 md5sum sha1sum sha256sum'.split(' ').map((name) => [name, [0, '']]),
  ),
  ...{ head: [0, 'nc'], tail: [0, 'nc'], cut: [0, 'bcdf'], sort: [0, 'kto'], fold: [0, 'w'] },
  ...{ grep: [1, 'ABCm'], sed: [1, ''], awk: [1, 'Fv'], jq: [1, ''] },
  ...{ read: [99, 'dnpt'], tr: [99, ''], tee: [99, ''], xargs: [99, 'In'] },
}

/** Words, redirections and what ends a command. */
const TOKENS = /(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\|;&<>])+|>>?|[|;&<\n]+/g

/** What a line reads of an input: nothing, one line, or all of it. */
export type LineInput = false | 'line' | 'all'

/** What the first command of a line would read of an input that nothing gives it, such as `cat > notes.txt` or `read name`. */
export function readsInput(line: string): LineInput {
  const tokens = line.match(TOKENS) ?? []
  const end = tokens.findIndex((token) => /^[|;&<\n]/.test(token))
  if (end !== -1 && tokens[end]?.startsWith('<')) return false
  const words = tokens.slice(0, end === -1 ? tokens.length : end)
  const isFree = (at: number) => !words[at]?.startsWith('>') && !words[at - 1]?.startsWith('>')
  const [name = '', ...rest] = words.filter((word, at) => isFree(at) && !/^\w+=/.test(word))
  const reader = Object.hasOwn(readers, name) ? readers[name] : undefined
  if (reader === undefined) return false
  const [most, withValue] = reader
  const takesValue = (word: string | undefined) =>
    /^-[a-zA-Z]$/.test(word ?? '') && withValue.includes(word?.[1] ?? ' ')
  const operands = rest.filter((word, at) => (word === '-' || !word.startsWith('-')) && !takesValue(rest[at - 1]))
  const isReading =
    operands.filter((word) => word !== '-').length <= most && !rest.some((word) => /^--(?:help|version)$/.test(word))
  if (!isReading) return false
  const isOnce = name === 'read' && tokens.filter((token) => token === 'read').length === 1
  return isOnce && !rest.includes('-d') ? 'line' : 'all'
}

/** Scripts of node and of bash that read their standard input. */
const readingScripts = {
  node: /process\.stdin|readline|\/dev\/stdin|readFileSync\(0/,
  bash: /^\s*(?:while\s+)?read\s/m,
}

/** The script that the first command of a line runs, and whether a text of it reads the standard input. */
export function scriptOf(line: string): { readonly file: string; reads(text: string): boolean } | undefined {
  const [, program, file] =
    /^(?:(node|bash|sh)\s+)?((?:\.{1,2}\/)?[\w@][\w./@-]*)(?=\s|$|[|;&>])(?!\s*<)/.exec(line) ?? []
  if (file === undefined || (program === undefined && !file.startsWith('.'))) return undefined
  return {
    file,
    reads: (text) => readingScripts[program === 'node' || /^#!.*\bnode\b/.test(text) ? 'node' : 'bash'].test(text),
  }
}
