import type { PathMapping } from './path-mapping.ts'

/** Copies plain data with its fields in snake_case and its paths in the dialect's spelling. */
export function toSnakeCase(value: unknown, pathMapping: PathMapping, field = ''): unknown {
  if (typeof value === 'string') return paths.has(field) ? pathMapping.outward(value) : value
  if (Array.isArray(value)) return value.map((item) => toSnakeCase(item, pathMapping, field))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [snakeName(name), toSnakeCase(item, pathMapping, name)]),
  )
}

/** Fields of results that hold logical paths. */
const paths: ReadonlySet<string> = new Set([
  ...['path', 'oldPath', 'to', 'target', 'cwd', 'paths'],
  ...['files', 'filesChanged', 'suggestions'],
])

/** Returns the name of a field in snake_case. `sha256` is one word, also at the end of a longer name. */
export function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
