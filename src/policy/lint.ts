import { classifyPath } from '../files/classify/index.ts'
import { isWithin, type Path } from '../paths/logical-path.ts'
import { hasStarsInName } from '../paths/pattern-spelling.ts'
import {
  checkArgument,
  checkOptions,
  isListOf,
  isPlainObject,
  isRecordOf,
  isText,
  must,
  refuseSurplus,
} from '../util/check-options.ts'
import { nearestName } from '../util/nearest-name.ts'
import type { DeclaredRoots } from './absolute-patterns.ts'
import { tidyEntry } from './command-entries.ts'
import { hasKnownOptions, programName } from './command-options.ts'
import { type CallPolicy, strength } from './evaluation.ts'
import { idleParts, verbs } from './lint-effects.ts'
import { examplePaths, type LintTool, NAME, neverMatches, type PolicyFinding } from './lint-matches.ts'
import { compilePaths, compileTexts, pathFields, permissionMask } from './match.ts'
import { memoryPath } from './memory-policy.ts'
import { type Permission, permissionBit, permissionGroups } from './permissions.ts'
import { compileData, compilePolicy } from './policy.ts'
import { riskFlags } from './risk/flags.ts'
import type { PolicyData, PolicyRule } from './schema.ts'
import type { Decision } from './types.ts'

export type { LintTool, PolicyFinding } from './lint-matches.ts'

/** Options of {@link lintPolicy}. */
export interface LintOptions {
  /** The tools of the workspace. Without them, what depends on tools is not checked. */
  readonly tools?: readonly LintTool[]
  /** The virtual roots of the dialect, below which the policy may name absolute paths. */
  readonly roots?: DeclaredRoots
}

/**
 * Finds what a policy leaves open although a rule looks like protection, and what has no effect. A policy that passes is not
 * proven to be right: paths are tried by one example for each glob.
 *
 * @throws TypeError for an invalid policy
 * @example
 * const findings = lintPolicy({
 *   preset: 'autonomous',
 *   rules: [{ name: 'docs are final', action: 'deny', permissions: ['file:write:*'], paths: ['docs/**'] }],
 * })
 * console.log(findings[0]?.message) // 'It denies changes of docs/**, but leaves open: file:append, ...'
 */
export function lintPolicy(policy: unknown, options?: LintOptions): readonly PolicyFinding[] {
  refuseSurplus('lintPolicy()', 2, arguments)
  const isTool = must('a tool', (tool) => typeof (tool as Partial<LintTool> | null)?.name === 'string')
  const table = { tools: isListOf(isTool), roots: isRecordOf(isText) }
  const { tools = [], roots = {} } = checkOptions<LintOptions>('lintPolicy()', options, table)
  if (typeof policy === 'object' && policy !== null) checkArgument('lintPolicy()', 'policy', policy, isPlainObject)
  const { data } = compilePolicy(policy, { roots })
  const findings: PolicyFinding[] = []
  for (const rule of data.rules ?? []) {
    findings.push(...openChanges(data, rule), ...openViews(data, rule))
    findings.push(
      ...neverMatches(data, rule, tools),
      ...globstarsInNames(rule.name, rule.paths),
      ...starsInArguments(rule),
      ...misspelledRisks(rule),
    )
  }
  const decisions = Object.entries(data.tools ?? {}).map(([tool, action]) => ({
    name: `tools.${tool}`,
    action,
    tools: [tool],
  }))
  for (const rule of [...(data.rules ?? []), ...decisions]) {
    findings.push(...openTools(data, rule, tools), ...openStart(data, rule, tools))
  }
  for (const field of ['allowedPaths', 'deniedPaths', 'readOnlyPaths'] as const) {
    findings.push(...globstarsInNames(field, data[field]))
  }
  return [
    ...findings,
    ...idleParts(data, tools),
    ...idleCommands(data),
    ...openOptions(data),
    ...emptyLists(data),
    ...hiddenNotes(data),
  ]
}

/** A tool without decisions or rules of its own. */
const NO_TOOL = 'tool'

/** Returns the permissions of a group that a restricting rule does not cover, and that are decided less strictly. */
function leftOpen(data: PolicyData, rule: PolicyRule, group: readonly Permission[]): readonly Permission[] {
  if (rule.action === 'allow' || !rule.permissions || rule.args || rule.commands || rule.risk) return []
  const covers = coveredBy(rule)
  if (!group.some(covers) || group.every(covers)) return []
  const policy = compileData(data).forCall({ tool: NO_TOOL, input: {} })
  return group.filter((permission) => !covers(permission) && isWeaker(policy, permission, data, rule))
}

function coveredBy({ permissions = ['*'] }: PolicyRule): (permission: Permission) => boolean {
  const mask = permissionMask(permissions, 'permissions')
  return (permission) => (mask & permissionBit(permission)) !== 0
}

/** Whether a call decides less strictly than the rule about an example of the rule. */
function isWeaker(policy: CallPolicy, permission: Permission, data: PolicyData, rule: PolicyRule): boolean {
  return examplesFor(permission, data, rule).some(
    (path) => strength[decide(policy, permission, path)] < strength[rule.action],
  )
}

function decide(policy: CallPolicy, permission: Permission, path: Path): Decision {
  return policy.decide(permission, path, classifyPath(path))
}

/** The permissions that change a path. */
const changes: readonly Permission[] = permissionGroups['file:change']

function openChanges(data: PolicyData, rule: PolicyRule): readonly PolicyFinding[] {
  const open = leftOpen(data, rule, changes)
  if (!open.length) return []
  return [
    {
      rule: rule.name,
      message: `It ${verbs[rule.action]} changes of ${subjectOf(rule)}, but leaves open: ${open.join(', ')}`,
      hint: 'Use permissions: ["file:change"] for every way to change a path.',
    },
  ]
}

/** The permissions that show the content of a file. */
const showing: readonly Permission[] = ['file:read', 'file:search', 'file:diff']

function openViews(data: PolicyData, rule: PolicyRule): readonly PolicyFinding[] {
  const open = leftOpen(data, rule, showing)
  if (!open.length) return []
  return [
    {
      rule: rule.name,
      message: `It ${verbs[rule.action]} views of ${subjectOf(rule)}, but leaves open: ${open.join(', ')}`,
      hint: 'Use permissions: ["file:view"], or deniedPaths.',
    },
  ]
}

/** Permissions of one kind, what they do to a path, and a permission for all of them. */
const kinds = [
  { group: changes, verb: 'change', wide: 'file:change' },
  { group: showing, verb: 'show', wide: 'file:view' },
]

/** Tools that write content: what bypasses a decision on `write_file` without paths. */
const writing = changes.filter((permission) => /^file:(?:write:|append|patch:)/.test(permission))

/** Finds tools that bypass a rule, or one of `tools`, because it lists other tools by name. */
function openTools(data: PolicyData, rule: PolicyRule, tools: readonly LintTool[]): readonly PolicyFinding[] {
  const { name: label, action, tools: named, paths } = rule
  if (action === 'allow' || !named || rule.args || rule.commands || rule.risk) return []
  const matches = compileTexts(named, 'tools')
  const policy = compileData(data)
  const checked = paths ? kinds : !matches('write_file') || rule.kinds || rule.permissions ? [] : kinds.slice(0, 1)
  return checked.flatMap(({ group, verb, wide }) => {
    const permissions: readonly (string | undefined)[] = paths ? group : writing
    const ofGroup = tools.filter(({ permission }) => permissions.includes(permission))
    if (!ofGroup.some(({ name }) => matches(name))) return []
    const open = ofGroup.filter(
      ({ name, permission }) =>
        !matches(name) && isWeaker(policy.forCall({ tool: name, input: {} }), permission as Permission, data, rule),
    )
    if (!open.length) return []
    return [
      {
        rule: label,
        message: `It ${verbs[action]} ${named.join(', ')} on ${subjectOf(rule)}, but other tools ${verb} it: ${open.map(({ name }) => name).join(', ')}`,
        hint: `Use permissions: ["${wide}"] in place of tools.`,
      },
    ]
  })
}

/** Finds rules on `run_command`, or one of `tools`, that `start_command` bypasses. */
function openStart(data: PolicyData, rule: PolicyRule, known: readonly LintTool[]): readonly PolicyFinding[] {
  const { name, action, tools, commands, paths, kinds, args, risk } = rule
  if (action === 'allow' || !tools || !coveredBy(rule)('command:run') || (paths ?? kinds ?? args ?? risk)) return []
  const names = compileTexts(tools, 'tools')
  const isAbsent = known.length > 0 && !known.some((tool) => tool.name === 'start_command')
  if (!names('run_command') || names('start_command') || isAbsent) return []
  const policy = compileData(data)
  const isOpen = (command: string) => {
    const call = policy.forCall({ tool: 'start_command', input: { command } })
    return strength[decide(call, 'command:background', '' as Path)] < strength[action]
  }
  if (!(commands ?? [NAME]).some((entry) => isOpen(tidyEntry(entry).replaceAll('*', NAME)))) return []
  return [
    {
      rule: name,
      message: `It ${verbs[action]} run_command, but start_command runs the same lines`,
      hint: commands ? 'Leave out tools: commands are enough.' : 'Name start_command as well.',
    },
  ]
}

/** `**` within a name is a `*`. */
function globstarsInNames(rule: string, paths: readonly string[] = []): readonly PolicyFinding[] {
  return paths.filter(hasStarsInName).map((pattern) => ({
    rule,
    message: `In ${JSON.stringify(pattern)}, ** is a part of a name and matches no directories`,
    hint: `Write ${JSON.stringify(pattern.replace(/\*\*(?=[^/])/g, '**/*'))} for any depth.`,
  }))
}

/** Finds `*` alone in an argument that is a path: it matches names in the root of the workspace. */
function starsInArguments({ name, action, args = {} }: PolicyRule): readonly PolicyFinding[] {
  if (action === 'allow') return []
  return Object.entries(args)
    .filter(([field, patterns]) => (pathFields.has(field) || field.endsWith('_path')) && patterns.includes('*'))
    .map(([field]) => ({
      rule: name,
      message: `In args.${field}, "*" matches the names in the root of the workspace alone`,
      hint: 'Write "**" for every path.',
    }))
}

/** The usual risks of a task. Any other text is valid as well. */
const taskRisks = ['low', 'medium', 'high', 'critical']

/** Texts that no task is likely to have as its risk: a misspelled level, or a misspelled risk of a change. */
function misspelledRisks({ name, risk = [] }: PolicyRule): readonly PolicyFinding[] {
  return risk.flatMap((text): readonly PolicyFinding[] => {
    const nearest = nearestName(text, [...taskRisks, ...riskFlags])
    if (nearest === undefined || nearest === text) return []
    const isLevel = taskRisks.includes(nearest)
    return [
      {
        rule: name,
        message: `It matches tasks with the risk ${JSON.stringify(text)}, which is similar to "${nearest}"`,
        hint: isLevel
          ? `Write "${nearest}", unless tasks have this risk.`
          : `For the risk of a change, use requireApprovalIf: ["${nearest}"].`,
      },
    ]
  })
}

/** Entries that match no command because of their letter case. */
function idleCommands({ commands, rules = [] }: PolicyData): readonly PolicyFinding[] {
  const lists = [
    { rule: 'commands.allow', entries: commands?.allow },
    { rule: 'commands.deny', entries: commands?.deny },
    ...rules.map(({ name, commands }) => ({ rule: name, entries: commands })),
  ]
  const findings = lists.flatMap(({ rule, entries = [] }) =>
    entries.flatMap((entry): readonly PolicyFinding[] => {
      const [program = ''] = entry.trim().split(/\s/)
      const lower = program.toLowerCase()
      if (lower === program || program.length < 2) return []
      const message = `Letter case counts: ${JSON.stringify(entry)} does not match ${lower}`
      return [{ rule, message, hint: `Write "${lower}", unless the program has this name.` }]
    }),
  )
  return findings
}

/** What a policy that names nothing in a list denies. Without entries, any other list has no effect. */
const allowlists: Readonly<Record<string, string>> = {
  allowedPaths: 'path',
  'commands.allow': 'command',
}

/** Finds lists and objects without entries, at any depth. Without fields, `memory` adds its tools, and a policy denies everything. */
function emptyLists(value: unknown, field = ''): readonly PolicyFinding[] {
  if (typeof value !== 'object' || value === null) return []
  if (Object.keys(value).length === 0 && field !== '' && field !== 'memory') {
    const denied = Object.hasOwn(allowlists, field) ? allowlists[field] : undefined
    const message = denied ? `It has no entries, so every ${denied} is denied` : 'It has no effect: it has no entries'
    return [{ rule: field, message, hint: denied ? `Name the allowed ${denied}s, or remove it.` : 'Remove it.' }]
  }
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([key, item]) =>
    emptyLists(item, isList ? `${field}[${key}]` : field === '' ? key : `${field}.${key}`),
  )
}

/** Finds notes that no tool can read or write because of their place. */
function hiddenNotes(data: PolicyData): readonly PolicyFinding[] {
  if (!data.memory) return []
  const directory = memoryPath(data.memory)
  const note = `${directory}/${NAME}.md` as Path
  const policy = compileData(data).forCall({ tool: 'memory_get', input: {} })
  const { protection, reason } = classifyPath(note)
  if (protection === undefined && decide(policy, 'memory:read', note) !== 'deny') return []
  const isProtected = protection !== undefined
  const cause = isProtected ? reason : 'the policy denies reading there'
  const hint = `${isProtected ? 'Choose' : 'Allow it by a rule with tools: ["memory_*"], or choose'} another memory.path.`
  return [{ rule: 'memory', message: `Notes in ${directory} cannot be used: ${cause}`, hint }]
}

/** Entries with options of a program whose options are not known, so that other names of an option do not match. */
function openOptions({ commands, rules = [] }: PolicyData): readonly PolicyFinding[] {
  const restricting = rules.filter(({ action }) => action !== 'allow')
  const lists = [
    { rule: 'commands.deny', entries: commands?.deny },
    ...restricting.map(({ name, commands }) => ({ rule: name, entries: commands })),
  ]
  return lists.flatMap(({ rule, entries = [] }) =>
    entries.flatMap((entry): readonly PolicyFinding[] => {
      const [program = '', ...words] = entry.trim().split(/\s+/)
      const option = words.find((word) => /^--?\w/.test(word))
      if (option === undefined || program.includes('*') || hasKnownOptions(programName(program))) return []
      const message = `${JSON.stringify(entry)} does not match other names of ${option}: the options of ${program} are not known`
      return [{ rule, message, hint: 'Add an entry for each name of the option, or one for the program.' }]
    }),
  )
}

function subjectOf({ paths }: PolicyRule): string {
  return paths?.join(', ') ?? 'every path'
}

/** Returns the examples that a permission can concern. The permissions of notes concern paths of notes only. */
function examplesFor(permission: Permission, { memory }: PolicyData, rule: PolicyRule): readonly Path[] {
  const paths = examplePaths(rule.paths ?? ['**'])
  if (!permission.startsWith('memory:')) return paths
  if (!memory) return []
  const directory = memoryPath(memory)
  const note = `${directory}/${NAME}.md`
  const matched = compilePaths(rule.paths ?? ['**'], 'paths').matches(note) ? [note as Path, ...paths] : paths
  return matched.filter((path) => isWithin(path, directory))
}
