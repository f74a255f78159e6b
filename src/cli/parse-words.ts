import { type ParseArgsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../util/check-options.ts'

/** The options of all commands. */
const definitions = {
  after: { type: 'string' },
  'allowed-host': { type: 'string', multiple: true },
  'allowed-origin': { type: 'string', multiple: true },
  ask: { type: 'boolean' },
  audit: { type: 'string' },
  dialect: { type: 'string' },
  git: { type: 'boolean' },
  head: { type: 'string' },
  host: { type: 'string' },
  http: { type: 'string' },
  json: { type: 'boolean' },
  markdown: { type: 'boolean' },
  merge: { type: 'boolean' },
  overlay: { type: 'boolean' },
  parked: { type: 'string' },
  plan: { type: 'boolean' },
  policy: { type: 'string' },
  'read-only': { type: 'boolean' },
  record: { type: 'string' },
  root: { type: 'string', multiple: true },
  run: { type: 'string' },
  shell: { type: 'string' },
  'token-file': { type: 'string' },
} as const satisfies ParseArgsConfig['options']

type Definitions = typeof definitions
type OptionName = keyof Definitions
type Parsed<N extends OptionName> = ReturnType<
  typeof parseArgs<{ options: Pick<Definitions, N>; allowPositionals: true; strict: true }>
>

/** The options of the commands that open a workspace on real directories. */
const workspaceOptions = [
  ...(['root', 'policy', 'audit', 'read-only', 'overlay', 'json', 'plan', 'parked', 'record', 'dialect'] as const),
  ...(['shell', 'git'] as const),
] as const satisfies readonly OptionName[]

/** The options of `wardspace mcp` that need `--http`. */
export const httpOptionNames = ['host', 'token-file', 'allowed-host', 'allowed-origin'] as const

/** The options of each command. */
export const optionsOf = {
  acp: ['root', 'policy', 'audit', 'read-only', 'overlay', 'record', 'shell', 'git'],
  approve: workspaceOptions,
  audit: ['head', 'after', 'json'],
  call: [...workspaceOptions, 'ask'],
  demo: ['root', 'ask'],
  mcp: [...workspaceOptions, 'ask', 'http', ...httpOptionNames],
  overlay: ['root', 'policy', 'audit', 'dialect', 'merge', 'json'],
  policy: ['root', 'policy', 'read-only', 'overlay', 'plan', 'dialect', 'json'],
  replay: ['root', 'dialect', 'json'],
  report: ['run', 'json', 'markdown'],
  tools: ['root', 'policy', 'read-only', 'dialect', 'shell', 'json'],
} as const satisfies Readonly<Record<string, readonly OptionName[]>>

export type CommandName = keyof typeof optionsOf

/** The actions of the commands that have some. */
export const actionsOf = {
  audit: ['verify'],
  overlay: ['show', 'accept', 'discard'],
  policy: ['check', 'explain'],
} as const satisfies Partial<Record<CommandName, readonly string[]>>

/** The values of the options of a command. */
export type Values<C extends CommandName> = Parsed<(typeof optionsOf)[C][number]>['values']

/** The values of the options of a workspace on real directories. */
export type WorkspaceValues = Values<'approve'>

/**
 * Parses the words of a command.
 *
 * @throws TypeError for an unknown or repeated option, one that has no effect on this command, and a surplus word
 */
export function parseWords<C extends CommandName>(
  command: C,
  words: string[],
  maxPositionals = Number.POSITIVE_INFINITY,
): Parsed<(typeof optionsOf)[C][number]> {
  const names: readonly OptionName[] = optionsOf[command]
  const options = Object.fromEntries(names.map((name) => [name, definitions[name]]))
  const { tokens } = parseArgs({
    args: words,
    options: definitions,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const optionsSoFar = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    requireKnown(command, token, names)
    const isRepeatable = 'multiple' in definitions[token.name as OptionName]
    if (optionsSoFar.has(token.name) && !isRepeatable) throw new TypeError(`${token.rawName} is given twice`)
    optionsSoFar.add(token.name)
    requireValue(token)
  }
  const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true, strict: true })
  const surplus = positionals[maxPositionals]
  if (surplus !== undefined) {
    const takesRoot = maxPositionals === 0 && names.includes('root')
    const help = takesRoot ? '; name a directory with --root' : ''
    throw new TypeError(`Unexpected argument "${surplus}"${help}`)
  }
  return { values, positionals } as Parsed<(typeof optionsOf)[C][number]>
}

/** @throws TypeError for an option without its value, and for a value of an option that takes none */
function requireValue(token: {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}): void {
  const { name, rawName, value, inlineValue = false } = token
  if (definitions[name as OptionName].type === 'boolean') {
    if (inlineValue) throw new TypeError(`${rawName} takes no argument`)
    return
  }
  if (value === undefined || value === '') throw new TypeError(`${rawName} needs an argument`)
  if (value.startsWith('-') && !inlineValue)
    throw new TypeError(`${rawName} needs an argument; one that starts with a dash is written ${rawName}=${value}`)
}

/** Returns the error for an action that a command does not have, with those that it has. */
export function unknownAction(command: keyof typeof actionsOf, action: string): TypeError {
  const actions = actionsOf[command]
  if (action === '') return new TypeError(`Which action? wardspace ${command} ${actions.join(' or ')}`)
  const list = actions.length === 1 ? 'the only action is' : 'the actions are'
  return new TypeError(`There is no "${command} ${action}"${didYouMean(action, actions, list)}`)
}

/** @throws TypeError if one of these options was given, because it has no effect on this command */
export function refuseOptions(
  command: string,
  values: Readonly<Record<string, unknown>>,
  names: readonly OptionName[],
): void {
  const name = names.find((one) => values[one] !== undefined)
  if (name !== undefined) throw new TypeError(`--${name} has no effect on wardspace ${command}`)
}

/** @throws TypeError if a person is asked at once, and calls shall wait for an answer */
export function refuseAskAndPark({ ask, parked }: { readonly ask?: boolean; readonly parked?: string }): void {
  if (ask !== true || parked === undefined) return
  throw new TypeError('--parked has no effect beside --ask, which asks at once: leave out one of them')
}

function requireKnown(
  command: string,
  { name, rawName }: { readonly name: string; readonly rawName: string },
  names: readonly string[],
): void {
  if (names.includes(name)) return
  if (Object.hasOwn(definitions, name)) refuseOptions(command, { [name]: true }, [name as OptionName])
  throw new TypeError(`There is no option "${rawName}"${optionHelp(command, name, rawName, names)}`)
}

/** What people write for an option that has another name. */
const synonyms: ReadonlyMap<string, OptionName> = new Map([
  ['cwd', 'root'],
  ['dir', 'root'],
  ['directory', 'root'],
  ['port', 'http'],
])

function optionHelp(command: string, name: string, rawName: string, names: readonly string[]): string {
  const meant = synonyms.get(name)
  if (meant !== undefined && names.includes(meant)) return `; did you mean "--${meant}"?`
  const known = [...names, 'help'].map((option) => `--${option}`)
  const isField = command === 'call' && rawName.startsWith('--')
  const fields = isField ? `; the fields of a tool are a JSON text: wardspace call NAME '{"${name}": …}'` : ''
  return didYouMean(rawName, known) || fields || didYouMean(rawName, known, `the options of wardspace ${command} are`)
}
