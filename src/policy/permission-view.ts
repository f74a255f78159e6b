import type { Classification } from '../files/classify/types.ts'
import { createDirectoryFacts, type DirectoryFacts, type DirectoryFactsCache } from './directory-facts.ts'
import type { PathSet } from './match.ts'
import { isMutating, type Permission } from './permissions.ts'
import { type PresetName, presetDecision } from './presets.ts'
import { type ProtectionRule, protectionAgainst } from './protections.ts'
import type { CompiledRule } from './rules.ts'
import type { Decision } from './types.ts'

/** One contribution to a decision. */
export type Part =
  | { readonly source: 'tool' | 'default'; readonly name: string; readonly action: Decision }
  | { readonly source: 'preset'; readonly name: PresetName; readonly action: Decision }
  | { readonly source: 'rule'; readonly name: string; readonly action: Decision; readonly rule?: CompiledRule }
  | {
      readonly source: 'protection'
      readonly name: string
      readonly action: Decision
      readonly protection: ProtectionRule
    }

/** The parts of a policy that apply to all accesses of a call. */
export interface ViewFacts {
  readonly rules: readonly CompiledRule[]
  readonly preset?: PresetName | undefined
  /** The decision that the policy sets for the tool. */
  readonly tool?: { readonly name: string; readonly action: Decision } | undefined
  /** `allowedPaths`. */
  readonly allowed?: PathSet | undefined
  /** Without a preset: whether `allowedPaths` applies to this tool. */
  readonly opened: boolean
}

/** The policy of a call for one permission. */
export interface PermissionView {
  /** Decides on a name, and adds every contribution to `parts`. */
  decide(path: string, classification: Classification, recursive: boolean, parts?: Part[]): Decision
  /** Returns whether something below the directory may be visible. */
  mayContainAllowed(directory: string): boolean
  /** Whether the decision is the same for every name, except for built-in protections. */
  readonly isUniform: boolean
}

/** The constants of a view, for the functions that decide. */
interface ViewState {
  readonly permission: Permission
  readonly facts: ViewFacts
  /** The rules that apply to the permission. */
  readonly rules: readonly CompiledRule[]
  readonly preset: Extract<Part, { source: 'preset' }> | undefined
  readonly directories: DirectoryFactsCache
  readonly isCommand: boolean
  readonly isRead: boolean
}

/**
 * Creates the view of one permission. Its caches never change a decision.
 *
 * @param isSource the path is the source of a copy
 */
export function createPermissionView(permission: Permission, facts: ViewFacts, isSource = false): PermissionView {
  const rules = facts.rules.filter((rule) => rule.appliesTo(permission, isSource))
  const state: ViewState = {
    permission,
    facts,
    rules,
    preset:
      facts.preset === undefined
        ? undefined
        : { source: 'preset', name: facts.preset, action: presetDecision(facts.preset, permission) },
    directories: createDirectoryFacts(rules, facts.allowed),
    isCommand: permission.startsWith('command:'),
    isRead: !isMutating(permission),
  }
  return {
    decide: (path, classification, recursive, parts) => decide(state, path, classification, recursive, parts),
    mayContainAllowed(directory) {
      const cached = state.directories.of(directory)
      cached.mayContainAllowed ??= mayContainAllowed(state, directory)
      return cached.mayContainAllowed
    },
    isUniform:
      facts.allowed === undefined && rules.every((rule) => rule.paths === undefined && rule.kinds === undefined),
  }
}

/** Decides by the cached decision of the directory if the decision does not depend on the name. */
function decide(
  state: ViewState,
  path: string,
  classification: Classification,
  recursive: boolean,
  parts: Part[] | undefined,
): Decision {
  const directory = state.directories.around(path)
  const isDirectory = recursive || classification.kind === 'DIRECTORY'
  if (
    parts !== undefined ||
    isDirectory ||
    state.isCommand ||
    directory.candidates.length > 0 ||
    directory.allowed === undefined
  ) {
    return decideName(state, directory, path, classification, isDirectory, parts)
  }
  if (directory.lastClassification !== classification) {
    directory.lastDecision = decideName(state, directory, path, classification, false, undefined)
    directory.lastClassification = classification
  }
  return directory.lastDecision
}

// The parts of a policy that apply to a name, as bits of one number, which needs no allocation.
const DENIED = 1
const ASKED = 2
/** A rule, a preset or `allowedPaths` covers the access. The decision of a tool and protections do not. */
const COVERED = 4
const ALLOWED_BY_RULE = 8
/** An allow rule overrides the protection of the file. */
const LIFTED = 16

function decideName(
  state: ViewState,
  directory: DirectoryFacts,
  path: string,
  classification: Classification,
  isDirectory: boolean,
  parts: Part[] | undefined,
): Decision {
  const { tool } = state.facts
  // A walk may start at a directory above allowed paths.
  const leads = isDirectory && state.isRead
  const protection = protectionAgainst(classification, state.permission)
  let result = 0
  if (tool !== undefined) {
    parts?.push({ source: 'tool', ...tool })
    if (tool.action === 'deny') result |= DENIED
    else if (tool.action === 'ask') result |= ASKED
  }
  result |= applyRules(directory, path, classification, leads, protection, parts)
  if (protection !== undefined && (result & LIFTED) === 0) {
    result |= protection.decision === 'deny' ? DENIED : ASKED
    parts?.push({ source: 'protection', name: protection.name, action: protection.decision, protection })
  }
  result |= applyPreset(state, directory, path, leads, (result & ALLOWED_BY_RULE) !== 0, parts)
  if ((result & DENIED) !== 0) return 'deny'
  if ((result & COVERED) === 0) {
    parts?.push({ source: 'default', name: 'default', action: 'deny' })
    return 'deny'
  }
  return (result & ASKED) === 0 ? 'allow' : 'ask'
}

function applyRules(
  directory: DirectoryFacts,
  path: string,
  classification: Classification,
  leads: boolean,
  protection: ProtectionRule | undefined,
  parts: Part[] | undefined,
): number {
  const { matching, candidates } = directory
  let result = 0
  for (let i = 0; i < matching.length + candidates.length; i++) {
    const isMatching = i < matching.length
    const rule = (isMatching ? matching[i] : candidates[i - matching.length]) as CompiledRule
    if (rule.kinds !== undefined && !rule.kinds.has(classification.kind)) continue
    const matches = isMatching || rule.paths === undefined || rule.paths.matches(path)
    if (!matches && !(leads && rule.action === 'allow' && rule.paths?.mayMatchBelow(path))) continue
    if (rule.action === 'deny') result |= DENIED
    else if (rule.action === 'ask') result |= COVERED | ASKED
    else {
      result |= COVERED | ALLOWED_BY_RULE
      const liftedBy = protection?.liftedBy
      if (matches && liftedBy !== undefined && rule.overrides?.has(liftedBy)) result |= LIFTED
    }
    parts?.push({ source: 'rule', name: rule.name, action: rule.action, rule })
  }
  return result
}

function applyPreset(
  { facts, preset, isCommand }: ViewState,
  directory: DirectoryFacts,
  path: string,
  leads: boolean,
  allowedByRule: boolean,
  parts: Part[] | undefined,
): number {
  if (preset?.action === 'deny') {
    parts?.push(preset)
    return DENIED
  }
  const { allowed, tool } = facts
  // A command may work in any directory above allowed paths.
  const canLead = leads || (isCommand && preset !== undefined)
  const isInside =
    directory.allowed ?? (allowed === undefined || allowed.matches(path) || (canLead && allowed.mayMatchBelow(path)))
  if (!isInside) return 0
  if (preset === undefined) {
    if (allowed === undefined || !facts.opened) return 0
    parts?.push({ source: 'rule', name: 'allowedPaths', action: 'allow' })
    return COVERED
  }
  // The preset asks only if neither an allow rule nor a tool set to `allow` has answered.
  if (preset.action === 'ask' && (allowedByRule || tool?.action === 'allow')) return COVERED
  parts?.push(preset)
  return preset.action === 'ask' ? COVERED | ASKED : COVERED
}

function mayContainAllowed({ facts, preset, rules }: ViewState, directory: string): boolean {
  if (facts.tool?.action === 'deny' || preset?.action === 'deny') return false
  for (const rule of rules) {
    const everyKind = rule.kinds === undefined
    if (rule.action === 'deny' && everyKind && (rule.paths?.coversBelow(directory) ?? true)) return false
  }
  const mayMatch = (paths: PathSet | undefined) => paths?.mayMatchBelow(directory) ?? true
  if (preset !== undefined && mayMatch(facts.allowed)) return true
  if (facts.allowed !== undefined && facts.opened && mayMatch(facts.allowed)) return true
  return rules.some((rule) => rule.action !== 'deny' && mayMatch(rule.paths))
}
