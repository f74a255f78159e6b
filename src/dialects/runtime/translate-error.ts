import { errorHints, type Failure } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import { checkArgument, must, requireText } from '../../util/check-options.ts'
import { knownSentences } from '../../util/hint-names.ts'
import { fieldNamesOf } from '../../util/strict-schema.ts'
import type { PathMapping } from './path-mapping.ts'
import type { Dialect, DialectError, DialectTool, Hints } from './types.ts'

const isDialect = must(
  'a dialect with a pathMapping',
  (dialect) => typeof Object(Object(dialect).pathMapping).outward === 'function',
)
const isFailure = must('the failure of a call', (failure) => typeof Object(failure).message === 'string')

/**
 * Translates an error of the workspace: paths in the dialect's spelling, and hints without the names of the workspace's own
 * tools and fields. `workspaceTool` is the tool of the workspace that failed, if one did.
 */
export function toDialectError(
  dialect: Pick<Dialect, 'pathMapping' | 'hints' | 'fields'> & Partial<Pick<Dialect, 'tools'>>,
  tool: string,
  failure: Failure,
  { input, workspaceTool }: { readonly input?: unknown; readonly workspaceTool?: string | undefined } = {},
): DialectError {
  checkArgument('toDialectError()', 'dialect', dialect, isDialect)
  checkArgument('toDialectError()', 'failure', failure, isFailure)
  requireText('toDialectError()', 'tool', tool)
  const { code, path } = failure
  const { pathMapping, fields = {} } = dialect
  const outward = path === undefined ? undefined : pathMapping.outward(path)
  const spell = createPathSpeller(pathMapping, path)
  const message = workspaceTool === undefined ? failure.message : failure.message.replace(workspaceTool, tool)
  return {
    code,
    // Paths first: a renamed field is in quotes, and can have the name of a path.
    message: renameFields(spell(message), fields),
    hint: dialectHint(dialect, failure) ?? spellBelow(pathMapping, hintOf(failure, dialect, workspaceTool && tool)),
    ...(outward === undefined ? {} : { path: outward }),
    tool,
    input,
    failure,
  }
}

/** Returns the hint of the dialect, unless there is no version to read again. */
function dialectHint({ hints }: Pick<Dialect, 'hints'>, { code, hint, currentSha256 }: Failure): string | undefined {
  if (code === 'WRITE_CONFLICT' && currentSha256 === null) return hint
  const own = hints?.[code]
  // What is missing is said first: the advice alone leads to the part that was read already.
  const missing = code === 'WRITE_CONFLICT' ? /^Lines [^:]+ were not read/.exec(hint)?.[0] : undefined
  return own === undefined || missing === undefined ? own : `${missing}. ${own}`
}

/**
 * Returns a function that replaces the quoted logical paths of a call in a text: its own paths, the one that was refused, and
 * the directories above them.
 */
function createPathSpeller(pathMapping: PathMapping, refused: string | undefined): (text: string) => string {
  const spelled = new Map<string, string>()
  for (const path of [...(pathMapping.asked?.keys() ?? []), ...(refused === undefined ? [] : [refused])]) {
    spelled.set(quote(path), quote(pathMapping.outward(path)))
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const directory = path.slice(0, slash)
      if (!spelled.has(quote(directory))) spelled.set(quote(directory), quote(pathMapping.outward(directory)))
    }
  }
  return (text) => text.replace(/"[^"]*"/g, (quoted) => spelled.get(quoted) ?? quoted)
}

/** Replaces the quoted paths in a text that are below a path of the call, such as the target in a directory that exists. */
function spellBelow(pathMapping: PathMapping, text: string): string {
  const asked = [...(pathMapping.asked?.keys() ?? [])]
  return text.replace(/"([^"\\]*)"/g, (quoted, path: string) =>
    asked.some((directory) => path.startsWith(`${directory}/`)) ? quote(pathMapping.outward(path)) : quoted,
  )
}

/** Replaces field names, except in quoted text. In a sentence, the name is quoted: it can be a usual word, such as "from". */
function renameFields(text: string, fields: Readonly<Record<string, string>>): string {
  return text.replace(/"[^"]*"|\b[a-z]+[A-Z]\w*/g, (match: string, at: number) => {
    if (!Object.hasOwn(fields, match) || fields[match] === match) return match
    const name = String(fields[match])
    const isInSentence = /(?:^|\s)$/.test(text.slice(0, at)) && !text.startsWith(':', at + match.length)
    return isInSentence ? JSON.stringify(name) : name
  })
}

/**
 * Returns the hint in words of the dialect. Suggested paths in the hint of the workspace are logical ones and are translated.
 *
 * @param tool the tool of the dialect whose call of a workspace tool failed
 */
function hintOf(
  { code, hint, suggestions }: Failure,
  { pathMapping, tools = [], fields = {} }: Pick<Dialect, 'pathMapping' | 'fields'> & Partial<Pick<Dialect, 'tools'>>,
  tool: string | undefined,
): string {
  if (code === 'INVALID_INPUT' && tool !== undefined && /\b(?:Fields:|no fields)/.test(hint)) {
    // The hint of the workspace lists the fields of its own tool.
    const names = Object.keys(tools.find((one) => namesOf(one).includes(tool))?.input.shape ?? {})
    return `Correct the input and call again.${names.length === 0 ? '' : ` Fields: ${names.join(', ')}.`}`
  }
  const neutral = neutralHints(pathMapping.roots)[code]
  if (neutral !== undefined) return neutral
  const knows = knowsNames(tools)
  const renamed = knownSentences(inDialectNames(hint, { fields, tools }), knows)
  if (renamed === '') return knownSentences(errorHints[code], knows) || 'Do not repeat the call as it is.'
  if (!Array.isArray(suggestions)) return renamed
  return suggestions.reduce(
    (text: string, path: string) => text.replace(`"${path}"`, () => `"${pathMapping.outward(path)}"`),
    renamed,
  )
}

/** Puts the names of the dialect's fields and tools into a text of the workspace. */
export function inDialectNames(text: string, { fields = {}, tools }: Pick<Dialect, 'fields' | 'tools'>): string {
  return renameTools(renameFields(text, fields), tools)
}

/** All names of a tool. */
export function namesOf({ name, formerNames = [] }: DialectTool): readonly string[] {
  return [name, ...formerNames]
}

/** Replaces the names of the workspace's tools by those of the tools of the dialect that use them. */
function renameTools(hint: string, tools: Dialect['tools']): string {
  return hint.replace(/"[^"]*"|\b[a-z]+(?:_[a-z]+)+\b/g, (name) => {
    if (tools.some((tool) => tool.name === name)) return name
    const user =
      tools.find(({ uses }) => uses[0] === name) ?? tools.find(({ mayUse = [] }) => mayUse.some((one) => one === name))
    return user?.name ?? name
  })
}

/** Returns a test of whether the caller of a dialect's tools knows a name: that of a tool or of a field, at any depth. */
function knowsNames(tools: Dialect['tools']): (name: string) => boolean {
  if (tools.length === 0) return () => true
  return (name) => tools.some((tool) => tool.name === name || fieldNamesOf(tool.input).has(name))
}

/** Replacements for those hints of the workspace that name its tools or fields. */
function neutralHints(roots: readonly string[]): Hints {
  return {
    ...(roots.length === 0
      ? {}
      : {
          PATH_REJECTED: `Use a path below ${roots.join(' or ')} with forward slashes; the same path will not work.`,
        }),
    IS_DIRECTORY: 'Name a file; list a directory to see what is in it.',
    WRITE_CONFLICT: 'Read the whole file again and repeat the change on its current version.',
    EDIT_NO_MATCH: 'Copy the text exactly from the file, with its white space.',
    EDIT_AMBIGUOUS: 'Add surrounding lines until the text occurs once.',
    UNSUPPORTED_BINARY: 'The file is not text. In a shell, xxd, file or hexdump show its bytes.',
    PLAN_MODE: 'Read only until the user has approved a plan.',
    COMMAND_TIMEOUT: 'Use a shorter command or a longer time limit.',
  }
}
