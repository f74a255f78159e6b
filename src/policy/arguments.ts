import { parsePath } from '../paths/logical-path.ts'
import { type DeclaredRoots, placedPatterns } from './absolute-patterns.ts'
import { compilePaths, compileTexts, dialectPathFields, pathFields } from './match.ts'

/** A text of an input field. */
export interface ArgumentText {
  readonly text: string
  /** The path in the workspace, if the text is a path that a dialect has translated. */
  readonly path?: string
}

/**
 * Returns a test of one input field. `some` text must match for a restricting rule, `every` text for an allow rule. A call
 * of a dialect tool has its own field too: a restricting rule matches either of the two, and an allow rule that of the
 * dialect.
 *
 * @param roots the declared roots of absolute patterns
 */
export function compileArgument(
  name: string,
  patterns: readonly string[],
  field: string,
  roots: DeclaredRoots = {},
): (
  input: Readonly<Record<string, unknown>>,
  quantifier: 'some' | 'every',
  dialectArgs?: Readonly<Record<string, readonly ArgumentText[]>>,
) => boolean {
  const test = pathFields.has(name) ? pathTest(patterns, field) : textTest(name, patterns, field, roots)
  return (input, quantifier, dialectArgs = {}) => {
    const own = textsOfField(input, name).map((text) => ({ text }))
    const ofDialect = Object.hasOwn(dialectArgs, name) ? (dialectArgs[name] ?? []) : []
    if (quantifier === 'some') return [...own, ...ofDialect].some((argument) => test(argument, quantifier))
    const texts = ofDialect.length > 0 ? ofDialect : own
    return texts.length > 0 && texts.every((argument) => test(argument, quantifier))
  }
}

type ArgumentTest = (argument: ArgumentText, quantifier: 'some' | 'every') => boolean

function pathTest(patterns: readonly string[], field: string): ArgumentTest {
  const paths = compilePaths(patterns, field)
  return ({ text, path = text }) => paths.matches(normalizedPath(path))
}

/**
 * A field of a dialect is a path under any name, such as `file_path`: its patterns are then those of paths. Under a name that is
 * not known to be that of a path, a restricting rule matches the text as well.
 */
function textTest(name: string, patterns: readonly string[], field: string, roots: DeclaredRoots): ArgumentTest {
  const matchesText = compileTexts(patterns, field)
  const paths = compileIfPaths(placedPatterns(patterns, roots), field)
  const isPath = dialectPathFields.has(name)
  return ({ text, path }, quantifier) => {
    if (path === undefined || paths === undefined) return matchesText(text)
    return paths.matches(normalizedPath(path)) || (quantifier === 'some' && !isPath && matchesText(text))
  }
}

/** Compiles patterns that may be those of paths. Patterns of another text are not valid as such. */
function compileIfPaths(patterns: readonly string[], field: string): ReturnType<typeof compilePaths> | undefined {
  try {
    return compilePaths(patterns, field)
  } catch {
    return undefined
  }
}

function normalizedPath(path: string): string {
  try {
    return parsePath(path)
  } catch {
    return path
  }
}

/** Returns the texts of a field, at any depth: `edits[].newText` is `newText` as well. */
export function textsOfField(value: unknown, name: string): string[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return []
  return Object.entries(value).flatMap(([key, item]) => (key === name ? collectTexts(item) : textsOfField(item, name)))
}

/** Returns the strings, numbers and booleans of a value, at any depth. */
export function collectTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectTexts) : []
}
