import * as z from 'zod/mini'
import type { FileKind } from '../files/classify/types.ts'
import { defaultLimits } from '../limits.ts'
import { didYouMean } from '../util/check-options.ts'
import { inEnglish } from '../util/in-english.ts'
import { nearestName } from '../util/nearest-name.ts'
import { type DeclaredRoots, placeAbsolutePatterns } from './absolute-patterns.ts'
import { labelFields, labelSchema } from './label-schema.ts'
import type { LabelPolicy } from './labels.ts'
import { type MemoryPolicy, memoryFields, memorySchema } from './memory-policy.ts'
import { type OuterPlaces, placeOf, placeOfOption, placesInCode } from './misplaced-fields.ts'
import { type NetworkPolicy, networkFields, networkSchema } from './network-policy.ts'
import { normalizePolicyInput } from './normalize-input.ts'
import type { PermissionPattern } from './permissions.ts'
import { copyPlainData } from './plain-data.ts'
import { type PresetName, presetNames } from './presets.ts'
import { type RiskFlag, riskFlags } from './risk/flags.ts'
import { shortForms } from './short-forms.ts'
import type { Decision, Override } from './types.ts'
import { type FieldOrigins, nameWrittenFields } from './written-fields.ts'

/**
 * One rule. Every present field must match; an absent field matches everything. A list matches if one of its items does.
 */
export interface PolicyRule {
  /** A unique name, for verdicts, the audit and approvals. */
  readonly name: string
  readonly action: Decision
  /** Tool names; `*` matches any characters. */
  readonly tools?: readonly string[]
  /** Permissions; a final `*` covers all following parts: `*`, `file:*`, `file:write:*`. */
  readonly permissions?: readonly PermissionPattern[]
  /** Path globs. A glob that ends in a plain name also covers everything below it. */
  readonly paths?: readonly string[]
  readonly kinds?: readonly FileKind[]
  /** Globs on input fields by name, at any depth: `edits[].newText` is `newText` as well. In fields that contain a path they are path globs; elsewhere `*` matches any characters. */
  readonly args?: Readonly<Record<string, readonly string[]>>
  /**
   * Commands; `*` matches any characters. A rule that asks or denies also matches a command that continues an entry with further words, and
   * has no `paths` or `kinds` beside them.
   */
  readonly commands?: readonly string[]
  /** The risk of the task; `*` matches any characters. */
  readonly risk?: readonly string[]
  /** The built-in protections that this allow rule lifts for matching accesses. */
  readonly overrides?: readonly Override[]
}

/** Additions to the built-in lists of the shell. */
export interface CommandPolicy {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly deniedOperators?: readonly string[]
}

/** Limits of a run. The names are those of the workspace limits. */
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

/** A policy as data: the same object in code, JSON, TOML or YAML. */
export interface PolicyData {
  /** Decides accesses that no rule, tool decision or protection decides. Without a preset, they are denied. */
  readonly preset?: PresetName
  /** Restricts the preset to these paths. Without a preset, everything inside is allowed. */
  readonly allowedPaths?: readonly string[]
  readonly deniedPaths?: readonly string[]
  /** Denies changes of these paths. The other fields decide on reads. */
  readonly readOnlyPaths?: readonly string[]
  /** Decisions for single tools, by name. */
  readonly tools?: Readonly<Record<string, Decision>>
  readonly rules?: readonly PolicyRule[]
  readonly commands?: CommandPolicy
  readonly limits?: PolicyLimits
  /** Labels of content, and the sinks that accept them. */
  readonly labels?: LabelPolicy
  /** The network access of commands. Default: none. */
  readonly network?: NetworkPolicy
  /** The notes of the agent. Adds the memory tools. */
  readonly memory?: MemoryPolicy
  /** Changes with one of these risks need an approval, even if a rule allows them. */
  readonly requireApprovalIf?: readonly RiskFlag[]
  /** Calls that change something need a `reason`. */
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
const text = z.string().check(z.minLength(1))
const list = z.array(text).check(z.maxLength(MAX_ITEMS))
/** An empty list is refused, because it could mean nothing or everything. */
const someTexts = list.check(z.minLength(1))
const plainName = text.check(z.maxLength(MAX_NAME), z.regex(/^(?=.*\S)[^\p{Cc}\p{Cf}\p{Cs}]*$/u))
const count = z.int().check(z.positive(), z.maximum(Number.MAX_SAFE_INTEGER))

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
  tools: z.optional(someTexts),
  permissions: z.optional(someTexts),
  paths: z.optional(someTexts),
  kinds: z.optional(z.array(z.enum(kinds)).check(z.minLength(1))),
  args: z.optional(z.record(text, someTexts)),
  commands: z.optional(someTexts),
  risk: z.optional(someTexts),
  overrides: z.optional(z.array(z.enum(overrides)).check(z.minLength(1))),
})

const fieldsSchema = z
  .strictObject({
    preset: z.optional(z.enum(presetNames as [PresetName, ...PresetName[]])),
    allowedPaths: z.optional(list),
    deniedPaths: z.optional(list),
    readOnlyPaths: z.optional(list),
    tools: z.optional(z.record(plainName, decision)),
    rules: z.optional(z.array(ruleSchema).check(z.maxLength(MAX_ITEMS))),
    commands: z.optional(
      z.strictObject({ allow: z.optional(list), deny: z.optional(list), deniedOperators: z.optional(list) }),
    ),
    limits: z.optional(
      z.strictObject({
        ...(Object.fromEntries(limitNames.map((name) => [name, z.optional(count)])) as Record<
          (typeof limitNames)[number],
          z.ZodMiniOptional<typeof count>
        >),
        toolCallsPerMinute: z.optional(z.record(plainName, count)),
      }),
    ),
    labels: z.optional(labelSchema),
    network: z.optional(networkSchema),
    memory: z.optional(memorySchema),
    requireReason: z.optional(z.boolean()),
    requireApprovalIf: z.optional(z.array(z.enum(riskFlags)).check(z.maxLength(MAX_ITEMS))),
  })
  .check(
    z.superRefine((policy, context) => {
      const indexes = new Map<string, number>()
      for (const [index, rule] of (policy.rules ?? []).entries()) {
        const first = indexes.get(rule.name)
        const refuse = (field: string, message: string) =>
          context.addIssue({ code: 'custom', path: ['rules', index, field], message })
        if (first !== undefined)
          refuse('name', `must be unique, but rules[${first}] has the name ${show(rule.name)} as well`)
        if (shortForms.has(rule.name)) refuse('name', `must not be ${show(rule.name)}, the name of a short form`)
        const flag = riskFlags.find((name) => rule.risk?.some((risk) => plainWord(risk) === plainWord(name)))
        if (flag !== undefined)
          refuse('risk', `is the risk of the task; for the risk of a change, use requireApprovalIf: ["${flag}"]`)
        if (rule.args !== undefined && Object.keys(rule.args).length === 0) {
          refuse('args', 'must not be empty; omit it to match everything')
        }
        if (rule.overrides !== undefined && rule.action !== 'allow') {
          refuse('overrides', `needs the action "allow", not "${rule.action}"`)
        }
        indexes.set(rule.name, index)
      }
    }),
  ) as unknown as z.ZodMiniType<PolicyData>

/**
 * The schema of a policy object: plain data (lists, and plain objects without a class). Unknown fields are refused.
 * `createWorkspace` throws readable errors instead of Zod's.
 */
export const policySchema: z.ZodMiniType<PolicyData> = z.pipe(
  z.transform((input: unknown, { issues }) => {
    try {
      return copyPlainData(input)
    } catch (error) {
      issues.push({ code: 'custom', input, message: (error as Error).message })
      return z.NEVER
    }
  }),
  fieldsSchema,
) as unknown as z.ZodMiniType<PolicyData>

/** Returns a name without letter case and separators: `deletes_file` and `deletesFile` are the same words. */
function plainWord(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

/** A parsed policy, and how it was written. */
export interface ParsedPolicy {
  /** A frozen copy. */
  readonly data: PolicyData
  readonly origins: FieldOrigins
  /** The declared roots that its absolute patterns use. */
  readonly usedRoots: ReadonlySet<string>
}

/**
 * Parses the policy of the embedding program.
 *
 * @param roots directories below which absolute patterns are valid
 * @param outer the places of fields that are no part of a policy, for messages
 * @throws TypeError with the name of the first invalid field, as written, and the expected value
 */
export function parsePolicy(input: unknown, roots: DeclaredRoots = {}, outer = placesInCode): ParsedPolicy {
  if (input === undefined || input === null) {
    throw new TypeError(`A policy is required: one of the presets ${presetList()}, or a policy object`)
  }
  if (typeof input === 'string' && !presetNames.includes(input as PresetName)) {
    throw new TypeError(
      `Unknown policy preset ${show(input)}; the presets are ${presetList()}${valueSuggestion(input, presetNames)}`,
    )
  }
  const { policy, origins } = normalizePolicyInput(typeof input === 'string' ? { preset: input } : input)
  const usedRoots = new Set<string>()
  const data = nameWrittenFields(origins, () => parseFields(placeAbsolutePatterns(policy, roots, usedRoots), outer))
  return { data, origins, usedRoots }
}

function parseFields(fields: unknown, outer: OuterPlaces): PolicyData {
  const parsed = fieldsSchema.safeParse(fields, inEnglish)
  if (parsed.success) return freeze(parsed.data)
  const { issues } = parsed.error
  // A misspelled field is reported before the missing one that it causes.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  throw new TypeError(describe(issue as z.core.$ZodIssue, fields, outer))
}

function presetList(): string {
  return presetNames.map((name) => `"${name}"`).join(', ')
}

function describe(issue: z.core.$ZodIssue, input: unknown, outer: OuterPlaces): string {
  const field = fieldName(issue.path)
  const subject = field === '' ? 'A policy' : `Policy field "${field}"`
  const value = issue.path.reduce<unknown>((parent, key) => (parent as Record<PropertyKey, unknown>)?.[key], input)
  const requirement = value === undefined ? 'is missing; it must be' : 'must be'
  const actual = value === undefined ? '' : `, not ${show(value)}`
  switch (issue.code) {
    case 'unrecognized_keys': {
      const [key = ''] = issue.keys
      const fields = fieldsAt(issue.path)
      const unknown = `Policy field "${fieldName([...issue.path, key])}" is unknown`
      const place = placeOf(key, String(issue.path[0] ?? ''), sectionFields, outer)
      if (place !== undefined) return unknown + place
      const help = suggestion(key, [...fields, ...importedFields(issue.path)])
      const workspaceLimit = issue.path[0] === 'limits' && help === '' ? nearestName(key, workspaceLimits) : undefined
      if (workspaceLimit !== undefined) return `${unknown}: ${outer.limit(workspaceLimit)}`
      return `${unknown}; the fields here are ${fields.join(', ')}${help}`
    }
    case 'invalid_type':
      return `${subject} ${requirement} ${article(issue.expected)}${actual}`
    case 'invalid_value':
      return `${subject} ${requirement} ${issue.values.map(show).join(' or ')}${actual}${value === 'git' ? ': git-internal files cannot be opened' : valueSuggestion(value, issue.values)}`
    case 'too_small':
      if (issue.origin === 'array') return `${subject} must not be empty; omit it to match everything`
      if (issue.origin === 'string') return `${subject} must not be empty`
      return `${subject} must be a positive whole number, not ${show(value)}`
    case 'too_big':
      return `${subject} is too ${issue.origin === 'string' || issue.origin === 'array' ? 'long' : 'big'}; at most ${issue.maximum}`
    case 'invalid_format':
      return `${subject} must be a plain name without control characters, not ${show(value)}`
    case 'invalid_key':
      return `${subject} must be a plain name`
    default:
      return `${subject} ${issue.message}`
  }
}

/** Words of other systems for the values of a policy. */
const otherValues: Readonly<Record<string, readonly string[]>> = {
  ask: ['supervised', 'interrupt', 'prompt', 'confirm', 'approve', 'approval', 'review', 'true'],
  deny: ['block', 'forbid', 'reject', 'refuse', 'never', 'disallow', 'disabled', 'false'],
  allow: ['permit', 'accept', 'auto', 'always', 'enabled'],
  autonomous: ['allow', 'auto', 'full', 'always', 'workspace-write'],
  supervised: ['ask', 'prompt', 'confirm', 'on-request', 'interactive'],
  readOnly: ['plan', 'read'],
}

/** Returns the value that is meant as the end of a message, or `''` if none is near. */
export function valueSuggestion(value: unknown, values: readonly unknown[]): string {
  const nearest = suggestion(value, values)
  if (nearest !== '' || typeof value !== 'string') return nearest
  const word = plainWord(value)
  const meant = values.find((known) => otherValues[String(known)]?.some((other) => plainWord(other) === word))
  return meant === undefined ? '' : `; did you mean ${show(meant)}?`
}

/** Returns the nearest known name as the end of a message, or `''` if no name is near. */
function suggestion(value: unknown, names: readonly unknown[]): string {
  if (typeof value !== 'string') return ''
  return didYouMean(
    value,
    names.filter((name) => typeof name === 'string'),
  )
}

/** Returns where an unknown option of `createWorkspace` belongs, as the end of a message, or undefined when nowhere. */
export function placeOfWorkspaceOption(name: string): string | undefined {
  return placeOfOption(name, sectionFields)
}

/** The fields of each section of a policy. */
const sectionFields: Readonly<Record<string, readonly string[]>> = {
  '': policyFields,
  commands: fieldsAt(['commands']),
  limits: fieldsAt(['limits']),
  labels: fieldsAt(['labels']),
  network: fieldsAt(['network']),
  memory: memoryFields.filter((name) => name !== 'path'),
  'rules[]': fieldsAt(['rules']),
}

/** The limits that no policy has. */
const workspaceLimits = Object.keys(defaultLimits).filter((name) => !(limitNames as readonly string[]).includes(name))

/** Returns fields of other systems' configurations that are translated. */
function importedFields([section]: readonly PropertyKey[]): readonly string[] {
  if (section === undefined) return ['security', 'patchBudget', 'default_action', 'acl_enabled']
  return section === 'memory' ? ['acl_enabled'] : []
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
  return expected === 'object' || expected === 'record' ? 'an object' : `a ${expected}`
}

/** Returns a path in the form `rules[0].paths[1]`. */
function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (prefix, key) =>
      typeof key === 'number' ? `${prefix}[${key}]` : `${prefix}${prefix === '' ? '' : '.'}${String(key)}`,
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
