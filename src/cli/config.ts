import { readdirSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { rootsOfMapping, type VirtualRoots } from '../dialects/runtime/path-mapping.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import { takeAuditSection } from '../policy/import-config.ts'
import { requireKnownTools } from '../policy/known-tools.ts'
import type { OuterPlaces } from '../policy/misplaced-fields.ts'
import { copyPlainData } from '../policy/plain-data.ts'
import { compilePolicy } from '../policy/policy.ts'
import { presetNames } from '../policy/presets.ts'
import { type PolicyData, type PolicyInput, valueSuggestion } from '../policy/schema.ts'
import { nameWrittenFields } from '../policy/written-fields.ts'
import { hasPlainPrototype } from '../util/check-options.ts'
import { readRegularFile } from '../util/regular-file.ts'
import { knownTools } from '../workspace/known-tools.ts'
import { requirePlainName } from './audit-file.ts'
import type { ConfigFormat } from './parse-config.ts'
import { type Root, realPathOf } from './roots.ts'

/** Configuration of the command line. */
export interface Config {
  readonly policy: PolicyInput
  /** The policy without the protection of the configuration files. */
  readonly written: PolicyInput
  /** The audit file. */
  readonly audit?: string
  /**
   * The absolute names of the roots, if the policy uses them. A dialect then takes and shows these names. Unset: paths are
   * those of the dialect alone.
   */
  readonly virtualRoots?: VirtualRoots
  /** The configuration file. */
  readonly file?: string
  /** Whether the file was found by its name, not passed by `--policy`. */
  readonly found?: boolean
}

const names = ['wardspace.config.json', 'wardspace.config.toml', 'wardspace.config.yaml', 'wardspace.config.yml']
const MAX_BYTES = 1024 * 1024

/** The options of the command line that set an option of the workspace. */
const flags: Readonly<Record<string, string>> = {
  ...{
    backend: '--root DIR',
    mounts: '--root NAME=DIR',
    policy: '--policy P',
    readOnly: '--read-only',
    mode: '--plan',
  },
  ...{ approve: '--ask', parked: '--parked DIR', audit: '--audit FILE', git: '--git', shell: '--shell S' },
  ...{ record: '--record FILE', dialect: '--dialect D' },
}

/** The places of a policy in a file. */
const placesInOptions: OuterPlaces = {
  option(name) {
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    return flag === undefined
      ? `${name} is an option of the library, which the command line does not have`
      : `use ${flag} on the command line`
  },
  limit: (name) => `${name} is a limit of the library, which the command line does not have`,
}

/**
 * Loads the policy of a root: a preset by name, or a file. Default: the configuration in the root or in the current
 * directory. An agent must not change what governs its next session, so a configuration inside the root is
 * read-only, and so are `modules`, files that the command line loads as code. Without a policy nothing is opened.
 *
 * @param dialect whose tools the policy may name
 * @throws TypeError that names the file, the line or field, and what is expected
 */
export async function loadConfig(
  root: string | readonly Root[],
  option: string | undefined,
  modules: readonly string[] = [],
  dialect?: Dialect,
): Promise<Config> {
  const roots = typeof root === 'string' ? [{ at: '', directory: root }] : root
  if (option !== undefined && !/[./\\]/.test(option)) {
    const written = option as PolicyInput
    if (presetNames.includes(option as never)) return { policy: guarded(written, roots, modules), written }
    const help = valueSuggestion(option, presetNames)
    throw new TypeError(`There is no policy preset "${option}"; use ${presetNames.join(', ')}, or a file${help}`)
  }
  const file = option ?? findConfig(roots)
  if (file === undefined) {
    throw new TypeError(
      `A policy is required: name ${presetNames.join(', ')}, or a file with --policy, or put a wardspace.config.toml into the root`,
    )
  }
  const { policy, ...rest } = await readConfig(file, roots, dialect, option === undefined)
  return {
    ...rest,
    written: policy,
    policy: guarded(policy, roots, [file, ...modules]),
    found: option === undefined,
  }
}

/**
 * Finds the configuration in the only root or the current directory. Two files in one directory are an error. The paths of a
 * configuration refer to its root, so with several named roots none is used.
 */
function findConfig(roots: readonly Root[]): string | undefined {
  const unnamed = roots.filter(({ at }) => at === '')
  for (const { at, directory } of roots) {
    const [name] = at === '' ? [] : configsIn(directory)
    if (name === undefined) continue
    throw new TypeError(`There is a ${name} in "${directory}": with named roots, pass one policy with --policy`)
  }
  for (const directory of new Set([...unnamed.map(({ directory }) => resolve(directory)), resolve('.')])) {
    const here = configsIn(directory)
    if (here.length > 1) {
      throw new TypeError(`There are ${here.join(' and ')} in "${directory}": keep one, or pass one with --policy`)
    }
    if (here[0] !== undefined) return relative('.', join(directory, here[0]))
  }
  return undefined
}

function configsIn(directory: string): string[] {
  try {
    // Exactly these names: opening a file would ignore letter case on some disks.
    return readdirSync(directory).filter((name) => names.includes(name))
  } catch {
    return []
  }
}

/** Reads and checks a configuration file. `isFound`: the file was found by its name, so a link is not followed. */
async function readConfig(
  file: string,
  roots: readonly Root[],
  dialect: Dialect | undefined,
  isFound: boolean,
): Promise<Omit<Config, 'written'>> {
  const format = formatOf(file)
  if (format === undefined) throw new TypeError(`The policy file "${file}" is neither .json, .toml nor .yaml`)
  // The parsers are loaded only if there is a file to parse.
  const { parseConfig } = await import('./parse-config.ts')
  const { data, lineOf } = parseConfig(readText(file, isFound), format, file)
  if (typeof data !== 'object' || data === null || Array.isArray(data) || !hasPlainPrototype(data)) {
    throw new TypeError(`${file}: a policy is an object with fields such as preset and rules`)
  }
  const { audit, log_path: logPath = audit, ...fields } = data as Record<string, unknown>
  if (audit !== undefined && logPath !== audit)
    throw new TypeError(`${file}: "log_path" and "audit" mean the same; keep one`)
  if (logPath !== undefined && (typeof logPath !== 'string' || logPath === '')) {
    throw new TypeError(`${at(file, lineOf('audit') ?? lineOf('log_path'))}: "audit" must be the name of a file`)
  }
  try {
    const plainFields = copyPlainData(fields) as Record<string, unknown>
    const { config, file: auditFile = logPath } = takeAuditSection(plainFields)
    if (logPath !== undefined && config !== plainFields)
      throw new TypeError(`${file}: "audit" and "security.audit" mean the same; keep one`)
    const declared = declaredRoots(roots, dialect)
    const policy = compilePolicy(config, { roots: declared, outer: placesInOptions })
    nameWrittenFields(policy.origins, () => requireKnownTools(policy.data, knownTools([], dialect), declared))
    if (auditFile !== undefined) requirePlainName(auditFile)
    const auditOption = auditFile === undefined ? {} : { audit: besideFile(auditFile, file) }
    return { policy: policy.data, file, ...auditOption, ...virtualRootsOf(roots, policy.usedRoots, dialect) }
  } catch (error) {
    /* v8 ignore if -- @preserve: nothing else is thrown for a wrong file */
    if (!(error instanceof TypeError)) throw error
    const { message } = error
    const field = /field "([^"]+)"/.exec(message)?.[1]
    const help = dialect === undefined ? await dialectHelp(message) : ''
    throw new TypeError(`${at(file, field === undefined ? undefined : lineOf(field))}: ${message}${help}`)
  }
}

/** Returns the dialects that have the unknown tool of a message, as the end of that message. */
async function dialectHelp(message: string): Promise<string> {
  const tool = /^Unknown tool "([^"]+)"/.exec(message)?.[1]
  if (tool === undefined) return ''
  const { dialects } = await import('../dialects/index.ts')
  const names = Object.keys(dialects).filter((name) => dialects[name]?.().tools.some((one) => one.name === tool))
  const end = message.endsWith('?') ? ' ' : '. '
  return names.length === 0 ? '' : `${end}It is a tool of --dialect ${names.join(' or ')}`
}

/** Returns the absolute names under which a policy may name the roots: their directories, and the virtual roots of the dialect. */
function declaredRoots(roots: readonly Root[], dialect: Dialect | undefined): VirtualRoots {
  const virtual = dialect === undefined ? {} : rootsOfMapping(dialect.pathMapping)
  return { ...virtual, ...Object.fromEntries(roots.flatMap(namesOf)) }
}

/**
 * Returns the virtual roots of the dialect if the policy names a directory by its absolute path. The dialect's own roots stay
 * valid, but results show the names that the policy uses.
 */
function virtualRootsOf(
  roots: readonly Root[],
  policyRoots: ReadonlySet<string>,
  dialect: Dialect | undefined,
): Pick<Config, 'virtualRoots'> {
  const names = roots.flatMap(namesOf)
  if (!names.some(([name]) => policyRoots.has(name))) return {}
  const absolute = Object.fromEntries(names.sort(([a], [b]) => Number(policyRoots.has(b)) - Number(policyRoots.has(a))))
  const own = dialect === undefined ? {} : rootsOfMapping(dialect.pathMapping)
  return { virtualRoots: { ...absolute, ...own, ...absolute } }
}

/** Returns the absolute names of a root, as given and with its links resolved. */
function namesOf({ at, directory }: Root): [name: string, at: string][] {
  const names = [resolve(directory), realPathOf(directory)].map((name) => name.split(sep).join('/'))
  return [...new Set(names)].map((name) => [name, at])
}

function besideFile(name: string, file: string): string {
  return isAbsolute(name) ? name : join(dirname(file), name)
}

/** Returns the format of a configuration by its file extension. */
function formatOf(name: string): ConfigFormat | undefined {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (extension === 'yml') return 'yaml'
  return extension === 'json' || extension === 'toml' || extension === 'yaml' ? extension : undefined
}

function at(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`
}

function readText(file: string, isFound: boolean): string {
  let bytes: Uint8Array
  try {
    bytes = readRegularFile(file, { maxBytes: MAX_BYTES, noFollow: isFound })
  } catch (error) {
    const { message } = error as Error
    const help = message === 'it is a link' ? '; to use it, name it with --policy' : ''
    throw new TypeError(`Cannot read the policy file "${file}": ${message}${help}`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new TypeError(`The policy file "${file}" is not UTF-8`)
  }
}

/** Returns the policy with the configuration files and `files` read-only, because they govern the next session. */
function guarded(policy: PolicyInput, roots: readonly Root[], files: readonly string[]): PolicyInput {
  const data: PolicyData = typeof policy === 'string' ? { preset: policy } : policy
  const readOnlyPaths = [...(data.readOnlyPaths ?? [])]
  for (const { at, directory } of roots) {
    const below = at === '' ? '' : `${literal(at)}/`
    const inside = files.map((file) => globBelow(directory, file)).filter((glob) => glob !== undefined)
    readOnlyPaths.push(...[...names, ...inside].map((name) => `${below}${name}`))
  }
  return { ...data, readOnlyPaths: [...new Set(readOnlyPaths)] }
}

/** Returns the path of a file below a root as a glob, or `undefined` if it is outside. */
function globBelow(root: string, file: string): string | undefined {
  let path: string
  try {
    path = relative(realpathSync(root), realpathSync(file))
  } catch {
    return undefined
  }
  if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) return undefined
  return literal(path.split(sep).join('/'))
}

/** Returns a glob that matches the path. Special characters become `?`. */
function literal(path: string): string {
  return path.replace(/[*?[\]{}()!+@\\]/g, '?')
}
