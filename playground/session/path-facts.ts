import { type ReadonlySignal, signal } from '@preact/signals'
import type { Explanation, Workspace } from 'wardspace'
import type { Classification } from 'wardspace/policy'
import { ruleInWords } from '../../src/ui/words/verdict-words.ts'

/** What the tree shows about a path beside its name. */
export interface PathFact {
  /** Kind of the file in one word; undefined for ordinary files. */
  readonly kind: string | undefined
  /** Reason why an agent must not open or change it. */
  readonly lock: string | undefined
  /** Whether people normally do not edit it. */
  readonly isQuiet: boolean
}

/** Facts about paths under the policy of the workspace, computed for displayed paths only. */
export interface PathFacts {
  /** Returns `undefined` until the fact is computed; then `revision` increases. */
  of(path: string, type: string, revision: number): PathFact | undefined
  readonly revision: ReadonlySignal<number>
}

const kinds: Partial<Record<Classification['kind'], string>> = {
  LOCKFILE: 'lockfile',
  GENERATED: 'generated',
  VENDORED: 'vendored',
  SECRET_LIKE: 'secret',
  BINARY: 'binary',
  GIT_INTERNAL: 'git',
}

/** @param isWritable false while another tab writes the project: the workspace then refuses every change */
export function createPathFacts(workspace: Pick<Workspace, 'explain' | 'mode' | 'run'>, isWritable = true): PathFacts {
  // Plan mode ends with the approval of a plan. The marks show what the policy decides from then on.
  const { explain } = workspace.mode === 'plan' ? workspace.run({ plan: { text: 'Marks of the files' } }) : workspace
  const cached = new Map<string, PathFact | undefined>()
  const revision = signal(0)
  let isScheduled = false

  async function load(key: string, path: string, type: string): Promise<void> {
    const tool = type === 'directory' ? 'list_directory' : 'read_file'
    const read = await explain(tool, { path })
    if (!read.ok) {
      cached.set(key, { kind: undefined, lock: read.message, isQuiet: false })
    } else {
      const kind = read.accesses[0]?.classification.kind
      const name = kind === undefined ? undefined : kinds[kind]
      const lock =
        lockOf(read, 'The agent cannot open it') ??
        (type === 'directory' || !isWritable
          ? undefined
          : lockOf(await explainWriting(path), 'The agent can read it, and not change it'))
      cached.set(key, { kind: name, lock, isQuiet: name !== undefined && name !== 'secret' })
    }
    if (isScheduled) return
    isScheduled = true
    // Many rows are computed at once: increase the revision once.
    setTimeout(() => {
      isScheduled = false
      revision.value += 1
    })
  }

  const explainWriting = (path: string) => explain('write_file', { path, content: '', mode: 'REPLACE_EXISTING' })

  return {
    revision,
    of(path, type) {
      const key = `${type} ${path}`
      if (!cached.has(key)) {
        cached.set(key, undefined)
        void load(key, path, type)
      }
      return cached.get(key)
    },
  }
}

/** Says what an agent cannot do with a path, whatever a person approves. Undefined if a call is allowed or asks. */
function lockOf(explanation: Explanation, text: string): string | undefined {
  if (!explanation.ok) return text
  const { decision, rules } = explanation.verdict
  if (decision !== 'deny') return undefined
  const why = rules.flatMap((rule) => (rule.action === 'deny' ? (ruleInWords(rule) ?? []) : []))[0]
  return why === undefined ? text : `${text}: ${why}`
}
