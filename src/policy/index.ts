/** Policies as data: their schema, presets, permissions and labels, and what a verdict holds. */

export type { Classification, FileKind, Protection } from '../files/classify/types.ts'
export type { Access, ContentProtection, GuardedAccess } from './access.ts'
export type { HandlerAnswer } from './approval.ts'
export type { ArgumentText } from './arguments.ts'
export type { DialectCall } from './dialect-call.ts'
export type { CallPolicy, Policy, PolicyCall, Verdict, VerdictRule } from './evaluation.ts'
export { type Label, type LabelPolicy, type LabelSink, type LabelSource, labelNames } from './labels.ts'
export { type LintOptions, type LintTool, lintPolicy, type PolicyFinding } from './lint.ts'
export type { MemoryPolicy } from './memory-policy.ts'
export type { NetworkPolicy } from './network-policy.ts'
export type { ParkedEffect } from './parked-calls.ts'
export { type Permission, type PermissionGlob, type PermissionPattern, permissions } from './permissions.ts'
export { type PresetName, presetNames } from './presets.ts'
export { type RiskFlag, riskMeanings } from './risk/flags.ts'
export type { Risk } from './risk/index.ts'
export {
  type CommandPolicy,
  type PolicyData,
  type PolicyInput,
  type PolicyLimits,
  type PolicyRule,
  policySchema,
} from './schema.ts'
export type { ProgramContent, Taint, TaintOrigin } from './taint.ts'
export type { Decision, Override } from './types.ts'
