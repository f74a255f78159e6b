import { objectOf, verbOf } from '../../src/elements/chat/call-verbs.ts'

/** Returns a call as the tool with its path or command. */
export function labelOf(tool: string, input: unknown): string {
  const { path, command } = (input ?? {}) as { path?: unknown; command?: unknown }
  const about = typeof path === 'string' ? path : typeof command === 'string' ? command : ''
  return about === '' ? tool : `${tool} ${about.slice(0, 80)}`
}

/** Returns what a call did, as the name of the state of the files after it. */
export function pointName(tool: string, input: unknown): string {
  return `${verbOf(tool, 'did')} ${objectOf(tool, input).slice(0, 80)}`.trim()
}
