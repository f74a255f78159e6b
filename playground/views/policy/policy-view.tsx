import './policy.css'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { createPolicyEditor } from 'wardspace/ui'
import { Select } from '../../../src/elements/parts/select.tsx'
import { useSnapshot } from '../../../src/elements/parts/use-snapshot.ts'
import { openTrial, pathsOf } from '../../session/policy-trial.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { announce } from '../../ui/announce.tsx'
import { WardspaceElement } from '../../ui/wardspace-element.tsx'
import { CodeText } from '../editor/code-text.tsx'

const modes = [
  { value: 'act', label: 'act' },
  { value: 'plan', label: 'plan first' },
] as const

export interface PolicyViewProps {
  readonly projectSession: Pick<ProjectSession, 'session' | 'conversation' | 'texts' | 'project'>
}

/** The editor of the policy with the mode of the agent and a text field with colours. A draft is kept over a reload. */
export function PolicyView({ projectSession }: PolicyViewProps) {
  const { session, conversation } = projectSession
  const controller = usePolicyEditor(projectSession)
  const { text, read, isChanged } = useSnapshot(controller)
  const isWorking = conversation.isWorking.value
  // What the person types here is in the field already.
  const inField = useRef({ text, loaded: 1 })
  if (text !== inField.current.text) inField.current = { text, loaded: inField.current.loaded + 1 }
  return (
    <WardspaceElement
      name="wardspace-policy"
      properties={{ controller, ownText: true, disabled: isWorking, revision: session.revision.value }}
    >
      <span slot="bar" class="row">
        <span class="muted">Mode</span>
        <Select
          label="Mode"
          value={session.settings.value.mode}
          options={modes}
          disabled={isWorking}
          onChange={(mode) => void session.change({ mode })}
        />
      </span>
      <div slot="text" class="policy-code">
        <CodeText
          path="policy.json"
          label="Policy as JSON"
          text={text}
          loaded={inField.current.loaded}
          wraps
          lines={read === undefined || read.ok ? undefined : [read.line, read.line]}
          onEdit={(typed) => {
            inField.current.text = typed
            controller.edit(typed)
          }}
          onSave={() => isChanged && void controller.apply()}
        />
      </div>
    </WardspaceElement>
  )
}

/** The editor of the session's policy. Its text is kept as a draft. */
function usePolicyEditor({ session, texts, project }: PolicyViewProps['projectSession']) {
  const { policy } = session.settings.value
  const draft = texts.of('policy')
  const controller = useMemo(
    () =>
      createPolicyEditor({
        policy,
        text: draft.peek(),
        async onApply(changed) {
          await session.change({ policy: changed })
          announce('The policy is applied')
        },
        openTrial: (tried) => openTrial(project, tried),
        paths: () => pathsOf(project),
      }),
    [session],
  )
  useEffect(() => controller.setPolicy(policy), [policy])
  useEffect(
    () =>
      controller.subscribe(({ text, isChanged }) => {
        draft.value = isChanged ? text : ''
      }),
    [controller],
  )
  return controller
}
