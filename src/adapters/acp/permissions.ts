import type { OpenTarget } from '../sandbox/target.ts'
import type { AcpPermissionOption, AcpPermissionResponse, AcpToolCall } from './types.ts'

/** A call of the workspace that does what an agent announces. */
export interface AnnouncedCall {
  readonly tool: 'read_file' | 'write_file' | 'delete_file' | 'run_command'
  readonly input: Readonly<Record<string, unknown>>
}

/**
 * Returns the calls that do what an agent announces, or none if the announcement does not say enough. The texts of a change may
 * be parts of the file: only its path is meant.
 */
export function announcedCalls(call: AcpToolCall, { inward }: Pick<OpenTarget, 'inward'>): AnnouncedCall[] {
  const { kind, content, locations, rawInput } = call
  const changed = (content ?? []).flatMap(({ type, path }) => (type === 'diff' && path !== undefined ? [path] : []))
  const named = (locations ?? []).map(({ path }) => path)
  const change = (path: string): AnnouncedCall => ({ tool: 'write_file', input: { path: inward(path), content: '' } })
  switch (kind) {
    case 'edit':
      return (changed.length > 0 ? changed : named).map(change)
    case 'read':
      return named.map((path) => ({ tool: 'read_file', input: { path: inward(path) } }))
    case 'delete':
      return named.map((path) => ({ tool: 'delete_file', input: { path: inward(path) } }))
    case 'execute': {
      // Some agents have the line as the title alone.
      const { command = call.title } = Object(rawInput) as { command?: unknown }
      return typeof command === 'string' && command !== '' ? [{ tool: 'run_command', input: { command } }] : []
    }
    default:
      return changed.map(change)
  }
}

/** Returns the answer with the option of this kind, or `cancelled` if the agent offers none. */
export function answerWith(
  kind: 'allow_once' | 'reject_once',
  options: readonly AcpPermissionOption[],
): AcpPermissionResponse {
  const option = options.find((option) => option.kind === kind)
  if (option === undefined) return { outcome: { outcome: 'cancelled' } }
  return { outcome: { outcome: 'selected', optionId: option.optionId } }
}
