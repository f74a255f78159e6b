import type { PolicyFinding } from '../policy/lint.ts'
import type { PolicyInput } from '../policy/schema.ts'
import { checkOptions, hasPlainPrototype, isFunction, must } from '../util/check-options.ts'
import { type Controller, ControllerState } from './controller.ts'

/** The state of a {@link PolicyEditor}. */
export interface PolicyEditorSnapshot {
  /** The policy as JSON, as the person has it. */
  readonly text: string
  /** Whether the text differs from the policy in force. */
  readonly isChanged: boolean
  /** What is wrong with the text, or `undefined` when it is a policy. */
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
}

/** Options of {@link createPolicyEditor}. */
export interface PolicyEditorOptions {
  /** The policy in force. */
  readonly policy: PolicyInput
  /** Puts a policy in force, as by another workspace over the same files. If it throws, the policy in force stays. */
  readonly onApply: (policy: PolicyInput) => void | Promise<void>
}

/** Creates an editor of a policy. The engine checks each text as a workspace would. */
export function createPolicyEditor(options: PolicyEditorOptions): PolicyEditor {
  const { policy, onApply } = checkOptions<PolicyEditorOptions>(
    'createPolicyEditor()',
    options,
    { policy: must('a policy', (value) => typeof value === 'string' || isPlain(value)), onApply: isFunction },
    'policy',
    'onApply',
  )
  let inForce = JSON.stringify(typeof policy === 'string' ? { preset: policy } : policy, null, 2)
  const state = new ControllerState<PolicyEditorSnapshot>({
    text: inForce,
    isChanged: false,
    fault: undefined,
    findings: [],
    isApplying: false,
    trouble: undefined,
  })
  // The engine's check loads when it is first needed.
  const check = async (): Promise<void> => {
    const { lintPolicy } = await import('../policy/lint.ts')
    const { text } = state.snapshot
    try {
      state.update({ findings: lintPolicy(JSON.parse(text)), fault: undefined })
    } catch (error) {
      state.update({ findings: [], fault: (error as Error).message })
    }
  }
  let checked = check()

  function show(text: string): void {
    state.update({ text, isChanged: text !== inForce, trouble: undefined })
    checked = check()
  }

  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    edit: show,
    reset: () => show(inForce),
    async apply() {
      if (state.snapshot.isApplying) return
      state.update({ isApplying: true, trouble: undefined })
      try {
        await checked
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

function isPlain(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && hasPlainPrototype(value)
}
