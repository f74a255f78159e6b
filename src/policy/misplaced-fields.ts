import { defaultLimits } from '../limits.ts'
import { camelCase } from './written-fields.ts'

/** Options of `createWorkspace` that a policy does not have. */
export const workspaceOptionNames: readonly string[] = [
  ...['backend', 'mounts', 'policy', 'extraTools', 'readOnly', 'mode', 'approve', 'parked', 'hooks', 'audit'],
  ...['artifacts', 'staleGuard', 'git', 'shell', 'keepCwd', 'record', 'clock', 'ids', 'run', 'history', 'dialect'],
]

/** Names of other systems, in camelCase, for a field of a policy, a limit or an option of `createWorkspace`. */
const otherNames: Readonly<Record<string, string>> = {
  ...{ allowedCommands: 'commands.allow', deniedCommands: 'commands.deny', allowCommands: 'commands.allow' },
  ...{ denyCommands: 'commands.deny', allowedPatterns: 'allowedPaths', deniedPatterns: 'deniedPaths' },
  ...{ protectedPatterns: 'readOnlyPaths', protectedPaths: 'readOnlyPaths', allowedHosts: 'network.hosts' },
  ...{ maxReadLines: 'readLines', maxSearchResults: 'searchMatches', maxFindResults: 'findResults' },
  ...{ maxListEntries: 'listEntries', maxFileSize: 'textFileBytes', maxOutputChars: 'commandOutputBytes' },
  ...{ defaultTimeout: 'commandTimeoutMs', timeout: 'commandTimeoutMs', persistCwd: 'keepCwd', cwd: 'keepCwd' },
  ...{ rootDir: 'backend', root: 'backend' },
}

/**
 * Returns where a field belongs that is not a field of its section: another section of a policy, a rule, or an option of
 * `createWorkspace`. `undefined` for a name that no place has.
 *
 * @param sections the fields of each section of a policy, with `''` for the policy itself
 */
export function placeOf(key: string, sections: Readonly<Record<string, readonly string[]>>): string | undefined {
  const name = camelCase(key)
  const place = placeOfName(name, sections)
  if (place !== undefined) return place
  const other = Object.hasOwn(otherNames, name) ? (otherNames[name] as string) : undefined
  if (other === undefined) return undefined
  return placeOfName(other, sections) ?? `did you mean ${JSON.stringify(other)}?`
}

function placeOfName(name: string, sections: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [section, fields] of Object.entries(sections)) {
    if (fields.includes(name)) return `did you mean ${JSON.stringify(section === '' ? name : `${section}.${name}`)}?`
  }
  if (Object.hasOwn(defaultLimits, name)) {
    return `${name} is a limit of the workspace; pass createWorkspace({ limits: { ${name}: … } })`
  }
  if (workspaceOptionNames.includes(name)) {
    return `${name} is an option of the workspace; pass createWorkspace({ ${name}: … })`
  }
  return undefined
}
