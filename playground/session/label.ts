/** What a point is called: the tool with what it was about. */
export function labelOf(tool: string, input: unknown): string {
  const { path, command } = (input ?? {}) as { path?: unknown; command?: unknown }
  const about = typeof path === 'string' ? path : typeof command === 'string' ? command : ''
  return about === '' ? tool : `${tool} ${about.slice(0, 80)}`
}
