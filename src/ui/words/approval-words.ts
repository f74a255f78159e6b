import type { ApprovalRequest } from '../../policy/approval.ts'
import { ownValue } from '../../util/own-value.ts'
import { aboutCall } from './call-words.ts'

const verbs: Readonly<Record<string, string>> = {
  run_command: 'run a command',
  start_command: 'start a command in the background',
  write_file: 'write a file',
  edit_file: 'edit a file',
  replace_range: 'edit a file',
  append_file: 'append to a file',
  apply_patch: 'apply a patch',
  delete_file: 'delete a file',
  move_file: 'move a file',
  copy_file: 'copy a file',
  create_directory: 'create a directory',
}

/** What a call of a tool does. */
export function verbOf(tool: string): string {
  return ownValue(verbs, tool) ?? `call ${tool}`
}

/** The question of a pending approval in a person's words. */
export function questionInWords({ tool, input }: Pick<ApprovalRequest, 'tool' | 'input'>): string {
  if (tool === 'submit_plan') return 'Approve this plan?'
  const { command } = input as { command?: unknown }
  if (typeof command === 'string') {
    return tool === 'start_command' ? `Start ${command} in the background?` : `Run ${command}?`
  }
  const verb = verbOf(tool)
  const verbOnly = verb.replace(/ an? (file|patch|directory)$/, '')
  return `${verbOnly[0]?.toUpperCase()}${verbOnly.slice(1)} ${aboutCall(tool, input)}?`
}
