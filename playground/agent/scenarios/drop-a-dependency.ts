import type { Scenario } from '../types.ts'
import { call, calls } from './calling.ts'
import { plural, quoted } from './reading.ts'
import { asMethod } from './writing.ts'

const PACKAGE = 'pad-lines'
/** The functions of the package, and the methods that replace them. */
const REPLACEMENTS = { padLeft: 'padStart', padRight: 'padEnd' } as const

/** Removes a dependency from a project under supervision: a plan first, then an approval for each change. */
export const dropADependency: Scenario = {
  id: 'drop-a-dependency',
  title: 'Drop a dependency, supervised',
  summary:
    'Submits a plan, and after its approval asks for every change: the code, the manifest, the lockfile, the tests.',
  sample: 'order-book',
  prompt: `Get rid of the dependency \`${PACKAGE}\`: the language can do all of that by now.`,
  workspace: { policy: 'supervised', mode: 'plan' },
  afterwards:
    'Refuse one of the changes with a reason, and see what the agent makes of it. Or undo the change of the lockfile.',
  *script() {
    const [manifest, lock, search] = yield* calls(
      `I look where \`${PACKAGE}\` is used, and what names it.`,
      { name: 'read_file', input: { path: 'package.json' } },
      { name: 'read_file', input: { path: 'package-lock.json', maxLines: 1000 } },
      { name: 'search_text', input: { query: `from '${PACKAGE}'` } },
    )
    const uses = [...new Set(((search?.matches ?? []) as readonly { path: string }[]).map(({ path }) => path))]
    if (!String(manifest?.content).includes(`"${PACKAGE}"`)) return `This project does not depend on \`${PACKAGE}\`.`
    const paths = [...uses, 'package.json', ...(lock?.ok === true ? ['package-lock.json'] : [])]

    const plan = yield* call(
      `It is imported in ${quoted(uses)}. I hand in a plan before I change anything.`,
      'submit_plan',
      {
        plan: [
          `Remove the dependency \`${PACKAGE}\`:`,
          ...uses.map((path) => `- ${path}: \`padStart\` and \`padEnd\` of the language instead of the package`),
          '- package.json and package-lock.json: take the package out',
          '- run the tests',
        ].join('\n'),
        paths,
      },
    )
    if (!plan.ok) return `The plan was not approved: ${plan.message}. I changed nothing.`

    const refused: string[] = []
    for (const path of uses) {
      const file = yield* call(`I read \`${path}\`.`, 'read_file', { path, maxLines: 1000 })
      if (!file.ok) return `I cannot read ${path}: ${file.message}.`
      const edits = editsOf(file.content)
      if (edits.length === 0) continue
      const edited = yield* call(`${plural(edits.length, 'passage')} of \`${path}\` change.`, 'edit_file', {
        path,
        edits,
        expectedSha256: file.sha256,
        reason: `${PACKAGE} is not needed any more`,
      })
      // Without the code, the rest would break the project.
      if (!edited.ok) return `The change of \`${path}\` was refused: ${edited.message}. I stop here.`
    }
    for (const [path, read] of [['package.json', manifest] as const, ['package-lock.json', lock] as const]) {
      if (read?.ok !== true) continue
      const result = yield* call(`Now \`${path}\` without the package.`, 'write_file', {
        path,
        content: withoutPackage(String(read.content)),
        expectedSha256: String(read.sha256),
        reason: `${PACKAGE} is not needed any more`,
      })
      if (!result.ok) refused.push(`\`${path}\` (${result.message})`)
    }
    const tests = yield* call('The tests have the last word.', 'run_command', { command: 'npm test' })
    const verdict = !tests.ok
      ? `The tests could not be run: ${tests.message}.`
      : tests.exitCode === 0
        ? 'All tests pass.'
        : 'The tests fail now.'
    const left =
      refused.length === 0
        ? ''
        : ` Refused was the change of ${refused.join(' and ')}; run \`npm install\` to bring it in line.`
    return `${verdict} \`${PACKAGE}\` is out of ${quoted(uses)}.${left}`
  },
}

/** Returns the edits that remove the import of the package and replace its functions, line by line. */
function editsOf(text: string): { oldText: string; newText: string }[] {
  return text.split('\n').flatMap((line) => {
    if (line.includes(`from '${PACKAGE}'`)) return [{ oldText: `${line}\n\n`, newText: '' }]
    let rewritten: string = line
    for (const [name, method] of Object.entries(REPLACEMENTS)) rewritten = asMethod(rewritten, name, method)
    return rewritten === line ? [] : [{ oldText: line, newText: rewritten }]
  })
}

/** Removes the package from a manifest or a lockfile. */
function withoutPackage(text: string): string {
  const strip = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const entries = Object.entries(value).flatMap(([name, inner]) => {
      if (name === PACKAGE || name === `node_modules/${PACKAGE}`) return []
      const stripped = strip(inner)
      return name === 'dependencies' && Object.keys(stripped as object).length === 0 ? [] : [[name, stripped] as const]
    })
    return Object.fromEntries(entries)
  }
  return `${JSON.stringify(strip(JSON.parse(text)), null, 2)}\n`
}
