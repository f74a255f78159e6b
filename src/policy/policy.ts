import type { DeclaredRoots } from './absolute-patterns.ts'
import { checkCommandEntries } from './command-entries.ts'
import { compileOperators } from './command-operators.ts'
import { createPolicy, type Policy } from './evaluation.ts'
import { compilePaths } from './match.ts'
import type { OuterPlaces } from './misplaced-fields.ts'
import { compileNetwork } from './network-policy.ts'
import { compileRules } from './rules.ts'
import { type ParsedPolicy, type PolicyData, parsePolicy } from './schema.ts'
import { nameWrittenFields } from './written-fields.ts'

/** Options of {@link compilePolicy}. */
export interface CompileOptions {
  /** Absolute names of directories of the workspace, below which absolute patterns are valid. Default: none. */
  readonly roots?: DeclaredRoots
  /** The places of fields that are no part of a policy, for messages. Default: those of `createWorkspace`. */
  readonly outer?: OuterPlaces
}

/**
 * Compiles a policy: the name of a preset, or an object, which denies everything that it does not allow.
 *
 * A preset decides only what nothing else decides: `supervised` does not ask if an allow rule matches or the tool is set to
 * `allow`. The denials of `readOnly` are final. `allowedPaths` restricts the preset to these paths.
 *
 * @throws TypeError with the name of the invalid field and the expected value
 * @example
 * const policy = compilePolicy({
 *   preset: 'autonomous',
 *   rules: [{ name: 'docs are final', action: 'ask', permissions: ['file:change'], paths: ['docs/**'] }],
 * })
 */
export function compilePolicy(input: unknown, { roots = {}, outer }: CompileOptions = {}): Policy {
  const parsed = parsePolicy(input, roots, outer)
  return nameWrittenFields(parsed.origins, () => compile(parsed, roots))
}

/** Compiles the data of a policy, which was parsed before. */
export function compileData(data: PolicyData): Policy {
  return compile({ data, origins: new Map(), usedRoots: new Set() }, {})
}

function compile(parsed: ParsedPolicy, roots: DeclaredRoots): Policy {
  const { data } = parsed
  compileOperators(data.commands?.deniedOperators)
  checkCommandEntries(data)
  return createPolicy(parsed, {
    rules: compileRules(data, roots),
    allowed: data.allowedPaths === undefined ? undefined : compilePaths(data.allowedPaths, 'allowedPaths'),
    mayReach: compileNetwork(data.network),
  })
}
