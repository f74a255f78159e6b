import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { compilePolicy, type PolicyData, type PolicyInput, presetNames } from '../policy/policy.ts'
import { builtinTools } from '../tools/index.ts'
import type { ConfigFormat } from './parse-config.ts'
import type { Root } from './roots.ts'

/** What the command line works with: a policy, and what else a configuration may say. */
export interface Config {
  readonly policy: PolicyInput
  /** Where the audit goes. */
  readonly audit?: string
  /** The file that it came from. */
  readonly file?: string
  /** Whether the file was found, and not named. */
  readonly found?: boolean
}

const names = ['wardspace.config.json', 'wardspace.config.toml', 'wardspace.config.yaml', 'wardspace.config.yml']
const MAX_BYTES = 1024 * 1024

/**
 * Loads the policy of a root: a preset by name, or a file. Default: the configuration in the root or in the current
 * directory, else `autonomous`. An agent must not change what governs its next session, so a configuration inside the root is
 * read-only, and so are `modules`, files that the command line loads as code.
 *
 * @throws TypeError that names the file, the line or field, and what is expected
 */
export async function loadConfig(
  root: string | readonly Root[],
  given: string | undefined,
  modules: readonly string[] = [],
): Promise<Config> {
  const roots = typeof root === 'string' ? [{ at: '', directory: root }] : root
  if (given !== undefined && !/[./\\]/.test(given)) {
    if (presetNames.includes(given as never)) return { policy: guarded(given as PolicyInput, roots, modules) }
    throw new TypeError(`There is no policy preset "${given}"; name ${presetNames.join(', ')}, or a file`)
  }
  const file = given ?? findConfig(roots)
  if (file === undefined) return { policy: guarded('autonomous', roots, modules) }
  const { audit, policy } = await readConfig(file)
  return {
    policy: guarded(policy, roots, [file, ...modules]),
    ...(audit === undefined ? {} : { audit }),
    file,
    found: given === undefined,
  }
}

/**
 * The configuration in the only root or the current directory; both is too many, and so are two formats in one place. The
 * paths in a configuration are those of its root, so that none of several roots speaks for all.
 */
function findConfig(roots: readonly Root[]): string | undefined {
  const alone = roots.filter(({ at }) => at === '')
  for (const { at, directory } of roots) {
    const [name] = at === '' ? [] : configsIn(directory)
    if (name === undefined) continue
    throw new TypeError(`There is a ${name} in "${directory}": where roots have names, name one policy with --policy`)
  }
  for (const place of new Set([...alone.map(({ directory }) => resolve(directory)), resolve('.')])) {
    const here = configsIn(place)
    if (here.length > 1) {
      throw new TypeError(`There are ${here.join(' and ')} in "${place}": keep one, or name one with --policy`)
    }
    if (here[0] !== undefined) return relative('.', join(place, here[0]))
  }
  return undefined
}

function configsIn(directory: string): string[] {
  try {
    // Exactly these names: on a disk that ignores letter case others would do, too.
    return readdirSync(directory).filter((name) => names.includes(name))
  } catch {
    return []
  }
}

/** A configuration file, read and checked. */
async function readConfig(file: string): Promise<Config> {
  const format = formatOf(file)
  if (format === undefined) throw new TypeError(`The policy file "${file}" is neither .json, .toml nor .yaml`)
  // Its readers are loaded only where there is something to read.
  const { parseConfig } = await import('./parse-config.ts')
  const { data, lineOf } = parseConfig(readText(file), format, file)
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new TypeError(`${file}: a policy is an object with fields such as preset and rules`)
  }
  const { audit, log_path: logPath = audit, acl_enabled: acl, ...rest } = data as Record<string, unknown>
  if (audit !== undefined && logPath !== audit)
    throw new TypeError(`${file}: "log_path" says what "audit" says; keep one`)
  if (logPath !== undefined && (typeof logPath !== 'string' || logPath === '')) {
    throw new TypeError(`${at(file, lineOf('audit') ?? lineOf('log_path'))}: "audit" must be the name of a file`)
  }
  if (acl !== undefined && typeof acl !== 'boolean') {
    throw new TypeError(`${at(file, lineOf('acl_enabled'))}: "acl_enabled" must be true or false`)
  }
  const policy = acl === undefined ? rest : { ...rest, memory: withAcl(rest.memory, acl, file) }
  try {
    requireTools(compilePolicy(policy).data)
  } catch (error) {
    /* v8 ignore if -- @preserve: a fault that is not the file's is none of what is thrown there */
    if (!(error instanceof TypeError)) throw error
    const { message } = error
    const field = /field "([^"]+)"/.exec(message)?.[1]
    throw new TypeError(`${at(file, field === undefined ? undefined : lineOf(field))}: ${message}`)
  }
  const beside = (name: string) => (isAbsolute(name) ? name : join(dirname(file), name))
  return { policy: policy as PolicyData, file, ...(typeof logPath === 'string' ? { audit: beside(logPath) } : {}) }
}

/** The format of a configuration by the extension of its name. */
function formatOf(name: string): ConfigFormat | undefined {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (extension === 'yml') return 'yaml'
  return extension === 'json' || extension === 'toml' || extension === 'yaml' ? extension : undefined
}

/** A misspelled tool would be a rule that never matches. */
function requireTools({ tools = {}, rules = [], limits }: PolicyData): void {
  const named: [field: string, tool: string][] = [
    ...Object.keys(tools).map((tool): [string, string] => [`tools.${tool}`, tool]),
    ...Object.keys(limits?.toolCallsPerMinute ?? {}).map((tool): [string, string] => [
      `limits.toolCallsPerMinute.${tool}`,
      tool,
    ]),
  ]
  for (const [index, rule] of rules.entries()) {
    for (const [place, tool] of (rule.tools ?? []).entries()) named.push([`rules[${index}].tools[${place}]`, tool])
  }
  const known = [...builtinTools.map(({ name }) => name), ...operationNames]
  for (const [field, tool] of named) {
    if (tool.includes('*') || known.includes(tool)) continue
    throw new TypeError(`Policy field "${field}" names no tool: "${tool}"; the tools are ${known.join(', ')}`)
  }
}

/** What else is judged like a tool. */
const operationNames = ['undo', 'rollback', 'commit', 'git_checkout']

/** The policy of the memory with `acl_enabled`, which says the same as its own field. */
function withAcl(memory: unknown, acl: boolean, file: string): unknown {
  if (memory === undefined) return acl ? { acl } : undefined
  if (typeof memory !== 'object' || memory === null) return memory
  if (Object.hasOwn(memory, 'acl')) throw new TypeError(`${file}: "acl_enabled" says what "memory.acl" says; keep one`)
  return { ...memory, acl }
}

function at(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`
}

function readText(file: string): string {
  let bytes: Uint8Array
  try {
    if (statSync(file).size > MAX_BYTES) throw new TypeError(`The policy file "${file}" is larger than 1 MiB`)
    bytes = readFileSync(file)
  } catch (error) {
    if (error instanceof TypeError) throw error
    throw new TypeError(`Cannot read the policy file "${file}"`)
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
  const { read_only_paths: spelled, ...rest } = data as PolicyData & { read_only_paths?: readonly string[] }
  const readOnlyPaths = [...(data.readOnlyPaths ?? spelled ?? [])]
  for (const { at, directory } of roots) {
    const below = at === '' ? '' : `${literal(at)}/`
    const inside = files.map((file) => globBelow(directory, file)).filter((glob) => glob !== undefined)
    readOnlyPaths.push(...[...names, ...inside].map((name) => `${below}${name}`))
  }
  return { ...rest, readOnlyPaths: [...new Set(readOnlyPaths)] }
}

/** Returns the path of a file below a root as a glob, or `undefined` if it is outside. */
function globBelow(root: string, file: string): string | undefined {
  let place: string
  try {
    place = relative(realpathSync(root), realpathSync(file))
  } catch {
    return undefined
  }
  if (place === '..' || place.startsWith(`..${sep}`) || isAbsolute(place)) return undefined
  return literal(place.split(sep).join('/'))
}

/** A path as a glob that matches it. */
function literal(path: string): string {
  return path.replace(/[*?[\]{}()!+@\\]/g, '?')
}
