import { type ErrorCode, ToolError } from '../errors.ts'
import type { Classification } from '../files/classify/types.ts'
import { sha256Text } from '../files/hash/sha256.ts'
import { display, type LogicalPath, quote } from '../paths/logical-path.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import type { GuardedAccess } from './access.ts'
import { compilePaths } from './match.ts'
import { compileNetwork } from './network-policy.ts'
import { createPermissionView, type Part, type PermissionView, type ViewFacts } from './permission-view.ts'
import type { Permission } from './permissions.ts'
import { presets } from './presets.ts'
import { type CallFacts, type CompiledRule, compileRules } from './rules.ts'
import { type PolicyData, parsePolicyData, shortForms } from './schema.ts'
import type { Decision } from './types.ts'

export { type PresetName, presetNames } from './presets.ts'
export {
  type CommandPolicy,
  type PolicyData,
  type PolicyInput,
  type PolicyLimits,
  type PolicyRule,
  policySchema,
} from './schema.ts'

/** Something that took part in a verdict. */
export interface VerdictRule {
  readonly name: string
  readonly action: Decision
  readonly source: 'tool' | 'rule' | 'protection' | 'preset' | 'default' | 'taint' | 'risk' | 'plan'
  /** The name it spoke about, as asked for or as resolved. */
  readonly path?: string
}

/** The combined decision on a call. */
export interface Verdict {
  readonly decision: Decision
  /** Of a denial. */
  readonly code?: ErrorCode
  /** A sentence for agent and record: what decided, about what. */
  readonly reason: string
  readonly hint?: string
  /** What the decision is about, where it is about one path. */
  readonly path?: string
  /** Everything that took part, what decided first. The order does not depend on the order of the rules. */
  readonly rules: readonly VerdictRule[]
}

/** A call as policy is asked about it: its paths are guarded and classified. */
export interface PolicyCall {
  readonly tool: string
  /** As the tool's schema has parsed it, defaults included. */
  readonly input: Readonly<Record<string, unknown>>
  readonly accesses: readonly GuardedAccess[]
  readonly task?: { readonly risk?: string }
  /** The command lines of the call, as parsed; without them, rules on commands look at its `command` field. */
  readonly commands?: readonly string[]
}

/** The policy as one call sees it: rules on tools, arguments, commands and risk are settled. */
export interface CallPolicy {
  /** Equal for calls that get equal answers here, within one policy. */
  readonly key: string
  /** The decision on one path, without what other paths of the call say. */
  decide(permission: Permission, path: LogicalPath, classification: Classification): Decision
  /** Whether something below the directory could be seen, so that a walk must enter it. May say yes in vain. */
  mayContainAllowed(permission: Permission, directory: LogicalPath): boolean
  /** Whether it decides alike for every name, the built-in protections aside. */
  isUniform(permission: Permission): boolean
}

/** A compiled policy. Everything here is pure and synchronous. */
export interface Policy {
  /** A hash of its data: equal for equal policies, in any order of fields or rules. */
  readonly revision: string
  /** The parsed policy, frozen. */
  readonly data: PolicyData
  /**
   * The verdict on a call: its tool's own decision, every rule that matches, every built-in protection and the preset,
   * for each access under both of its names. Any `deny` denies; then whatever nothing speaks for is denied; else any
   * `ask` asks; else the call is allowed.
   */
  evaluate(call: PolicyCall): Verdict
  /**
   * The fast form for walks, for a call without input or task: what {@link evaluate} decides on one name. Fastest when
   * the names of one directory come together.
   */
  decide(tool: string, permission: Permission, path: LogicalPath, classification: Classification): Decision
  /** Whether something below the directory could be seen, so that a walk must enter it. May say yes in vain. */
  mayContainAllowed(tool: string, permission: Permission, directory: LogicalPath): boolean
  /** Whether commands may reach an address. */
  mayReach(url: URL): boolean
  /** {@link decide} and {@link mayContainAllowed} for a call with its input and task. */
  forCall(call: Omit<PolicyCall, 'accesses'>): CallPolicy
}

/**
 * Compiles a policy: a preset's name, or an object, which denies what it does not allow.
 *
 * A preset decides only what nothing else decides: `supervised` does not ask where an allow rule matches or the tool is
 * set to `allow`. What `readOnly` denies stays denied. With `allowedPaths`, preset and list count only inside them.
 *
 * @throws TypeError that names the field and what would be right
 * @example
 * const policy = compilePolicy({
 *   preset: 'autonomous',
 *   rules: [{ name: 'docs are final', action: 'ask', permissions: ['file:write:*'], paths: ['docs/**'] }],
 * })
 */
export function compilePolicy(input: unknown): Policy {
  const data = parsePolicyData(input)
  const rules = compileRules(data)
  const views = createViews(data, rules)
  const mayReach = compileNetwork(data.network)
  return {
    revision: revisionOf(data),
    data,
    evaluate: (call) => evaluate(call, views.of(call)),
    decide: (tool, permission, path, classification) =>
      views.ofTool(tool).permission(permission).decide(path, classification, false),
    mayContainAllowed: (tool, permission, directory) =>
      views.ofTool(tool).permission(permission).mayContainAllowed(directory),
    mayReach,
    forCall(call) {
      const view = views.of(call)
      return {
        key: view.key,
        decide: (permission, path, classification) => view.permission(permission).decide(path, classification, false),
        mayContainAllowed: (permission, directory) => view.permission(permission).mayContainAllowed(directory),
        isUniform: (permission) => view.permission(permission).isUniform,
      }
    },
  }
}

/** The stricter of two verdicts on one call, with the rules of both. */
export function combineVerdicts(first: Verdict, second: Verdict): Verdict {
  const isStricter = strength[second.decision] > strength[first.decision]
  return { ...(isStricter ? second : first), rules: [...first.rules, ...second.rules] }
}

/** The refusal that a denial becomes. */
export function deniedError(verdict: Verdict): ToolError {
  return new ToolError(verdict.code ?? 'POLICY_DENIED', verdict.reason, {
    ...(verdict.path === undefined ? {} : { path: verdict.path }),
    ...(verdict.hint === undefined ? {} : { hint: verdict.hint }),
  })
}

function revisionOf(data: PolicyData): string {
  const rules = [...(data.rules ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1))
  return sha256Text(canonicalJson({ ...data, rules })).slice(0, 16)
}

/** The policy for one set of rules that concern a call. */
interface View {
  readonly key: string
  readonly facts: ViewFacts
  permission(permission: Permission): PermissionView
}

interface Views {
  of(call: CallFacts): View
  ofTool(tool: string): View
}

/** Tools and sets of rules to remember; over that many, remembering starts afresh. */
const MAX_VIEWS = 1000

/** Views are shared by all calls that the same rules concern, so that what one has learnt serves the next. */
function createViews(data: PolicyData, rules: readonly CompiledRule[]): Views {
  interface ToolRules {
    /** For a call whose input matches no rule on the call. */
    readonly plain: View
    readonly candidates: readonly CompiledRule[]
    readonly conditional: boolean
  }
  const tools = new Map<string, ToolRules>()
  const views = new Map<string, View>()
  const allowed = data.allowedPaths === undefined ? undefined : compilePaths(data.allowedPaths, 'allowedPaths')
  const numbers = new Map(rules.map((rule, index) => [rule, index]))
  const opens = Object.values(data.tools ?? {}).includes('allow')
  let lastTool: string | undefined
  let last: ToolRules | undefined

  function toolRules(tool: string): ToolRules {
    if (tool === lastTool && last !== undefined) return last
    let known = tools.get(tool)
    if (known === undefined) {
      const candidates = rules.filter((rule) => rule.matchesTool(tool))
      const conditional = candidates.some((rule) => rule.matchesCall !== undefined)
      const empty = { tool, input: {} }
      known = { plain: viewOf(tool, candidates, empty), candidates, conditional }
      if (tools.size >= MAX_VIEWS) tools.clear()
      tools.set(tool, known)
    }
    lastTool = tool
    last = known
    return known
  }

  function viewOf(tool: string, candidates: readonly CompiledRule[], call: CallFacts): View {
    const active = candidates.filter((rule) => rule.matchesCall?.(call) ?? true)
    const action = data.tools !== undefined && Object.hasOwn(data.tools, tool) ? data.tools[tool] : undefined
    const own = action === undefined ? '' : `${action} ${tool}`
    const opened = !opens || action === 'allow' || action === 'ask'
    const key = `${own}|${opened}|${active.map((rule) => numbers.get(rule)).join(',')}`
    let view = views.get(key)
    if (view === undefined) {
      if (views.size >= MAX_VIEWS) views.clear()
      view = createView(key, {
        rules: active,
        preset: data.preset,
        tool: action === undefined ? undefined : { name: tool, action },
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
      const { plain, candidates, conditional } = toolRules(call.tool)
      return conditional ? viewOf(call.tool, candidates, call) : plain
    },
  }
}

function createView(key: string, facts: ViewFacts): View {
  const known = new Map<Permission, PermissionView>()
  return {
    key,
    facts,
    permission(permission) {
      let view = known.get(permission)
      if (view === undefined) {
        view = createPermissionView(permission, facts)
        known.set(permission, view)
      }
      return view
    },
  }
}

/** A part of a decision with the access that it spoke about. */
interface Contribution {
  readonly part: Part
  readonly access?: GuardedAccess
  readonly path?: string
}

function evaluate(call: PolicyCall, view: View): Verdict {
  const contributions: Contribution[] = []
  let decision: Decision = call.accesses.length === 0 ? weighCall(view.facts, contributions) : 'allow'
  for (const access of call.accesses) {
    decision = stricter(decision, weighAccess(view, access, access.asked, contributions))
    if (access.path !== access.asked)
      decision = stricter(decision, weighAccess(view, access, access.path, contributions))
  }
  return verdictOf(call, decision, contributions)
}

function weighAccess(view: View, access: GuardedAccess, name: string, contributions: Contribution[]): Decision {
  const parts: Part[] = []
  const decision = view.permission(access.permission).decide(name, access.classification, access.recursive, parts)
  for (const part of parts) {
    // A tool's own decision is one, however many accesses there are.
    if (part.source === 'tool' && contributions.some((other) => other.part.source === 'tool')) continue
    contributions.push(part.source === 'tool' ? { part } : { part, access, path: name })
  }
  return decision
}

/** A call that reaches nothing needs one allow for itself. */
function weighCall(facts: ViewFacts, contributions: Contribution[]): Decision {
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

const strength = { allow: 0, ask: 1, deny: 2 } as const

function stricter(a: Decision, b: Decision): Decision {
  return strength[b] > strength[a] ? b : a
}

function verdictOf(call: PolicyCall, decision: Decision, contributions: readonly Contribution[]): Verdict {
  const sorted = contributions.length < 2 ? contributions : [...contributions].sort(byWeight)
  // Every access and every call has a part that speaks of it, if only the default.
  const { part, access } = sorted[0] as Contribution
  const rules = sorted.map(({ part, path }) => ({
    name: part.name,
    action: part.action,
    source: part.source,
    ...(path === undefined ? {} : { path }),
  }))
  const reason = `Policy ${verbs[decision]} ${subject(call, access, decision)}: ${because(part, access)}`
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

/** The name asked for: what it resolves to may be none of the agent's business. */
function subject(call: PolicyCall, access: GuardedAccess | undefined, decision: Decision): string {
  if (access === undefined) return call.tool
  const { permission, asked } = access
  // Whether a file would be made or replaced tells whether it is there.
  const shown = decision === 'deny' && permission.startsWith('file:write:') ? 'file:write' : permission
  return `${shown} of ${quote(display(asked))}`
}

function because(part: Part, access: GuardedAccess | undefined): string {
  if (part.source === 'tool') return `the tool ${part.name} is set to "${part.action}"`
  if (part.source === 'rule') return shortForms.has(part.name) ? part.name : `rule "${part.name}"`
  if (part.source === 'preset') return `preset "${part.name}"`
  if (part.source === 'default') return 'nothing allows it'
  // Protections stand before accesses only.
  return (access as GuardedAccess).classification.reason
}

function codeOf(part: Part, access: GuardedAccess | undefined): ErrorCode {
  if (part.source === 'protection') return part.protection.code
  if (part.source === 'preset') return presets[part.name].code
  if (access?.permission.startsWith('command:')) return 'COMMAND_DENIED'
  return part.source === 'rule' && part.rule !== undefined ? part.rule.code : 'POLICY_DENIED'
}

/** Denials first, then questions; among them the strictest protections, the tool, the rules by name, the rest. */
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

export type { Decision } from './types.ts'
