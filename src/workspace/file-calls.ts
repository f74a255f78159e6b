import * as z from 'zod/mini'
import { callTool, type InternalCallOptions } from '../call/call-tool.ts'
import { type FileStep, ProgramFiles, type StepFiles } from '../call/commands/program-files.ts'
import type { CallOptions, Success } from '../call/state/call.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { type Failure, ToolError } from '../errors.ts'
import type { GuardedAccess } from '../policy/access.ts'
import { isMutating } from '../policy/permissions.ts'
import { defineBuiltinTool } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'
import { isUint8Array } from '../util/bytes.ts'
import { byteText } from '../util/native-bytes.ts'
import { createPacer } from '../util/pacer.ts'
import {
  type Content,
  type FileOperation,
  type OperationInput,
  type OperationName,
  observeMetadata,
  operations,
  stepOf,
} from './file-operations.ts'

/** Runs an operation, and returns the fields of its result. `content`: what the operation writes. */
export type Operate = (
  name: OperationName,
  input: OperationInput,
  options: CallOptions,
  content?: string | Content,
) => Promise<Readonly<Record<string, unknown>>>

const text = z.optional(z.string())
const flag = z.optional(z.boolean())
const number = z.optional(z.number())

const operationInput = z.strictObject({
  path: z.string(),
  to: text,
  content: text,
  expectedSha256: z.optional(z.nullable(z.string())),
  expectedTag: text,
  createParents: flag,
  bits: number,
  start: number,
  end: number,
  noFollow: flag,
  recursive: flag,
  overwrite: flag,
  target: text,
  maxDepth: number,
})

/** Returns the function that runs each operation of a run as one call. */
export function operateByCalls(workspace: WorkspaceState, run: RunState): Operate {
  return async (name, input, options, content) => {
    const written = isInParts(content) ? undefined : textIn(content)
    let shown: string | undefined
    let files: ProgramFiles | undefined
    const draftFiles: InternalCallOptions['draftFiles'] = async (call, context, contextOptions) => {
      const narrowed = call.input as unknown as OperationInput
      const bytes = narrowed.content === written ? contentOf(content) : contentOf(narrowed.content)
      files = new ProgramFiles({ workspace, run, call, context, options: contextOptions }, true)
      const value = await files.run(stepOf(name, narrowed, bytes))
      return {
        ...(await files.draft()),
        summary: `Did files.${name}`,
        result() {
          const { bytes: read } = value as { bytes?: Uint8Array }
          if (read === undefined || workspace.hooks.postToolResponse === undefined) return value
          shown = textOf(read)
          return { ...value, content: shown }
        },
      }
    }
    const fullInput = written === undefined ? input : { ...input, content: written }
    const internal = { ...options, draftFiles, via: `files.${name}` }
    const answer = await callTool(workspace, run, toolOf(operations[name]), fullInput, internal)
    await (files as ProgramFiles | undefined)?.close()
    const result = successOf(answer)
    // A hook may have changed the text.
    if (result.content === shown) return observeMetadata(result)
    return { ...result, bytes: contentOf(String(result.content)) }
  }
}

/** The operation in the shape of the tool whose name it has. */
function toolOf({ tool, permission, plan }: FileOperation): Tool {
  return defineBuiltinTool({
    ...{ name: tool, title: tool, description: tool, input: operationInput, output: z.object({}), permission },
    mutates: isMutating(permission),
    idempotent: false,
    plan: (input) => plan(input),
    draft: noDraft,
  }) as unknown as Tool
}

const batch = defineBuiltinTool({
  name: 'batch',
  title: 'Batch',
  description: 'Changes files as a program does it, all or none.',
  input: z.strictObject({}),
  output: z.object({}),
  permission: 'file:list',
  mutates: false,
  idempotent: false,
  // Each step is evaluated by itself.
  plan: () => [{ permission: 'file:list', path: '.', recursive: true }],
  draft: noDraft,
})

async function noDraft(): Promise<never> {
  throw new TypeError('the program builds the draft')
}

/**
 * Runs a function whose operations are one call. Nothing is committed if the function or the call fails.
 */
export async function runBatch<R>(
  workspace: WorkspaceState,
  run: RunState,
  options: CallOptions,
  act: (operate: Operate) => Promise<R>,
): Promise<R> {
  let outcome: { readonly value: R } | undefined
  let exception: { readonly error: unknown } | undefined
  const draftFiles: InternalCallOptions['draftFiles'] = async (call, context, contextOptions) => {
    const files = new ProgramFiles({ workspace, run, call, context, options: contextOptions })
    contextOptions.taint.showToProgram()
    const steps = openSteps(files, (step, accesses, value) =>
      showToHooks({ workspace, run, files }, step, accesses, value),
    )
    try {
      outcome = { value: await act(steps.operate) }
    } catch (error) {
      exception = { error }
      throw error
    } finally {
      await steps.close()
    }
    return { ...(await files.draft()), summary: 'Did files.batch', result: () => ({}) }
  }
  const result = await callTool(
    workspace,
    run,
    batch as unknown as Tool,
    {},
    { ...options, draftFiles, via: 'files.batch' },
  )
  // The program gets its own exception.
  if (exception !== undefined) throw exception.error
  successOf(result)
  return (outcome as { readonly value: R }).value
}

/** Runs the operations of a batch one after another, until it is closed. */
function openSteps(files: ProgramFiles, show: ShowResult): { readonly operate: Operate; close(): Promise<void> } {
  let isClosed = false
  let last: Promise<unknown> = Promise.resolve()
  const pause = createPacer()
  return {
    operate(name, input, _, content) {
      if (isClosed) {
        return Promise.reject(
          new ToolError('INVALID_INPUT', `Cannot use files.${name}: the batch has ended`, {
            hint: 'Await every operation inside the function of the batch.',
          }),
        )
      }
      const written = isInParts(content) ? undefined : textIn(content)
      const fullInput = written === undefined ? input : { ...input, content: written }
      const step = stepOf(name, fullInput, contentOf(content))
      let accesses: readonly GuardedAccess[] = []
      const runStep = (stepFiles: StepFiles) => {
        accesses = stepFiles.accesses
        return step.run(stepFiles)
      }
      const current = last.then(pause).then(async () => {
        const value = await files.runJudged({ ...step, run: runStep })
        return observeMetadata(await show(step, accesses, value))
      })
      last = current.catch(() => {})
      return current as Promise<Readonly<Record<string, unknown>>>
    },
    async close() {
      isClosed = true
      await last
    },
  }
}

/** Shows the result of a step to the hooks after calls, and returns what they make of it. */
type ShowResult = (
  step: FileStep<object>,
  accesses: readonly GuardedAccess[],
  value: object,
) => Promise<Readonly<Record<string, unknown>>>

async function showToHooks(
  {
    workspace,
    run,
    files,
  }: { readonly workspace: WorkspaceState; readonly run: RunState; readonly files: ProgramFiles },
  { tool, input }: FileStep<object>,
  accesses: readonly GuardedAccess[],
  value: object,
): Promise<Readonly<Record<string, unknown>>> {
  const { hooks, limits } = workspace
  const { bytes } = value as { readonly bytes?: Uint8Array }
  if (hooks.postToolResponse === undefined || bytes === undefined) return value as Readonly<Record<string, unknown>>
  const { runPostHooks } = await import('../call/run-hooks.ts')
  const call = { runId: run.id, actor: run.actor, tool, input, accesses }
  const shown = textOf(bytes)
  const result = { ok: true, ...value, content: shown }
  const answer: Readonly<Record<string, unknown>> = await runPostHooks(hooks, call, result, limits.hookTimeoutMs)
  files.noteLabel(answer.label)
  return answer.content === shown ? answer : { ...answer, bytes: contentOf(String(answer.content)) }
}

/** @throws ToolError for a failure */
export function successOf(result: Success | Failure): Success {
  if (result.ok) return result
  const { ok, code, message, ...details } = result
  throw new ToolError(code, message, details)
}

/** Returns the text of bytes, for rules on arguments and for hooks: each byte one character if they are no UTF-8. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return byteText(bytes)
  }
}

function textIn(content: string | Uint8Array | undefined): string | undefined {
  return content === undefined || typeof content === 'string' ? content : textOf(content)
}

/** Whether a content comes part by part. Rules and hooks do not see it. */
function isInParts(content: string | Content | undefined): content is AsyncIterable<Uint8Array> {
  return typeof content === 'object' && !isUint8Array(content)
}

function contentOf(content: string): Uint8Array
function contentOf(content: string | Content | undefined): Content | undefined
function contentOf(content: string | Content | undefined): Content | undefined {
  return typeof content === 'string' ? new TextEncoder().encode(content) : content
}
