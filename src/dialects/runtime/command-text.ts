import type { ToolOutput } from '../../tools/index.ts'
import { checkArgument, must } from '../../util/check-options.ts'

/** The fields of a command's result that its text shows. */
export type CommandOutput = Pick<ToolOutput<'run_command'>, 'stdout' | 'stderr' | 'refused' | 'outputUri'>

/**
 * Formats the output of a command: stdout, stderr, and below them the accesses that were refused, because programs often
 * hide those.
 */
export function formatCommandOutput(output: CommandOutput): string {
  checkArgument('formatCommandOutput()', 'output', output, isCommandOutput)
  const { stdout, stderr, refused = [], outputUri } = output
  const notes = [
    ...refused.map(({ code, message }) => `[refused: ${message} (${code})]`),
    ...(outputUri === undefined ? [] : [`[only the end is shown; all of it: ${outputUri}]`]),
  ]
  return [stdout, stderr, notes.join('\n')].reduce(joinLines)
}

const isCommandOutput = must(
  'the result of a command',
  (output) => typeof Object(output).stdout === 'string' && typeof Object(output).stderr === 'string',
)

/** Joins two texts with a line break, unless the first ends with one. */
function joinLines(above: string, below: string): string {
  if (below === '') return above
  return above === '' || above.endsWith('\n') ? above + below : `${above}\n${below}`
}
