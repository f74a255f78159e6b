import type { ToolDescription } from '../../workspace/create-workspace.ts'

/** Returns short instructions on how the tools work together. Mentions only tools that exist. */
export function instructionsFor(tools: readonly Pick<ToolDescription, 'name'>[]): string {
  const names = new Set(tools.map(({ name }) => name))
  const existing = (...candidates: string[]) => candidates.filter((name) => names.has(name))
  const sentence = (tools: string[], format: (list: string) => string) =>
    tools.length === 0 ? [] : [format(tools.join(', '))]
  return [
    'Paths are relative to the workspace root, with "/".',
    ...sentence(existing('find_files', 'search_text', 'list_directory'), (list) => `Look around with ${list}.`),
    ...sentence(
      existing('edit_file', 'replace_range', 'apply_patch', 'write_file'),
      (list) =>
        `Before changing a file read it with read_file; its sha256 is the expectedSha256 of the change (${list}). WRITE_CONFLICT means that it has changed since: read it again.`,
    ),
    ...sentence(
      existing('run_command'),
      (list) => `${list} sees the same files; its changes take effect when it ends.`,
    ),
    ...sentence(existing('diff_workspace'), (list) => `${list} shows all changes.`),
    ...sentence(existing('submit_plan'), (list) => `In plan mode submit a plan with ${list} before changing anything.`),
    'A refusal has a code and a hint: follow the hint, and do not repeat the call as it is.',
    'Truncated results are complete at their artifact:// address; read them with read_file. [REDACTED:…] marks a secret: keep the mark unchanged.',
  ].join('\n')
}
