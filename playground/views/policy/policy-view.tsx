import './policy.css'
import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { type Explanation, type PolicyInput, presetNames } from 'wardspace'
import { codeWords, headlineOf, verdictInWords } from 'wardspace/ui'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { Rules } from '../../../src/elements/parts/verdict.tsx'
import { effectOf, type FileState, type PolicyEffect } from '../../session/policy-effect.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { readPolicy, tryPolicy } from '../../session/try-policy.ts'
import { announce } from '../../ui/announce.tsx'
import { lazyView } from '../../ui/lazy-view.tsx'
import { Select } from '../../ui/select.tsx'
import { PolicyRowsView } from './policy-rows-view.tsx'

const CodeEditor = lazyView(async () => (await import('../editor/code-editor.tsx')).default)

type Answer = Explanation | { readonly ok: false; readonly message: string }

/** Calls that can be tried against the policy, with the field to fill in. */
const questions = [
  { tool: 'read_file', field: 'path', about: 'read', first: '.env' },
  { tool: 'write_file', field: 'path', about: 'write', first: 'src/index.js' },
  { tool: 'delete_file', field: 'path', about: 'delete', first: 'README.md' },
  { tool: 'run_command', field: 'command', about: 'run', first: 'rm -rf /' },
  { tool: 'list_directory', field: 'path', about: 'list', first: '.' },
] as const

const modes = [
  { value: 'act', label: 'act' },
  { value: 'plan', label: 'plan first' },
] as const

export interface PolicyViewProps {
  readonly projectSession: Pick<ProjectSession, 'session' | 'conversation' | 'texts' | 'project'>
}

/** Edits the policy as rows and as text, and shows its effect on the files and its verdict on a sample call. */
export function PolicyView({ projectSession }: PolicyViewProps) {
  const { session } = projectSession
  const current = useMemo(() => toText(session.settings.value.policy), [session.settings.value.policy])
  /** Empty unless it differs from the current policy. */
  const draft = projectSession.texts.of('policy')
  const text = draft.value || current
  const loaded = useSignal(1)
  const trouble = useSignal<string | undefined>(undefined)
  const edit = (next: string) => {
    draft.value = next === current ? '' : next
  }
  const show = (next: string) => {
    edit(next)
    loaded.value += 1
  }
  useEffect(() => {
    loaded.value += 1
  }, [current])

  const read = readPolicy(text)

  const apply = async () => {
    if (!read.ok) return
    try {
      await session.change({ policy: read.policy })
      draft.value = ''
      trouble.value = undefined
      announce('The policy is applied')
    } catch (error) {
      trouble.value = (error as Error).message
    }
  }
  return (
    <div class="fill">
      <PolicyBar
        projectSession={projectSession}
        canApply={read.ok && text !== current}
        canRevert={text !== current}
        onRevert={() => show(current)}
        onLoad={show}
        onApply={() => void apply()}
      />
      {trouble.value !== undefined && (
        <p class="notice bad" role="alert">
          {trouble.value}
        </p>
      )}
      {!read.ok && (
        <p class="notice bad" role="alert">
          Line {read.line}: {read.message}
        </p>
      )}
      <div class="fill-rest policy-sides">
        {read.root === undefined ? (
          <p class="muted pad">The rows come back when the text is whole.</p>
        ) : (
          <PolicyRowsView text={text} root={read.root} wrong={read.ok ? undefined : read} onEdit={show} />
        )}
        <div class="policy-text">
          <CodeEditor
            path="policy.json"
            label="Policy as JSON"
            text={text}
            loaded={loaded.value}
            lines={read.ok ? undefined : [read.line, read.line]}
            onEdit={edit}
            onSave={() => void apply()}
          />
        </div>
      </div>
      {read.ok && text !== current && (
        <EffectOnFiles projectSession={projectSession} policy={read.policy} text={text} />
      )}
      <PolicyQuestion projectSession={projectSession} text={text} policyResult={read} />
    </div>
  )
}

const stateWords: Readonly<Record<FileState, string>> = {
  open: 'open to the agent',
  asks: 'asks you first',
  'read-only': 'read-only',
  hidden: 'hidden',
}

function effectInWords(state: FileState, count: number): string {
  const files = count === 1 ? '1 file' : `${count} files`
  if (state === 'asks') return `You are asked about ${files}`
  return `${files} ${count === 1 ? 'becomes' : 'become'} ${stateWords[state]}`
}

/** Files to name in each group. */
const MAX_NAMED = 20

/** Says before the policy is applied which of the present files it treats differently. */
function EffectOnFiles({
  projectSession,
  policy,
  text,
}: {
  readonly projectSession: PolicyViewProps['projectSession']
  readonly policy: PolicyInput
  readonly text: string
}) {
  const { session, project } = projectSession
  const effect = useSignal<PolicyEffect | undefined>(undefined)
  useEffect(() => {
    let isStale = false
    const timer = setTimeout(async () => {
      const next = await effectOf(project, session.settings.value.policy, policy, () => isStale)
      if (!isStale) effect.value = next
    }, 300)
    return () => {
      isStale = true
      clearTimeout(timer)
    }
  }, [text, session.revision.value])
  return (
    <section class="policy-effect" aria-label="Effect on the files" role="status">
      {effect.value === undefined ? <p class="muted">Comparing the files…</p> : <EffectText effect={effect.value} />}
    </section>
  )
}

function EffectText({ effect: { files, compared, isPart } }: { readonly effect: PolicyEffect }) {
  const scope = isPart ? ` (of the first ${compared})` : ''
  if (files.length === 0)
    return (
      <p>
        Changes nothing for the {compared} files here{isPart && ' that were compared'}.
      </p>
    )
  const states = (['hidden', 'read-only', 'asks', 'open'] as const).map(
    (state) => [state, files.filter(({ after }) => after === state)] as const,
  )
  return (
    <>
      {states.map(([state, changed]) =>
        changed.length === 0 ? null : (
          <details key={state}>
            <summary>
              {effectInWords(state, changed.length)}
              {scope}
            </summary>
            <ul class="rules mono">
              {changed.slice(0, MAX_NAMED).map(({ path, before }) => (
                <li key={path}>
                  {path} <span class="muted">now: {stateWords[before]}</span>
                </li>
              ))}
              {changed.length > MAX_NAMED && <li class="muted">and {changed.length - MAX_NAMED} more</li>}
            </ul>
          </details>
        ),
      )}
    </>
  )
}

/** Presets, the mode, and the button that applies the policy. */
function PolicyBar({
  projectSession,
  canApply,
  canRevert,
  onRevert,
  onLoad,
  onApply,
}: {
  readonly projectSession: PolicyViewProps['projectSession']
  readonly canApply: boolean
  readonly canRevert: boolean
  readonly onRevert: () => void
  readonly onLoad: (text: string) => void
  readonly onApply: () => void
}) {
  const { session } = projectSession
  return (
    <div class="bar">
      <Select
        label="Begin with"
        value={undefined}
        placeholder="Begin with a preset…"
        options={presetNames.map((name) => ({ value: name, label: name }))}
        onChange={(preset) => onLoad(toText({ preset }))}
      />
      <button type="button" class="button quiet" onClick={() => onLoad(toText(example))}>
        An example
      </button>
      <span class="grow" />
      <span class="muted">Mode</span>
      <Select
        label="Mode"
        value={session.settings.value.mode}
        options={modes}
        disabled={projectSession.conversation.isWorking.value}
        onChange={(mode) => void session.change({ mode })}
      />
      {canRevert && (
        <button type="button" class="button quiet" onClick={onRevert}>
          Discard draft
        </button>
      )}
      <button
        type="button"
        class="button primary"
        disabled={!canApply || projectSession.conversation.isWorking.value}
        onClick={onApply}
      >
        Apply
      </button>
    </div>
  )
}

/** Asks the policy in the editor about one call, shortly after each change. */
function PolicyQuestion({
  projectSession,
  text,
  policyResult,
}: {
  readonly projectSession: PolicyViewProps['projectSession']
  readonly text: string
  readonly policyResult: ReturnType<typeof readPolicy>
}) {
  const question = useSignal<(typeof questions)[number]>(questions[0])
  const about = useSignal<string>(questions[0].first)
  const answer = useSignal<Answer | undefined>(undefined)
  useEffect(() => {
    let isStale = false
    const timer = setTimeout(async () => {
      const { tool, field } = question.value
      const input = { [field]: about.value, ...(tool === 'write_file' ? { content: '' } : {}) }
      const next: Answer = policyResult.ok
        ? await tryPolicy(projectSession.project, policyResult.policy, tool, input)
        : policyResult
      if (!isStale) answer.value = next
    }, 150)
    return () => {
      isStale = true
      clearTimeout(timer)
    }
  }, [text, question.value, about.value, projectSession.session.revision.value])
  return (
    <section class="explain" aria-label="Verdict of this policy">
      <div class="row">
        <span class="muted">May an agent</span>
        <Select
          label="May an agent"
          value={question.value.tool}
          options={questions.map(({ tool, about: verb }) => ({ value: tool, label: verb }))}
          onChange={(tool) => {
            const next = questions.find((one) => one.tool === tool) ?? questions[0]
            if (next.field !== question.value.field) about.value = next.first
            question.value = next
          }}
        />
        <input
          class="field mono grow"
          aria-label={question.value.field === 'path' ? 'Path' : 'Command line'}
          value={about.value}
          spellcheck={false}
          onInput={({ currentTarget }) => {
            about.value = currentTarget.value
          }}
        />
      </div>
      <div class="explain-answer" role="status">
        <AnswerText answer={answer.value} />
      </div>
    </section>
  )
}

function AnswerText({ answer }: { readonly answer: Answer | undefined }) {
  if (answer === undefined) return <p class="muted">…</p>
  if (!answer.ok) {
    return 'code' in answer ? (
      <>
        <p>
          <Icon name="blocked" /> <strong>{headlineOf(answer)}</strong>
        </p>
        <p class="muted">{codeWords[answer.code]?.why}</p>
        <details>
          <summary>Code and what the model is told</summary>
          <p class="muted">
            <span class="tag">{answer.code}</span> {answer.message}
          </p>
        </details>
      </>
    ) : (
      <p>
        <Icon name="blocked" /> {answer.message}
      </p>
    )
  }
  const { decision, reason, rules } = answer.verdict
  return (
    <>
      <p>
        <Icon name={decision === 'allow' ? 'check' : decision === 'ask' ? 'help' : 'blocked'} />{' '}
        <strong>{verdictInWords(answer.verdict)}</strong>
      </p>
      {decision === 'deny' && answer.verdict.code !== undefined && (
        <p class="muted">{codeWords[answer.verdict.code].why}</p>
      )}
      <details>
        <summary>Code, rules and what the model is told</summary>
        <div class="stack">
          <p class="muted">
            {answer.verdict.code !== undefined && <span class="tag">{answer.verdict.code}</span>} {reason}
          </p>
          <Rules rules={rules} />
        </div>
      </details>
    </>
  )
}

function toText(policy: unknown): string {
  return JSON.stringify(typeof policy === 'string' ? { preset: policy } : policy, null, 2)
}

const example = {
  preset: 'supervised',
  rules: [
    { name: 'sources may be edited', action: 'allow', permissions: ['file:write:*'], paths: ['src/**'] },
    { name: 'tests may run', action: 'allow', commands: ['npm test', 'npm test *'] },
    { name: 'the licence is final', action: 'deny', permissions: ['file:write:*', 'file:delete'], paths: ['LICENSE'] },
  ],
  labels: {
    sources: [{ label: 'confidential', paths: ['people/**'] }],
    sinks: [{ name: 'published pages', ceiling: 'public', paths: ['public/**'] }],
  },
}
