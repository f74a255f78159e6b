import type { presets } from './presets.ts'

/** What `default_action` of other systems means here: a preset, or none, which denies what nothing allows. */
const defaultActions: Readonly<Record<string, keyof typeof presets | undefined>> = {
  allow: 'autonomous',
  ask: 'supervised',
  supervised: 'supervised',
  deny: undefined,
}

/** Fields below the policy's own whose names may be spelled in snake_case, too. */
const parts = ['limits', 'commands'] as const

/**
 * Brings names that other systems use into ours: `default_action` for a preset, `supervised` for the decision `ask`, and
 * snake_case for every field. What is no policy object is given back as it is.
 *
 * @throws TypeError where one thing is said twice, or a `default_action` is none
 */
export function normalizePolicyInput(input: unknown): unknown {
  if (!isObject(input)) return input
  const policy = respell(input, '')
  for (const part of parts) if (isObject(policy[part])) policy[part] = respell(policy[part], `${part}.`)
  if (isObject(policy.tools)) policy.tools = mapValues(policy.tools, decisionOf)
  if (Array.isArray(policy.rules)) {
    policy.rules = policy.rules.map((rule) =>
      isObject(rule) && Object.hasOwn(rule, 'action') ? { ...rule, action: decisionOf(rule.action) } : rule,
    )
  }
  if (!Object.hasOwn(policy, 'defaultAction')) return policy
  const { defaultAction, ...rest } = policy
  if (Object.hasOwn(rest, 'preset'))
    throw new TypeError('Policy field "default_action" says what "preset" says; keep one')
  if (typeof defaultAction !== 'string' || !Object.hasOwn(defaultActions, defaultAction)) {
    const names = Object.keys(defaultActions).map((name) => `"${name}"`)
    throw new TypeError(
      `Policy field "default_action" must be ${names.join(' or ')}, not ${JSON.stringify(defaultAction) ?? 'that'}`,
    )
  }
  const preset = defaultActions[defaultAction]
  return preset === undefined ? rest : { preset, ...rest }
}

function decisionOf(decision: unknown): unknown {
  return decision === 'supervised' ? 'ask' : decision
}

/** The object with its snake_case keys in our spelling. What no copy would keep is left for whoever refuses it. */
function respell(given: Readonly<Record<string, unknown>>, where: string): Record<string, unknown> {
  if (Object.hasOwn(given, '__proto__')) return given as Record<string, unknown>
  const spelled: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(given)) {
    const name = /^[a-z]+(?:_[a-z]+)+$/.test(key) ? key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()) : key
    if (Object.hasOwn(spelled, name)) {
      throw new TypeError(`Policy field "${where}${key}" is there twice, in two spellings; keep one`)
    }
    spelled[name] = value
  }
  return spelled
}

function mapValues(object: Readonly<Record<string, unknown>>, change: (value: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
