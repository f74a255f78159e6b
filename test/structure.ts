import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { parseAst } from 'vite'

const top = join(import.meta.dirname, '..')

export interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

/** The TypeScript files below `src/`, relative to it. */
export const sources: readonly string[] = filesBelow(join(top, 'src')).filter((name) => /\.tsx?$/.test(name))

/** The imports, re-exports and dynamic imports of a file below `src/`. */
export function importsOf(name: string): readonly Import[] {
  const text = readFileSync(join(top, 'src', name), 'utf8')
  const statement =
    /^\s*(?:import|export)\s+(type\s+)?[^'"`;]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm
  return [...text.matchAll(statement)].map(([, type, from, bare, dynamic]) => ({
    specifier: from ?? bare ?? dynamic ?? '',
    typeOnly: type !== undefined,
  }))
}

/** The import cycles between files, type imports included, as `a.ts → b.ts → a.ts`. */
export function circles(): readonly string[] {
  const graph = new Map(
    sources.map((name) => [
      name,
      importsOf(name)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => posix.join(posix.dirname(name), specifier)),
    ]),
  )
  const visited = new Set<string>()
  const result: string[] = []
  const visit = (name: string, above: readonly string[]): void => {
    if (above.includes(name)) result.push([...above.slice(above.indexOf(name)), name].join(' → '))
    if (visited.has(name) || above.includes(name)) return
    for (const next of graph.get(name) ?? []) visit(next, [...above, name])
    visited.add(name)
  }
  for (const name of sources) visit(name, [])
  return result
}

/** The times that a file below `src/` passes to `setTimeout`, as text; empty for no time. */
export function timesOfTimers(name: string): readonly string[] {
  const text = readFileSync(join(top, 'src', name), 'utf8')
  return [...text.matchAll(/\bsetTimeout\(/g)].map(({ index, 0: { length } }) => {
    let depth = 1
    let last = index + length
    let at = last
    for (; depth > 0; at++) {
      if ('([{'.includes(text[at] as string)) depth += 1
      if (')]}'.includes(text[at] as string)) depth -= 1
      if (text[at] === ',' && depth === 1) last = at + 1
    }
    return last === index + length ? '' : text.slice(last, at - 1).trim()
  })
}

/** Functions of more than `limit` lines in `src/` and `playground/`, longest first, as `src/a.ts: name, lines`. */
export function longFunctions(limit: number): readonly string[] {
  const files = [...sources.map((name) => `src/${name}`), ...playgroundFiles()]
  return files
    .flatMap((file) => functionsOf(file, limit).map((one) => ({ file, ...one })))
    .sort((a, b) => b.lines - a.lines)
    .map(({ file, name, lines }) => `${file}: ${name}, ${lines}`)
}

/** The names that the root entry exports: values and types. */
export function rootExports(): { readonly values: readonly string[]; readonly types: readonly string[] } {
  const text = readFileSync(join(top, 'src/index.ts'), 'utf8')
  const values: string[] = []
  const types: string[] = []
  for (const [, type, list = ''] of text.matchAll(/^export (type )?\{([^}]*)\}/gm)) {
    for (const item of list.split(',').map((one) => one.trim())) {
      if (item === '') continue
      const name = item.replace(/^type /, '').replace(/.* as /, '')
      if (type !== undefined || item.startsWith('type ')) types.push(name)
      else values.push(name)
    }
  }
  return { values: values.sort(), types: types.sort() }
}

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(relative(directory, entry.parentPath), entry.name))
    .sort()
}

function playgroundFiles(): readonly string[] {
  return filesBelow(join(top, 'playground'))
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('projects/samples/'))
    .map((name) => `playground/${name}`)
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** Every function with a body of a file that has more than `limit` lines, with its number of lines. */
function functionsOf(file: string, limit: number): readonly { readonly name: string; readonly lines: number }[] {
  const text = readFileSync(join(top, file), 'utf8')
  if (linesOf(text) <= limit) return []
  const result: { name: string; lines: number }[] = []
  const visit = (node: unknown, name: string): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, name)
    if (!isNode(node)) return
    const own = nameOf(node) ?? name
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type) && isNode(node.body)) {
      const lines = linesOf(text.slice(node.start, node.end))
      // A function in it is no longer.
      if (lines <= limit) return
      result.push({ name: own, lines })
    }
    for (const [field, value] of Object.entries(node)) if (field !== 'type') visit(value, own)
  }
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }).body, 'anonymous')
  return result
}

const linesOf = (text: string): number => text.split('\n').length

function nameOf(node: Node): string | undefined {
  const id = node.id ?? node.key
  return isNode(id) && typeof id.name === 'string' ? id.name : undefined
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

function print(): void {
  const { values, types } = rootExports()
  const long = longFunctions(80)
  console.log(`circles of imports: ${circles().length}`)
  console.log(`functions over 80 lines: ${long.length}`)
  for (const one of long) console.log(`  ${one}`)
  console.log(`files outside of folders: ${sources.filter((name) => !name.includes('/')).length}`)
  console.log(`exports of the root entry: ${values.length + types.length}`)
  console.log(`  values: ${values.join(', ')}`)
  console.log(`  types: ${types.join(', ')}`)
}

/** `npm run structure` prints the facts that `architecture.test.ts` checks. */
if (process.argv[1] === import.meta.filename) print()
