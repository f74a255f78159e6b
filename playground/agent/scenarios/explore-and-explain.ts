import type { Scenario } from '../types.ts'
import { call, calls } from './calling.ts'
import { importsOf, lineOf } from './reading.ts'

/** Follows a question from the entry point of a project to the lines that answer it, and quotes them. */
export const exploreAndExplain: Scenario = {
  id: 'explore-and-explain',
  sample: 'weather-station',
  prompt: 'How does this project come to raise an alarm? Show me the lines.',
  workspace: { policy: 'readOnly' },
  afterwards: { label: 'Change a limit in src/alarm.js, and ask again', file: 'src/alarm.js' },
  *script() {
    const listed = yield* call('What is here?', 'list_directory', { path: '.', maxDepth: 2 })
    if (!listed.ok) return `I cannot look around: ${listed.message}.`
    const paths = listed.entries.map(({ path }) => path)
    if (!paths.includes('package.json')) return 'There is no package.json, so I do not know where to begin.'
    const manifest = yield* call('The manifest names the entry.', 'read_file', { path: 'package.json' })
    if (!manifest.ok) return `I cannot read package.json: ${manifest.message}.`
    const entry = /"main": "([^"]+)"/.exec(manifest.content)?.[1]
    if (entry === undefined) return 'The manifest names no entry, so I do not know where to begin.'
    const main = yield* call(`I begin at \`${entry}\`.`, 'read_file', { path: entry })
    if (!main.ok) return `The manifest names \`${entry}\`, which I cannot read: ${main.message}.`

    const asks = lineOf(main.content, /= *alarm\w*\(/)
    const reacts = lineOf(main.content, /onAlarm\(/)
    const source = importsOf(entry, main.content).find((path) => /alarm/.test(path))
    if (asks === undefined || source === undefined) return `Nothing in \`${entry}\` asks for an alarm.`
    const [alarm, uses] = yield* calls(
      `Line ${asks.number} asks for an alarm. I read \`${source}\`, and look who else does that.`,
      { name: 'read_file', input: { path: source } },
      { name: 'search_text', input: { query: '\\balarm\\w*\\(', mode: 'regex', includeGlob: '**/*.js' } },
    )
    if (alarm?.ok !== true)
      return `Line ${asks.number} of \`${entry}\` asks for an alarm, and I cannot read \`${source}\`.`
    const code = String(alarm.content)
    const measured = importsOf(source, code)[0]
    const sensor =
      measured === undefined
        ? undefined
        : yield* call(`It gets the degrees from \`${measured}\`.`, 'read_file', { path: measured })
    const degrees = sensor?.ok === true ? lineOf(sensor.content, /return .*raw/) : undefined

    const quote = (path: string, line: { number: number; text: string } | undefined) =>
      line === undefined ? [] : [`- \`${path}:${line.number}\` \`${line.text.trim()}\``]
    const limits = lineOf(code, /LIMITS = /)
    const callers = ((uses?.matches ?? []) as readonly { path: string; line: number }[]).filter(
      ({ path }) => path !== source && !path.startsWith('test/'),
    )
    const others =
      uses?.ok !== true
        ? 'I could not search for others that ask for it.'
        : callers.length === 1
          ? 'Nobody else asks for it.'
          : `It is asked for in ${callers.length} places.`
    const unread = measured !== undefined && sensor?.ok !== true ? [`I could not read \`${measured}\`.`, ''] : []
    return [
      ...unread,
      'Every sample goes the same way:',
      '',
      ...quote(entry, asks),
      ...quote(measured ?? '', degrees),
      ...quote(source, limits),
      ...quote(source, lineOf(code, /< LIMITS/)),
      ...quote(source, lineOf(code, /> LIMITS/)),
      ...quote(entry, reacts),
      '',
      `So an alarm is raised where the degrees of one sample are outside of ${limits === undefined ? 'the limits' : `\`${/^[^{]*(\{.*\})/.exec(limits.text)?.[1] ?? ''}\``}. ${others}`,
    ].join('\n')
  },
}
