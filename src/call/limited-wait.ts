import { type ErrorCode, ToolError } from '../errors.ts'
import type { Tool } from '../tools/define-tool.ts'
import { anySignal, onAbort, throwIfAborted } from '../util/abort.ts'
import { runAfter } from '../util/timers.ts'
import { type CallWait, limitedTools } from './call-wait.ts'
import { mayRunCommands } from './may-run-commands.ts'
import type { CallOptions } from './state/call.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** Time that a call has to end by itself when its caller has cancelled it or its time is over, in milliseconds. */
const GRACE_MS = 500

const CANCELLED = ' was cancelled'

/** What the wait has to know of a call. */
interface EndableCall {
  readonly workspace: WorkspaceState
  readonly target: string | Tool
  /** `via` is the name of the call in messages. */
  readonly options: CallOptions & { readonly via?: string; readonly draftFiles?: unknown }
}

/**
 * Opens the wait for a call that its caller or its time limit can end.
 */
export function openLimitedWait(call: EndableCall, tool: string): CallWait {
  const { signal, via: name = tool } = call.options
  let timer: ReturnType<typeof setTimeout> | undefined
  let startTimer = () => {}
  let end!: (error: ToolError) => void
  const ended = new Promise<never>((_, reject) => {
    end = reject
  })
  const endIn = (ms: number, code: ErrorCode, problem: string, late?: AbortController) => {
    clearTimeout(timer)
    timer = runAfter(ms + GRACE_MS, () => {
      end(new ToolError(code, name + problem))
      late?.abort()
    })
  }
  const cancel = () => {
    startTimer = () => {}
    endIn(0, 'ABORTED', CANCELLED)
  }
  ended.catch(() => {})
  const stopListening = signal && onAbort(signal, cancel)

  const wait: { -readonly [K in keyof CallWait]: CallWait[K] } = {
    signal,
    requireNotCancelled: () => throwIfAborted(wait.signal, name + CANCELLED),
    untilPrepared: (work) => (mustEnd(call) ? work : wait.until(work)),
    until: (work) => Promise.race([work, ended]),
    limit({ ownTools, limits }, tool, timeoutMs) {
      const kind = ownTools.has(tool) ? undefined : limitedTools[tool.name]
      if (kind === undefined || wait.signal?.aborted) return
      const ms = Math.min(Number(timeoutMs ?? limits[`${kind}TimeoutMs`]), limits[`${kind}TimeoutMsHard`])
      const late = new AbortController()
      wait.signal = anySignal(signal, late.signal)
      const code = `${kind.toUpperCase() as Uppercase<typeof kind>}_TIMEOUT` as const
      startTimer = () => endIn(ms, code, ` took longer than ${ms} ms`, late)
      startTimer()
    },
    stopTimer() {
      wait.requireNotCancelled()
      clearTimeout(timer)
    },
    async untimed(step) {
      wait.stopTimer()
      try {
        return await step()
      } finally {
        startTimer()
      }
    },
    close(taint, steps) {
      clearTimeout(timer)
      stopListening?.()
      // A program that has not ended goes on with what it has read.
      if (steps !== undefined && wait.signal?.aborted) void steps.catch(() => {}).then(() => taint.endCall())
      else taint.endCall()
    },
  }
  return wait
}

/**
 * Whether the steps before the effect must end before the call does: a shell that is not guarded restores files at its end, and
 * parts of a content that a method of `files` has stored are removed at the end.
 */
function mustEnd({ workspace, target, options }: EndableCall): boolean {
  if (options.draftFiles !== undefined) return workspace.backend.stage !== undefined
  const tool = typeof target === 'string' ? workspace.tools.get(target) : target
  return workspace.shell?.capabilities.guarded === false && tool !== undefined && mayRunCommands(workspace, tool)
}
