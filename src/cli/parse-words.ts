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
export const workspaceOptionNames = [
  ...(['root', 'policy', 'audit', 'read-only', 'overlay', 'json', 'plan', 'parked', 'record', 'dialect'] as const),
  ...(['shell', 'git'] as const),
] as const satisfies readonly OptionName[]

/** The values of {@link workspaceOptionNames}. */
export type WorkspaceValues = Parsed<(typeof workspaceOptionNames)[number]>['values']

/**
 * Parses the words of a command.
 *
 * @param names the options that the command takes
 * @throws TypeError for an unknown or repeated option, one that has no effect on this command, and a surplus word
 */
export function parseWords<N extends OptionName>(
  command: string,
  words: string[],
  names: readonly N[],
  maxPositionals = Number.POSITIVE_INFINITY,
): Parsed<N> {
  const options = Object.fromEntries(names.map((name) => [name, definitions[name]])) as Pick<Definitions, N>
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
    const isRepeatable = 'multiple' in definitions[token.name as N]
    if (optionsSoFar.has(token.name) && !isRepeatable) throw new TypeError(`${token.rawName} is given twice`)
    optionsSoFar.add(token.name)
    requireValue(token)
  }
  const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true, strict: true })
  const surplus = positionals[maxPositionals]
  if (surplus !== undefined) {
    const takesRoot = maxPositionals === 0 && (names as readonly string[]).includes('root')
    const help = takesRoot ? '; name a directory with --root' : ''
    throw new TypeError(`Unexpected argument "${surplus}"${help}`)
  }
  return { values, positionals } as Parsed<N>
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
export function unknownAction(command: string, action: string, actions: readonly string[]): TypeError {
  if (action === '') return new TypeError(`Which action? wardspace ${command} ${actions.join(' or ')}`)
  return new TypeError(`There is no "${command} ${action}"${didYouMean(action, actions, 'the actions are')}`)
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

function requireKnown(
  command: string,
  { name, rawName }: { readonly name: string; readonly rawName: string },
  names: readonly string[],
): void {
  if (names.includes(name)) return
  if (Object.hasOwn(definitions, name)) refuseOptions(command, { [name]: true }, [name as OptionName])
  const help = didYouMean(
    rawName,
    [...names, 'help'].map((option) => `--${option}`),
    `the options of wardspace ${command} are`,
  )
  throw new TypeError(`There is no option "${rawName}"${help}`)
}
