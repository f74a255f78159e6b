const commands = new Set(['call', 'mcp', 'approve', 'overlay', 'policy'])

/** The words of a command with the policy `autonomous`, unless they name a policy. The first word is a command. */
export function withPolicy(words: readonly string[]): string[] {
  return commands.has(words[0] ?? '') ? autonomous(words) : [...words]
}

/** The words of a command, without its name, with the policy `autonomous`, unless they name a policy. */
export function autonomous(words: readonly string[]): string[] {
  return words.includes('--policy') ? [...words] : [...words, '--policy', 'autonomous']
}
