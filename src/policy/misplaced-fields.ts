import { defaultLimits } from '../limits.ts'
import { ownValue } from '../util/own-value.ts'
import { camelCase } from './written-fields.ts'

/** Options of `createWorkspace` that a policy does not have. */
export const workspaceOptionNames: readonly string[] = [
  ...['backend', 'mounts', 'policy', 'checks', 'extraTools', 'readOnly', 'mode', 'approve', 'parked', 'hooks', 'audit'],
  ...['artifacts', 'staleGuard', 'git', 'shell', 'keepCwd', 'record', 'clock', 'ids', 'run', 'history', 'dialect'],
]

/** The places outside of a policy that may have a misplaced field, as the end of a message. */
export interface OuterPlaces {
  /** Says how an option of the workspace is set. */
  option(name: string): string
  /** Says how a limit of the workspace is set. */
  limit(name: string): string
}

/** The places of a policy in code. */
export const placesInCode: OuterPlaces = {
  option: (name) => `${name} is an option of the workspace; pass createWorkspace({ ${name}: … })`,
  limit: (name) => `${name} is a limit of the workspace; pass createWorkspace({ limits: { ${name}: … } })`,
}

/** Names of other systems, in camelCase, for a field of a policy, a limit or an option of `createWorkspace`. */
const otherNames: Readonly<Record<string, string>> = {
  ...{ allowedCommands: 'commands.allow', deniedCommands: 'commands.deny', allowCommands: 'commands.allow' },
  ...{ denyCommands: 'commands.deny', blockedCommands: 'commands.deny', allowedPatterns: 'allowedPaths' },
  ...{ allowedDirectories: 'allowedPaths', allowedDirs: 'allowedPaths', writableRoots: 'allowedPaths' },
  ...{ deniedPatterns: 'deniedPaths', blockedPaths: 'deniedPaths', forbiddenPaths: 'deniedPaths' },
  ...{ deniedDirectories: 'deniedPaths', ignorePatterns: 'deniedPaths', protectedPatterns: 'readOnlyPaths' },
  ...{ protectedPaths: 'readOnlyPaths', readOnlyDirectories: 'readOnlyPaths', allowedHosts: 'network.hosts' },
  ...{ allowedDomains: 'network.hosts', default: 'preset', decision: 'preset', defaultMode: 'preset' },
  ...{ approvalPolicy: 'preset', interruptOn: 'tools', requireApproval: 'tools', toolPolicy: 'tools' },
  ...{ operations: 'rules[].permissions', taskRisk: 'rules[].risk', riskLevel: 'rules[].risk' },
  ...{ maxFiles: 'limits.patchFiles', maxFilesTouched: 'limits.patchFiles', maxInsertions: 'limits.patchInsertions' },
  ...{ maxDeletions: 'limits.patchDeletions', maxBytes: 'limits.patchBytes', rateLimit: 'limits.callsPerMinute' },
  ...{ maxReadLines: 'readLines', maxSearchResults: 'searchMatches', maxFindResults: 'findResults' },
  ...{ maxListEntries: 'listEntries', maxFileSize: 'textFileBytes', maxOutputChars: 'commandOutputBytes' },
  ...{ defaultTimeout: 'commandTimeoutMs', timeout: 'commandTimeoutMs', persistCwd: 'keepCwd', cwd: 'keepCwd' },
  ...{ logPath: 'audit', auditLog: 'audit', planMode: 'mode', sandbox: 'shell', rootDir: 'backend', root: 'backend' },
  ...{ denylist: 'commands.deny', classification: 'labels', filesystem: 'backend', files: 'backend', fs: 'backend' },
  ...{ isolation: 'shell', env: 'shell', executionLimits: 'limits', id: 'run', name: 'run', taint: 'run' },
  ...{ basePath: 'backend', workspaceRoot: 'backend', workspaceDir: 'backend', virtualMode: 'backend' },
}

/** Names of other systems, in camelCase, for a field of the same section. */
const namesInSection: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rules: {
    ...{ operations: 'permissions', operation: 'permissions', mode: 'action', decision: 'action', effect: 'action' },
    ...{
      behavior: 'action',
      interruptOn: 'action',
      pattern: 'paths',
      patterns: 'paths',
      glob: 'paths',
      globs: 'paths',
    },
    ...{ file: 'paths', files: 'paths', directory: 'paths', directories: 'paths', resource: 'paths', id: 'name' },
  },
  memory: { dir: 'path', directory: 'path', directories: 'path', root: 'path' },
  network: { allowedHosts: 'hosts', allowedDomains: 'hosts', domains: 'hosts', urls: 'hosts' },
  commands: { denied: 'deny', blocked: 'deny', denylist: 'deny' },
}

/** What is written at a place that differs from what other systems write there. */
const notes: Readonly<Record<string, string>> = {
  permissions: 'Each rule has a name, an action ("allow", "ask" or "deny"), permissions and paths.',
  interruptOn: 'Set each tool to "ask".',
  requireApproval: 'Set each tool to "ask", or use requireApprovalIf.',
}

/**
 * Returns where a field belongs that is not a field of its section, as the end of a message: a field of the section, another
 * section of a policy, a rule, or an option of the workspace. `undefined` for a name that no place has.
 *
 * @param section the first part of the path of the section, `''` for the policy itself
 * @param sections the fields of each section of a policy, with `''` for the policy itself
 */
export function placeOf(
  key: string,
  section: string,
  sections: Readonly<Record<string, readonly string[]>>,
  outer: OuterPlaces,
): string | undefined {
  const name = camelCase(key)
  const synonym = ownValue(namesInSection[section], name)
  if (synonym !== undefined) return didYouMean(synonym)
  const isOption = section === '' || section === 'limits'
  const place = placeOfName(name, sections, outer, isOption)
  const other = ownValue(otherNames, name)
  const found = place ?? (other === undefined ? undefined : placeOfName(other, sections, outer, isOption))
  const note = section === '' ? ownValue(notes, name) : undefined
  if (found !== undefined) return note === undefined ? found : `${found} ${note}`
  return other?.includes('.') ? didYouMean(other) : undefined
}

function placeOfName(
  name: string,
  sections: Readonly<Record<string, readonly string[]>>,
  outer: OuterPlaces,
  isOption: boolean,
): string | undefined {
  for (const [section, fields] of Object.entries(sections)) {
    if (fields.includes(name)) return didYouMean(section === '' ? name : `${section}.${name}`)
  }
  if (Object.hasOwn(defaultLimits, name)) return `: ${outer.limit(name)}`
  return isOption && workspaceOptionNames.includes(name) ? `: ${outer.option(name)}` : undefined
}

/**
 * Returns where a name belongs that is no option of `createWorkspace`, as the end of a message: a field of the policy, or an
 * option of another name. `undefined` for a name that no place has.
 *
 * @param sections the fields of each section of a policy, with `''` for the policy itself
 */
export function placeOfOption(key: string, sections: Readonly<Record<string, readonly string[]>>): string | undefined {
  const name = camelCase(key)
  const section = Object.keys(sections).find((one) => sections[one]?.includes(name))
  const isOfSection = section !== undefined && name !== 'name'
  const other = isOfSection ? `${section}.${name}`.replace(/^\./, '') : ownValue(otherNames, name)
  if (other === undefined) return undefined
  if (Object.hasOwn(defaultLimits, other)) return `; pass limits: { ${other}: … }`
  if (workspaceOptionNames.includes(other)) return didYouMean(other)
  const [field = '', inner] = other.split('.')
  if (inner === undefined) return `; pass policy: { ${field}: … }`
  const value = field.endsWith('[]') ? `[{ ${inner}: … }]` : `{ ${inner}: … }`
  return `; pass policy: { ${field.replace('[]', '')}: ${value} }`
}

function didYouMean(name: string): string {
  return `; did you mean ${JSON.stringify(name)}?`
}
