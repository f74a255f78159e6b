import type { ToolDescription } from '../../workspace/create-workspace.ts'

/** How the tools work together, in few words: only of tools that are there. */
export function instructionsFor(tools: readonly Pick<ToolDescription, 'name'>[]): string {
  const names = new Set(tools.map(({ name }) => name))
  const has = (...wanted: string[]) => wanted.filter((name) => names.has(name))
  const say = (wanted: string[], words: (list: string) => string) =>
    wanted.length === 0 ? [] : [words(wanted.join(', '))]
  return [
    'Paths are relative to the workspace root, with "/".',
    ...say(has('find_files', 'search_text', 'list_directory'), (list) => `Look around with ${list}.`),
    ...say(
      has('edit_file', 'replace_range', 'apply_patch', 'write_file'),
      (list) =>
        `Before changing a file read it with read_file; its sha256 is the expectedSha256 of the change (${list}). WRITE_CONFLICT means that it changed since: read it again.`,
    ),
    ...say(has('run_command'), (list) => `${list} sees the same files; what it changes counts when it ends.`),
    ...say(has('diff_workspace'), (list) => `${list} shows all that was changed.`),
    ...say(has('submit_plan'), (list) => `In plan mode hand in a plan with ${list} before changing anything.`),
    'A refusal has a code and a hint: follow the hint, and do not repeat the call as it is.',
    'What was cut is whole at its artifact:// address, which read_file takes. Text as [REDACTED:…] is a secret: leave the mark as it is.',
  ].join('\n')
}
