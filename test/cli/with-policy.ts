const commands = new Set(['call', 'mcp', 'approve', 'overlay', 'policy'])

/** Adds `--policy autonomous` to the arguments of a command unless they name a policy. The first argument is the command. */
export function withPolicy(words: readonly string[]): string[] {
  return commands.has(words[0] ?? '') ? autonomous(words) : [...words]
}

/** Adds `--policy autonomous` to the arguments after a command unless they name a policy. */
export function autonomous(words: readonly string[]): string[] {
  return words.includes('--policy') ? [...words] : [...words, '--policy', 'autonomous']
}
