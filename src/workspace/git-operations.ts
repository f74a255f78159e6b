import * as z from 'zod/mini'
import { callTool } from '../call/call-tool.ts'
import { pushAccess, requireReachable } from '../call/push-access.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
import { gitPath } from '../git/isomorphic-fs.ts'
import type { PushAnswer, PushRequest } from '../git/provider.ts'
import { type BuiltinContext, type BuiltinDraft, defineBuiltinTool } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'
import { checkoutOperation } from './operations.ts'

type Checkout = Parameters<typeof checkoutOperation>

type PushFields = { status: string; from: string | null }

/** Applies a checkout to the files as a call. */
export async function checkOut(workspace: WorkspaceState, run: RunState, ...checkout: Checkout): Promise<void> {
  throwFailure(await callTool(workspace, run, checkoutOperation(...checkout), {}))
}

/** Sends commits to a server as a call, and returns the server's answer. */
export async function push(workspace: WorkspaceState, run: RunState, request: PushRequest): Promise<PushAnswer> {
  let answer: PushAnswer | undefined
  const operation = pushOperation(workspace, request, (received) => {
    answer = received
  })
  const { url, ref, commit, force } = request
  throwFailure(await callTool(workspace, run, operation, { url: url.href, ref, commit, force }))
  return answer as PushAnswer
}

/** @throws ToolError for the answer of a call that failed */
function throwFailure(result: Awaited<ReturnType<typeof callTool>>): void {
  if (result.ok) return
  const { code, message, ok: _, ...details } = result
  throw new ToolError(code, message, details)
}

/**
 * Sends commits to a server. Has the shape of a tool, so that it passes the same policy, labels, approval and audit. The input
 * holds what is pushed, for rules and for the person who decides.
 */
function pushOperation(
  { policy, isReadOnly }: WorkspaceState,
  request: PushRequest,
  onAnswer: (answer: PushAnswer) => void,
): Tool {
  const { url, ref, commit, branch, history } = request
  return defineBuiltinTool({
    name: 'git_push',
    title: 'Push commits',
    description: 'Sends commits to a server.',
    permission: 'git:push',
    mutates: true,
    idempotent: true,
    input: z.object({ url: z.string(), ref: z.string(), commit: z.nullable(z.string()), force: z.boolean() }),
    output: z.object({ status: z.string(), from: z.nullable(z.string()) }),
    plan: () => [pushAccess(url, ref)],
    async draft(_, context: BuiltinContext): Promise<BuiltinDraft<PushFields>> {
      if (isReadOnly) throw new ToolError('READ_ONLY', 'The workspace is read-only')
      requireReachable(policy, url)
      const name = branch === undefined ? undefined : gitPath('refs/heads', branch)
      if (commit !== null) await context.addCommit(history, commit, name)
      context.requireHostAllowed(url.hostname)
      const prepared = await request.prepare()
      const { from, isNeeded } = prepared
      let answer: PushAnswer = { from, status: 'upToDate', message: '' }
      const send = async () => {
        answer = await prepared.send()
        onAnswer(answer)
      }
      if (!isNeeded) await send()
      return {
        summary: isNeeded ? `Pushed ${ref} to ${url.href}` : 'Everything is up to date',
        ...(isNeeded
          ? { diff: await prepared.describe(), push: { update: { url: url.href, ref, from, to: commit }, send } }
          : {}),
        result: () => ({ status: answer.status, from: answer.from }),
      }
    },
  }) as unknown as Tool
}
