import type { Scenario } from '../types.ts'
import { call, calls } from './calling.ts'
import { plural, quoted, testVerdict } from './reading.ts'
import { asMethod } from './writing.ts'

const PACKAGE = 'pad-lines'
/** The functions of the package, and the methods that replace them. */
const REPLACEMENTS = { padLeft: 'padStart', padRight: 'padEnd' } as const

/** Removes a dependency from a project under supervision: a plan first, then an approval for each change. */
export const dropADependency: Scenario = {
  id: 'drop-a-dependency',
  sample: 'order-book',
  prompt: `Get rid of the dependency \`${PACKAGE}\`: the language can do all of that by now.`,
  workspace: { policy: 'supervised', mode: 'plan' },
  *script() {
    const [manifest, lock, search] = yield* calls(
      `I look where \`${PACKAGE}\` is used, and what names it.`,
      { name: 'read_file', input: { path: 'package.json' } },
      { name: 'read_file', input: { path: 'package-lock.json', maxLines: 1000 } },
      { name: 'search_text', input: { query: `from '${PACKAGE}'` } },
    )
    if (manifest?.ok !== true) return `I cannot read package.json: ${manifest?.message}. I changed nothing.`
    if (search?.ok !== true) return `I could not search: ${search?.message}. I changed nothing.`
    const uses = [...new Set(((search.matches ?? []) as readonly { path: string }[]).map(({ path }) => path))]
    if (!String(manifest.content).includes(`"${PACKAGE}"`)) return `This project does not depend on \`${PACKAGE}\`.`
    const paths = [...uses, 'package.json', ...(lock?.ok === true ? ['package-lock.json'] : [])]

    const plan = yield* call(
      `It is imported in ${uses.length === 0 ? 'no file' : quoted(uses)}. I hand in a plan before I change anything.`,
      'submit_plan',
      {
        plan: [
          `Remove the dependency \`${PACKAGE}\`:`,
          ...uses.map((path) => `- ${path}: \`padStart\` and \`padEnd\` of the language instead of the package`),
          `- ${paths.slice(uses.length).join(' and ')}: take the package out`,
          '- run the tests',
        ].join('\n'),
        paths,
      },
    )
    if (!plan.ok) return `The plan was not approved: ${plan.message}. I changed nothing.`

    const done: string[] = []
    const refused: string[] = []
    const soFar = () => (done.length === 0 ? 'I changed nothing.' : `Changed so far: ${quoted(done)}.`)
    for (const path of uses) {
      const file = yield* call(`I read \`${path}\`.`, 'read_file', { path, maxLines: 1000 })
      if (!file.ok) return `I cannot read ${path}: ${file.message}. ${soFar()}`
      const edits = editsOf(file.content)
      if (edits.length === 0) continue
      const edited = yield* call(`${plural(edits.length, 'passage')} of \`${path}\` change.`, 'edit_file', {
        path,
        edits,
        expectedSha256: file.sha256,
        reason: `${PACKAGE} is not needed any more`,
      })
      // Without the code, the rest would break the project.
      if (!edited.ok) return `The change of \`${path}\` was refused: ${edited.message}. I stop here. ${soFar()}`
      done.push(path)
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
    const lockStays = refused.some((path) => path.startsWith('`package-lock.json`'))
    const advice = lockStays && refused.length === 1 ? '; run `npm install` to bring it in line' : ''
    const left = refused.length === 0 ? '' : ` Refused was the change of ${refused.join(' and ')}${advice}.`
    const out = done.length === 0 ? 'No code used it.' : `\`${PACKAGE}\` is out of ${quoted(done)}.`
    const remaining = uses.filter((path) => !done.includes(path))
    const still = remaining.length === 0 ? '' : ` It is still in ${quoted(remaining)}.`
    return `${testVerdict(tests)} ${out}${still}${left}`
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
