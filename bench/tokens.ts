import { type Measured, sizeOf, sizeOfDefinitions, steps } from './tokens/measured.ts'
import { measureAll, measureAnthropic, measureOwn } from './tokens/ours.ts'
import { measurePeers } from './tokens/peers.ts'

/**
 * What tools cost a model, in tokens of o200k: their definitions, sent with every request, and what each step of one piece of
 * work shows. Every peer is installed at an exact version and does the work really, on the same files.
 */
const work = [
  'list_directory',
  'search_text',
  'read_file',
  'edit_file',
  'write_file',
  'run_command',
  'diff_workspace',
] as const

const measured: readonly Measured[] = [
  await measureAll('Wardspace, all tools'),
  await measureOwn('Wardspace, seven tools', work, 'text'),
  await measureOwn('Wardspace, whole results as JSON', work, 'json'),
  ...measurePeers(),
  await measureAnthropic("Anthropic's editor, bash, memory (plain)"),
]

const columns = ['tools', 'definitions', ...steps, 'results', 'per result']
const rows = measured.map((each) => {
  const shown = steps.map((step) => {
    const result = each.results[step]
    return result === undefined ? undefined : sizeOf(result).tokens
  })
  const known = shown.filter((tokens) => tokens !== undefined)
  const sum = known.reduce((all, tokens) => all + tokens, 0)
  const { bytes, tokens } = sizeOfDefinitions(each.definitions)
  const cells = [
    each.definitions.length,
    `${tokens} (${bytes} B)`,
    ...shown,
    sum || undefined,
    known.length === 0 ? undefined : Math.round(sum / known.length),
  ]
  return [each.name, ...cells.map((cell) => String(cell ?? '–'))]
})
for (const [name, ...cells] of [['', ...columns], ['---', ...columns.map(() => '--:')], ...rows]) {
  console.log(`| ${name} | ${cells.join(' | ')} |`)
}
