import { type ErrorCode, ToolError } from '../errors.ts'
import type { Classification } from '../files/classify/types.ts'
import { sha256Text } from '../files/hash/sha256.ts'
import { display, type LogicalPath, quote } from '../paths/logical-path.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import { type GuardedAccess, refusedPermission } from './access.ts'
import type { DialectCall } from './dialect-call.ts'
import type { PathSet } from './match.ts'
import { createPermissionView, type Part, type PermissionView, type ViewFacts } from './permission-view.ts'
import { type Permission, readingPermission, revealingPermissions } from './permissions.ts'
import { type PresetName, presets } from './presets.ts'
import type { CallFacts, CompiledRule } from './rules.ts'
import type { ParsedPolicy, PolicyData } from './schema.ts'
import { shortForms } from './short-forms.ts'
import type { Decision } from './types.ts'
import type { FieldOrigins } from './written-fields.ts'

/** A contribution to a verdict. */
export interface VerdictRule {
  readonly name: string
  readonly action: Decision
  readonly source: 'tool' | 'rule' | 'protection' | 'preset' | 'default' | 'taint' | 'risk' | 'plan'
  /** The path concerned, as requested or as resolved. */
  readonly path?: string
}

/** The combined decision on a call. */
export interface Verdict {
  readonly decision: Decision
  /** The error code of a denial. */
  readonly code?: ErrorCode
  /** A sentence for the agent and the record: the decision, its subject and its cause. */
  readonly reason: string
  readonly hint?: string
  /** The path concerned, if the decision concerns one path. */
  readonly path?: string
  /** All contributions; the first one decided. Their order does not depend on the order of the rules. */
  readonly rules: readonly VerdictRule[]
}

/** A call to evaluate. Its paths are guarded and classified. */
export interface PolicyCall {
  readonly tool: string
  /** The call of a dialect tool that makes this call. Rules and decisions for it apply as well. */
  readonly dialectCall?: DialectCall | undefined
  /** The input as parsed by the schema of the tool, with defaults. */
  readonly input: Readonly<Record<string, unknown>>
  readonly accesses: readonly GuardedAccess[]
  readonly task?: { readonly risk?: string } | undefined
  /** The parsed command lines of the call. Without them, command rules use its `command` field. */
  readonly commands?: readonly string[] | undefined
}

/** The policy for one call. Rules on tools, arguments, commands and risk are already applied. */
export interface CallPolicy {
  /** Equal for calls with equal decisions, within one policy. */
  readonly key: string
  /** Decides on one path, independently of other paths of the call. */
  decide(permission: Permission, path: LogicalPath, classification: Classification): Decision
  /** Returns false only if nothing below the directory is visible, so that a walk can skip it. */
  mayContainAllowed(permission: Permission, directory: LogicalPath): boolean
  /** Returns whether the decision is the same for every name, except for built-in protections. */
  isUniform(permission: Permission): boolean
}

/** A compiled policy. All functions are pure and synchronous. */
export interface Policy {
  /** A hash of the data, equal for equal policies in any order of fields or rules. */
  readonly revision: string
  /** The parsed policy, frozen. */
  readonly data: PolicyData
  /**
   * The fields that were written with another name than in `data`.
   *
   * @internal
   */
  readonly origins: FieldOrigins
  /** The declared roots that its absolute patterns use. */
  readonly usedRoots: ReadonlySet<string>
  /**
   * Returns the verdict on a call, from the decision for its tool, all matching rules, the built-in protections and the
   * preset, for each access under both of its names. Any `deny` denies. An access that nothing allows is denied. Otherwise
   * any `ask` asks; without one, the call is allowed.
   */
  evaluate(call: PolicyCall): Verdict
  /**
   * Decides on one name as {@link evaluate} does, for a call without input or task. Made for walks: fastest if the names of
   * one directory come together.
   */
  decide(tool: string, permission: Permission, path: LogicalPath, classification: Classification): Decision
  /** Returns false only if nothing below the directory is visible, so that a walk can skip it. */
  mayContainAllowed(tool: string, permission: Permission, directory: LogicalPath): boolean
  /** Returns whether commands may reach an address. */
  mayReach(url: URL): boolean
  /** Returns {@link decide} and {@link mayContainAllowed} for a call with its input and task. */
  forCall(call: Omit<PolicyCall, 'accesses'>): CallPolicy
}

/** The compiled parts of a policy. */
export interface PolicyParts {
  readonly rules: readonly CompiledRule[]
  /** `allowedPaths`. */
  readonly allowed: PathSet | undefined
  /** Returns whether commands may reach an address. */
  mayReach(url: URL): boolean
}

/** Creates a policy from its parsed data and compiled parts. */
export function createPolicy({ data, origins, usedRoots }: ParsedPolicy, parts: PolicyParts): Policy {
  const views = createViews(data, parts)
  return {
    revision: revisionOf(data),
    data,
    origins,
    usedRoots,
    evaluate: (call) => evaluate(call, views.of(call)),
    decide: (tool, permission, path, classification) =>
      decideContent(views.ofTool(tool), permission, path, classification),
    mayContainAllowed: (tool, permission, directory) =>
      views.ofTool(tool).permission(permission).mayContainAllowed(directory),
    mayReach: parts.mayReach,
    forCall(call) {
      const view = views.of(call)
      return {
        key: view.key,
        decide: (permission, path, classification) => decideContent(view, permission, path, classification),
        mayContainAllowed: (permission, directory) => view.permission(permission).mayContainAllowed(directory),
        isUniform: (permission) => view.permission(permission).isUniform,
      }
    },
  }
}

/** Creates the policy of a preset, which needs no parsing. */
export function presetPolicy(name: PresetName): Policy {
  const parsed = { data: Object.freeze({ preset: name }), origins: new Map(), usedRoots: new Set<string>() }
  return createPolicy(parsed, { rules: [], allowed: undefined, mayReach: () => false })
}

/** Returns the stricter of two verdicts on one call, with the rules of both. */
export function combineVerdicts(first: Verdict, second: Verdict): Verdict {
  const isStricter = strength[second.decision] > strength[first.decision]
  return { ...(isStricter ? second : first), rules: [...first.rules, ...second.rules] }
}

/** Returns a call with accesses. Names its fields, because V8 is slow at adding a field to a spread object. */
export function withAccesses(
  { tool, dialectCall, input, task, commands }: Omit<PolicyCall, 'accesses'>,
  accesses: readonly GuardedAccess[],
): PolicyCall {
  return { tool, dialectCall, input, accesses, task, commands }
}

/** @throws ToolError if policy denies an access of a call */
export function requireAllowed(policy: Policy, call: Omit<PolicyCall, 'accesses'>, access: GuardedAccess): void {
  const verdict = policy.evaluate(withAccesses(call, [access]))
  if (verdict.decision === 'deny') throw deniedError(verdict)
}

/** Returns the error for a denial. {@link denialOf} returns the verdict. */
export function deniedError(verdict: Verdict): ToolError {
  const error = new ToolError(verdict.code ?? 'POLICY_DENIED', verdict.reason, {
    ...(verdict.path === undefined ? {} : { path: verdict.path }),
    ...(verdict.hint === undefined ? {} : { hint: verdict.hint }),
  })
  denials.set(error, verdict)
  return error
}

const denials = new WeakMap<object, Verdict>()

/** Returns the verdict behind an error; `undefined` for an error that no rule of policy has caused. */
export function denialOf(error: ToolError): Verdict | undefined {
  return denials.get(error)
}

function revisionOf(data: PolicyData): string {
  const rules = [...(data.rules ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1))
  return sha256Text(canonicalJson({ ...data, rules })).slice(0, 16)
}

/** The policy for one set of rules that apply to a call. */
interface View {
  readonly key: string
  readonly facts: ViewFacts
  permission(permission: Permission, isSource?: boolean): PermissionView
}

interface Views {
  of(call: CallFacts): View
  ofTool(tool: string): View
}

/** Maximum number of tools, and of sets of rules, in a cache. The cache is cleared when it is full. */
const MAX_VIEWS = 1000

/** Creates a cache of views. All calls to which the same rules apply share one view and its caches. */
function createViews(data: PolicyData, { rules, allowed }: PolicyParts): Views {
  interface ToolRules {
    /** For calls to which no rule on input, commands or task applies. */
    readonly plain: View
    readonly candidates: readonly CompiledRule[]
    readonly conditional: boolean
  }
  const tools = new Map<string, ToolRules>()
  const views = new Map<string, View>()
  const numbers = new Map(rules.map((rule, index) => [rule, index]))
  const opens = Object.values(data.tools ?? {}).includes('allow')
  let lastKey: string | undefined
  let last: ToolRules | undefined

  function toolRules(tool: string, dialectTools: readonly string[] = []): ToolRules {
    // A name contains no line break.
    const cacheKey = dialectTools.length === 0 ? tool : [tool, ...dialectTools].join('\n')
    if (cacheKey === lastKey && last !== undefined) return last
    let cached = tools.get(cacheKey)
    if (cached === undefined) {
      const names = [tool, ...dialectTools]
      const candidates = rules.filter((rule) => names.some(rule.matchesTool))
      const conditional = candidates.some((rule) => rule.matchesCall !== undefined)
      const empty = { tool, dialectCall: { tools: dialectTools }, input: {} }
      cached = { plain: viewOf(candidates, empty), candidates, conditional }
      if (tools.size >= MAX_VIEWS) tools.clear()
      tools.set(cacheKey, cached)
    }
    lastKey = cacheKey
    last = cached
    return cached
  }

  function viewOf(candidates: readonly CompiledRule[], call: CallFacts): View {
    const active = candidates.filter((rule) => rule.matchesCall?.(call) ?? true)
    const toolDecision = decisionForTool(data.tools, [call.tool, ...(call.dialectCall?.tools ?? [])])
    const action = toolDecision?.action
    const toolKey = toolDecision === undefined ? '' : `${toolDecision.action} ${toolDecision.name}`
    const opened = !opens || action === 'allow' || action === 'ask'
    const key = `${toolKey}|${opened}|${active.map((rule) => numbers.get(rule)).join(',')}`
    let view = views.get(key)
    if (view === undefined) {
      if (views.size >= MAX_VIEWS) views.clear()
      view = createView(key, {
        rules: active,
        preset: data.preset,
        tool: toolDecision,
        allowed,
        opened,
      })
      views.set(key, view)
    }
    return view
  }

  return {
    ofTool: (tool) => toolRules(tool).plain,
    of(call) {
      const { plain, candidates, conditional } = toolRules(call.tool, call.dialectCall?.tools)
      return conditional ? viewOf(candidates, call) : plain
    },
  }
}

/** Returns the strictest decision of the policy for one of the names of a tool. */
function decisionForTool(
  decisions: PolicyData['tools'] = {},
  names: readonly string[],
): { readonly name: string; readonly action: Decision } | undefined {
  let strictest: { readonly name: string; readonly action: Decision } | undefined
  for (const name of names) {
    const action = Object.hasOwn(decisions, name) ? decisions[name] : undefined
    if (action === undefined) continue
    if (strictest === undefined || strength[action] > strength[strictest.action]) strictest = { name, action }
  }
  return strictest
}

function createView(key: string, facts: ViewFacts): View {
  const plain = new Map<Permission, PermissionView>()
  const ofSources = new Map<Permission, PermissionView>()
  return {
    key,
    facts,
    permission(permission, isSource = false) {
      const cache = isSource ? ofSources : plain
      let view = cache.get(permission)
      if (view === undefined) {
        view = createPermissionView(permission, facts, isSource)
        cache.set(permission, view)
      }
      return view
    },
  }
}

/** A part of a decision with its access. */
interface Contribution {
  readonly part: Part
  readonly access?: GuardedAccess
  readonly path?: string
}

function evaluate(call: PolicyCall, view: View): Verdict {
  const contributions: Contribution[] = []
  let decision: Decision = call.accesses.length === 0 ? decideCall(view.facts, contributions) : 'allow'
  for (const access of call.accesses) {
    decision = stricter(decision, decideAccess(view, access, access.asked, contributions))
    if (access.path !== access.asked)
      decision = stricter(decision, decideAccess(view, access, access.path, contributions))
  }
  return verdictOf(call, decision, contributions)
}

/** Returns the access that reads what a change reveals. `undefined` for a change that reveals nothing. */
function readingOf(access: GuardedAccess): GuardedAccess | undefined {
  const { permission, asked, path, classification, recursive, reveals } = access
  if (reveals !== true && !revealsSecret(permission, classification)) return undefined
  return { permission: readingPermission(permission), asked, path, classification, recursive }
}

/** Whether a change reveals the file in any case: a replaced secret shows in the result, and a moved one can be read. */
function revealsSecret(permission: Permission, { kind }: Classification): boolean {
  return kind === 'SECRET_LIKE' && revealingPermissions.has(permission)
}

/** Decides on one name, and on reading it if a change with the permission reveals it. */
function decideContent(
  view: View,
  permission: Permission,
  path: LogicalPath,
  classification: Classification,
): Decision {
  const decision = view.permission(permission).decide(path, classification, false)
  if (decision === 'deny' || !revealsSecret(permission, classification)) return decision
  return stricter(decision, view.permission(readingPermission(permission)).decide(path, classification, false))
}

/** Decides on one name of an access, and on reading it if the access reveals it. */
function decideAccess(view: View, access: GuardedAccess, name: string, contributions: Contribution[]): Decision {
  const start = contributions.length
  const decision = addContributions(view, access, name, contributions, start)
  const reading = readingOf(access)
  if (reading === undefined) return decision
  return stricter(decision, addContributions(view, reading, name, contributions, start))
}

/** Adds the parts of a decision, except those that are among the contributions from `start` on. */
function addContributions(
  view: View,
  access: GuardedAccess,
  name: string,
  contributions: Contribution[],
  start: number,
): Decision {
  const parts: Part[] = []
  const { permission, classification, recursive, isSource } = access
  const decision = view.permission(permission, isSource).decide(name, classification, recursive, parts)
  for (const part of parts) {
    if (hasPart(contributions, start, part)) continue
    // The decision for the tool appears once, however many accesses there are.
    if (part.source === 'tool' && contributions.some((other) => other.part.source === 'tool')) continue
    contributions.push(part.source === 'tool' ? { part } : { part, access, path: name })
  }
  return decision
}

function hasPart(contributions: readonly Contribution[], start: number, { source, name, action }: Part): boolean {
  for (let i = start; i < contributions.length; i++) {
    const { part } = contributions[i] as Contribution
    if (part.source === source && part.name === name && part.action === action) return true
  }
  return false
}

/** Decides on a call without accesses, which needs one allow for itself. */
function decideCall(facts: ViewFacts, contributions: Contribution[]): Decision {
  const parts: Part[] = []
  if (facts.tool !== undefined) parts.push({ source: 'tool', ...facts.tool })
  for (const rule of facts.rules) {
    if (!rule.requiresAccess) parts.push({ source: 'rule', name: rule.name, action: rule.action, rule })
  }
  if (facts.preset !== undefined) parts.push({ source: 'preset', name: facts.preset, action: 'allow' })
  if (parts.length === 0) parts.push({ source: 'default', name: 'default', action: 'deny' })
  for (const part of parts) contributions.push({ part })
  return parts.reduce<Decision>((decision, part) => stricter(decision, part.action), 'allow')
}

export const strength = { allow: 0, ask: 1, deny: 2 } as const

function stricter(a: Decision, b: Decision): Decision {
  return strength[b] > strength[a] ? b : a
}

function verdictOf(call: PolicyCall, decision: Decision, contributions: readonly Contribution[]): Verdict {
  const sorted = contributions.length < 2 ? contributions : [...contributions].sort(byWeight)
  // Every access and every call has at least one part, the default.
  const { part, access } = sorted[0] as Contribution
  const rules = sorted.map(({ part, path }) => ({
    name: part.name,
    action: part.action,
    source: part.source,
    ...(path === undefined ? {} : { path }),
  }))
  const reason = `Policy ${verbs[decision]} ${subjectOf(call, access, decision)}: ${causeOf(part, access)}`
  if (decision !== 'deny')
    return { decision, reason, rules, ...(decision === 'ask' && access ? { path: access.asked } : {}) }
  const hint = part.source === 'protection' ? access?.classification.hint : undefined
  return {
    decision,
    code: codeOf(part, access),
    reason,
    rules,
    ...(access === undefined ? {} : { path: access.asked }),
    ...(hint === undefined ? {} : { hint }),
  }
}

const verbs = { allow: 'allows', ask: 'asks about', deny: 'denies' } as const

/** Names the requested path. The path that it resolves to may be hidden from the agent. */
function subjectOf(call: PolicyCall, access: GuardedAccess | undefined, decision: Decision): string {
  if (access === undefined) return call.tool
  const { permission, asked } = access
  const label = decision === 'deny' ? refusedPermission(permission) : permission
  return `${label} of ${quote(display(asked))}`
}

function causeOf(part: Part, access: GuardedAccess | undefined): string {
  if (part.source === 'tool') return `the tool ${part.name} is set to "${part.action}"`
  if (part.source === 'rule') return shortForms.has(part.name) ? part.name : `rule "${part.name}"`
  if (part.source === 'preset') return `preset "${part.name}"`
  if (part.source === 'default') return 'nothing allows it'
  // Protections apply to accesses only.
  return (access as GuardedAccess).classification.reason
}

function codeOf(part: Part, access: GuardedAccess | undefined): ErrorCode {
  if (part.source === 'protection') return part.protection.code
  if (part.source === 'preset') return presets[part.name].code
  if (access?.permission.startsWith('command:')) return 'COMMAND_DENIED'
  return part.source === 'rule' && part.rule !== undefined ? part.rule.code : 'POLICY_DENIED'
}

/** Sorts denials first, then questions; among these: git and secret protection, tool, rules by name, other protections, preset. */
function byWeight(a: Contribution, b: Contribution): number {
  return (
    strength[b.part.action] - strength[a.part.action] ||
    rank(a.part) - rank(b.part) ||
    compare(a.part.name, b.part.name)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const ranks = { tool: 2, rule: 3, preset: 5, default: 6 } as const

function rank(part: Part): number {
  if (part.source !== 'protection') return ranks[part.source]
  return part.name === 'git' ? 0 : part.name === 'secret' ? 1 : 4
}
