import { computed, type ReadonlySignal } from '@preact/signals'
import type { CallOptions, Failure, Success, Workspace, WorkspaceRun } from 'wardspace'
import type { TimelineEntry } from 'wardspace/ui'
import { type Approvals, type Call, createTrackedCall, type Timeline, trackAction } from 'wardspace/ui'
import type { ChangePoints } from './change-points.ts'
import type { CurrentWorkspace } from './current-workspace.ts'
import { pointName } from './label.ts'
import { ownerPolicy, personPolicy } from './owner.ts'
import type { Session } from './types.ts'

/** What calls in a session go through. */
export interface CallParts {
  readonly timeline: Timeline
  readonly approvals: Approvals
  readonly now: () => number
  readonly current: CurrentWorkspace
  readonly changes: ChangePoints
}

/** Returns the agent's run with its calls in the timeline and a history point after each change. */
export function trackAgentRun(parts: CallParts): ReadonlySignal<WorkspaceRun> {
  const { current, changes, timeline, approvals, now } = parts
  const agentCall = createTrackedCall(() => current.opened.value.agent, { timeline, approvals, now })
  const callTool: WorkspaceRun['callTool'] = async (name, input, options) => {
    current.agentCalls += 1
    try {
      return await changes.around(() => agentCall(name, input, options), pointName(name, input))
    } finally {
      current.agentCalls -= 1
    }
  }
  return computed<WorkspaceRun>(() => {
    const { agent } = current.opened.value
    return {
      ...agent,
      get task() {
        return agent.task
      },
      get plan() {
        return agent.plan
      },
      get mode() {
        return agent.mode
      },
      call: callTool as WorkspaceRun['call'],
      callTool,
    }
  })
}

/** Returns the calls of a run of the browser's agent, in the timeline and with a history point after each change. */
export function trackBrowserRun(run: Pick<WorkspaceRun, 'callTool'>, parts: CallParts): Call {
  const { timeline, approvals, now } = parts
  const call = createTrackedCall(() => run, { timeline, approvals, now, actor: 'browser' })
  return (tool, input, options) => parts.changes.around(() => call(tool, input, options), pointName(tool, input))
}

/** Creates the person's actions in a session. */
export function createPersonActions(
  parts: CallParts,
): Pick<Session, 'call' | 'callAsOwner' | 'changeFiles' | 'save' | 'undo' | 'takeBack' | 'moveTo' | 'checkpoint'> {
  const { current, changes } = parts

  function act(
    { tool, input }: Pick<TimelineEntry, 'tool' | 'input'>,
    run: (workspace: Workspace, options: CallOptions) => Promise<Success | Failure>,
    policy = ownerPolicy,
  ): Promise<Success | Failure> {
    return trackAction(parts, { actor: 'person', tool, input }, (key) => {
      const options: CallOptions = { step: `#${key}`, approve: () => ({ allow: 'once', by: 'person' }) }
      return current.byPerson((workspace) => run(workspace, options), policy)
    })
  }

  return {
    call: (tool, input, options) =>
      changes.around(
        () =>
          act(
            { tool, input },
            (workspace, own) => workspace.callTool(tool, input, { ...options, ...own }),
            personPolicy,
          ),
        pointName(tool, input),
      ),
    callAsOwner: (tool, input) =>
      changes.around(
        () => act({ tool, input }, (workspace, options) => workspace.callTool(tool, input, options)),
        pointName(tool, input),
      ),
    changeFiles: (input) => {
      // The entry names the files without their content.
      const action = { actor: 'person', tool: 'change_files', input: { path: input.label } } as const
      const change = async (key: string): Promise<Success | Failure> => {
        const { changeFilesTool } = await import('./change-files-tool.ts')
        const callTool = (workspace: Workspace) => workspace.callTool('change_files', input, { step: `#${key}` })
        return current.byOwner(callTool, [changeFilesTool])
      }
      return changes.around(() => trackAction(parts, action, change), input.label)
    },
    save: (path, content, expectedSha256) => {
      const input = { path, content, expectedSha256 }
      return changes.around(
        () => act({ tool: 'write_file', input }, (workspace, options) => workspace.call('write_file', input, options)),
        pointName('write_file', input),
      )
    },
    undo: (callId) =>
      changes.around(
        () => act({ tool: 'undo', input: { callId } }, (workspace, options) => workspace.undo(callId, options)),
        `undo ${callId}`,
      ),
    takeBack: (runId, point) =>
      changes.around(
        () =>
          act({ tool: 'rollback', input: { checkpoint: point, runId } }, (workspace, options) =>
            workspace.rollback(point, { ...options, runId }),
          ),
        'Took back a run',
      ),
    moveTo: (id) =>
      changes.move(id, (point) =>
        act({ tool: 'rollback', input: { checkpoint: point } }, (workspace, options) =>
          workspace.rollback(point, options),
        ),
      ),
    async checkpoint(label) {
      changes.add(label, true)
    },
  }
}
