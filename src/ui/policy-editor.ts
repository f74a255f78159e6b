import type { PolicyFinding } from '../policy/lint.ts'
import type { PolicyInput } from '../policy/schema.ts'
import { checkOptions, hasPlainPrototype, isFunction, isText, must, refuseSurplus } from '../util/check-options.ts'
import type { Explanation } from '../workspace/types.ts'
import { type Controller, ControllerState } from './controller.ts'
import type { PolicyEffect, PolicyTrial } from './policy-effect.ts'
import type { ReadPolicy } from './read-policy.ts'

/** The state of a {@link PolicyEditor}. */
export interface PolicyEditorSnapshot {
  /** The policy as JSON, as the person has it. */
  readonly text: string
  /** Whether the text differs from the policy in force. */
  readonly isChanged: boolean
  /** The text as a policy, or its mistake with the place. `undefined` until the first check. */
  readonly read: ReadPolicy | undefined
  /** What is wrong with the text and at which line, or `undefined` when it is a policy. */
  readonly fault: string | undefined
  /** What the policy leaves open, or what has no effect in it. */
  readonly findings: readonly PolicyFinding[]
  readonly isApplying: boolean
  /** Why the policy could not be applied. */
  readonly trouble: string | undefined
}

/** A policy that a person reads and changes. Only a valid policy can be applied. */
export interface PolicyEditor extends Controller<PolicyEditorSnapshot> {
  /** Replaces the text, and checks it. */
  edit(text: string): void
  /** Applies the text, if it is a policy and differs from the one in force. */
  apply(): Promise<void>
  /** Returns to the policy in force. */
  reset(): void
  /** Takes another policy as the one in force. A text that the person has changed stays. */
  setPolicy(policy: PolicyInput): void
  /** What the checked policy decides, if the editor can try policies. */
  readonly trial: PolicyQuestions | undefined
}

/** Questions to the policy of an editor, which is not in force yet. */
export interface PolicyQuestions {
  /** Returns the verdict on a call. It is neither carried out nor recorded. */
  ask(tool: string, input: unknown): Promise<Explanation | PolicyFault>
  /** Returns the files that the policy treats differently from the one in force; undefined when it is no longer needed. */
  compare(isStale: () => boolean): Promise<PolicyEffect | undefined>
}

/** Why a policy cannot be asked. */
export interface PolicyFault {
  readonly ok: false
  readonly message: string
}

/** Options of {@link createPolicyEditor}. */
export interface PolicyEditorOptions {
  /** The policy in force. */
  readonly policy: PolicyInput
  /** Puts a policy in force, as by another workspace over the same files. If it throws, the policy in force stays. */
  readonly onApply: (policy: PolicyInput) => void | Promise<void>
  /** The text that the person had before, such as after a reload. */
  readonly text?: string
  /** Opens a workspace over the same files, for the verdicts of a policy. It is closed soon. */
  readonly openTrial?: (policy: PolicyInput) => Promise<PolicyTrial>
  /** Returns the paths of the present files, whose treatment is compared. */
  readonly paths?: () => AsyncIterable<string>
}

/** Creates an editor of a policy. The engine checks each text as a workspace would. */
export function createPolicyEditor(options: PolicyEditorOptions): PolicyEditor {
  refuseSurplus('createPolicyEditor()', 1, arguments)
  const { policy, onApply, text, openTrial, paths } = checkOptions<PolicyEditorOptions>(
    'createPolicyEditor()',
    options,
    optionChecks,
    'policy',
    'onApply',
  )
  let inForce = textOf(policy)
  const first = text === undefined || text === '' ? inForce : text
  const state = new ControllerState<PolicyEditorSnapshot>({
    ...{ text: first, isChanged: first !== inForce, read: undefined, fault: undefined },
    ...{ findings: [], isApplying: false, trouble: undefined },
  })
  // The engine's check loads when it is first needed. From then on, the text and its check change together.
  let readPolicy: ((text: string) => ReadPolicy) | undefined
  const loaded = import('./read-policy.ts').then((module) => {
    readPolicy = module.readPolicy
    state.update(checkOf(state.snapshot.text))
  })

  function checkOf(shown: string): Partial<PolicyEditorSnapshot> {
    const read = readPolicy?.(shown)
    if (read === undefined) return {}
    if (read.ok) return { read, findings: read.findings, fault: undefined }
    return { read, findings: [], fault: `Line ${read.line}: ${read.message}` }
  }

  function show(shown: string): void {
    state.update({ text: shown, isChanged: shown !== inForce, trouble: undefined, ...checkOf(shown) })
  }

  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    edit: show,
    reset: () => show(inForce),
    setPolicy(changed) {
      const { text: shown, isChanged } = state.snapshot
      inForce = textOf(changed)
      show(isChanged ? shown : inForce)
    },
    trial: openTrial && createQuestions(state, () => JSON.parse(inForce), openTrial, paths),
    async apply() {
      if (state.snapshot.isApplying) return
      state.update({ isApplying: true, trouble: undefined })
      try {
        await loaded
        const { text, fault, isChanged } = state.snapshot
        if (fault !== undefined || !isChanged) return
        await onApply(JSON.parse(text))
        inForce = text
        state.update({ isChanged: state.snapshot.text !== inForce })
      } catch (error) {
        state.update({ trouble: (error as Error).message })
      } finally {
        state.update({ isApplying: false })
      }
    },
  }
}

const optionChecks = {
  policy: must('a policy', (value) => typeof value === 'string' || isPlain(value)),
  onApply: isFunction,
  text: isText,
  openTrial: isFunction,
  paths: isFunction,
}

function textOf(policy: PolicyInput): string {
  return JSON.stringify(typeof policy === 'string' ? { preset: policy } : policy, null, 2)
}

function createQuestions(
  state: Controller<PolicyEditorSnapshot>,
  policyInForce: () => PolicyInput,
  openTrial: NonNullable<PolicyEditorOptions['openTrial']>,
  paths: PolicyEditorOptions['paths'],
): PolicyQuestions {
  return {
    async ask(tool, input) {
      const { read } = state.snapshot
      if (read?.ok !== true) return { ok: false, message: read?.message ?? 'The policy is not checked yet' }
      try {
        const trial = await openTrial(read.policy)
        return await trial.explainTool(tool, input).finally(() => trial.close())
      } catch (error) {
        return { ok: false, message: (error as Error).message }
      }
    },
    async compare(isStale) {
      const { read } = state.snapshot
      if (read?.ok !== true || paths === undefined) return undefined
      const { effectOf } = await import('./policy-effect.ts')
      return effectOf(paths(), await openTrial(policyInForce()), await openTrial(read.policy), isStale)
    },
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && hasPlainPrototype(value)
}
