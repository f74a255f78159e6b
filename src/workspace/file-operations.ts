import * as z from 'zod/mini'
import { callTool } from '../call/call-tool.ts'
import { draftStep, type FileStep, type StepFiles } from '../call/commands/program-files.ts'
import type { CallOptions, Success } from '../call/state/call.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
import { sha256 } from '../files/hash/sha256.ts'
import { MARK_START, redact } from '../files/secrets/index.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import type { Access } from '../policy/access.ts'
import { isMutating, type Permission } from '../policy/permissions.ts'
import type { Stat } from '../storage/backend.ts'
import { stateAt } from '../storage/versions.ts'
import { defineBuiltinTool } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'
import { checkVersion } from '../tools/shared/expected-version.ts'
import { notFound } from '../tools/shared/target.ts'
import { byteText } from '../util/native-bytes.ts'

/** The input of an operation, with the names that the fields have in tools. */
const operationInput = z.object({
  path: z.string(),
  content: z.optional(z.string()),
  expectedSha256: z.optional(z.nullable(z.string())),
  createParents: z.optional(z.boolean()),
  permissions: z.optional(z.number()),
  start: z.optional(z.number()),
  end: z.optional(z.number()),
  noFollow: z.optional(z.boolean()),
})

export type OperationInput = z.output<typeof operationInput>

/** An operation on files: the tool whose rules apply to it, and what it does. */
interface FileOperation {
  readonly tool: string
  readonly permission: Permission
  plan(input: OperationInput): readonly Access[]
  /** @param bytes what `content` is the text of */
  run(files: StepFiles, input: OperationInput, bytes: Uint8Array | undefined): Promise<object>
}

export type OperationName = keyof typeof operations

const operations = {
  readBytes: {
    tool: 'read_file',
    permission: 'file:read',
    plan: ({ path }) => [{ permission: 'file:read', path }],
    async run({ files }, { path, start = 0, end }) {
      const bytes = await files.read(path)
      return { path, bytes: start === 0 && end === undefined ? bytes : bytes.subarray(start, end) }
    },
  },
  stat: {
    tool: 'file_info',
    permission: 'file:info',
    plan: ({ path, noFollow = false }) => [{ permission: 'file:info', path, noFollow }],
    async run({ drafts, accesses: [access] }) {
      if (access === undefined) return {}
      const { path, classification } = access
      const stat = await drafts.stat(path)
      return stat === undefined ? {} : { stat: classification.redacted ? hiddenStat(path, stat) : { path, ...stat } }
    },
  },
  write: {
    tool: 'write_file',
    permission: 'file:write:replace',
    plan: ({ path }) => [{ permission: 'file:write', path }],
    async run(step, { path, createParents = true, expectedSha256, permissions }, bytes = new Uint8Array()) {
      const target = await replacedFile(step, path, bytes)
      if (expectedSha256 !== undefined) {
        checkVersion(target.path, expectedSha256, target.sha256())
        step.expectVersion(target.path, expectedSha256)
      }
      if (createParents) await step.createParents(target.path)
      await step.files.write(path, bytes, permissions === undefined ? {} : { mode: permissions })
      return { path, newSha256: sha256(bytes) }
    },
  },
} as const satisfies Readonly<Record<string, FileOperation>>

/** Runs an operation as one call, and returns the fields of its result. */
export async function callOperation(
  workspace: WorkspaceState,
  run: RunState,
  name: OperationName,
  input: OperationInput,
  options: CallOptions,
  content?: string | Uint8Array,
): Promise<Success> {
  const operation: FileOperation = operations[name]
  const text = typeof content === 'string' || content === undefined ? content : textOf(content)
  let shown: string | undefined
  const result = await callTool(
    workspace,
    run,
    toolOf(name),
    text === undefined ? input : { ...input, content: text },
    {
      ...options,
      via: `files.${name}`,
      async draftFiles(call, context, contextOptions) {
        const narrowed = call.input as OperationInput
        const isNarrowed = narrowed.content !== text
        const bytes = bytesOf(isNarrowed ? narrowed.content : content)
        const step: FileStep<object> = {
          tool: operation.tool,
          input: narrowed,
          accesses: operation.plan(narrowed),
          run: (files) => operation.run(files, narrowed, bytes),
        }
        const { value, draft } = await draftStep({ workspace, run, call, context, options: contextOptions }, step)
        return {
          ...draft,
          summary: `Did files.${name}`,
          result() {
            const { bytes: read } = value as { bytes?: Uint8Array }
            if (read === undefined || workspace.hooks.postToolResponse === undefined) return value
            shown = textOf(read)
            return { ...value, content: shown }
          },
        }
      },
    },
  )
  // A hook may have redacted the text.
  if (result.ok) return result.content === shown ? result : { ...result, bytes: bytesOf(String(result.content)) }
  const { ok, code, message, ...details } = result
  throw new ToolError(code, message, details)
}

/** The operation in the shape of the tool whose name it has. */
function toolOf(name: OperationName): Tool {
  const { tool, permission, plan }: FileOperation = operations[name]
  return defineBuiltinTool({
    name: tool,
    title: tool,
    description: tool,
    input: operationInput,
    output: z.object({}),
    permission,
    mutates: isMutating(permission),
    idempotent: false,
    plan,
    draft: async () => {
      throw new TypeError('an operation on files has no draft of its own')
    },
  }) as unknown as Tool
}

/** Returns the text of bytes, for rules on arguments and for hooks: each byte one character if they are no UTF-8. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return byteText(bytes)
  }
}

function bytesOf(content: string | Uint8Array | undefined): Uint8Array | undefined {
  return typeof content === 'string' ? new TextEncoder().encode(content) : content
}

/** A command and a program may learn that a protected file exists, but neither its size nor its time. */
function hiddenStat(path: Path, { type }: Stat): object {
  return { path, type, size: 0, tag: path }
}

/**
 * Returns what a write replaces.
 *
 * @throws ToolError `POLICY_DENIED_SECRET` for bytes with a mark that hides a secret of the file
 */
async function replacedFile(
  { drafts, accesses: [access] }: StepFiles,
  requestedPath: string,
  bytes: Uint8Array,
): Promise<{ readonly path: Path; sha256(): string | null }> {
  if (access === undefined) throw notFound(requestedPath as Path)
  const { path } = access
  const state = await stateAt(drafts, path)
  const stored = state?.type === 'file' ? state.bytes : undefined
  const text = stored === undefined ? '' : byteText(bytes)
  if (stored !== undefined && text.includes(MARK_START)) {
    const mark = redact(byteText(stored)).marks.find((each) => text.includes(each.mark))
    if (mark !== undefined) {
      throw new ToolError(
        'POLICY_DENIED_SECRET',
        `Cannot write ${mark.mark} over the secret that it replaces in ${quote(path)}`,
        { path, hint: 'Use edit_file or replace_range on the lines around the mark, and leave the mark out.' },
      )
    }
  }
  return { path, sha256: () => (stored === undefined ? null : sha256(stored)) }
}
