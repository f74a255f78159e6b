import { useEffect, useState } from 'preact/hooks'
import type { PolicyInput } from '../../policy/schema.ts'
import type { PolicyQuestions } from '../../ui/policy-editor.ts'
import type { FileState, PolicyEffect } from '../../ui/policy-effect.ts'
import type { ReadPolicy } from '../../ui/read-policy.ts'
import { codeWords } from '../../ui/words/code-words.ts'
import { headlineOf } from '../../ui/words/person-words.ts'
import { verdictInWords } from '../../ui/words/verdict-words.ts'
import { counted } from '../../util/counted.ts'
import { Icon } from '../parts/icon.tsx'
import { Select } from '../parts/select.tsx'
import { Rules } from '../parts/verdict.tsx'

type Answer = Awaited<ReturnType<PolicyQuestions['ask']>>

/** Calls that can be tried against the policy, with the field to fill in. */
const questions = [
  { tool: 'read_file', field: 'path', about: 'read', first: '.env' },
  { tool: 'write_file', field: 'path', about: 'write', first: 'src/index.js' },
  { tool: 'delete_file', field: 'path', about: 'delete', first: 'README.md' },
  { tool: 'run_command', field: 'command', about: 'run', first: 'rm -rf /' },
  { tool: 'list_directory', field: 'path', about: 'list', first: '.' },
] as const

const stateWords: Readonly<Record<FileState, string>> = {
  open: 'open to the agent',
  asks: 'asks you first',
  'read-only': 'read-only',
  hidden: 'hidden',
}

function effectInWords(state: FileState, count: number): string {
  const files = counted(count, 'file')
  if (state === 'asks') return `You are asked about ${files}`
  return `${files} ${count === 1 ? 'becomes' : 'become'} ${stateWords[state]}`
}

/** Files to name in each group. */
const MAX_NAMED = 20

/**
 * Returns the answer to a question, asked a moment after the last change of what it depends on. The answer before stays until then.
 *
 * @param wait milliseconds
 */
function useAnswer<T>(
  ask: (isStale: () => boolean) => Promise<T | undefined>,
  wait: number,
  dependencies: readonly unknown[],
): T | undefined {
  const [answer, setAnswer] = useState<T | undefined>()
  useEffect(() => {
    let isStale = false
    const timer = setTimeout(async () => {
      const next = await ask(() => isStale)
      if (!isStale) setAnswer(next)
    }, wait)
    return () => {
      isStale = true
      clearTimeout(timer)
    }
  }, dependencies)
  return answer
}

/** Says before the policy is applied which of the present files it treats differently. */
export function PolicyEffects({
  trial,
  policy,
  revision,
}: {
  readonly trial: PolicyQuestions
  readonly policy: PolicyInput
  readonly revision: unknown
}) {
  const effect = useAnswer((isStale) => trial.compare(isStale), 300, [policy, revision])
  return (
    <section class="policy-effect" aria-label="Effect on the files" role="status">
      {effect === undefined ? <p class="muted">Comparing the files…</p> : <EffectText effect={effect} />}
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

/** Asks the policy in the editor about one call, shortly after each change. */
export function PolicyVerdict({
  trial,
  read,
  revision,
}: {
  readonly trial: PolicyQuestions
  readonly read: ReadPolicy | undefined
  readonly revision: unknown
}) {
  const [question, setQuestion] = useState<(typeof questions)[number]>(questions[0])
  const [about, setAbout] = useState<string>(questions[0].first)
  const { tool, field } = question
  const input = { [field]: about, ...(tool === 'write_file' ? { content: '' } : {}) }
  const answer = useAnswer<Answer>(() => trial.ask(tool, input), 150, [read, tool, about, revision])
  return (
    <section class="explain" aria-label="Verdict of this policy">
      <div class="row">
        <span class="muted">May an agent</span>
        <Select
          label="May an agent"
          value={tool}
          options={questions.map((one) => ({ value: one.tool, label: one.about }))}
          onChange={(chosen) => {
            const next = questions.find((one) => one.tool === chosen) ?? questions[0]
            if (next.field !== field) setAbout(next.first)
            setQuestion(next)
          }}
        />
        <input
          class="field mono grow"
          aria-label={field === 'path' ? 'Path' : 'Command line'}
          value={about}
          spellcheck={false}
          onInput={({ currentTarget }) => setAbout(currentTarget.value)}
        />
      </div>
      <div class="explain-answer" role="status">
        {read?.ok === false ? (
          <p class="muted">No answer while the policy has a mistake.</p>
        ) : (
          <AnswerText answer={answer} />
        )}
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
