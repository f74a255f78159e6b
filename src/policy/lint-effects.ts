import { classifyPath } from '../files/classify/index.ts'
import type { Classification } from '../files/classify/types.ts'
import { GIT_DIRECTORY, isWithin, type Path, ROOT } from '../paths/logical-path.ts'
import { examplePaths, type LintTool, mayAsk, NAME, type PolicyFinding, permissionsOf } from './lint-matches.ts'
import { compileTexts } from './match.ts'
import { memoryPath } from './memory-policy.ts'
import { isMutating, type Permission, permissions } from './permissions.ts'
import { compileData } from './policy.ts'
import type { PolicyData, PolicyRule } from './schema.ts'
import type { Decision } from './types.ts'

/** A part of a policy, and examples of the calls that it is about. */
interface Part {
  /** The name of the rule, or the field. */
  readonly rule: string
  /** The entry of the field, if the part is one. */
  readonly entry?: string
  /** Absent if the part decides nothing, and is about calls that are not denied. */
  readonly action?: Decision
  readonly tools: readonly string[]
  readonly permissions: readonly Permission[]
  readonly paths: readonly Path[]
  /** The part, if it is a rule. */
  readonly self?: PolicyRule
  /** Returns a policy without the part. Absent if the part is a rule, and if its removal changes no decision about a path. */
  readonly without?: (data: PolicyData) => PolicyData
}

/** Longer lists are not tried entry by entry, because each entry needs a policy without it. */
const MAX_ENTRIES = 100

export const verbs: Readonly<Record<Decision, string>> = { allow: 'allows', ask: 'asks about', deny: 'denies' }

/**
 * Finds parts of a policy without which examples of calls are decided in the same way, also if all of them are removed: of two
 * parts that cover each other, the first is not found.
 */
export function idleParts(data: PolicyData, known: readonly LintTool[]): readonly PolicyFinding[] {
  const all = { rule: 'policy', tools: toolsIn(data, known), permissions, paths: pathsIn(data) }
  const find = (part: Part) => findingsOf(data, part, known)
  if (find(all).length > 0) {
    const { deniedPaths, ...others } = data
    const rule = deniedPaths && !findingsOf(others, all, known).length ? 'deniedPaths' : all.rule
    const hint = 'Allow paths by allowedPaths, a rule or a preset, and narrow denials: a deny always wins.'
    return [{ rule, message: 'Every call is denied: no path is allowed', hint }]
  }
  const rules = (data.rules ?? []).map((rule) => partOfRule(rule, all))
  const parts = [
    ...rules,
    ...partsOfLists(data, all),
    ...partsOfTools(data, all, known),
    ...limitations(data, all, known),
  ]
  let rest = data
  const findings = parts.reverse().map((part) => {
    const found = findingsOf(rest, part, known)
    if (found.length > 0) rest = withoutPart(rest, part)
    return found
  })
  return findings.reverse().flat()
}

function withoutPart(data: PolicyData, { self, without }: Part): PolicyData {
  if (without !== undefined) return without(data)
  return self === undefined ? data : { ...data, rules: (data.rules ?? []).filter((rule) => rule !== self) }
}

function findingsOf(policy: PolicyData, part: Part, known: readonly LintTool[]): readonly PolicyFinding[] {
  const { rule, entry, action, self } = part
  const data = action === 'deny' ? withoutDefault(policy) : policy
  const others = withoutPart(data, part)
  const rules = others.rules ?? []
  let isDenied = action !== 'deny'
  let isSame = action === 'deny' || (self?.action === 'allow' && !self.overrides && !isConditional(self))
  let isTried = false
  for (const variant of variantsOf(rules)) {
    const decide = deciderOf({ ...data, rules: self ? [...variant, withoutConditions(self)] : variant })
    const decideWithout = isSame ? deciderOf({ ...others, rules: variant }) : decide
    for (const example of examplesOf(data, part, known)) {
      const decision = decide(example)
      isDenied &&= decision === 'deny'
      isSame &&= decision === decideWithout(example)
      if (!isDenied && !isSame) return []
      isTried = true
    }
  }
  if (!isTried) return []
  const subject = entry === undefined ? 'It' : JSON.stringify(entry)
  if (action === undefined || action === 'deny') {
    const reason = action ? 'what it denies is denied without it' : 'every call that it is about is denied'
    return [{ rule, message: `${subject} has no effect: ${reason}`, hint: 'Remove it.' }]
  }
  if (isDenied) {
    const message = `${subject} never decides: everything that it ${verbs[action]} is denied`
    return [{ rule, message, hint: 'Remove it, or narrow the denial: a deny always wins.' }]
  }
  const hint = 'Remove it. To lift a built-in protection, name the protection in overrides.'
  return [{ rule, message: 'It has no effect: without it, the decisions are the same', hint }]
}

/** Allows every call that no part denies, so that a denial has an effect also on calls that nothing allows. */
function withoutDefault({ preset, allowedPaths, ...data }: PolicyData): PolicyData {
  return { ...data, preset: preset === 'readOnly' ? preset : 'autonomous' }
}

interface Example {
  readonly tool: string
  readonly permission: Permission
  readonly path: Path
  readonly classification: Classification
}

function deciderOf(data: PolicyData): (example: Example) => Decision {
  const policy = compileData(data)
  return ({ tool, permission, path, classification }) =>
    policy.forCall({ tool, input: {} }).decide(permission, path, classification)
}

/** Yields calls of a part. A denial is tried without protections as well, because a rule can lift them. */
function* examplesOf({ memory }: PolicyData, part: Part, known: readonly LintTool[]): Iterable<Example> {
  const plain = part.action === 'deny' ? [classifyPath(NAME as Path)] : []
  const notes = memory && memoryPath(memory)
  const directoryOf = (permission: Permission) =>
    permission.startsWith('git:') ? GIT_DIRECTORY : permission.startsWith('memory:') ? notes : ROOT
  for (const tool of part.tools) {
    const described = known.find(({ name }) => name === tool)
    for (const permission of part.permissions) {
      const directory = directoryOf(permission)
      if (permission === 'plan:submit' || directory === undefined || (described && !mayAsk(described, permission)))
        continue
      for (const path of part.paths) {
        if (!isWithin(path, directory) || (path === ROOT && !isCommand(permission))) continue
        for (const classification of [classifyPath(path), ...plain]) yield { tool, permission, path, classification }
      }
    }
  }
}

/** Fields of a rule that depend on more than the tool, the permission and the path of a call. */
const conditions = ['args', 'commands', 'risk', 'kinds'] as const

function isConditional(rule: PolicyRule): boolean {
  return conditions.some((field) => rule[field] !== undefined)
}

function withoutConditions({ args, commands, risk, kinds, ...rule }: PolicyRule): PolicyRule {
  return rule
}

/** Returns the rules for calls that match no conditional one, those that allow, and all that do not deny. */
function variantsOf(rules: readonly PolicyRule[]): readonly (readonly PolicyRule[])[] {
  const plain = rules.filter((rule) => !isConditional(rule))
  const conditional = rules.filter((rule) => isConditional(rule) && rule.action !== 'deny').map(withoutConditions)
  if (conditional.length === 0) return [plain]
  return [plain, [...plain, ...conditional.filter(({ action }) => action === 'allow')], [...plain, ...conditional]]
}

const isCommand = (permission: Permission) => permission.startsWith('command:')
const changes = permissions.filter(isMutating)
const ofFiles = permissions.filter((permission) => !isCommand(permission))
const fileChanges = ofFiles.filter(isMutating)

function partOfRule(self: PolicyRule, { tools, permissions }: Part): Part {
  const { name: rule, action, paths = ['**'] } = self
  const examples = paths.map((pattern) => examplePaths([pattern]))
  const covered = self.permissions?.flatMap(permissionsOf) ?? permissions
  return {
    ...{ rule, action, self },
    tools: self.tools ? tools.filter(compileTexts(self.tools, 'tools')) : tools,
    permissions: self.commands ? covered.filter(isCommand) : covered,
    paths: examples.every((some) => some.length > 0) ? examples.flat() : [],
  }
}

function partsOfLists(data: PolicyData, all: Part): readonly Part[] {
  const lists = [
    // Commands may start in the directories above allowed paths.
    { field: 'allowedPaths', action: 'allow', asked: ofFiles },
    { field: 'deniedPaths', action: 'deny', asked: permissions },
    { field: 'readOnlyPaths', action: 'deny', asked: fileChanges },
  ] as const
  return lists.flatMap(({ field, action, asked }) => {
    const entries = data[field] ?? []
    if (entries.length > MAX_ENTRIES) return []
    return entries.map((entry) => ({
      ...{ ...all, rule: field, entry, action, permissions: asked, paths: examplePaths([entry]) },
      without: (data) => ({ ...data, [field]: data[field]?.toSpliced(data[field].lastIndexOf(entry), 1) }),
    }))
  })
}

function partsOfTools({ tools = {} }: PolicyData, all: Part, known: readonly LintTool[]): readonly Part[] {
  return Object.entries(tools).map(([name, action]) => ({
    ...{ ...all, rule: `tools.${name}`, action, ...callsOf(name, known) },
    without: ({ tools: { [name]: _, ...others } = {}, ...data }) => ({ ...data, tools: others }),
  }))
}

/** Returns a tool, and the permission without which none of its calls is allowed. */
function callsOf(name: string, known: readonly LintTool[]): Pick<Part, 'tools' | 'permissions'> {
  const own = known.find((tool) => tool.name === name)?.permission?.replace(/^file:write:.*/, 'file:write:*')
  return { tools: [name], permissions: own ? permissionsOf(own) : permissions }
}

/** Returns the fields that limit calls which something else allows. */
function limitations(data: PolicyData, all: Part, known: readonly LintTool[]): readonly Part[] {
  const { commands = {}, network = {}, requireReason, requireApprovalIf, limits = {} } = data
  const tools = known.length > 0 ? known.map(({ name }) => name) : all.tools
  const part = (rule: string, asked: readonly Permission[], named = tools): Part => ({
    ...{ ...all, rule, tools: named, permissions: asked },
  })
  const withPermission = (start: string, usual: readonly string[]) => {
    const names = known.filter(({ permission = start }) => permission.startsWith(start)).map(({ name }) => name)
    return names.length > 0 ? names : usual
  }
  const running = withPermission('command:', ['run_command', 'start_command'])
  const patching = withPermission('file:patch:apply', ['apply_patch'])
  return [
    ...(requireReason ? [part('requireReason', changes)] : []),
    ...(requireApprovalIf?.length ? [part('requireApprovalIf', fileChanges)] : []),
    ...Object.keys(commands).map((field) => part(`commands.${field}`, permissions.filter(isCommand), running)),
    ...Object.keys(network).map((field) => part(`network.${field}`, changes)),
    ...(limits.bytesWrittenPerRun ? [part('limits.bytesWrittenPerRun', changes)] : []),
    ...Object.keys(limits)
      .filter((name) => name.startsWith('patch'))
      .map((name) => part(`limits.${name}`, ['file:patch:apply'], patching)),
    ...Object.keys(limits.toolCallsPerMinute ?? {}).map((name) => {
      const { tools: named, permissions: own } = callsOf(name, known)
      return part(`limits.toolCallsPerMinute.${name}`, own, named)
    }),
  ]
}

function toolsIn({ tools, rules = [] }: PolicyData, known: readonly LintTool[]): readonly string[] {
  const patterns = rules.flatMap((rule) => rule.tools ?? []).map((pattern) => pattern.replaceAll('*', NAME))
  return [...new Set([NAME, ...known.map(({ name }) => name), ...Object.keys(tools ?? {}), ...patterns])]
}

function pathsIn({
  allowedPaths = [],
  deniedPaths = [],
  readOnlyPaths = [],
  rules = [],
  memory,
}: PolicyData): readonly Path[] {
  const named = [...allowedPaths, ...deniedPaths, ...readOnlyPaths, ...rules.flatMap(({ paths = [] }) => paths)]
  return [ROOT, ...examplePaths(['**', `${GIT_DIRECTORY}/*`, ...(memory ? [`${memoryPath(memory)}/*`] : []), ...named])]
}
