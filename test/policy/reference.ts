import picomatch from 'picomatch'
import type { Classification } from '../../src/files/classify/types.ts'
import { isMutating, type Permission } from '../../src/policy/permissions.ts'
import type { PolicyData, PolicyRule } from '../../src/policy/schema.ts'
import type { Decision } from '../../src/policy/types.ts'

/** Changes that reveal something of the file, such as its version, or move it to a readable path. */
const showing: ReadonlySet<Permission> = new Set([
  'file:write:replace',
  'file:append',
  'file:move',
  'file:copy',
  'file:patch:apply',
  'memory:write',
  'git:write',
])

/** One access with one of its names. */
export interface Name {
  readonly tool: string
  readonly permission: Permission
  readonly path: string
  readonly classification: Classification
}

/** A reference implementation of the precedence in the specification, with picomatch for the globs. */
export function referenceDecision(policy: PolicyData, name: Name): Decision {
  const { tool, permission, path, classification } = name
  const isCommand = permission.startsWith('command:')
  const toolDecision = policy.tools?.[tool]
  const rules = (policy.rules ?? []).filter((rule) => ruleMatches(rule, name))
  const decisions: Decision[] = rules.map((rule) => rule.action)
  if (toolDecision !== undefined && toolDecision !== 'allow') decisions.push(toolDecision)
  if (anyGlob(policy.deniedPaths ?? [], path)) decisions.push('deny')
  if (anyGlob(policy.readOnlyPaths ?? [], path) && isMutating(permission) && !isCommand) decisions.push('deny')
  const protection = referenceProtection(permission, classification)
  const lifts = (rule: PolicyRule) => rule.action === 'allow' && rule.overrides?.includes(protection?.name as never)
  let lifted = rules.some(lifts)
  if (protection?.name === 'secret' && showing.has(permission)) {
    // A change that reveals content of a secret also needs permission to read it.
    const reads = permission === 'memory:write' ? 'memory:read' : 'file:read'
    const reading = (policy.rules ?? []).filter((rule) => ruleMatches(rule, { ...name, permission: reads }))
    lifted &&= reading.some(lifts) && !reading.some((rule) => rule.action === 'deny')
    if (reading.some((rule) => rule.action === 'ask')) decisions.push('ask')
  }
  if (protection !== undefined && !lifted) decisions.push(protection.decision)

  let hasDecision = rules.some((rule) => rule.action !== 'deny')
  const inside = policy.allowedPaths === undefined || anyGlob(policy.allowedPaths, path)
  const changes = isMutating(permission)
  if (policy.preset === 'readOnly' && changes) decisions.push('deny')
  else if (policy.preset !== undefined && inside) {
    hasDecision = true
    const answered = toolDecision === 'allow' || rules.some((rule) => rule.action === 'allow')
    if (policy.preset === 'supervised' && changes && !answered) decisions.push('ask')
  } else if (policy.preset === undefined && policy.allowedPaths !== undefined && inside) {
    const listed = Object.values(policy.tools ?? {}).includes('allow')
    if (!listed || toolDecision === 'allow' || toolDecision === 'ask') hasDecision = true
  }
  if (decisions.includes('deny') || !hasDecision) return 'deny'
  return decisions.includes('ask') ? 'ask' : 'allow'
}

export function ruleMatches(rule: PolicyRule, { tool, permission, path, classification }: Name): boolean {
  if (rule.tools !== undefined && !rule.tools.includes(tool)) return false
  if (rule.kinds !== undefined && !rule.kinds.includes(classification.kind)) return false
  if (rule.permissions !== undefined && !rule.permissions.some((pattern) => namesPermission(pattern, permission)))
    return false
  return rule.paths === undefined || anyGlob(rule.paths, path)
}

function namesPermission(pattern: string, permission: string): boolean {
  return (
    pattern === '*' || pattern === permission || (pattern.endsWith(':*') && permission.startsWith(pattern.slice(0, -1)))
  )
}

export function referenceProtection(
  permission: Permission,
  { kind, protection }: Classification,
): { name: string; decision: Decision } | undefined {
  const changes = isMutating(permission) && !permission.startsWith('command:')
  if (kind === 'GIT_INTERNAL') return permission.startsWith('git:') ? undefined : { name: 'git', decision: 'deny' }
  if (kind === 'SECRET_LIKE') {
    const shows = permission === 'file:list' || permission === 'file:info'
    return shows ? undefined : { name: 'secret', decision: 'deny' }
  }
  if ((protection === 'generated' || protection === 'vendored') && changes)
    return { name: protection, decision: 'deny' }
  if (protection === 'lockfile' && changes) return { name: 'lockfile', decision: 'ask' }
  if (protection === 'binary' && permission === 'file:patch:apply') return { name: 'binary', decision: 'deny' }
  return undefined
}

/**
 * Matches with picomatch, except that `dir/**` always covers `dir`. For picomatch it does so only if `dir` has no star.
 */
export function globMatches(pattern: string, path: string): boolean {
  const stem = pattern.replace(/(\/\*\*)+$/, '')
  const globs = stem === pattern || stem === '**' ? [pattern] : [pattern, stem]
  return globs.some((glob) => picomatch.isMatch(path, glob, { dot: true }))
}

/**
 * Returns whether a path pattern of a policy matches. An alternative that ends in a name without `*` and `?` also covers
 * everything below.
 */
export function anyGlob(patterns: readonly string[], path: string): boolean {
  return patterns.flatMap(alternativesOf).some((pattern) => {
    const last = pattern.slice(pattern.lastIndexOf('/') + 1)
    return globMatches(pattern, path) || (!/[*?]/.test(last) && globMatches(`${pattern}/**`, path))
  })
}

/** The alternatives of braces that are not nested. */
function alternativesOf(pattern: string): readonly string[] {
  const braces = /\{([^{}]*,[^{}]*)\}/.exec(pattern)
  if (braces === null) return [pattern]
  const [whole, options = ''] = braces
  return options.split(',').flatMap((option) => alternativesOf(pattern.replace(whole, option)))
}
