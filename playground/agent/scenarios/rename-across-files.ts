import type { Scenario } from '../types.ts'
import { call, calls } from './calling.ts'
import { plural, quoted, testVerdict } from './reading.ts'
import { linePatch } from './writing.ts'

const OLD = 'getTemp'
const NEW = 'readTemperature'

/** Finds every use of a function and renames all of them in one patch, bound to the versions that it read. */
export const renameAcrossFiles: Scenario = {
  id: 'rename-across-files',
  sample: 'weather-station',
  prompt: `Rename \`${OLD}\` to \`${NEW}\` everywhere, the documentation included.`,
  workspace: { policy: 'autonomous' },
  *script() {
    const query = { query: `\\b${OLD}\\b`, mode: 'regex', maxMatches: 500 } as const
    const [search, unfiltered] = yield* calls(
      `I look for \`${OLD}\` as a whole word, so that longer names stay as they are; and once more in what is ignored.`,
      { name: 'search_text', input: query },
      { name: 'search_text', input: { ...query, includeIgnored: true } },
    )
    if (search?.ok !== true) return `I could not search: ${search?.message}. I changed nothing.`
    const uses = pathsOf(search)
    const built = pathsOf(unfiltered).filter((path) => !uses.includes(path))
    if (uses.length === 0) {
      const where = built.length === 0 ? '' : ` outside of ${quoted(built)}, which is ignored`
      return `Nothing here is called \`${OLD}\`${where}, so there is nothing to rename.`
    }

    for (let attempt = 1; ; attempt++) {
      const files = yield* calls(
        attempt === 1
          ? `It stands in ${plural(uses.length, 'file')}: ${quoted(uses)}. I read them.`
          : 'Somebody has changed a file since I read it. I read them again.',
        ...uses.map((path) => ({ name: 'read_file', input: { path, maxLines: 1000 } })),
      )
      const unread = uses.find((_, i) => files[i]?.ok !== true)
      if (unread !== undefined) return `I cannot read ${unread}, so I changed nothing.`
      const texts = files.map(({ content }) => String(content ?? ''))
      const patches = uses.map((path, i) =>
        linePatch(path, texts[i] ?? '', (line) => line.replaceAll(new RegExp(query.query, 'g'), NEW)),
      )
      const applied = yield* call('One patch for all of them, bound to the versions that I read.', 'apply_patch', {
        patch: patches.join(''),
        expectedSha256s: Object.fromEntries(uses.map((path, i) => [path, String(files[i]?.sha256)])),
        reason: `${OLD} becomes ${NEW}`,
      })
      if (!applied.ok) {
        if (/CONFLICT/.test(applied.code) && attempt < 3) continue
        if (applied.code === 'ABORTED') return 'The patch was interrupted: look at the changes before you go on.'
        return `The patch was refused (${applied.code}): ${applied.message}. Nothing was changed.`
      }
      const [tests, left] = yield* calls(
        `${plural(applied.insertions, 'line')} changed. I run the tests, and look for what is left.`,
        { name: 'run_command', input: { command: 'npm test' } },
        { name: 'search_text', input: query },
      )
      const rest = pathsOf(left)
      const verdict = testVerdict(tests)
      const changed = `${plural(applied.insertions, 'line')} in ${plural(uses.length, 'file')}, by one patch`
      if (left?.ok !== true) return `${verdict} Changed are ${changed}; I could not search for what is left.`
      if (rest.length > 0) return `${verdict} Changed are ${changed}; \`${OLD}\` still stands in ${quoted(rest)}.`
      const note =
        built.length === 0
          ? ''
          : ` ${quoted(built)} ${built.length === 1 ? 'is' : 'are'} made by the build, so I left that alone.`
      return `${verdict} Nothing is called \`${OLD}\` any more: ${changed}.${note}`
    }
  },
}

function pathsOf(search: { readonly [field: string]: unknown } | undefined): string[] {
  const matches = (search?.matches ?? []) as readonly { readonly path: string }[]
  return [...new Set(matches.map(({ path }) => path))]
}
