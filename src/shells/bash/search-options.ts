import { ToolError } from '../../errors.ts'
import { compileGlobs, type Glob } from '../../paths/glob.ts'
import { compileQuery, type Query } from '../../search/query.ts'
import { type Flags, type FlagTable, parseFlags } from './flags.ts'
import type { LineOptions } from './matching-lines.ts'

/** The commands that search files by themselves. */
export type SearchName = 'grep' | 'egrep' | 'fgrep' | 'rg'

/** A parsed call of `grep -r` or `rg`. */
export interface Search extends LineOptions {
  /** `undefined` lists the files instead of searching them. */
  readonly query: Query | undefined
  readonly operands: readonly string[]
  readonly hidden: boolean
  readonly ignored: boolean
  readonly includes: (relative: string, name: string) => boolean
  readonly show: 'lines' | 'count' | 'files' | 'others' | 'nothing' | 'all'
  readonly withNames: boolean | undefined
  /** Whether matches in binary files are reported. */
  readonly binary: boolean
}

/** Parses a call. Returns `undefined` for a call that is left to the command of the interpreter. */
export function parseSearch(name: SearchName, args: readonly string[]): Search | undefined {
  try {
    if (name === 'rg') return parseRg(args)
    return parseGrep(args, name === 'egrep' ? 'extended' : name === 'fgrep' ? 'fixed' : 'basic')
  } catch {
    // The pattern is invalid, or would need backtracking.
    return undefined
  }
}

/** Whether a search also needs the files without a match. */
export function needsEveryFile({ invert, show, binary }: Search): boolean {
  return invert || show === 'others' || (show === 'count' && binary)
}

const common: FlagTable = {
  plain: {
    '-i': 'ignoreCase',
    '--ignore-case': 'ignoreCase',
    '-v': 'invert',
    '--invert-match': 'invert',
    '-w': 'word',
    '--word-regexp': 'word',
    '-x': 'line',
    '--line-regexp': 'line',
    '-n': 'numbers',
    '--line-number': 'numbers',
    '-l': 'files',
    '--files-with-matches': 'files',
    '-c': 'count',
    '--count': 'count',
    '-q': 'quiet',
    '--quiet': 'quiet',
    '-H': 'names',
    '--with-filename': 'names',
    '-F': 'fixed',
    '--fixed-strings': 'fixed',
    '--no-heading': 'ignored',
    '--no-messages': 'ignored',
    '-a': 'text',
    '--text': 'text',
  },
  valued: {
    '-e': 'pattern',
    '--regexp': 'pattern',
    '-m': 'max',
    '--max-count': 'max',
    '-A': 'after',
    '--after-context': 'after',
    '-B': 'before',
    '--before-context': 'before',
    '-C': 'around',
    '--context': 'around',
    '--color': 'ignored',
    '--colour': 'ignored',
  },
}

const grepFlags: FlagTable = {
  plain: {
    ...common.plain,
    '-r': 'recursive',
    '--recursive': 'recursive',
    '-R': 'recursive',
    '-E': 'extended',
    '--extended-regexp': 'extended',
    '-G': 'basic',
    '-h': 'noNames',
    '--no-filename': 'noNames',
    '-L': 'others',
    '--files-without-match': 'others',
    '-s': 'ignored',
    '-I': 'noBinary',
    '--color': 'ignored',
  },
  valued: {
    ...common.valued,
    '--include': 'include',
    '--exclude': 'exclude',
    '--exclude-dir': 'excludeDir',
    '--binary-files': 'ignored',
  },
}

const rgFlags: FlagTable = {
  plain: {
    ...common.plain,
    '-S': 'smart',
    '--smart-case': 'smart',
    '-s': 'sensitive',
    '--case-sensitive': 'sensitive',
    '-N': 'noNumbers',
    '--no-line-number': 'noNumbers',
    '-I': 'noNames',
    '--no-filename': 'noNames',
    '--files-without-match': 'others',
    '--files': 'all',
    '--hidden': 'hidden',
    '-.': 'hidden',
    '-u': 'unrestricted',
    '--unrestricted': 'unrestricted',
    '--no-ignore': 'noIgnore',
    '--no-ignore-vcs': 'noIgnore',
  },
  valued: {
    ...common.valued,
    '-g': 'glob',
    '--glob': 'glob',
    '-t': 'type',
    '--type': 'type',
    '-j': 'x',
    '--sort': 'x',
  },
}

/** Globs by rg's names of file types; other types are left to the interpreter. */
const types: Readonly<Record<string, readonly string[]>> = {
  ts: ['*.ts', '*.tsx', '*.mts', '*.cts'],
  js: ['*.js', '*.jsx', '*.mjs', '*.cjs', '*.vue'],
  json: ['*.json'],
  md: ['*.md', '*.markdown', '*.mdx'],
  markdown: ['*.md', '*.markdown', '*.mdx'],
  py: ['*.py', '*.pyi'],
  rust: ['*.rs'],
  go: ['*.go'],
  java: ['*.java'],
  html: ['*.html', '*.htm'],
  css: ['*.css', '*.scss'],
  yaml: ['*.yaml', '*.yml'],
  sh: ['*.sh', '*.bash'],
}

function parseGrep(args: readonly string[], kind: 'basic' | 'extended' | 'fixed'): Search | undefined {
  const flags = parseFlags(args, grepFlags)
  if (flags === undefined || flags.count('recursive') === 0) return undefined
  const isFixed = kind === 'fixed' || flags.count('fixed') > 0
  const isExtended = kind === 'extended' || flags.count('extended') > 0
  const { pattern, operands } = patternOf(flags)
  if (pattern === undefined) return undefined
  const include = globsOf(flags.values('include'))
  const exclude = globsOf(flags.values('exclude'))
  const excludeDir = globsOf(flags.values('excludeDir'))
  return {
    ...linesOf(flags),
    query: queryOf(isFixed || isExtended ? pattern : extended(pattern), isFixed, flags.count('ignoreCase') > 0, flags),
    operands,
    hidden: true,
    ignored: true,
    includes: (relative, name) =>
      (include?.matches(name) ?? true) &&
      !(exclude?.matches(name) ?? false) &&
      !(
        excludeDir !== undefined &&
        relative
          .split('/')
          .slice(0, -1)
          .some((directory) => excludeDir.matches(directory))
      ),
    show: showOf(flags),
    withNames: flags.count('noNames') === 0,
    binary: flags.count('noBinary') === 0,
  }
}

function parseRg(args: readonly string[]): Search | undefined {
  const flags = parseFlags(args, rgFlags)
  if (flags === undefined || flags.count('text') > 0) return undefined
  const listsAll = flags.count('all') > 0
  const { pattern, operands } = listsAll ? { pattern: undefined, operands: flags.operands } : patternOf(flags)
  if (!listsAll && pattern === undefined) return undefined
  const typeNames = flags.values('type')
  if (typeNames.some((type) => !Object.hasOwn(types, type))) return undefined
  const typeGlobs = globsOf(typeNames.flatMap((type) => types[type] as readonly string[]))
  const included = globsOf(
    flags
      .values('glob')
      .filter((glob) => !glob.startsWith('!'))
      .map(anywhere),
  )
  const excluded = globsOf(
    flags
      .values('glob')
      .filter((glob) => glob.startsWith('!'))
      .map((glob) => anywhere(glob.slice(1))),
  )
  const isSmart = flags.count('smart') > 0 && pattern !== undefined && pattern === pattern.toLowerCase()
  const unrestricted = flags.count('unrestricted')
  return {
    ...linesOf(flags),
    lineNumbers: flags.count('numbers') > 0 && flags.count('noNumbers') === 0,
    query:
      pattern === undefined
        ? undefined
        : queryOf(pattern, flags.count('fixed') > 0, flags.count('ignoreCase') > 0 || isSmart, flags),
    operands,
    hidden: flags.count('hidden') > 0 || unrestricted > 1,
    ignored: flags.count('noIgnore') > 0 || unrestricted > 0,
    includes: (relative, name) =>
      (typeGlobs?.matches(name) ?? true) &&
      (included?.matches(relative) ?? true) &&
      !(excluded?.matches(relative) ?? false),
    show: listsAll ? 'all' : showOf(flags),
    withNames: flags.count('noNames') > 0 ? false : flags.count('names') > 0 ? true : undefined,
    binary: false,
  }
}

function patternOf(flags: Flags): { pattern: string | undefined; operands: readonly string[] } {
  const patterns = flags.values('pattern')
  if (patterns.length > 1) return { pattern: undefined, operands: [] }
  if (patterns.length === 1) return { pattern: patterns[0], operands: flags.operands }
  return { pattern: flags.operands[0], operands: flags.operands.slice(1) }
}

function queryOf(pattern: string, isFixed: boolean, ignoreCase: boolean, flags: Flags): Query {
  const whole = flags.count('line') > 0 ? ['^(?:', ')$'] : flags.count('word') > 0 ? ['\\b(?:', ')\\b'] : undefined
  const text = isFixed && whole !== undefined ? pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') : pattern
  return compileQuery({
    query: whole === undefined ? text : `${whole[0]}${text}${whole[1]}`,
    mode: isFixed && whole === undefined ? 'literal' : 'regex',
    caseSensitive: !ignoreCase,
  })
}

function linesOf(flags: Flags): LineOptions {
  const number = (name: string) => {
    const value = flags.values(name).at(-1)
    if (value !== undefined && !/^\d{1,9}$/.test(value)) throw new ToolError('INVALID_INPUT', 'It is not a number')
    return value === undefined ? undefined : Number(value)
  }
  const around = number('around') ?? 0
  return {
    invert: flags.count('invert') > 0,
    before: number('before') ?? around,
    after: number('after') ?? around,
    maxCount: number('max') ?? Number.POSITIVE_INFINITY,
    lineNumbers: flags.count('numbers') > 0,
  }
}

function showOf(flags: Flags): Search['show'] {
  if (flags.count('quiet') > 0) return 'nothing'
  if (flags.count('files') > 0) return 'files'
  if (flags.count('others') > 0) return 'others'
  return flags.count('count') > 0 ? 'count' : 'lines'
}

function globsOf(globs: readonly string[]): Glob | undefined {
  return globs.length === 0 ? undefined : compileGlobs(globs)
}

/** As in .gitignore: a glob without a slash matches a name at any depth. */
function anywhere(glob: string): string {
  if (glob.startsWith('/')) return glob.slice(1)
  return glob.includes('/') ? glob : `**/${glob}`
}

/** Converts a basic regular expression to an extended one, in which the escaped operators are the plain ones. */
function extended(pattern: string): string {
  let text = ''
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i] as string
    if (char === '[') {
      const end = pattern.indexOf(']', i + (pattern[i + 1] === '^' ? 3 : 2))
      if (end === -1) return pattern
      text += pattern.slice(i, end + 1)
      i = end
    } else if (char === '\\' && i + 1 < pattern.length) {
      i += 1
      const next = pattern[i] as string
      if ('(){}|+?'.includes(next)) text += next
      else if (next === '<' || next === '>') text += '\\b'
      else text += `\\${next}`
    } else if ('(){}|+?'.includes(char)) text += `\\${char}`
    else if (char === '*' && (text === '' || text === '^' || text.endsWith('('))) text += '\\*'
    else text += char
  }
  return text
}
