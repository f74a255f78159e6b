import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const top = join(import.meta.dirname, '../..')

/** What the published subpaths export without a word on it: `src/a.ts: name`. The site checks more, and takes longer. */
export function undocumented(): readonly string[] {
  const found = new Set<string>()
  for (const file of publishedSources()) for (const name of wordless(file)) found.add(name)
  return [...found].sort()
}

/** The names by which programs import parts of the package; a folder as `wardspace/dialects/*`. */
export function subpaths(): readonly string[] {
  return published()
    .map(([subpath]) => subpath.replace(/^\./, 'wardspace'))
    .filter((name) => name !== 'wardspace/backends/*')
}

function publishedSources(): readonly string[] {
  return published().flatMap(([, types]) => {
    const source = types.replace('./dist/', 'src/').replace('.d.ts', '.ts')
    if (!source.includes('*')) return [source]
    const names = readdirSync(join(top, dirname(source))).filter((name) => name.endsWith('.ts'))
    return names.map((name) => join(dirname(source), name))
  })
}

/** Each subpath with the file of its types. */
function published(): readonly (readonly [subpath: string, types: string])[] {
  const { exports } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as {
    exports: Record<string, { types?: string }>
  }
  return Object.entries(exports).flatMap(([subpath, { types }]) =>
    types === undefined ? [] : [[subpath, types] as const],
  )
}

/** Of a file's own exports, and of those that it hands on, by their names or all of them. */
function wordless(file: string, wanted?: ReadonlySet<string>): readonly string[] {
  const text = readFileSync(join(top, file), 'utf8')
  const declared = [...text.matchAll(declaration)].map(([, words, name = '']) => ({ words, name }))
  // Of overloads, the first one has the words.
  const told = new Set(declared.flatMap(({ words, name }) => (words === undefined ? [] : [name])))
  const own = declared
    .filter(({ name }) => !told.has(name) && (wanted === undefined || wanted.has(name)))
    .map(({ name }) => `${file}: ${name}`)
  const handedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)'$/gm)].flatMap(
    ([, list = '', from = '']) => {
      const names = namesIn(list).filter((name) => wanted === undefined || wanted.has(name))
      return names.length === 0 ? [] : wordless(join(dirname(file), from), new Set(names))
    },
  )
  return [...own, ...handedOn]
}

/** An exported declaration, with the end of the comment right above it. */
const declaration =
  /(\*\/\n(?:\/\/.*\n)*)?^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\*?|interface|type|class) (\w+)/gm

/** `a, type b` and `a as c` name what the other file calls a, b. */
function namesIn(list: string): readonly string[] {
  return list
    .split(',')
    .map((item) =>
      item
        .replace(/\/\*.*?\*\//g, '')
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*/, ''),
    )
    .filter((name) => name !== '')
}
