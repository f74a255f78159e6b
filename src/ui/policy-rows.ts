import { labelNames } from '../policy/labels.ts'
import { presetNames } from '../policy/presets.ts'
import { type JsonNode, type JsonPath, nodeAt } from './json-text.ts'
import { readList } from './read-list.ts'
import { decisionWords, labelWords } from './words/verdict-words.ts'

/** A choice of one value in a row. */
export interface RowChoice {
  readonly label: string
  readonly path: JsonPath
  /** The option of the present value. */
  readonly value: string
  /** `json`: what the option writes; `undefined` removes the field. */
  readonly options: readonly { readonly value: string; readonly label: string; readonly json: unknown }[]
}

/** Texts of a row: paths, command lines, hosts or names of tools. */
export interface RowList {
  readonly label: string
  readonly path: JsonPath
  readonly values: readonly string[]
}

/** One line of a policy: who may do what where. */
export interface PolicyRow {
  readonly path: JsonPath
  readonly title: string
  readonly choices: readonly RowChoice[]
  readonly lists: readonly RowList[]
  /** Names of the fields of this row that only the text shows. */
  readonly textOnly: readonly string[]
}

export type RowSection = 'access' | 'commands' | 'network' | 'labels'

export interface PolicyRows {
  readonly sections: Readonly<Record<RowSection, readonly PolicyRow[]>>
  /** What decides where no row does. */
  readonly preset: RowChoice
  /** The fields of the policy that only the text shows. */
  readonly textOnly: readonly string[]
}

type Json = Readonly<Record<string, unknown>>
type Options = readonly (readonly [value: string, label: string, json: unknown])[]

const decisions: Options = (['allow', 'ask', 'deny'] as const).map((one) => [one, decisionWords[one], one])
const labels: Options = labelNames.map((one) => [one, labelWords[one]?.name ?? one, one])
const presets: Options = [
  ['none', 'Blocked unless a row allows it', undefined],
  ...presetNames.map((one) => [one, presetLabel(one), one] as const),
]
/** The actions of a rule. A rule with other permissions shows them as they are written. */
const actions: Options = [
  ['any', 'Anything', undefined],
  ['see', 'See', ['file:view']],
  ['change', 'Change', ['file:change']],
  ['write', 'Write', ['file:write:*']],
  ['delete', 'Delete', ['file:delete']],
  ['run', 'Run commands', ['command:*']],
]

function presetLabel(name: string): string {
  if (name === 'readOnly') return 'Read, and change nothing'
  return name === 'supervised' ? 'Read; ask before each change' : 'Read and change freely'
}

/** Returns the rows of a policy, also of one with mistakes. What they do not show is listed by its name. */
export function rowsOf(text: string, root: JsonNode): PolicyRows {
  const value = (path: JsonPath): unknown => {
    const node = nodeAt(root, path)
    return node === undefined ? undefined : JSON.parse(text.slice(node.start, node.end))
  }
  const shown: JsonPath[] = [['preset']]
  const listRow = (path: JsonPath, title: string, label: string): readonly PolicyRow[] => {
    const values = value(path)
    if (!isTexts(values)) return []
    shown.push(path)
    return [{ path, title, choices: [], lists: [{ label, path, values }], textOnly: [] }]
  }
  const objectRows = (path: JsonPath, create: (path: JsonPath, json: Json) => PolicyRow): readonly PolicyRow[] =>
    (nodeAt(root, path)?.items ?? []).flatMap((_, at) => {
      const json = value([...path, at])
      if (!isObject(json)) return []
      shown.push([...path, at])
      return [create([...path, at], json)]
    })
  const toolRows = (nodeAt(root, ['tools'])?.members ?? []).map(({ key }): PolicyRow => {
    const path = ['tools', key]
    shown.push(path)
    const choice = choiceOf('Decision', path, decisions, value(path))
    return { path, title: `Calls of ${key}`, choices: [choice], lists: [], textOnly: [] }
  })
  const sections = {
    access: [
      ...listRow(['allowedPaths'], 'Open', 'Paths'),
      ...listRow(['deniedPaths'], 'Closed: neither seen nor changed', 'Paths'),
      ...listRow(['readOnlyPaths'], 'Read only', 'Paths'),
      ...toolRows,
      ...objectRows(['rules'], ruleRow),
    ],
    commands: [
      ...listRow(['commands', 'allow'], 'Allowed commands', 'Commands'),
      ...listRow(['commands', 'deny'], 'Blocked commands', 'Commands'),
      ...listRow(['commands', 'deniedOperators'], 'Blocked operators', 'Operators'),
    ],
    network: listRow(['network', 'hosts'], 'Commands may reach', 'Hosts'),
    labels: [...objectRows(['labels', 'sources'], sourceRow), ...objectRows(['labels', 'sinks'], sinkRow)],
  }
  const preset = choiceOf('Everything else', ['preset'], presets, value(['preset']))
  return { sections, preset, textOnly: unshown(root, shown) }
}

function ruleRow(path: JsonPath, rule: Json): PolicyRow {
  return {
    path,
    title: typeof rule.name === 'string' ? rule.name : 'A rule without a name',
    choices: [
      choiceOf('Decision', [...path, 'action'], decisions, rule.action),
      choiceOf('Action', [...path, 'permissions'], actions, rule.permissions),
    ],
    ...listsOf(path, rule, { paths: 'Paths', commands: 'Commands', tools: 'Tools' }, ['name', 'action', 'permissions']),
  }
}

function sourceRow(path: JsonPath, source: Json): PolicyRow {
  return {
    path,
    title: 'Content is',
    choices: [choiceOf('Label', [...path, 'label'], labels, source.label)],
    ...listsOf(path, source, { paths: 'Paths', commands: 'Commands' }, ['label']),
  }
}

function sinkRow(path: JsonPath, sink: Json): PolicyRow {
  return {
    path,
    title: typeof sink.name === 'string' ? `To “${sink.name}” at most` : 'A place without a name',
    choices: [choiceOf('At most', [...path, 'ceiling'], labels, sink.ceiling)],
    ...listsOf(path, sink, { paths: 'Paths', commands: 'Commands', hosts: 'Hosts' }, ['name', 'ceiling']),
  }
}

/** The lists of an object, and the names of its fields that a row does not show. Paths are always offered. */
function listsOf(
  path: JsonPath,
  json: Json,
  names: Readonly<Record<string, string>>,
  others: readonly string[],
): Pick<PolicyRow, 'lists' | 'textOnly'> {
  const lists: RowList[] = []
  for (const [field, label] of Object.entries(names)) {
    const values = json[field] ?? (field === 'paths' ? [] : undefined)
    if (isTexts(values)) lists.push({ label, path: [...path, field], values })
  }
  const known = new Set([...others, ...lists.map((list) => list.path.at(-1))])
  return { lists, textOnly: Object.keys(json).filter((field) => !known.has(field)) }
}

function choiceOf(label: string, path: JsonPath, options: Options, present: unknown): RowChoice {
  const isPresent = ([, , json]: Options[number]) => JSON.stringify(json) === JSON.stringify(present)
  const all = options.some(isPresent) ? options : [...options, ['written', plain(present), present] as const]
  const value = all.find(isPresent)?.[0] ?? ''
  return { label, path, value, options: all.map(([name, text, json]) => ({ value: name, label: text, json })) }
}

function plain(value: unknown): string {
  if (value === undefined) return 'not set'
  return isTexts(value) ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value)
}

/** The fields of which no row shows anything, or only a part. */
function unshown(root: JsonNode, shown: readonly JsonPath[]): readonly string[] {
  const isShown = (path: JsonPath, node: JsonNode): boolean => {
    if (shown.some((one) => JSON.stringify(one) === JSON.stringify(path))) return true
    const parts = node.members?.map((member) => [member.key, member.node] as const) ?? node.items?.entries()
    return parts !== undefined && [...parts].every(([key, child]) => isShown([...path, key], child))
  }
  return (root.members ?? []).filter(({ key, node }) => !isShown([key], node)).map(({ key }) => key)
}

/** A list as a person edits it in one field. */
export function listText(values: readonly string[]): string {
  return values.join(', ')
}

/** Whether a list can be edited in one field and stays what it is. */
export function isEditable(values: readonly string[]): boolean {
  return JSON.stringify(readList(listText(values))) === JSON.stringify(values)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
