import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { publishedModules, sourceOf } from '../test/published.ts'

const top = join(import.meta.dirname, '..')
const src = join(top, 'src')

/**
 * Returns the modules that keep a file of their own, by the name of that file: the published entries and the command line. All others
 * are combined into chunks by the entries that need them, so that an entry loads few files and only the code that it needs.
 */
export function entryModules(): Record<string, string> {
  const sources = ['src/cli/main.ts', ...publishedModules(top, 'src').map(([, file]) => sourceOf(file))]
  return Object.fromEntries(sources.map((source) => [source.replace(/^src\/|\.ts$/g, ''), join(top, source)]))
}

/**
 * Returns the name of a chunk's file. A module that names a file beside itself stays in its folder.
 *
 * @throws Error for a chunk that combines such modules of different folders
 */
export function chunkFile({
  name,
  moduleIds,
}: {
  readonly name: string
  readonly moduleIds: readonly string[]
}): string {
  const folders = new Set(moduleIds.filter(hasPlace).map((id) => relative(src, dirname(id))))
  if (folders.size > 1) throw new Error(`The chunk "${name}" has modules with a place in ${[...folders].join(' and ')}`)
  const [folder = 'chunks'] = folders
  return `${folder}/${name.replace(/~.*/, '')}.js`
}

/** The first browsers with `light-dark()`, which the stylesheets of the elements and of the playground use. */
export const cssTarget = ['chrome123', 'firefox120', 'safari17.5']

/** Small modules that most entries need. None of them imports a package or a module of Node. */
const SHARED =
  /\/src\/(?:errors|files\/(?:hash\/native-crypto|media\/types|text\/utf8-length)|util\/(?:abort|bytes|canonical-json|check-options|ignore-rejection|join-sentences|map-texts|memoize-async|native-bytes|nearest-name|pacer|serial-queue|set-bounded|short-version|timers))\.ts$/

/** What the tools share with a call and with `workspace.files`, which loads later. */
const TOOL_PARTS =
  /\/src\/(?:policy\/taint|tools\/(?:builtin-tool|shared\/(?:bound-content|command-output|expected-version|line-window|result-size|target|truncate-patch)))\.ts$/

/** What the tools share with each other where single ones are imported. */
const TOOL_TEXTS =
  /\/src\/(?:files\/text\/(?:front-matter|omission)|tools\/(?:run-command|shared\/(?:command-directory|fields|file-version|notes)))\.ts$/

/** What a call shares with its parts that load later. */
const CALL_PARTS = /\/src\/(?:call\/(?:plan-mode|visible-content|state\/run-state)|guard\/visibility)\.ts$/

/** What a workspace without tools shares with one that has them. */
const RUN_PARTS =
  /\/src\/(?:call\/(?:call-options|hide-tokens|refuse-uncalled)|policy\/rate-limits|workspace\/run-step)\.ts$/

/** What `workspace.files` and `wardspace/fs` share. */
const FILES_PARTS = /\/src\/(?:call\/files-context|workspace\/held-bytes)\.ts$/

/** Lines and ends of texts. */
const TEXT_PARTS = /\/src\/files\/text\/(?:document|last-bytes|lines)\.ts$/

/** Records and where they go. */
const AUDIT_PARTS = /\/src\/audit\/(?:record|sinks|verify)\.ts$/

/** Names of permissions, and the presets that they make. */
const POLICY_PARTS = /\/src\/policy\/(?:labels|permissions|plan|presets)\.ts$/

/** What the storage of a workspace and single backends share. */
const STORAGE_PARTS = /\/src\/storage\/(?:is-backend|lookups|pin)\.ts$/

/** The script of the emulated Node, whose own sources are `guest/*.js`. */
const GUEST = /\/node-emulation\/guest-source\.ts$/

/** The packages that are combined with the own code have chunks of their own. The shared modules have one chunk. */
export const chunkGroups = [
  { name: 'shared', test: SHARED, includeDependenciesRecursively: false },
  { name: 'tool-parts', test: TOOL_PARTS, includeDependenciesRecursively: false },
  { name: 'call-parts', test: CALL_PARTS, includeDependenciesRecursively: false },
  { name: 'files-parts', test: FILES_PARTS, includeDependenciesRecursively: false },
  { name: 'storage-parts', test: STORAGE_PARTS, includeDependenciesRecursively: false },
  { name: 'tool-texts', test: TOOL_TEXTS, includeDependenciesRecursively: false },
  { name: 'run-parts', test: RUN_PARTS, includeDependenciesRecursively: false },
  { name: 'text-parts', test: TEXT_PARTS, includeDependenciesRecursively: false },
  { name: 'audit-parts', test: AUDIT_PARTS, includeDependenciesRecursively: false },
  { name: 'policy-parts', test: POLICY_PARTS, includeDependenciesRecursively: false },
  { name: 'guest-source', test: GUEST, includeDependenciesRecursively: false },
  ...['preact', 'unbash', 'zod', '@modelcontextprotocol'].map((name) => ({
    name: name.replace('@', ''),
    test: new RegExp(`(?:/node_modules/|^\\0)${name}/`),
    includeDependenciesRecursively: false,
    entriesAware: true,
  })),
]

function hasPlace(id: string): boolean {
  return (
    /\.tsx?$/.test(id) && id.startsWith(src) && /, import\.meta\.url\)|= import\.meta$/m.test(readFileSync(id, 'utf8'))
  )
}
