import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publishedModules, sourceOf } from '../published.ts'

const top = join(import.meta.dirname, '../..')

/** Returns the exports of the published subpaths that have no doc comment, as `src/a.ts: name`. The build of the site checks more, but takes longer. */
export function undocumented(): readonly string[] {
  const names = new Set<string>()
  for (const [, file] of publishedModules(top)) for (const name of undocumentedIn(sourceOf(file))) names.add(name)
  return [...names].sort()
}

/** Returns the import names of the package's parts. A folder is `wardspace/dialects/*`. */
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

/** Checks the exports of a file and of the files that it re-exports from: all of them, or those with the given names. */
function undocumentedIn(file: string, only?: ReadonlySet<string>): readonly string[] {
  const text = readFileSync(join(top, file), 'utf8')
  const declared = [...text.matchAll(declaration)].map(([, comment, name = '']) => ({ comment, name }))
  // The first overload has the comment.
  const documented = new Set(declared.flatMap(({ comment, name }) => (comment === undefined ? [] : [name])))
  const own = declared
    .filter(({ name }) => !documented.has(name) && (only === undefined || only.has(name)))
    .map(({ name }) => `${file}: ${name}`)
  const reexported = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)'$/gm)].flatMap(
    ([, list = '', from = '']) => {
      const names = namesIn(list).filter((name) => only === undefined || only.has(name))
      return names.length === 0 ? [] : undocumentedIn(join(dirname(file), from), new Set(names))
    },
  )
  return [...own, ...reexported]
}

/** An exported declaration, with the end of the comment directly above it. */
const declaration =
  /(\*\/\n(?:\/\/.*\n)*)?^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\*?|interface|type|class) (\w+)/gm

/** Returns the names in the other file: `a, type b` gives a and b, `a as c` gives a. */
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
