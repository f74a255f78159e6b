import type { PathMapping } from './path-mapping.ts'

/** Plain data with its fields in snake_case and its paths as the dialect spells them. */
export function snakeCase(value: unknown, place: PathMapping, field = ''): unknown {
  if (typeof value === 'string') return paths.has(field) ? place.outward(value) : value
  if (Array.isArray(value)) return value.map((item) => snakeCase(item, place, field))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [snake(name), snakeCase(item, place, name)]),
  )
}

/** Fields of results that name logical paths. */
const paths: ReadonlySet<string> = new Set([
  ...['path', 'oldPath', 'to', 'target', 'cwd', 'paths'],
  ...['files', 'filesChanged', 'suggestions'],
])

/** `sha256` is one word, also where it ends a longer name. */
function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
