import * as z from 'zod'
import type { FileKind } from '../files/classify/types.ts'
import { type LabelPolicy, labelFields, labelSchema } from './labels.ts'
import { type MemoryPolicy, memoryFields, memorySchema } from './memory-policy.ts'
import { type NetworkPolicy, networkFields, networkSchema } from './network-policy.ts'
import { normalizePolicyInput } from './normalize-input.ts'
import { type PresetName, presetNames } from './presets.ts'
import { type RiskFlag, riskFlags } from './risk/index.ts'
import type { Decision, Override } from './types.ts'

/**
 * One rule. Every field that is given must match; a field that is left out matches everything. A list matches when one
 * of its items does.
 */
export interface PolicyRule {
  /** Unique; what verdicts, audit and approvals call it. */
  readonly name: string
  readonly action: Decision
  /** Tool names; `*` stands for any characters. */
  readonly tools?: readonly string[]
  /** Permissions; a final `*` covers all that follows: `*`, `file:*`, `file:write:*`. */
  readonly permissions?: readonly string[]
  /** Path globs. One that ends in a plain name covers what lies below it, too. */
  readonly paths?: readonly string[]
  readonly kinds?: readonly FileKind[]
  /** Globs on input fields by name. In fields that hold a path they are path globs, elsewhere `*` is any characters. */
  readonly args?: Readonly<Record<string, readonly string[]>>
  /** Command lines; `*` stands for any characters. */
  readonly commands?: readonly string[]
  /** The task's risk; `*` stands for any characters. */
  readonly risk?: readonly string[]
  /** The built-in protections that this allow rule lifts where it matches. */
  readonly overrides?: readonly Override[]
}

/** What the shell adds to its built-in lists. */
export interface CommandPolicy {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly deniedOperators?: readonly string[]
}

/** What a run may do, as far as a policy says so; the names are those of the workspace's limits. */
export interface PolicyLimits {
  readonly callsPerMinute?: number
  readonly bytesReadPerRun?: number
  readonly bytesWrittenPerRun?: number
  /** The budget of one patch. */
  readonly patchFiles?: number
  readonly patchDeletes?: number
  readonly patchInsertions?: number
  readonly patchDeletions?: number
  readonly patchBytes?: number
  /** Calls per minute of single tools, by name. */
  readonly toolCallsPerMinute?: Readonly<Record<string, number>>
}

/** A policy as data: the same object from code, JSON, TOML or YAML. */
export interface PolicyData {
  /** Decides what nothing else decides. Without one, that is denied. */
  readonly preset?: PresetName
  /** Nothing outside is allowed by the preset or by this list; without a preset, everything inside is allowed. */
  readonly allowedPaths?: readonly string[]
  readonly deniedPaths?: readonly string[]
  /** Nothing here may be changed; reads are decided by the rest. */
  readonly readOnlyPaths?: readonly string[]
  /** Opens, gates or closes single tools, by name. */
  readonly tools?: Readonly<Record<string, Decision>>
  readonly rules?: readonly PolicyRule[]
  readonly commands?: CommandPolicy
  readonly limits?: PolicyLimits
  /** Labels on content, and where content of a label may go. */
  readonly labels?: LabelPolicy
  /** What commands may reach of the network; without it, nothing. */
  readonly network?: NetworkPolicy
  /** An agent's notes: with this, there are memory tools. */
  readonly memory?: MemoryPolicy
  /** Changes with one of these risks need an approval, whatever allows them. */
  readonly requireApprovalIf?: readonly RiskFlag[]
  /** Calls that change something must say why, in `reason`. */
  readonly requireReason?: boolean
}

/** A preset by its name, or a policy object. */
export type PolicyInput = PresetName | PolicyData

/** The fields of a policy object. */
const policyFields = [
  'preset',
  'allowedPaths',
  'deniedPaths',
  'readOnlyPaths',
  'tools',
  'rules',
  'commands',
  'limits',
  'labels',
  'network',
  'memory',
  'requireApprovalIf',
  'requireReason',
] as const satisfies readonly (keyof PolicyData)[]

const MAX_ITEMS = 10_000
const MAX_NAME = 200

const kinds = [
  'TEXT_SOURCE',
  'TEXT_CONFIG',
  'TEXT_DOC',
  'LOCKFILE',
  'GENERATED',
  'VENDORED',
  'SECRET_LIKE',
  'BINARY',
  'DIRECTORY',
  'GIT_INTERNAL',
  'UNKNOWN',
] as const satisfies readonly FileKind[]

const overrides = [
  'secret',
  'generated',
  'vendored',
  'lockfile',
  'binary',
  'mode',
] as const satisfies readonly Override[]

const decision = z.enum(['allow', 'ask', 'deny'])
const text = z.string().min(1)
const list = z.array(text).max(MAX_ITEMS)
/** An empty list would match nothing or everything: whoever writes it must say which. */
const someTexts = list.min(1)
const plainName = text.max(MAX_NAME).regex(/^(?=.*\S)[^\p{Cc}\p{Cf}\p{Cs}]*$/u)
const count = z.number().int().positive().max(Number.MAX_SAFE_INTEGER)

const limitNames = [
  'callsPerMinute',
  'bytesReadPerRun',
  'bytesWrittenPerRun',
  'patchFiles',
  'patchDeletes',
  'patchInsertions',
  'patchDeletions',
  'patchBytes',
] as const satisfies readonly (keyof PolicyLimits)[]

const ruleSchema = z.strictObject({
  name: plainName,
  action: decision,
  tools: someTexts.optional(),
  permissions: someTexts.optional(),
  paths: someTexts.optional(),
  kinds: z.array(z.enum(kinds)).min(1).optional(),
  args: z.record(text, someTexts).optional(),
  commands: someTexts.optional(),
  risk: someTexts.optional(),
  overrides: z.array(z.enum(overrides)).min(1).optional(),
})

/** The names of the short forms in a verdict: no rule may be taken for one. */
export const shortForms: ReadonlySet<string> = new Set(['allowedPaths', 'deniedPaths', 'readOnlyPaths', 'memory.acl'])

/** The shape of a policy object. Unknown fields are refused. `createWorkspace` says in words what is wrong. */
export const policySchema: z.ZodType<PolicyData> = z
  .strictObject({
    preset: z.enum(presetNames as [PresetName, ...PresetName[]]).optional(),
    allowedPaths: list.optional(),
    deniedPaths: list.optional(),
    readOnlyPaths: list.optional(),
    tools: z.record(plainName, decision).optional(),
    rules: z.array(ruleSchema).max(MAX_ITEMS).optional(),
    commands: z
      .strictObject({ allow: list.optional(), deny: list.optional(), deniedOperators: list.optional() })
      .optional(),
    limits: z
      .strictObject({
        ...(Object.fromEntries(limitNames.map((name) => [name, count.optional()])) as Record<
          (typeof limitNames)[number],
          z.ZodOptional<typeof count>
        >),
        toolCallsPerMinute: z.record(plainName, count).optional(),
      })
      .optional(),
    labels: labelSchema.optional(),
    network: networkSchema.optional(),
    memory: memorySchema.optional(),
    requireReason: z.boolean().optional(),
    requireApprovalIf: z.array(z.enum(riskFlags)).max(MAX_ITEMS).optional(),
  })
  .superRefine((policy, context) => {
    const seen = new Map<string, number>()
    for (const [index, rule] of (policy.rules ?? []).entries()) {
      const first = seen.get(rule.name)
      const refuse = (field: string, message: string) =>
        context.addIssue({ code: 'custom', path: ['rules', index, field], message })
      if (first !== undefined) refuse('name', `must be unique, but rules[${first}] is named ${show(rule.name)}, too`)
      if (shortForms.has(rule.name)) refuse('name', `must not be ${show(rule.name)}, the name of a short form`)
      if (rule.overrides !== undefined && rule.action !== 'allow') {
        refuse('overrides', `needs the action "allow", not "${rule.action}"`)
      }
      seen.set(rule.name, index)
    }
  }) as unknown as z.ZodType<PolicyData>

/**
 * The policy that the embedding program means, copied and frozen.
 *
 * @throws TypeError that names the first wrong field and what would be right
 */
export function parsePolicyData(input: unknown): PolicyData {
  if (input === undefined || input === null) {
    throw new TypeError(`A policy is required: one of the presets ${presetList()}, or a policy object`)
  }
  if (typeof input === 'string' && !presetNames.includes(input as PresetName)) {
    throw new TypeError(`Unknown policy preset ${show(input)}; the presets are ${presetList()}`)
  }
  const object = typeof input === 'string' ? { preset: input } : normalizePolicyInput(input)
  refuseProto(object, [])
  const parsed = policySchema.safeParse(object)
  if (parsed.success) return freeze(parsed.data)
  const { issues } = parsed.error
  // A misspelled field explains the one that is missing.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  throw new TypeError(describe(issue as z.core.$ZodIssue, object))
}

function presetList(): string {
  return presetNames.map((name) => `"${name}"`).join(', ')
}

/** A key that a copy would lose without a word. JSON and YAML readers can make one. */
function refuseProto(value: unknown, path: readonly PropertyKey[]): void {
  if (typeof value !== 'object' || value === null || path.length > 8) return
  if (Object.hasOwn(value, '__proto__')) throw new TypeError(`Policy field "${at([...path, '__proto__'])}" is unknown`)
  for (const [key, item] of Object.entries(value))
    refuseProto(item, [...path, Array.isArray(value) ? Number(key) : key])
}

function describe(issue: z.core.$ZodIssue, input: unknown): string {
  const where = at(issue.path)
  const subject = where === '' ? 'A policy' : `Policy field "${where}"`
  const found = issue.path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)?.[key], input)
  const given = found === undefined ? 'is missing; it must be' : 'must be'
  const instead = found === undefined ? '' : `, not ${show(found)}`
  switch (issue.code) {
    case 'unrecognized_keys': {
      const [key = ''] = issue.keys
      return `Policy field "${at([...issue.path, key])}" is unknown; the fields here are ${fieldsAt(issue.path).join(', ')}`
    }
    case 'invalid_type':
      return `${subject} ${given} ${article(issue.expected)}${instead}`
    case 'invalid_value':
      return `${subject} ${given} ${issue.values.map((value) => show(value)).join(' or ')}${instead}${found === 'git' ? ': git-internal files cannot be opened' : ''}`
    case 'too_small':
      if (issue.origin === 'array') return `${subject} must not be empty; leave it out to match everything`
      if (issue.origin === 'string') return `${subject} must not be empty`
      return `${subject} must be a positive whole number, not ${show(found)}`
    case 'too_big':
      return `${subject} is too ${issue.origin === 'string' || issue.origin === 'array' ? 'long' : 'big'}; at most ${issue.maximum}`
    case 'invalid_format':
      return `${subject} must be a plain name without control characters, not ${show(found)}`
    case 'invalid_key':
      return `${subject} must be a plain name`
    default:
      return `${subject} ${issue.message}`
  }
}

function fieldsAt(path: readonly PropertyKey[]): readonly string[] {
  if (path[0] === 'rules') return Object.keys(ruleSchema.shape)
  if (path[0] === 'commands') return ['allow', 'deny', 'deniedOperators']
  if (path[0] === 'limits') return [...limitNames, 'toolCallsPerMinute']
  if (path[0] === 'labels') return labelFields(path[1])
  if (path[0] === 'network') return networkFields
  if (path[0] === 'memory') return memoryFields
  return policyFields
}

function article(expected: string): string {
  if (expected === 'array') return 'a list'
  if (expected === 'string') return 'a text'
  if (expected === 'int') return 'a whole number'
  return expected === 'object' ? 'an object' : `a ${expected}`
}

/** `rules[0].paths[1]` */
function at(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (where, key) => (typeof key === 'number' ? `${where}[${key}]` : `${where}${where === '' ? '' : '.'}${String(key)}`),
    '',
  )
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  if (typeof value === 'function') return 'a function'
  return String(value)
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) freeze(item)
    Object.freeze(value)
  }
  return value
}
