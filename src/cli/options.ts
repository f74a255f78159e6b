import { appendFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { node } from '../backends/node.ts'
import type { Dialect } from '../dialect.ts'
import { directoryParking } from '../evidence/directory-parking.ts'
import { jsonlSink } from '../evidence/jsonl-sink.ts'
import type { Backend } from '../vfs/backend.ts'
import { createWorkspace, type SpokenWorkspace, type Workspace, type WorkspaceOptions } from '../workspace.ts'
import { type Config, loadConfig } from './config.ts'
import { openDraft } from './draft.ts'

const shared = {
  root: { type: 'string' },
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
} as const satisfies ParseArgsConfig['options']

/** The options that commands share, and the words that are none. Throws a TypeError for an unknown option. */
export function parseOptions(words: string[], most: number) {
  const { values, positionals } = parseArgs({ args: words, options: shared, allowPositionals: true, strict: true })
  const [surplus] = positionals.slice(most)
  if (surplus !== undefined) throw new TypeError(`Unexpected argument "${surplus}"`)
  return { values, positionals }
}

export type Options = ReturnType<typeof parseOptions>['values']

/** The workspace that the options ask for, on a real directory. */
export function openWorkspace(options: Options, more?: Partial<WorkspaceOptions>): Promise<Workspace>
export function openWorkspace(
  options: Options,
  more: Partial<WorkspaceOptions> | undefined,
  dialect: Dialect | undefined,
): Promise<Workspace | SpokenWorkspace>
export async function openWorkspace(
  options: Options,
  more: Partial<WorkspaceOptions> = {},
  dialect?: Dialect,
): Promise<Workspace | SpokenWorkspace> {
  const root = options.root ?? '.'
  const { policy, audit } = configOf(options)
  const { parked } = options
  const backend = options.overlay === true ? openDraft(root) : node(root)
  // Asked here already, because opening the sink makes the file.
  if (audit !== undefined && backend.holds?.(audit) === true) {
    throw new TypeError(`The audit file "${audit}" lies inside the root, where an agent could reach it`)
  }
  if (parked !== undefined && backend.holds?.(resolve(parked)) === true) {
    throw new TypeError(`The directory "${parked}" lies inside the root, where an agent could reach it`)
  }
  const wanted = {
    backend,
    policy,
    ...(options['read-only'] === true ? { readOnly: true } : {}),
    ...(options.plan === true ? { mode: 'plan' as const } : {}),
    ...(parked === undefined ? {} : { parked: directoryParking(parked) }),
    ...auditOf(audit),
    ...recordOf(options.record, backend),
    ...more,
  }
  return dialect === undefined ? createWorkspace(wanted) : createWorkspace({ ...wanted, dialect })
}

/** Where the audit goes, if anywhere but memory. */
export function auditOf(audit: string | undefined): Pick<WorkspaceOptions, 'audit'> {
  return audit === undefined ? {} : { audit: jsonlSink(audit) }
}

/** Where a recording goes: a new file, for its owner only. */
function recordOf(file: string | undefined, backend: Backend): Pick<WorkspaceOptions, 'record'> {
  if (file === undefined) return {}
  if (backend.holds?.(file) === true) {
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
export function configOf({ root = '.', policy, audit }: Options): Config {
  const config = loadConfig(root, policy)
  if (config.found === true) process.stderr.write(`wardspace: policy of ${config.file}\n`)
  return audit === undefined ? config : { ...config, audit }
}
