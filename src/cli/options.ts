import { appendFileSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { VirtualRoots } from '../dialects/runtime/path-mapping.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import type { Shell } from '../shells/types.ts'
import type { Backend } from '../storage/backend.ts'
import {
  createWorkspace,
  type DialectWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from '../workspace/create-workspace.ts'
import { requireAuditFile } from './audit-file.ts'
import { type Config, loadConfig } from './config.ts'
import { builtInDialect, dialectOf, isModulePath } from './dialect.ts'
import { gitOf } from './git.ts'
import type { WorkspaceValues } from './parse-words.ts'
import { openRoots, type Root, requireDirectories, rootsOf } from './roots.ts'
import { requireShellName, shellOf } from './shell.ts'

/** The parsed options of a command that opens a workspace. */
export type Options = WorkspaceValues

/** Options of the workspace, and the path at which the commands of `bash()` see it. */
type ExtraOptions = Partial<WorkspaceOptions> & { readonly commandRoot?: string }

/**
 * Opens the workspace of the options, on real directories. `narrowed` replaces the roots, such as by those of a client;
 * `extra` options override.
 */
export function openWorkspace(options: Options, extra?: ExtraOptions): Promise<Workspace>
export function openWorkspace(
  options: Options,
  extra: ExtraOptions | undefined,
  dialect: Dialect | undefined,
  narrowed?: readonly Root[],
): Promise<Workspace | DialectWorkspace>
export async function openWorkspace(
  options: Options,
  { commandRoot, ...extra }: ExtraOptions = {},
  dialect?: Dialect,
  narrowed?: readonly Root[],
): Promise<Workspace | DialectWorkspace> {
  // Narrowed roots have the policy of all roots, with the same paths.
  const policyRoots = options.root === undefined && narrowed !== undefined ? narrowed : rootsOf(options.root)
  const roots = narrowed ?? policyRoots
  if (narrowed === undefined) requireDirectories(roots)
  const { policy, audit, virtualRoots } = await configAt(policyRoots, options, dialect)
  const { parked } = options
  const isReadOnly = options['read-only'] === true
  const environment = { roots, overlay: options.overlay === true, readOnly: isReadOnly, commandRoot }
  const git = await gitOf(options)
  const shell = await shellOf(options.shell, environment)
  if (options.plan === true && isReadOnly && (extra.shell ?? shell) === undefined) {
    throw new TypeError(
      '--plan has no effect beside --read-only without --shell: nothing waits for a plan; leave out one',
    )
  }
  const name = options.dialect
  const served =
    name === undefined || virtualRoots === undefined || isModulePath(name)
      ? dialect
      : await builtInDialect(name, withShellRoot(virtualRoots, shell))
  if (options.plan === true && served !== undefined) requirePlans(served)
  const backend = await openRoots(roots, environment.overlay)
  try {
    // Checked before the sink opens, because that creates the file.
    if (audit !== undefined) requireAuditFile(audit, roots)
    if (parked !== undefined && backend.containsPhysicalPath?.(resolve(parked)) === true) {
      throw new TypeError(`The directory "${parked}" is inside the root, where an agent could reach it`)
    }
    const workspaceOptions = {
      backend,
      policy,
      ...(isReadOnly ? { readOnly: true } : {}),
      ...(shell === undefined ? {} : { shell }),
      ...git,
      ...(options.plan === true ? { mode: 'plan' as const } : {}),
      ...(await parkingOf(parked)),
      ...(await auditOf(audit)),
      ...recordOf(options.record, backend),
      ...extra,
    }
    const workspace = await (served === undefined
      ? createWorkspace(workspaceOptions)
      : createWorkspace({ ...workspaceOptions, dialect: served }))
    if (shell !== undefined) await requireCommands(workspace)
    workspace.subscribe((event) => {
      if (event.type === 'exception')
        process.stderr.write(`wardspace: ${event.tool}: ${describeException(event.cause)}\n`)
    })
    return workspace
  } catch (error) {
    await shell?.close()
    await backend.close()
    throw error
  }
}

/**
 * Checks values of options that only another action of the command uses, such as an answer. A misspelled one is found before.
 *
 * @throws TypeError that names the first wrong one
 */
export async function requireValidValues(values: Partial<WorkspaceValues>): Promise<void> {
  const roots = rootsOf(values.root)
  requireDirectories(roots)
  requireShellName(values.shell)
  const dialect = await dialectOf(values.dialect)
  if (values.policy !== undefined) await configOf(values, dialect)
  if (values.audit !== undefined) requireAuditFile(values.audit, roots)
}

/** Requires that an agent can submit a plan: nothing else ends plan mode here. */
function requirePlans({ name, tools }: Dialect): void {
  if (tools.some(({ uses }) => uses.includes('submit_plan'))) return
  throw new TypeError(
    `--plan needs a tool that submits plans, and the dialect ${name} has none: use --dialect snake-case, or no dialect`,
  )
}

/** Adds the name that the workspace has in a shell, which may be unable to take that of the policy. */
function withShellRoot(roots: VirtualRoots, shell: Shell | undefined): VirtualRoots {
  return shell?.root === undefined ? roots : { ...roots, [shell.root]: '', ...roots }
}

/** Describes an exception for the author of a dialect or tool, with its stack. A model never sees it. */
function describeException(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? String(cause)) : String(cause)
}

/** Throws if the policy never allows a command, because a shell would then be useless. */
async function requireCommands(workspace: Workspace | DialectWorkspace): Promise<void> {
  const own = 'own' in workspace ? workspace.own : workspace
  const explained = await own.explain('run_command', { command: 'true' })
  if (explained.ok || explained.code !== 'READ_ONLY') return
  throw new TypeError(`This policy allows no commands: leave out --shell. ${explained.message}`)
}

/** Returns the audit option for a file. Default: the audit stays in memory. */
export async function auditOf(audit: string | undefined): Promise<Pick<WorkspaceOptions, 'audit'>> {
  if (audit === undefined) return {}
  const { jsonlSink } = await import('../audit/jsonl-sink.ts')
  try {
    return { audit: jsonlSink(audit) }
  } catch (error) {
    throw new TypeError((error as Error).message.replace('the audit file', `the audit file ${JSON.stringify(audit)}`))
  }
}

async function parkingOf(directory: string | undefined): Promise<Pick<WorkspaceOptions, 'parked'>> {
  if (directory === undefined) return {}
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new TypeError(`Cannot keep calls in ${JSON.stringify(directory)}: it is not a directory`)
  }
  const { directoryParking } = await import('../policy/directory-parking.ts')
  return { parked: directoryParking(directory) }
}

/** Returns the option that records into a new file, readable only by its owner. */
function recordOf(file: string | undefined, backend: Backend): Pick<WorkspaceOptions, 'record'> {
  if (file === undefined) return {}
  if (backend.containsPhysicalPath?.(file) === true) {
    throw new TypeError(`The recording "${file}" is inside the root, where an agent could reach it`)
  }
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 })
  } catch {
    throw new TypeError(`Cannot create the recording "${file}": it exists already, or its directory does not`)
  }
  return { record: (line) => appendFileSync(file, `${line}\n`) }
}

/** Loads the configuration. If it was found by its name, not passed as an option, says so on stderr. */
export function configOf(options: Options, dialect?: Dialect): Promise<Config> {
  return configAt(rootsOf(options.root), options, dialect)
}

async function configAt(
  roots: readonly Root[],
  { policy, audit, dialect: option }: Options,
  dialect: Dialect | undefined,
): Promise<Config> {
  const modules = option !== undefined && isModulePath(option) ? [option] : []
  const config = await loadConfig(roots, policy, modules, dialect)
  if (config.found === true) process.stderr.write(`wardspace: policy of ${config.file}\n`)
  if (audit === undefined) return config
  if (config.audit !== undefined && resolve(config.audit) !== resolve(audit))
    process.stderr.write(`wardspace: --audit ${audit} replaces the audit file of the policy, ${config.audit}\n`)
  return { ...config, audit }
}
