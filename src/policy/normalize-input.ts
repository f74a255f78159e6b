import type { presets } from './presets.ts'

/** The preset for each `default_action` of other systems. No preset denies everything that nothing allows. */
const defaultActions: Readonly<Record<string, keyof typeof presets | undefined>> = {
  allow: 'autonomous',
  ask: 'supervised',
  supervised: 'supervised',
  deny: undefined,
}

/** Nested objects whose keys may be in snake_case. */
const sections = ['limits', 'commands'] as const

/**
 * Translates names that other systems use: `default_action` for a preset, `supervised` for the decision `ask`, and
 * snake_case for every field. Returns anything but an object unchanged.
 *
 * @throws TypeError for a field that occurs twice, and for an invalid `default_action`
 */
export function normalizePolicyInput(input: unknown): unknown {
  if (!isObject(input)) return input
  const policy = toCamelCase(input, '')
  for (const section of sections) {
    if (isObject(policy[section])) policy[section] = toCamelCase(policy[section], `${section}.`)
  }
  if (isObject(policy.tools)) policy.tools = mapValues(policy.tools, decisionOf)
  if (Array.isArray(policy.rules)) {
    policy.rules = policy.rules.map((rule) =>
      isObject(rule) && Object.hasOwn(rule, 'action') ? { ...rule, action: decisionOf(rule.action) } : rule,
    )
  }
  if (!Object.hasOwn(policy, 'defaultAction')) return policy
  const { defaultAction, ...fields } = policy
  if (Object.hasOwn(fields, 'preset'))
    throw new TypeError('Policy fields "default_action" and "preset" are the same; keep one')
  if (typeof defaultAction !== 'string' || !Object.hasOwn(defaultActions, defaultAction)) {
    const names = Object.keys(defaultActions).map((name) => `"${name}"`)
    throw new TypeError(
      `Policy field "default_action" must be ${names.join(' or ')}, not ${JSON.stringify(defaultAction) ?? 'that'}`,
    )
  }
  const preset = defaultActions[defaultAction]
  return preset === undefined ? fields : { preset, ...fields }
}

function decisionOf(decision: unknown): unknown {
  return decision === 'supervised' ? 'ask' : decision
}

/**
 * Returns the object with its snake_case keys in camelCase. An object with an own `__proto__` key is returned unchanged, for
 * validation to reject.
 */
function toCamelCase(input: Readonly<Record<string, unknown>>, prefix: string): Record<string, unknown> {
  if (Object.hasOwn(input, '__proto__')) return input as Record<string, unknown>
  const result: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(input)) {
    const name = /^[a-z]+(?:_[a-z]+)+$/.test(key) ? key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()) : key
    if (Object.hasOwn(result, name)) {
      throw new TypeError(`Policy field "${prefix}${key}" occurs twice, in two spellings; keep one`)
    }
    result[name] = value
  }
  return result
}

function mapValues(object: Readonly<Record<string, unknown>>, change: (value: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
