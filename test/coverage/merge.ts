import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

/** The coverage of one file in the format of Istanbul: items by id, with their hits. */
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
 * Adds the coverage that child processes and threads recorded for the built package. The source map has the positions of
 * statements and branches in the source files. Only hits are added, so items that cannot be mapped keep their count.
 */
export async function addChildren(coverage: Coverage, content: string, dist: string): Promise<void> {
  const built = pathToFileURL(`${dist}/`).href
  for (const name of readdirSync(content)) {
    const { result } = JSON.parse(readFileSync(join(content, name), 'utf8')) as { result: Script[] }
    for (const script of result) {
      if (script.url.startsWith(built) && existsSync(`${fileURLToPath(script.url)}.map`))
        await addScript(coverage, script)
    }
  }
}

async function addScript(coverage: Coverage, script: Script): Promise<void> {
  const file = fileURLToPath(script.url)
  const code = readFileSync(file, 'utf8')
  const sourceMap = JSON.parse(readFileSync(`${file}.map`, 'utf8'))
  const match = await convert({ code, sourceMap, coverage: script, ast: parseAst(code) } as Parameters<
    typeof convert
  >[0])
  addCoverage(coverage, match as unknown as Coverage)
}

/** Adds the hits of one measurement to another one of the same files. */
export function addCoverage(coverage: Coverage, entry: Coverage): void {
  for (const [source, more] of Object.entries(entry)) {
    const previous = coverage[source]
    if (previous !== undefined) addFile(previous, more)
  }
}

function addFile(cached: FileCoverage, more: FileCoverage): void {
  for (const [id, same] of pairs(statements(cached), statements(more))) add(cached.s, id, more.s[same])
  for (const [id, same] of pairs(functions(cached), functions(more))) add(cached.f, id, more.f[same])
  for (const [id, same] of pairs(branches(cached), branches(more))) {
    const counts = cached.b[id]
    more.b[same]?.forEach((count, arm) => {
      if (counts?.[arm] !== undefined) counts[arm] += count
    })
  }
}

function add(counts: Record<string, number>, id: string, count = 0): void {
  counts[id] = (counts[id] ?? 0) + count
}

interface Counted {
  readonly id: string
  readonly kind: string
  readonly start: Place
}

const statements = ({ statementMap }: FileCoverage): Counted[] =>
  Object.entries(statementMap).map(([id, { start }]) => ({ id, kind: 'statement', start }))
const functions = ({ fnMap }: FileCoverage): Counted[] =>
  Object.entries(fnMap).map(([id, { loc }]) => ({ id, kind: 'function', start: loc.start }))
const branches = ({ branchMap }: FileCoverage): Counted[] =>
  Object.entries(branchMap).map(([id, { type, loc, locations }]) => ({
    id,
    kind: `${type} ${locations.length}`,
    start: loc.start,
  }))

/**
 * Matches the ids of two measurements by kind and start position. Positions from a source map may be off by a bracket or a
 * type, so the remaining items of a kind in a line are matched in order, if both measurements have the same number.
 */
function pairs(previous: readonly Counted[], more: readonly Counted[]): [string, string][] {
  const exact = pairsBy(previous, more, ({ kind, start }) => `${kind} ${start.line}:${start.column}`)
  const matches = [new Set(exact.map(([id]) => id)), new Set(exact.map(([, id]) => id))] as const
  const left = [previous.filter(({ id }) => !matches[0].has(id)), more.filter(({ id }) => !matches[1].has(id))] as const
  return [...exact, ...pairsBy(...left, ({ kind, start }) => `${kind} ${start.line}`)]
}

/** Pairs items with the same key in order, if both sides have the same number of them. */
function pairsBy(
  previous: readonly Counted[],
  more: readonly Counted[],
  key: (one: Counted) => string,
): [string, string][] {
  const same = groups(more, key)
  return [...groups(previous, key)].flatMap(([name, ids]) => {
    const others = same.get(name) ?? []
    return ids.length === others.length ? ids.map((id, i): [string, string] => [id, others[i] as string]) : []
  })
}

function groups(all: readonly Counted[], key: (one: Counted) => string): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const one of all.toSorted((a, b) => a.start.column - b.start.column)) {
    names.set(key(one), [...(names.get(key(one)) ?? []), one.id])
  }
  return names
}
