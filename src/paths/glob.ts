import { ToolError } from '../errors.ts'
import { checkOptions, isBoolean, requireText } from '../util/check-options.ts'
import { expandBraces } from './braces.ts'
import { quote } from './logical-path.ts'
import { type CharacterClass, compileName, type NamePattern, parseClass, type Token } from './wildcard.ts'

/** A compiled glob. Matches canonical logical paths: relative, without `.` and `..`; the root is `''`. */
export interface Glob {
  /** Linear in the path for any pattern: at most (path × pattern) steps. */
  matches(path: string): boolean
  /** False only if nothing below the directory can match, so that a walk need not enter it. */
  mayMatchBelow(directory: string): boolean
}

/** How a glob compares paths. */
export interface GlobOptions {
  /** Letters match in either case. */
  readonly caseInsensitive?: boolean
}

/**
 * Compiles a glob: `*` and `?` within a name, `**` for any number of names, `[abc] [a-z] [!a-z] [[:alpha:]]`, `{a,b}` and
 * `{1..3}` (expanded first), `\` before a special character. `**` also matches no name at all: with `/x` after it,
 * it matches `x` in the root, and `dir/**` matches `dir` itself. Names that start with a dot are matched like others. A trailing `/` means the directory
 * and everything below it. `(`, `)`, `|`, `+`, `@`, quotes, and `!` except at the start are literal. A bracket expression
 * without a range also matches its own text, so that `[id].tsx` matches the file of that name.
 *
 * @throws ToolError `INVALID_PATTERN` for a pattern that can never match or is not bounded: `[` or `{` that does not close,
 * absolute globs, `..`, `\` before a letter, extended globs such as `+(a|b)`, negation, over 4,096 characters, over 1,000 brace alternatives
 *
 * @example
 * compileGlob('src/app/*.{ts,tsx}').matches('src/app/page.tsx') // true
 */
export function compileGlob(pattern: string, options: GlobOptions = {}): Glob {
  requireText('compileGlob()', 'pattern', pattern)
  checkOptions<GlobOptions>('compileGlob()', options, { caseInsensitive: isBoolean })
  return compileGlobs([pattern], options)
}

/** Options of {@link compileGlobs}. */
interface GlobsOptions extends GlobOptions {
  /** Patterns and paths are compared in their composed Unicode form, in which `?` and a class match one code point. */
  readonly composed?: boolean
}

/** Compiles several globs to one matcher, which matches if any of them does. An empty list matches nothing. */
export function compileGlobs(patterns: readonly string[], options: GlobsOptions = {}): Glob {
  const { composed = false } = options
  const fold = options.caseInsensitive === true ? foldCase : undefined
  const plans: Plan[] = []
  for (const pattern of patterns) {
    const label = check(pattern)
    for (const alternative of expandBraces(pattern, label)) {
      plans.push(planOf(parseNames(composed ? composePath(alternative) : alternative, label, fold)))
    }
    // A path that is identical to the glob matches, whatever its special characters mean.
    if (/[[{]/.test(pattern) && !/[*?\\]/.test(pattern)) {
      const text = composed ? composePath(pattern) : pattern
      const names = (fold === undefined ? text : fold(text)).split('/').filter((name) => name !== '' && name !== '.')
      plans.push({ type: 'exact', path: names.join('/') })
    }
  }
  const matches = matcherOf(plans)
  const mayMatchBelow = leadOf(plans)
  if (fold === undefined) return { matches, mayMatchBelow }
  return { matches: (path) => matches(fold(path)), mayMatchBelow: (directory) => mayMatchBelow(fold(directory)) }
}

/** Returns a path in the composed Unicode form (NFC). */
export function composePath(path: string): string {
  // Characters below U+0300 neither compose nor decompose to others in this form.
  return /[^\0-\u02ff]/.test(path) ? path.normalize('NFC') : path
}

/** Characters of a longer pattern, which is refused. */
export const MAX_LENGTH = 4096

/** Refuses patterns that are invalid as text. Returns the pattern in quotes, for messages. */
function check(pattern: string): string {
  const label = `glob ${quote(pattern)}`
  if (pattern.trim() === '') invalid(label, 'it is empty', 'Use ** for everything.')
  if (pattern.length > MAX_LENGTH)
    invalid(label, `it is longer than ${MAX_LENGTH} characters`, 'Use several shorter globs.')
  if (pattern.includes('\0')) invalid(label, 'it contains NUL', 'Remove it.')
  if (pattern.startsWith('!')) {
    invalid(
      label,
      'negation with ! is not supported',
      'Use an exclude or deny glob instead, or ? in place of ! for a name that starts with it.',
    )
  }
  if (/^[A-Za-z]:[\\/]/.test(pattern) || /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(pattern)) absolute(label)
  if (/^(?:~\/|\$(?:HOME|PWD|USERPROFILE)\b|\$\{\w+\}\/)/.test(pattern)) {
    invalid(
      label,
      '~ and variables are not expanded',
      'Globs are relative to the workspace root; write ? in place of ~ or $ for a name that starts with it.',
    )
  }
  const extended = /(?<!\\)(?:\\\\)*[?*+@!]\(/.exec(pattern)
  if (extended !== null) {
    invalid(
      label,
      'extended globs such as +(a|b) are not supported',
      'Use {a,b} for alternatives, or ? for a parenthesis.',
    )
  }
  return label
}

function absolute(label: string): never {
  invalid(label, 'it is absolute', 'Globs are relative to the workspace root: omit the leading part.')
}

function invalid(label: string, reason: string, hint: string): never {
  throw new ToolError('INVALID_PATTERN', `Cannot use ${label}: ${reason}`, { hint })
}

/** Any number of names, including none. */
const GLOBSTAR = null

type Names = readonly (NamePattern | typeof GLOBSTAR)[]

function parseNames(alternative: string, label: string, fold: ((text: string) => string) | undefined): Names {
  if (alternative.startsWith('/')) absolute(label)
  const names: (NamePattern | typeof GLOBSTAR)[] = []
  const addGlobstar = () => {
    if (names.at(-1) !== GLOBSTAR) names.push(GLOBSTAR)
  }
  for (const name of alternative.split('/')) {
    if (name === '' || name === '.') continue
    if (name === '..')
      invalid(label, 'it climbs with ..', 'Globs are relative to the workspace root and never leave it.')
    if (name === '**') addGlobstar()
    else names.push(compileName(parseName(name, label, fold)))
  }
  if (alternative.endsWith('/')) addGlobstar()
  return names
}

function parseName(source: string, label: string, fold: ((text: string) => string) | undefined): Token[] {
  const tokens: Token[] = []
  const lastClose = source.lastIndexOf(']')
  const text = (value: string) => tokens.push({ type: 'text', text: fold === undefined ? value : fold(value) })
  for (let at = 0; at < source.length; at++) {
    const char = source[at] as string
    if (char === '*') tokens.push({ type: 'star' })
    else if (char === '?') tokens.push({ type: 'any' })
    else if (char === '\\') {
      at += 1
      text(escaped(source[at], label))
    } else if (char === '[') {
      // Without the last `]`, a glob of many `[` takes quadratic time.
      const bracket = at < lastClose ? parseClass(source, at, source.length) : undefined
      if (bracket === undefined)
        invalid(label, 'its [ starts no valid list of characters', 'Close it with ], or write [[] for the character.')
      if (bracket.hasEmptyRange)
        invalid(label, 'it has a range from high to low', 'Write the lower end of the range first.')
      const literal = source.slice(at, bracket.end)
      const isPlain = !bracket.negated && !bracket.hasRange && !literal.includes('\\') && !literal.includes('[:')
      tokens.push({
        type: 'class',
        has: fold === undefined ? bracket.has : eitherCase(bracket),
        ...(isPlain ? { text: fold === undefined ? literal : fold(literal) } : {}),
      })
      at = bracket.end - 1
    } else text(char)
  }
  return tokens
}

/** Returns an escaped special character. `\` before anything else is probably the path separator of Windows, and refused. */
function escaped(char: string | undefined, label: string): string {
  if (char === undefined || char === '\\' || /[\p{L}\p{N}_./ ]/u.test(char)) {
    invalid(
      label,
      'a backslash escapes nothing there',
      'Use / between names; a backslash only makes a special character plain.',
    )
  }
  return char
}

function eitherCase({ has, negated }: CharacterClass): (code: number) => boolean {
  return (code) => {
    const char = String.fromCodePoint(code)
    const cases = [code, Number(char.toUpperCase().codePointAt(0)), Number(char.toLowerCase().codePointAt(0))]
    return negated ? cases.every(has) : cases.some(has)
  }
}

/** Maps spellings that differ in case to one form, character by character. Keeps the length. */
function foldCase(text: string): string {
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase()
  let folded = ''
  for (const char of text) {
    const upper = char.toUpperCase()
    const lower = upper.length === char.length ? upper.toLowerCase() : char.toLowerCase()
    folded += lower.length === char.length ? lower : char
  }
  return folded
}

/** Common forms of globs. All but `names` are tested without splitting the path. */
type Plan =
  | { readonly type: 'all' }
  | { readonly type: 'exact'; readonly path: string }
  /** A directory and everything below it. */
  | { readonly type: 'tree'; readonly path: string }
  /** A name, anywhere. */
  | { readonly type: 'name'; readonly name: string }
  /** A name anywhere, and everything below it. */
  | { readonly type: 'component'; readonly name: string }
  /** A name with this end, anywhere below a directory (`''` is the root). */
  | { readonly type: 'tail'; readonly head: string; readonly tail: string }
  | { readonly type: 'names'; readonly names: Names; readonly head: string; readonly tail: string }

function planOf(names: Names): Plan {
  const stars = names.indexOf(GLOBSTAR)
  let literals = 0
  while (literals < names.length && names[literals]?.literal !== undefined) literals += 1
  const head = names
    .slice(0, literals)
    .map((name) => name?.literal)
    .join('/')
  if (literals === names.length) return { type: 'exact', path: head }
  const last = names.at(-1)
  if (stars === literals && names.lastIndexOf(GLOBSTAR) === stars) {
    if (names.length === literals + 1) return literals === 0 ? { type: 'all' } : { type: 'tree', path: head }
    if (names.length === literals + 2 && last != null) {
      if (last.isTail) return { type: 'tail', head, tail: last.tail }
      if (last.literal !== undefined && literals === 0) return { type: 'name', name: last.literal }
    }
  }
  if (names.length === 3 && names[0] === GLOBSTAR && last === GLOBSTAR && names[1]?.literal !== undefined) {
    return { type: 'component', name: names[1].literal }
  }
  return { type: 'names', names, head, tail: last?.tail ?? '' }
}

type Test = (path: string) => boolean

function matcherOf(plans: readonly Plan[]): Test {
  const of = <T extends Plan['type']>(type: T) =>
    plans.filter((plan): plan is Extract<Plan, { type: T }> => plan.type === type)
  if (of('all').length > 0) return () => true
  const tests: Test[] = []
  const add = <T>(items: readonly T[], testOf: (items: readonly T[]) => Test) => {
    if (items.length > 0) tests.push(testOf(items))
  }
  add(
    of('exact').map((plan) => plan.path),
    exactTest,
  )
  add(
    of('tree').map((plan) => plan.path),
    treeTest,
  )
  add(
    of('name').map((plan) => plan.name),
    nameTest,
  )
  add(
    of('component').map((plan) => plan.name),
    componentTest,
  )
  add(of('tail'), tailTest)
  add(of('names'), namesTest)
  const [only] = tests
  if (only === undefined) return () => false
  return tests.length === 1 ? only : (path) => tests.some((test) => test(path))
}

function exactTest(list: readonly string[]): Test {
  const paths = new Set(list)
  return (path) => paths.has(path)
}

function nameTest(list: readonly string[]): Test {
  const names = new Set(list)
  return (path) => names.has(path.slice(path.lastIndexOf('/') + 1))
}

/** Up to this number, a linear search is faster than a lookup per ancestor. */
const MAX_LINEAR_SEARCH = 8

function treeTest(list: readonly string[]): Test {
  if (list.length <= MAX_LINEAR_SEARCH) {
    return (path) =>
      list.some((tree) => path.startsWith(tree) && (path.length === tree.length || path[tree.length] === '/'))
  }
  const trees = new Set(list)
  return (path) => {
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      if (trees.has(path.slice(0, slash))) return true
    }
    return trees.has(path)
  }
}

function componentTest(list: readonly string[]): Test {
  const components = new Set(list)
  return (path) => {
    let start = 0
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', start)) {
      if (components.has(path.slice(start, slash))) return true
      start = slash + 1
    }
    return components.has(path.slice(start))
  }
}

function tailTest(plans: readonly Extract<Plan, { type: 'tail' }>[]): Test {
  const extensions = new Set<string>()
  const others: { readonly prefix: string; readonly tail: string }[] = []
  for (const { head, tail } of plans) {
    if (head === '' && tail.lastIndexOf('.') === 0) extensions.add(tail)
    else others.push({ prefix: head === '' ? '' : `${head}/`, tail })
  }
  return (path) => {
    if (path === '') return false
    if (extensions.size > 0) {
      const dot = path.lastIndexOf('.')
      // A slice with a `/` after the dot is never in the set, because tails contain no `/`.
      if (dot !== -1 && extensions.has(path.slice(dot))) return true
    }
    for (const { prefix, tail } of others) {
      // Prefix and tail cannot overlap: the prefix ends with `/`, and the tail contains none.
      if (path.endsWith(tail) && path.startsWith(prefix)) return true
    }
    return false
  }
}

function namesTest(plans: readonly Extract<Plan, { type: 'names' }>[]): Test {
  return (path) => {
    let names: string[] | undefined
    for (const plan of plans) {
      if (!path.endsWith(plan.tail) || !path.startsWith(plan.head)) continue
      names ??= path === '' ? [] : path.split('/')
      if (matchNames(plan.names, names)) return true
    }
    return false
  }
}

/** Matches as within a name, with backtracking to the last `**` only. */
function matchNames(patterns: Names, names: readonly string[]): boolean {
  let at = 0
  let step = 0
  let starStep = -1
  let starAt = 0
  while (at < names.length) {
    const pattern = patterns[step]
    if (pattern === GLOBSTAR) {
      step += 1
      if (step === patterns.length) return true
      starStep = step
      starAt = at
    } else if (pattern?.matches(names[at] as string) === true) {
      step += 1
      at += 1
    } else {
      if (starStep === -1) return false
      step = starStep
      starAt += 1
      at = starAt
    }
  }
  if (patterns[step] === GLOBSTAR) step += 1
  return step === patterns.length
}

function leadOf(plans: readonly Plan[]): Test {
  if (plans.some((plan) => isEverywhere(plan))) return () => true
  const leading = new Set<string>()
  const trees: string[] = []
  const others: Names[] = []
  for (const plan of plans) {
    if (plan.type === 'names') others.push(plan.names)
    if (plan.type === 'tree' || plan.type === 'tail') {
      trees.push(plan.type === 'tree' ? plan.path : plan.head)
      addAncestors(leading, plan.type === 'tree' ? plan.path : plan.head)
    }
    if (plan.type === 'exact') addAncestors(leading, plan.path)
  }
  const inTree = treeTest(trees)
  return (directory) => {
    if (leading.has(directory) || inTree(directory)) return true
    if (others.length === 0) return false
    const names = directory === '' ? [] : directory.split('/')
    return others.some((patterns) => mayLead(patterns, names))
  }
}

function isEverywhere(plan: Plan): boolean {
  if (plan.type === 'names') return plan.names[0] === GLOBSTAR
  return (
    plan.type === 'all' ||
    plan.type === 'name' ||
    plan.type === 'component' ||
    (plan.type === 'tail' && plan.head === '')
  )
}

function addAncestors(leading: Set<string>, path: string): void {
  if (path === '') return
  leading.add('')
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
    leading.add(path.slice(0, slash))
}

/** Returns whether something below a directory may match: its names must match one by one up to the first `**`. */
function mayLead(patterns: Names, names: readonly string[]): boolean {
  for (let i = 0; i < names.length; i++) {
    const pattern = patterns[i]
    if (pattern === GLOBSTAR) return true
    if (pattern === undefined || !pattern.matches(names[i] as string)) return false
  }
  return names.length < patterns.length
}

/** What has a meaning in a glob beside `/`. */
export const GLOB_CHARACTERS = /[*?[\]{}()!+@|\\]/

/** Whether the last name of a glob has no `*` or `?`, so that the glob also covers what is below. */
export function endsInPlainName(pattern: string): boolean {
  const last = pattern.slice(pattern.lastIndexOf('/') + 1)
  return last !== '' && !/[*?]/.test(last.replace(/\\.|\[[^\]]*\]/gu, 'x'))
}

/** Returns a glob, and for each of its alternatives that ends in a plain name a glob of everything below. */
export function withBelow(pattern: string): readonly string[] {
  const plain = expandBraces(pattern, `glob ${quote(pattern)}`).filter(endsInPlainName)
  return [pattern, ...plain.map((alternative) => `${alternative}/**`)]
}
