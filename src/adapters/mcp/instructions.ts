import type { ToolDescription } from '../../workspace/create-workspace.ts'

/** Returns what the descriptions of the tools do not say: how they work together. Mentions only tools that exist. */
export function instructionsFor(tools: readonly Pick<ToolDescription, 'name'>[]): string {
  const names = new Set(tools.map(({ name }) => name))
  const changes = ['edit_file', 'replace_range', 'apply_patch', 'write_file'].some((name) => names.has(name))
  return [
    'Paths are relative to the workspace root, with "/".',
    ...(changes
      ? ['Before changing a file read it with read_file; its sha256 is the expectedSha256 of the change.']
      : []),
    ...(names.has('submit_plan') ? ['In plan mode submit a plan with submit_plan before changing anything.'] : []),
    'A refusal has a code and a hint: follow the hint, and do not repeat the call as it is.',
    'Truncated results are complete at their artifact:// address; read them with read_file. [REDACTED:…] marks a secret: keep the mark unchanged.',
  ].join('\n')
}
