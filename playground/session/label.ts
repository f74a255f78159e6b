/** Returns the name of a point: the tool with its path or command. */
export function labelOf(tool: string, input: unknown): string {
  const { path, command } = (input ?? {}) as { path?: unknown; command?: unknown }
  const about = typeof path === 'string' ? path : typeof command === 'string' ? command : ''
  return about === '' ? tool : `${tool} ${about.slice(0, 80)}`
}
