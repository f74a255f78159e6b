/**
 * Returns the names in a text outside of quotes: of tools and fields, functions with their `(`, options of the command line, and what
 * is in backquotes. The options of a git command are no names.
 */
export function namesIn(text: string): readonly string[] {
  const plain = text.replace(/"[^"]*"|\bgit(?: [\w-]+)+/g, '')
  return plain.match(/--[a-z][a-z-]*|`[^`]+`|\b[A-Za-z]\w*\(|\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]+[A-Z]\w*/g) ?? []
}

/** Returns the sentences of a hint whose names the caller knows, or `''` when there is none. */
export function knownSentences(hint: string, knows: (name: string) => boolean): string {
  if (namesIn(hint).every(knows)) return hint
  const sentences = hint.split(/(?<=[.?!]) (?=[A-Z"])/)
  return sentences.filter((sentence) => namesIn(sentence).every(knows)).join(' ')
}

/** Functions and options of the library in its hints. Only the program that has created the workspace can use them. */
const namesOfProgram: ReadonlySet<string> = new Set([
  ...['createWorkspace(', 'bash(', 'opfs(', 'overlay(', 'commit(', 'merge(', 'readBytes(', 'askPermission('],
  ...['`access`', '`sandbox`', 'stateDir', 'shadowBytes'],
])

/** Whether a name in a hint is that of a function or an option of the library. */
export function isOfProgram(name: string): boolean {
  return namesOfProgram.has(name)
}
