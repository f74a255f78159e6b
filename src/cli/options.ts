import { readFileSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { node } from '../backends/node.ts'
import { jsonlSink } from '../evidence/jsonl-sink.ts'
import type { PolicyInput } from '../policy/policy.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../workspace.ts'
import { openDraft } from './draft.ts'

const shared = {
  root: { type: 'string' },
  policy: { type: 'string' },
  audit: { type: 'string' },
  'read-only': { type: 'boolean' },
  overlay: { type: 'boolean' },
  json: { type: 'boolean' },
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
export async function openWorkspace(options: Options, more: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const root = options.root ?? '.'
  const backend = options.overlay === true ? openDraft(root) : node(root)
  // Asked here already, because opening the sink makes the file.
  if (options.audit !== undefined && backend.holds?.(options.audit) === true) {
    throw new TypeError(`The audit file "${options.audit}" lies inside the root, where an agent could reach it`)
  }
  return createWorkspace({
    backend,
    policy: policyOf(options.policy ?? 'autonomous'),
    ...(options['read-only'] === true ? { readOnly: true } : {}),
    ...auditOf(options),
    ...more,
  })
}

/** Where the audit goes, if anywhere but memory. */
export function auditOf({ audit }: Options): Pick<WorkspaceOptions, 'audit'> {
  return audit === undefined ? {} : { audit: jsonlSink(audit) }
}

/** A preset by name, or the policy in a JSON file. */
export function policyOf(given: string): PolicyInput {
  if (!/[./\\]/.test(given)) return given as PolicyInput
  let text: string
  try {
    text = readFileSync(given, 'utf8')
  } catch {
    throw new TypeError(`Cannot read the policy file "${given}"`)
  }
  try {
    return JSON.parse(text) as PolicyInput
  } catch (error) {
    throw new TypeError(`The policy file "${given}" is no JSON: ${(error as Error).message}`)
  }
}
