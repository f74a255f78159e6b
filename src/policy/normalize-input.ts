import { didYouMean } from '../util/check-options.ts'
import { importSections } from './import-config.ts'
import { copyPlainData } from './plain-data.ts'
import type { presets } from './presets.ts'
import { type FieldOrigins, isObject, toCamelCase, writtenField } from './written-fields.ts'

/** The preset for each `default_action` of other systems. No preset denies everything that nothing allows. */
const defaultActions: Readonly<Record<string, keyof typeof presets | undefined>> = {
  allow: 'autonomous',
  ask: 'supervised',
  supervised: 'supervised',
  deny: undefined,
}

/** Nested objects whose fields may be in another spelling. */
const sections = ['limits', 'commands', 'labels', 'network', 'memory'] as const

/** Lists whose items have fields that may be in another spelling. */
const lists = ['rules'] as const

/** A policy in our field names, before it is checked. */
export interface NormalizedPolicy {
  readonly policy: unknown
  readonly origins: FieldOrigins
}

/**
 * Translates names that other systems use: their sections (see {@link importSections}), `default_action` for a preset,
 * `supervised` for the decision `ask`, and snake_case or a capital letter for every field. Returns anything but an object
 * unchanged.
 *
 * @throws TypeError for a field that occurs twice, for an invalid `default_action`, and for anything but plain data
 */
export function normalizePolicyInput(written: unknown): NormalizedPolicy {
  const input = copyPlainData(written)
  const origins = new Map<string, string>()
  if (!isObject(input)) return { policy: input, origins }
  const policy = importSections(toCamelCase(input, '', origins), origins)
  for (const section of sections) {
    const fields = policy[section]
    if (isObject(fields)) policy[section] = toCamelCase(fields, section, origins)
  }
  for (const list of lists) {
    const items = policy[list]
    if (!Array.isArray(items)) continue
    policy[list] = items.map((item, index) => (isObject(item) ? toCamelCase(item, `${list}[${index}]`, origins) : item))
  }
  if (isObject(policy.tools)) policy.tools = mapValues(policy.tools, decisionOf)
  if (Array.isArray(policy.rules)) {
    policy.rules = policy.rules.map((rule) =>
      isObject(rule) && Object.hasOwn(rule, 'action') ? { ...rule, action: decisionOf(rule.action) } : rule,
    )
  }
  return { policy: withPreset(policy, origins), origins }
}

/** Replaces `defaultAction` by the preset of the same meaning. */
function withPreset(policy: Record<string, unknown>, origins: FieldOrigins): unknown {
  if (!Object.hasOwn(policy, 'defaultAction')) return policy
  const { defaultAction, ...fields } = policy
  const field = writtenField('defaultAction', origins)
  if (Object.hasOwn(fields, 'preset'))
    throw new TypeError(`Policy fields "${field}" and "preset" mean the same; keep one`)
  if (typeof defaultAction !== 'string' || !Object.hasOwn(defaultActions, defaultAction)) {
    const names = Object.keys(defaultActions)
    const quoted = names.map((name) => `"${name}"`).join(' or ')
    const help = typeof defaultAction === 'string' ? didYouMean(defaultAction, names) : ''
    throw new TypeError(
      `Policy field "${field}" must be ${quoted}, not ${JSON.stringify(defaultAction) ?? String(defaultAction)}${help}`,
    )
  }
  const preset = defaultActions[defaultAction]
  return preset === undefined ? fields : { preset, ...fields }
}

function decisionOf(decision: unknown): unknown {
  return decision === 'supervised' ? 'ask' : decision
}

function mapValues(object: Readonly<Record<string, unknown>>, change: (value: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))
}
