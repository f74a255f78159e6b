import type { ErrorCode } from '../errors.ts'
import { isMutating, type Permission } from './permissions.ts'
import type { Decision } from './types.ts'

/** What a preset decides for everything that no rule decides. */
export interface Preset {
  readonly reads: Decision
  /** What changes something; a command counts as that. */
  readonly mutations: Decision
  /** The code of what it denies. */
  readonly code: ErrorCode
}

/**
 * The presets by name. `readOnly` denies every mutation and command, and no rule opens them again. `supervised` asks
 * for them, unless an allow rule or a per-tool `allow` speaks for the access. `autonomous` allows everything inside the
 * root. None of them lifts a built-in protection.
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

/** What a preset decides for a permission. */
export function presetDecision(name: PresetName, permission: Permission): Decision {
  const preset: Preset = presets[name]
  return isMutating(permission) ? preset.mutations : preset.reads
}
