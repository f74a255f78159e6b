import { appendFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { jsonlSink } from '../audit/jsonl-sink.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import { directoryParking } from '../policy/directory-parking.ts'
import type { Backend } from '../storage/backend.ts'
import {
  createWorkspace,
  type DialectWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from '../workspace/create-workspace.ts'
import { type Config, loadConfig } from './config.ts'
import { isModulePath } from './dialect.ts'
import { openRoots, type Root, rootsOf } from './roots.ts'
import { shellOf } from './shell.ts'

const shared = {
  root: { type: 'string', multiple: true },
  policy: { type: 'string' },
  audit: { type: 'string' },
  'read-only': { type: 'boolean' },
  overlay: { type: 'boolean' },
  json: { type: 'boolean' },
  ask: { type: 'boolean' },
  plan: { type: 'boolean' },
  parked: { type: 'string' },
  record: { type: 'string' },
  dialect: { type: 'string' },
  shell: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

/** Options of one command alone. */
type OptionConfig = NonNullable<ParseArgsConfig['options']>
type Parsed<O extends OptionConfig> = ReturnType<typeof parseArgs<{ options: O; allowPositionals: true; strict: true }>>

/** The options that commands share, those of the command, and the words that are none. Throws a TypeError for an unknown option. */
export function parseOptions<O extends OptionConfig = Record<never, never>>(
  words: string[],
  most: number,
  own?: O,
): Parsed<typeof shared & O> {
  const options = { ...shared, ...own } as typeof shared & O
  const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true, strict: true })
  const [surplus] = positionals.slice(most)
  if (surplus !== undefined) throw new TypeError(`Unexpected argument "${surplus}"`)
  return { values, positionals }
}

export type Options = ReturnType<typeof parseOptions>['values']

/** The workspace that the options ask for, on real directories; `narrowed`: on others, such as those that a client names. */
export function openWorkspace(options: Options, more?: Partial<WorkspaceOptions>): Promise<Workspace>
export function openWorkspace(
  options: Options,
  more: Partial<WorkspaceOptions> | undefined,
  dialect: Dialect | undefined,
  narrowed?: readonly Root[],
): Promise<Workspace | DialectWorkspace>
export async function openWorkspace(
  options: Options,
  more: Partial<WorkspaceOptions> = {},
  dialect?: Dialect,
  narrowed?: readonly Root[],
): Promise<Workspace | DialectWorkspace> {
  // What is narrowed has the policy of the whole, whose paths are the same.
  const policyRoots = options.root === undefined && narrowed !== undefined ? narrowed : rootsOf(options.root)
  const roots = narrowed ?? policyRoots
  const { policy, audit } = await configAt(policyRoots, options)
  const { parked } = options
  const isReadOnly = options['read-only'] === true
  const place = { roots, overlay: options.overlay === true, readOnly: isReadOnly }
  const shell = await shellOf(options.shell, place)
  const backend = openRoots(roots, place.overlay)
  try {
    // Asked here already, because opening the sink makes the file.
    if (audit !== undefined && backend.containsPhysicalPath?.(audit) === true) {
      throw new TypeError(`The audit file "${audit}" lies inside the root, where an agent could reach it`)
    }
    if (parked !== undefined && backend.containsPhysicalPath?.(resolve(parked)) === true) {
      throw new TypeError(`The directory "${parked}" lies inside the root, where an agent could reach it`)
    }
    const wanted = {
      backend,
      policy,
      ...(isReadOnly ? { readOnly: true } : {}),
      ...(shell === undefined ? {} : { shell }),
      ...(options.plan === true ? { mode: 'plan' as const } : {}),
      ...(parked === undefined ? {} : { parked: directoryParking(parked) }),
      ...auditOf(audit),
      ...recordOf(options.record, backend),
      ...more,
    }
    const workspace = await (dialect === undefined ? createWorkspace(wanted) : createWorkspace({ ...wanted, dialect }))
    if (shell !== undefined) await requireCommands(workspace)
    return workspace
  } catch (error) {
    await shell?.close()
    await backend.close()
    throw error
  }
}

/** Whoever asked for a shell is told where nothing could ever run in it. */
async function requireCommands(workspace: Workspace | DialectWorkspace): Promise<void> {
  const explained = await workspace.explain('run_command', { command: 'true' })
  if (explained.ok || explained.code !== 'READ_ONLY') return
  throw new TypeError(`With this policy there are no commands: leave --shell out. ${explained.message}`)
}

/** Where the audit goes, if anywhere but memory. */
export function auditOf(audit: string | undefined): Pick<WorkspaceOptions, 'audit'> {
  return audit === undefined ? {} : { audit: jsonlSink(audit) }
}

/** Where a recording goes: a new file, for its owner only. */
function recordOf(file: string | undefined, backend: Backend): Pick<WorkspaceOptions, 'record'> {
  if (file === undefined) return {}
  if (backend.containsPhysicalPath?.(file) === true) {
    throw new TypeError(`The recording "${file}" lies inside the root, where an agent could reach it`)
  }
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 })
  } catch {
    throw new TypeError(`Cannot make the recording "${file}": it exists already, or its directory does not`)
  }
  return { record: (line) => appendFileSync(file, `${line}\n`) }
}

/** The configuration that the options ask for. That one was found and not named is said aloud. */
export function configOf(options: Options): Promise<Config> {
  return configAt(rootsOf(options.root), options)
}

async function configAt(roots: readonly Root[], { policy, audit, dialect }: Options): Promise<Config> {
  const modules = dialect !== undefined && isModulePath(dialect) ? [dialect] : []
  const config = await loadConfig(roots, policy, modules)
  if (config.found === true) process.stderr.write(`wardspace: policy of ${config.file}\n`)
  return audit === undefined ? config : { ...config, audit }
}
