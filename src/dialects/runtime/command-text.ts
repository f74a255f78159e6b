import type { ToolOutput } from '../../tools/index.ts'

type Ran = Pick<ToolOutput<'run_command'>, 'stdout' | 'stderr' | 'refused' | 'outputUri'>

/** What a command put out, errors last, and below it what it was refused: programs hide that. */
export function formatCommandOutput({ stdout, stderr, refused = [], outputUri }: Ran): string {
  const notes = [
    ...refused.map(({ code, message }) => `[refused: ${message} (${code})]`),
    ...(outputUri === undefined ? [] : [`[only the end is shown; all of it: ${outputUri}]`]),
  ]
  return [stdout, stderr, notes.join('\n')].reduce(joined)
}

/** One text below another. */
function joined(above: string, below: string): string {
  if (below === '') return above
  return above === '' || above.endsWith('\n') ? above + below : `${above}\n${below}`
}
