import type { TimelineEntry } from '../../ui/timeline.ts'
import { aboutCall } from '../../ui/words/call-words.ts'
import { ownValue } from '../../util/own-value.ts'
import type { IconName } from '../parts/icon.tsx'

interface ToolWords {
  readonly icon: IconName
  /** Before the object: what the call did, does, and would have done. */
  readonly did: string
  readonly does: string
  readonly wanted: string
}

const words = (icon: IconName, did: string, does: string, wanted: string): ToolWords => ({ icon, did, does, wanted })

const tools: Readonly<Record<string, ToolWords>> = {
  read_file: words('eye', 'Read', 'Reading', 'read'),
  list_directory: words('folder', 'Listed', 'Listing', 'list'),
  file_info: words('eye', 'Looked at', 'Looking at', 'look at'),
  find_files: words('search', 'Looked for', 'Looking for', 'look for'),
  search_text: words('search', 'Searched for', 'Searching for', 'search for'),
  write_file: words('pencil', 'Wrote', 'Writing', 'write'),
  append_file: words('pencil', 'Appended to', 'Appending to', 'append to'),
  edit_file: words('pencil', 'Edited', 'Editing', 'edit'),
  replace_range: words('pencil', 'Edited', 'Editing', 'edit'),
  apply_patch: words('pencil', 'Patched', 'Patching', 'patch'),
  create_directory: words('folder', 'Created', 'Creating', 'create'),
  delete_file: words('trash', 'Deleted', 'Deleting', 'delete'),
  move_file: words('arrow', 'Moved', 'Moving', 'move'),
  change_files: words('files', 'Changed files:', 'Changing files:', 'change files:'),
  copy_file: words('file', 'Copied', 'Copying', 'copy'),
  diff_workspace: words('diff', 'Compared the changes', 'Comparing the changes', 'compare the changes'),
  run_command: words('terminal', 'Ran', 'Running', 'run'),
  start_command: words('terminal', 'Started', 'Starting', 'start'),
  submit_plan: words('flag', 'Submitted a plan', 'Submitting a plan', 'submit a plan'),
}

/** The words of a tool; for one that is not built in, its name. */
function wordsOf(tool: string): ToolWords {
  return ownValue(tools, tool) ?? words('box', `Called ${tool}`, `Calling ${tool}`, `call ${tool}`)
}

/** What a call is about: a path, a command or a text. A plan says it itself. */
export function objectOf(tool: string, input: unknown): string {
  return tool === 'submit_plan' ? '' : aboutCall(tool, input)
}

export function iconOf(tool: string): IconName {
  return wordsOf(tool).icon
}

export function verbOf(tool: string, state: 'did' | 'does' | 'wanted'): string {
  return wordsOf(tool)[state]
}

/** What a call of the agent does now or has done, as a phrase. */
export function workInWords({ tool, input, state, result }: TimelineEntry): string {
  const verb = verbOf(tool, state === 'done' ? (result?.ok === false ? 'wanted' : 'did') : 'does')
  const phrase = `${verb} ${objectOf(tool, input)}`.trim()
  return state === 'done' && result?.ok === false ? `Tried to ${phrase}` : phrase
}
