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
import { hasKnownOptions, programName } from './command-options.ts'
import { type CallPolicy, strength } from './evaluation.ts'
import { examplePaths, type LintTool, NAME, neverMatches, type PolicyFinding } from './lint-matches.ts'
import { compilePaths, compileTexts, pathFields, permissionMask } from './match.ts'
import { memoryPath } from './memory-policy.ts'
import { type Permission, permissionBit, permissionGroups } from './permissions.ts'
import { compilePolicy } from './policy.ts'
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
    findings.push(...openChanges(data, rule), ...openViews(data, rule), ...openTools(data, rule, tools))
    findings.push(
      ...neverDecides(data, rule),
      ...neverMatches(data, rule, tools),
      ...globstarsInNames(rule.name, rule.paths),
      ...starsInArguments(rule),
      ...misspelledRisks(rule),
    )
  }
  for (const field of ['allowedPaths', 'deniedPaths', 'readOnlyPaths'] as const) {
    findings.push(...globstarsInNames(field, data[field]))
  }
  return [
    ...findings,
    ...idleDecisions(data, tools),
    ...openCommands(data),
    ...idleCommands(data),
    ...openOptions(data),
    ...emptyLists(data),
    ...hiddenNotes(data),
  ]
}

export const verbs: Readonly<Record<Decision, string>> = { allow: 'allows', ask: 'asks about', deny: 'denies' }

/** A tool without decisions or rules of its own. */
const NO_TOOL = 'tool'

/** Returns the permissions of a group that a restricting rule does not cover, and that are decided less strictly. */
function leftOpen(data: PolicyData, rule: PolicyRule, group: readonly Permission[]): readonly Permission[] {
  if (rule.action === 'allow' || !rule.permissions || rule.args || rule.commands || rule.risk) return []
  const covers = coveredBy(rule)
  if (!group.some(covers) || group.every(covers)) return []
  const policy = compilePolicy(data).forCall({ tool: NO_TOOL, input: {} })
  return group.filter((permission) => !covers(permission) && isWeaker(policy, permission, data, rule))
}

export function coveredBy({ permissions = ['*'] }: PolicyRule): (permission: Permission) => boolean {
  const mask = permissionMask(permissions, 'permissions')
  return (permission) => (mask & permissionBit(permission)) !== 0
}

/** Whether a call decides less strictly than the rule about an example of the rule. */
function isWeaker(policy: CallPolicy, permission: Permission, data: PolicyData, rule: PolicyRule): boolean {
  return examplesFor(permission, data, rule).some(
    (path) => strength[decide(policy, permission, path)] < strength[rule.action],
  )
}

export function decide(policy: CallPolicy, permission: Permission, path: Path): Decision {
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

/** Finds tools that bypass a rule because it lists other tools by name. */
function openTools(data: PolicyData, rule: PolicyRule, tools: readonly LintTool[]): readonly PolicyFinding[] {
  if (rule.action === 'allow' || !rule.tools || !rule.paths || rule.args || rule.commands || rule.risk) return []
  const matches = compileTexts(rule.tools, 'tools')
  const changing = tools.filter(({ permission }) => (changes as readonly (string | undefined)[]).includes(permission))
  if (!changing.some(({ name }) => matches(name))) return []
  const policy = compilePolicy(data)
  const open = changing.filter(({ name, permission }) => {
    if (matches(name)) return false
    return isWeaker(policy.forCall({ tool: name, input: {} }), permission as Permission, data, rule)
  })
  if (!open.length) return []
  return [
    {
      rule: rule.name,
      message: `It ${verbs[rule.action]} ${rule.tools.join(', ')} on ${subjectOf(rule)}, but other tools change it: ${open.map(({ name }) => name).join(', ')}`,
      hint: 'Use permissions: ["file:change"] in place of tools.',
    },
  ]
}

/** Finds an allow or ask rule that a denial always outweighs, and an allow rule for calls that are allowed without it. */
function neverDecides(data: PolicyData, rule: PolicyRule): readonly PolicyFinding[] {
  if (rule.action === 'deny' || rule.args || rule.commands || rule.risk || rule.kinds) return []
  const testedPermissions = [...changes, ...permissionGroups['file:view']].filter(coveredBy(rule))
  if (!testedPermissions.length || !examplePaths(rule.paths ?? ['**']).length) return []
  if (rule.tools?.some((tool) => tool.includes('*'))) return []
  const call = { tool: rule.tools?.[0] ?? NO_TOOL, input: {} }
  const decisions = (policy: CallPolicy) =>
    testedPermissions.flatMap((permission) =>
      examplesFor(permission, data, rule).map((path) => decide(policy, permission, path)),
    )
  const present = decisions(compilePolicy(data).forCall(call))
  if (present.every((decision) => decision === 'deny')) {
    return [
      {
        rule: rule.name,
        message: `It never decides: everything that it ${verbs[rule.action]} is denied`,
        hint: 'Remove it, or narrow the denial: a deny always wins.',
      },
    ]
  }
  if (rule.action === 'ask' || rule.overrides) return []
  const without = { ...data, rules: (data.rules ?? []).filter((other) => other !== rule) }
  const absent = decisions(compilePolicy(without).forCall(call))
  if (present.some((decision, index) => decision !== absent[index])) return []
  return [
    {
      rule: rule.name,
      message: 'It has no effect: without it, the decisions are the same',
      hint: 'Remove it. To lift a built-in protection, name the protection in overrides.',
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

/** Finds `allow` decisions for tools that allow nothing: without a preset, each path needs an allow rule as well. */
function idleDecisions(data: PolicyData, tools: readonly LintTool[]): readonly PolicyFinding[] {
  if (data.preset || data.allowedPaths) return []
  if (data.rules?.some(({ action }) => action !== 'deny')) return []
  return Object.entries(data.tools ?? {})
    .filter(([name, action]) => action !== 'deny' && tools.some((tool) => tool.name === name))
    .map(([name, action]) => ({
      rule: `tools.${name}`,
      message: `It has no effect: ${name} is set to "${action}", and no path is allowed`,
      hint: 'Add allowedPaths, an allow rule, or a preset.',
    }))
}

/** `start_command` runs the same lines as `run_command`. */
function openCommands({ tools = {} }: PolicyData): readonly PolicyFinding[] {
  const { run_command: run, start_command: start } = tools
  if (!run || run === 'allow' || start) return []
  return [
    {
      rule: 'tools.run_command',
      message: `run_command is set to "${run}", but start_command runs the same lines`,
      hint: `Set start_command to "${run}" as well, or use a rule with permissions: ["command:*"].`,
    },
  ]
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

/** Finds lists without entries, at any depth. */
function emptyLists(value: unknown, field = ''): readonly PolicyFinding[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value) && value.length === 0) {
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
  const policy = compilePolicy(data).forCall({ tool: 'memory_get', input: {} })
  const { protection, reason } = classifyPath(note)
  if (protection === undefined && decide(policy, 'memory:read', note) !== 'deny') return []
  const cause = protection === undefined ? 'the policy denies reading there' : reason
  return [
    { rule: 'memory', message: `Notes in ${directory} cannot be used: ${cause}`, hint: 'Choose another memory.path.' },
  ]
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
