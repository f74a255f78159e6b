import { expandBraces } from '../paths/braces.ts'
import { compileGlob, endsInPlainName } from '../paths/glob.ts'
import { quote } from '../paths/logical-path.ts'
import { pathFields } from './match.ts'
import { isObject } from './written-fields.ts'

/** Maps absolute names of directories to logical paths: `{ '/home/me/project': '' }` is the root of the workspace. */
export type DeclaredRoots = Readonly<Record<string, string>>

/**
 * Replaces absolute path patterns of a policy by patterns relative to the root of the workspace. Without a declared root
 * they stay, and are refused where they are compiled.
 *
 * @param matchedRoots receives the declared roots that a pattern matches
 * @throws TypeError for a pattern that matches nothing below a declared root
 */
export function placeAbsolutePatterns(policy: unknown, roots: DeclaredRoots, matchedRoots: Set<string>): unknown {
  if (!isObject(policy) || Object.keys(roots).length === 0) return policy
  const place = (value: unknown, field: string) => placeList(value, field, roots, matchedRoots)
  const result: Record<string, unknown> = { ...policy }
  for (const field of ['allowedPaths', 'deniedPaths', 'readOnlyPaths']) {
    if (Array.isArray(result[field])) result[field] = place(result[field], field)
  }
  if (Array.isArray(result.rules)) {
    result.rules = result.rules.map((rule, index) => placeRule(rule, `rules[${index}]`, place))
  }
  if (isObject(result.labels)) {
    const { sources, sinks } = result.labels
    const placeAll = (list: unknown, field: string) =>
      Array.isArray(list) ? { [field]: list.map((item, i) => placeRule(item, `labels.${field}[${i}]`, place)) } : {}
    result.labels = { ...result.labels, ...placeAll(sources, 'sources'), ...placeAll(sinks, 'sinks') }
  }
  if (isObject(result.memory) && typeof result.memory.path === 'string') {
    result.memory = { ...result.memory, path: placePath(result.memory.path, roots, matchedRoots) }
  }
  return result
}

function placeRule(rule: unknown, field: string, place: (value: unknown, field: string) => unknown): unknown {
  if (!isObject(rule)) return rule
  const { paths, args } = rule
  const placedArgs = !isObject(args)
    ? {}
    : Object.fromEntries(
        Object.entries(args).map(([name, value]) => [
          name,
          pathFields.has(name) ? place(value, `${field}.args.${name}`) : value,
        ]),
      )
  return {
    ...rule,
    ...(paths === undefined ? {} : { paths: place(paths, `${field}.paths`) }),
    ...(isObject(args) && !Object.hasOwn(args, '__proto__') ? { args: placedArgs } : {}),
  }
}

/**
 * Returns patterns relative to the root of the workspace, for an argument that may be a path and may be any text: absolute
 * patterns that match nothing below a declared root are left out.
 */
export function placedPatterns(patterns: readonly string[], roots: DeclaredRoots): readonly string[] {
  return patterns.flatMap((pattern) => {
    try {
      return placePattern(pattern, '', roots, new Set())
    } catch {
      return []
    }
  })
}

function placeList(list: unknown, field: string, roots: DeclaredRoots, matchedRoots: Set<string>): unknown {
  if (!Array.isArray(list)) return list
  return list.flatMap((pattern, index) =>
    typeof pattern === 'string' ? placePattern(pattern, `${field}[${index}]`, roots, matchedRoots) : [pattern],
  )
}

/**
 * Returns a pattern relative to the root of the workspace, one for each declared root that it matches.
 *
 * @param matchedRoots receives the declared roots that the pattern matches
 * @throws TypeError for an absolute pattern that matches nothing below a declared root
 */
export function placePattern(
  pattern: string,
  field: string,
  roots: DeclaredRoots,
  matchedRoots: Set<string>,
): readonly string[] {
  const alternatives = alternativesOf(pattern)
  if (!alternatives.some((alternative) => alternative.startsWith('/'))) return [pattern]
  return alternatives.flatMap((alternative) => {
    if (!alternative.startsWith('/')) return [alternative]
    const placed = Object.entries(roots).flatMap(([root, directory]) => {
      const below = patternsBelow(alternative, root).map((rest) => join(directory, rest))
      if (below.length > 0) matchedRoots.add(root)
      return below
    })
    if (placed.length > 0) return placed
    throw new TypeError(
      `Policy field "${field}" is a glob that matches nothing: in ${quote(pattern)}, it is absolute and outside of every root (${Object.keys(roots).join(', ')}). No call reaches it: remove it, or declare a root that contains it (--root on the command line).`,
    )
  })
}

/** Returns the alternatives of the braces. A pattern with too many is refused where it is compiled. */
function alternativesOf(pattern: string): readonly string[] {
  if (!/^[{/]/.test(pattern) || pattern.length > 4096) return [pattern]
  try {
    return expandBraces(pattern, 'glob')
  } catch {
    return [pattern]
  }
}

/**
 * Returns what an absolute pattern means below a directory: `/home/*\/docs/a.md` is `docs/a.md` below `/home/me`. `**` is
 * everything below it. Empty if the pattern matches nothing there.
 */
function patternsBelow(pattern: string, root: string): readonly string[] {
  const names = pattern
    .replace(/^\/|\/$/g, '')
    .split('/')
    .filter((name, _, all) => name !== '' || all.length > 1)
  // A plain last name, and a final slash, also cover everything below.
  const coversBelow = pattern.endsWith('/') || endsInPlainName(pattern)
  let positions = withEmptyGlobstars(new Set([0]), names)
  for (const rootName of root.split('/').filter((name) => name !== '')) {
    if (coversBelow && positions.has(names.length)) return ['**']
    const next = new Set<number>()
    for (const position of positions) {
      const name = names[position]
      if (name === '**') next.add(position)
      else if (name !== undefined && matchesName(name, rootName)) next.add(position + 1)
    }
    positions = withEmptyGlobstars(next, names)
  }
  return [...positions].flatMap((position) => {
    if (position < names.length) return [names.slice(position).join('/') + (pattern.endsWith('/') ? '/' : '')]
    return coversBelow ? ['**'] : []
  })
}

/** Adds the positions after each `**`, which may match no name at all. */
function withEmptyGlobstars(positions: Set<number>, names: readonly string[]): Set<number> {
  for (const position of positions) if (names[position] === '**') positions.add(position + 1)
  return positions
}

function matchesName(pattern: string, name: string): boolean {
  if (pattern === name) return true
  try {
    return compileGlob(pattern).matches(name)
  } catch {
    return false
  }
}

function join(directory: string, pattern: string): string {
  if (directory === '') return pattern
  return pattern === '**' ? directoryGlob(directory) : `${literalGlob(directory)}/${pattern}`
}

/** Returns a glob that matches a directory and everything below it. */
export function directoryGlob(path: string): string {
  const literal = literalGlob(path)
  // A glob without special characters also covers what is below.
  return literal === path ? literal : `${literal}/`
}

/** Returns a glob that matches exactly this path. */
function literalGlob(path: string): string {
  return path.replace(/[*?[{}]/g, '[$&]').replace(/^!/, '?')
}

/** Returns an absolute path as a logical one, or unchanged if it is below no root. */
function placePath(path: string, roots: DeclaredRoots, matchedRoots: Set<string>): string {
  for (const [root, directory] of Object.entries(roots)) {
    const prefix = root.endsWith('/') ? root : `${root}/`
    if (!path.startsWith(prefix)) continue
    matchedRoots.add(root)
    return [directory, path.slice(prefix.length)].filter((part) => part !== '').join('/')
  }
  return path
}
