import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publishedModules, sourceOf } from '../published.ts'

const top = join(import.meta.dirname, '../..')

/** What the published subpaths export without a word on it: `src/a.ts: name`. The site checks more, and takes longer. */
export function undocumented(): readonly string[] {
  const found = new Set<string>()
  for (const [, file] of publishedModules(top)) for (const name of wordless(sourceOf(file))) found.add(name)
  return [...found].sort()
}

/** The names by which programs import parts of the package; a folder as `wardspace/dialects/*`. */
export function subpaths(): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>
  }
  return Object.keys(exports)
    .filter(
      (subpath) => subpath !== './package.json' && subpath !== './backends/*' && !/^\.\/dialects\/\w/.test(subpath),
    )
    .map((subpath) => subpath.replace(/^\./, 'wardspace'))
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
