import type { ErrorCode } from '../errors.ts'
import { isMutating, type Permission } from './permissions.ts'
import type { Decision } from './types.ts'

/** The decisions of a preset for everything that no rule decides. */
export interface Preset {
  readonly reads: Decision
  /** For changes and commands. */
  readonly mutations: Decision
  /** The error code of its denials. */
  readonly code: ErrorCode
}

/**
 * The presets by name. `readOnly` denies every change and command, and no rule can allow them. `supervised` asks for them,
 * unless an allow rule matches or the tool is set to `allow`. `autonomous` allows everything inside the root. No preset
 * lifts a built-in protection.
 */
export const presets = {
  readOnly: { reads: 'allow', mutations: 'deny', code: 'READ_ONLY' },
  supervised: { reads: 'allow', mutations: 'ask', code: 'POLICY_DENIED' },
  autonomous: { reads: 'allow', mutations: 'allow', code: 'POLICY_DENIED' },
} as const satisfies Record<PresetName, Preset>

/** The name of a preset. */
export type PresetName = 'readOnly' | 'supervised' | 'autonomous'

/** The names of the presets, the strictest first. */
export const presetNames = Object.keys(presets) as readonly PresetName[]

/** Returns the decision of a preset for a permission. */
export function presetDecision(name: PresetName, permission: Permission): Decision {
  const preset: Preset = presets[name]
  return isMutating(permission) ? preset.mutations : preset.reads
}
