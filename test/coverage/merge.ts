import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { convert } from 'ast-v8-to-istanbul'
import { parseAst } from 'vite'

interface Place {
  readonly line: number
  readonly column: number
}

interface Range {
  readonly start: Place
}

/** The coverage of one file in istanbul's form: what there is, by id, and how often each was reached. */
export interface FileCoverage {
  readonly statementMap: Record<string, Range>
  readonly fnMap: Record<string, { readonly loc: Range }>
  readonly branchMap: Record<
    string,
    { readonly type: string; readonly loc: Range; readonly locations: readonly Range[] }
  >
  readonly s: Record<string, number>
  readonly f: Record<string, number>
  readonly b: Record<string, number[]>
}

export type Coverage = Record<string, FileCoverage>

interface Script {
  readonly url: string
  readonly functions: { readonly functionName: string; readonly ranges: readonly unknown[] }[]
}

/**
 * Adds what child processes and threads ran of the built package, as the runtime wrote it down. A built file is a source
 * file transpiled: by its source map, each of its statements and branches begins where it does there. Only hits are added,
 * so what cannot be found again stays as it was.
 */
export async function addChildren(coverage: Coverage, written: string, dist: string): Promise<void> {
  const built = pathToFileURL(`${dist}/`).href
  for (const name of readdirSync(written)) {
    const { result } = JSON.parse(readFileSync(join(written, name), 'utf8')) as { result: Script[] }
    for (const script of result.filter(({ url }) => url.startsWith(built))) await addScript(coverage, script)
  }
}

async function addScript(coverage: Coverage, script: Script): Promise<void> {
  const file = fileURLToPath(script.url)
  const code = readFileSync(file, 'utf8')
  const sourceMap = JSON.parse(readFileSync(`${file}.map`, 'utf8'))
  const found = await convert({ code, sourceMap, coverage: script, ast: parseAst(code) } as Parameters<
    typeof convert
  >[0])
  for (const [source, more] of Object.entries(found as unknown as Coverage)) {
    const known = coverage[source]
    if (known !== undefined) addFile(known, more)
  }
}

function addFile(known: FileCoverage, more: FileCoverage): void {
  const statements = idsAt(known.statementMap, at)
  for (const [id, range] of Object.entries(more.statementMap)) add(known.s, statements.get(at(range)), more.s[id])
  const functions = idsAt(known.fnMap, ({ loc }) => at(loc))
  for (const [id, { loc }] of Object.entries(more.fnMap)) add(known.f, functions.get(at(loc)), more.f[id])
  const branches = idsAt(known.branchMap, branchAt)
  for (const [id, branch] of Object.entries(more.branchMap)) {
    const counts = known.b[branches.get(branchAt(branch)) ?? '']
    more.b[id]?.forEach((count, arm) => {
      if (counts?.[arm] !== undefined) counts[arm] += count
    })
  }
}

function add(counts: Record<string, number>, id: string | undefined, count = 0): void {
  if (id !== undefined) counts[id] = (counts[id] ?? 0) + count
}

function idsAt<T>(things: Record<string, T>, key: (thing: T) => string): Map<string, string> {
  return new Map(Object.entries(things).map(([id, thing]) => [key(thing), id]))
}

function at({ start }: Range): string {
  return `${start.line}:${start.column}`
}

function branchAt({ type, loc, locations }: FileCoverage['branchMap'][string]): string {
  return `${type} ${at(loc)} ${locations.length}`
}
