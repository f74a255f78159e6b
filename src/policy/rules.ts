import type { ErrorCode } from '../errors.ts'
import type { FileKind } from '../files/classify/types.ts'
import type { DeclaredRoots } from './absolute-patterns.ts'
import { compileArgument } from './arguments.ts'
import { continuedEntries, tidyEntry } from './command-entries.ts'
import type { DialectCall } from './dialect-call.ts'
import { compilePaths, compileTexts, type PathSet, permissionMask } from './match.ts'
import { isSubjectToAcl, memoryPath } from './memory-policy.ts'
import { isMutating, maskWhere, type Permission, permissionBit } from './permissions.ts'
import type { PolicyData, PolicyRule } from './schema.ts'
import type { Decision, Override } from './types.ts'

/** The properties of a call that rules can match, apart from its accesses. */
export interface CallFacts {
  readonly tool: string
  /** The call of a dialect tool that makes this call. */
  readonly dialectCall?: DialectCall | undefined
  readonly input: Readonly<Record<string, unknown>>
  readonly task?: { readonly risk?: string } | undefined
  /** The parsed command lines of the call. Default: its `command` field. */
  readonly commands?: readonly string[] | undefined
}

/** A compiled rule, or a short form such as `deniedPaths` compiled to a rule. */
export interface CompiledRule {
  readonly name: string
  readonly action: Decision
  readonly code: ErrorCode
  readonly paths?: PathSet
  readonly kinds?: ReadonlySet<FileKind>
  readonly overrides?: ReadonlySet<Override>
  /** The rule has fields that match accesses, so it never applies to a call without accesses. */
  readonly requiresAccess: boolean
  /** `isSource`: the access is to the source of a copy. */
  appliesTo(permission: Permission, isSource?: boolean): boolean
  matchesTool(tool: string): boolean
  /** Absent if the rule does not depend on the input, commands and task of the call. */
  readonly matchesCall?: (call: CallFacts) => boolean
}

/**
 * Compiles the rules of a policy, including its short forms. No verdict depends on their order.
 *
 * @param roots the declared roots of absolute patterns
 * @throws TypeError with the name of the invalid field
 */
export function compileRules(policy: PolicyData, roots: DeclaredRoots): readonly CompiledRule[] {
  const rules = (policy.rules ?? []).map((rule, index) => compileRule(rule, `rules[${index}]`, roots))
  if (policy.deniedPaths?.length) {
    rules.push(shortForm('deniedPaths', policy.deniedPaths, 'POLICY_DENIED', () => true))
  }
  if (policy.readOnlyPaths?.length) {
    // A command is not a change of its working directory.
    const changes = (permission: Permission) => isMutating(permission) && !permission.startsWith('command:')
    rules.push(shortForm('readOnlyPaths', policy.readOnlyPaths, 'READ_ONLY', changes))
  }
  if (policy.memory?.acl === true) {
    const files = (permission: Permission) => permission.startsWith('file:')
    const rule = shortForm('memory.acl', [memoryPath(policy.memory)], 'POLICY_DENIED', files)
    rules.push({ ...rule, matchesTool: isSubjectToAcl })
  }
  return rules
}

function shortForm(
  name: string,
  paths: readonly string[],
  code: ErrorCode,
  concerns: (permission: Permission) => boolean,
): CompiledRule {
  const mask = maskWhere(concerns)
  return {
    name,
    action: 'deny',
    code,
    paths: compilePaths(paths, name),
    requiresAccess: true,
    appliesTo: (permission, isSource) => (mask & permissionBit(permission, isSource)) !== 0,
    matchesTool: () => true,
  }
}

function compileRule(rule: PolicyRule, field: string, roots: DeclaredRoots): CompiledRule {
  const mask = rule.permissions === undefined ? -1 : permissionMask(rule.permissions, `${field}.permissions`)
  const matchesTool = rule.tools === undefined ? () => true : compileTexts(rule.tools, `${field}.tools`)
  const matchesCall = compileCallTest(rule, field, matchesTool, roots)
  return {
    name: rule.name,
    action: rule.action,
    code: 'POLICY_DENIED',
    ...(rule.paths === undefined ? {} : { paths: compilePaths(rule.paths, `${field}.paths`) }),
    ...(rule.kinds === undefined ? {} : { kinds: new Set(rule.kinds) }),
    ...(rule.overrides === undefined ? {} : { overrides: new Set(rule.overrides) }),
    requiresAccess: rule.paths !== undefined || rule.kinds !== undefined || rule.permissions !== undefined,
    appliesTo: (permission, isSource) => (mask & permissionBit(permission, isSource)) !== 0,
    matchesTool,
    ...(matchesCall === undefined ? {} : { matchesCall }),
  }
}

function compileCallTest(
  rule: PolicyRule,
  field: string,
  matchesTool: (tool: string) => boolean,
  roots: DeclaredRoots,
): ((call: CallFacts) => boolean) | undefined {
  const tests: ((call: CallFacts) => boolean)[] = []
  // A restricting rule matches if one of several values does; an allow rule needs all of them to match.
  const quantifier = rule.action === 'allow' ? 'every' : 'some'
  for (const [name, patterns] of Object.entries(rule.args ?? {})) {
    const test = compileArgument(name, patterns, `${field}.args.${name}`, roots)
    tests.push(({ input, dialectCall }) =>
      test(input, quantifier, dialectCall?.tools.some(matchesTool) ? dialectCall.args : undefined),
    )
  }
  if (rule.commands !== undefined) {
    const entries = rule.action === 'allow' ? rule.commands.map(tidyEntry) : continuedEntries(rule.commands)
    const test = compileTexts(entries, `${field}.commands`)
    tests.push((call) => {
      const lines = call.commands ?? (typeof call.input.command === 'string' ? [call.input.command] : [])
      if (lines.length === 0) return false
      return quantifier === 'every' ? lines.every(test) : lines.some(test)
    })
  }
  if (rule.risk !== undefined) {
    const test = compileTexts(rule.risk, `${field}.risk`)
    tests.push((call) => call.task?.risk !== undefined && test(call.task.risk))
  }
  if (tests.length === 0) return undefined
  return (call) => tests.every((test) => test(call))
}
