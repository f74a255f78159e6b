import { GeneratedBlock, markdownTable } from '../test/docs/generated-block.ts'

/** The size of an entry in KB of 1,000 bytes, after gzip. `whole` is undefined if it cannot be bundled for a browser. */
export interface EntrySize {
  readonly own: number
  readonly whole: number | undefined
}

/** The table of sizes in `docs/benchmarks.md`. */
export const sizeBlock = new GeneratedBlock('sizes', 'npm run size -- --write')

/** Returns sizes by subpath as a Markdown table. */
export function sizeTable(sizes: ReadonlyMap<string, EntrySize>): string {
  const rows = [...sizes].map(([entry, { own, whole }]) => [subpathOf(entry), kb(own), kb(whole)])
  return markdownTable([['subpath', 'KB own', 'KB whole'], ...rows], [false, true, true])
}

/** Returns what is stale in a table: missing and extra rows, and sizes that differ by more than 10 % and 1 KB. */
export function staleSizes(table: string, sizes: ReadonlyMap<string, EntrySize>): string[] {
  const rows = new Map(
    [...table.matchAll(/^\| (`[^`]+`) *\| *(\S+) \| *(\S+) \|$/gm)].map(([, name = '', own, whole]) => [
      name,
      { own: Number(own), whole: whole === '–' ? undefined : Number(whole) },
    ]),
  )
  const names = new Set([...sizes.keys()].map(subpathOf))
  const faults = [...rows.keys()].filter((name) => !names.has(name)).map((name) => `${name} is not an entry`)
  for (const [entry, size] of sizes) {
    const name = subpathOf(entry)
    const row = rows.get(name)
    if (row === undefined) faults.push(`${name} is missing`)
    else if (isStale(row.own, size.own) || isStale(row.whole, size.whole)) {
      faults.push(`${name}: ${kb(row.own)} and ${kb(row.whole)} KB, now ${kb(size.own)} and ${kb(size.whole)}`)
    }
  }
  return faults
}

/** Returns a size with one decimal, and a dash for undefined. */
export function kb(size: number | undefined): string {
  return size === undefined ? '–' : size.toFixed(1)
}

function isStale(figure: number | undefined, size: number | undefined): boolean {
  if (figure === undefined || size === undefined) return figure !== size
  const difference = Math.abs(figure - size)
  return difference > 1 && difference > size / 10
}

/** `./audit` as `` `wardspace/audit` ``. */
function subpathOf(entry: string): string {
  return `\`${entry.replace(/^\./, 'wardspace')}\``
}
