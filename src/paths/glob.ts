import { ToolError } from '../errors.ts'
import { expandBraces } from './braces.ts'
import { quote } from './logical-path.ts'
import { type CharacterClass, compileName, type NamePattern, parseClass, type Token } from './wildcard.ts'

/** A compiled glob. It judges canonical logical paths: relative, no `.`, no `..`; the root is `''`. */
export interface Glob {
  /** Linear in the path for any pattern, and never more than (path × pattern) steps. */
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
 * `{1..3}` (expanded first), `\` before a special character. `**` may stand for no name at all: with a `/x` behind it, it
 * covers the root's `x` too, and `dir/**` covers `dir` itself. Names that start with a dot are matched like others. A
 * trailing `/` means the directory and everything below it. `(`, `)`, `|`, `+`, `@`, quotes, and a `!` that is not in
 * front, are plain characters. A bracket expression without a range also matches its own text, so that `[id].tsx` finds
 * the file of that name.
 *
 * @throws ToolError `INVALID_PATTERN` for what could never match or would not be bounded: absolute globs, `..`, `\` in
 * front of a letter, extended globs such as `+(a|b)`, negation, over 4,096 characters, over 1,000 brace alternatives.
 *
 * @example
 * compileGlob('src/app/*.{ts,tsx}').matches('src/app/page.tsx') // true
 */
export function compileGlob(pattern: string, options: GlobOptions = {}): Glob {
  return compileGlobs([pattern], options)
}

/** One matcher for many globs: true where any of them is. No glob at all matches nothing. */
export function compileGlobs(patterns: readonly string[], options: GlobOptions = {}): Glob {
  const fold = options.caseInsensitive === true ? foldCase : undefined
  const plans: Plan[] = []
  for (const pattern of patterns) {
    const shown = check(pattern)
    for (const alternative of expandBraces(pattern, shown)) {
      plans.push(planOf(parseNames(alternative, shown, fold)))
    }
    // A path that is spelled like the glob is meant by it, whatever the characters in it would stand for.
    if (/[[{]/.test(pattern) && !/[*?\\]/.test(pattern)) {
      const names = (fold === undefined ? pattern : fold(pattern))
        .split('/')
        .filter((name) => name !== '' && name !== '.')
      plans.push({ type: 'exact', path: names.join('/') })
    }
  }
  const matches = matcherOf(plans)
  const mayMatchBelow = leadOf(plans)
  if (fold === undefined) return { matches, mayMatchBelow }
  return { matches: (path) => matches(fold(path)), mayMatchBelow: (directory) => mayMatchBelow(fold(directory)) }
}

const MAX_LENGTH = 4096

/** What can be refused by its text alone. Returns the pattern for messages. */
function check(pattern: string): string {
  const shown = `glob ${quote(pattern)}`
  if (pattern.trim() === '') invalid(shown, 'it is empty', 'Use ** for everything.')
  if (pattern.length > MAX_LENGTH)
    invalid(shown, `it is longer than ${MAX_LENGTH} characters`, 'Use several shorter globs.')
  if (pattern.includes('\0')) invalid(shown, 'it contains NUL', 'Remove it.')
  if (pattern.startsWith('!')) {
    invalid(
      shown,
      'negation with ! is not supported',
      'Use an exclude or deny glob instead, or \\! for a name that starts with !.',
    )
  }
  if (/^[A-Za-z]:[\\/]/.test(pattern) || /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(pattern)) absolute(shown)
  const extended = /(?<!\\)(?:\\\\)*[?*+@!]\(/.exec(pattern)
  if (extended !== null) {
    invalid(
      shown,
      'extended globs such as +(a|b) are not supported',
      'Use {a,b} for alternatives, or \\( for a parenthesis.',
    )
  }
  return shown
}

function absolute(shown: string): never {
  invalid(shown, 'it is absolute', 'Globs are relative to the workspace root: leave out the leading part.')
}

function invalid(shown: string, why: string, hint: string): never {
  throw new ToolError('INVALID_PATTERN', `Cannot use ${shown}: ${why}`, { hint })
}

/** Any number of names, none too. */
const GLOBSTAR = null

type Names = readonly (NamePattern | typeof GLOBSTAR)[]

function parseNames(alternative: string, shown: string, fold: ((text: string) => string) | undefined): Names {
  if (alternative.startsWith('/')) absolute(shown)
  const names: (NamePattern | typeof GLOBSTAR)[] = []
  const addGlobstar = () => {
    if (names.at(-1) !== GLOBSTAR) names.push(GLOBSTAR)
  }
  for (const name of alternative.split('/')) {
    if (name === '' || name === '.') continue
    if (name === '..')
      invalid(shown, 'it climbs with ..', 'Globs are relative to the workspace root and never leave it.')
    if (name === '**') addGlobstar()
    else names.push(compileName(parseName(name, shown, fold)))
  }
  if (alternative.endsWith('/')) addGlobstar()
  return names
}

function parseName(source: string, shown: string, fold: ((text: string) => string) | undefined): Token[] {
  const tokens: Token[] = []
  const lastClose = source.lastIndexOf(']')
  const text = (value: string) => tokens.push({ type: 'text', text: fold === undefined ? value : fold(value) })
  for (let at = 0; at < source.length; at++) {
    const char = source[at] as string
    if (char === '*') tokens.push({ type: 'star' })
    else if (char === '?') tokens.push({ type: 'any' })
    else if (char === '\\') {
      at += 1
      text(escaped(source[at], shown))
    } else if (char === '[' && at < lastClose) {
      const found = parseClass(source, at, source.length)
      if (found === undefined) {
        text('[')
        continue
      }
      if (found.hasEmptyRange)
        invalid(shown, 'it has a range from high to low', 'Write the lower end of the range first.')
      const own = source.slice(at, found.end)
      const isPlain = !found.negated && !found.hasRange && !own.includes('\\') && !own.includes('[:')
      tokens.push({
        type: 'class',
        has: fold === undefined ? found.has : eitherCase(found),
        ...(isPlain ? { text: fold === undefined ? own : fold(own) } : {}),
      })
      at = found.end - 1
    } else text(char)
  }
  return tokens
}

/** What `\` may stand before. Before anything else it is most likely a separator of another system. */
function escaped(char: string | undefined, shown: string): string {
  if (char === undefined || char === '\\' || /[\p{L}\p{N}_./ ]/u.test(char)) {
    invalid(
      shown,
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

/** One form for all spellings that differ in case, character by character, keeping lengths. */
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

/** The shapes that most globs have; each is tested without splitting the path. */
type Plan =
  | { readonly type: 'all' }
  | { readonly type: 'exact'; readonly path: string }
  /** A directory and everything below it. */
  | { readonly type: 'tree'; readonly path: string }
  /** One name, anywhere. */
  | { readonly type: 'name'; readonly name: string }
  /** One name anywhere, and everything below it. */
  | { readonly type: 'component'; readonly name: string }
  /** A name that ends so, anywhere below a directory (`''` is the root). */
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
  const add = <T>(some: readonly T[], testOf: (some: readonly T[]) => Test) => {
    if (some.length > 0) tests.push(testOf(some))
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

const FEW = 8

function treeTest(list: readonly string[]): Test {
  if (list.length <= FEW) {
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
      // A `/` behind the dot makes a slice that is no extension in the set, since no tail holds one.
      if (dot !== -1 && extensions.has(path.slice(dot))) return true
    }
    for (const { prefix, tail } of others) {
      // The two cannot overlap: a prefix ends with the only `/` of both.
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

/** Like matching within a name: only the last `**` is ever retried. */
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
    return others.some((patterns) => leads(patterns, names))
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

/** Names up to the first `**` must match one by one; from there on anything may come. */
function leads(patterns: Names, names: readonly string[]): boolean {
  for (let i = 0; i < names.length; i++) {
    const pattern = patterns[i]
    if (pattern === GLOBSTAR) return true
    if (pattern === undefined || !pattern.matches(names[i] as string)) return false
  }
  return names.length < patterns.length
}
