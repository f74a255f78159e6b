import { memory } from '../../backends/memory/index.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { CommandVerdict } from '../../shells/analysis/index.ts'
import type { Shell, ShellCapabilities } from '../../shells/types.ts'
import type { Backend, Change } from '../../storage/backend.ts'
import { withTimeout } from '../../util/timers.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../../workspace/create-workspace.ts'
import { check } from '../assert.ts'
import { snapshot } from '../backend/case.ts'
import type { SubjectCase } from '../cases.ts'

/** A shell under test, for one case only. */
export interface ShellSubject {
  readonly shell: Shell
  /** An empty backend over which the shell can run. Default: memory. */
  readonly backend?: Backend
  /** Clears up after the case. */
  dispose?(): Promise<void> | void
  /** A text that no message may hold, such as the directory on disk. */
  readonly physical?: string
}

/** One case, over a shell of its own. */
export type ShellCase = SubjectCase<ShellSubject>

/** Skips a case where a capability is declared absent. */
export function needs(...names: (keyof ShellCapabilities)[]) {
  return ({ shell: { capabilities } }: ShellSubject): string | undefined => {
    const missing = names.find((name) => !capabilities[name])
    return missing && `the shell declares no ${missing}`
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a case looks at whatever field it expects
export type Answer = Record<string, any>

/** A workspace with the shell under test. */
export interface ShellBench {
  readonly workspace: Workspace
  readonly backend: Backend
  run(command: string, more?: object, how?: { signal?: AbortSignal }): Promise<Answer>
  /** A command that must be carried out, whatever its exit code. */
  ok(command: string, more?: object): Promise<Answer>
  call(name: string, input: object): Promise<Answer>
  /** All that is in the workspace, behind its back. */
  snapshot(): Promise<Map<string, string>>
}

/** Files by path: text or bytes. */
export type Tree = Readonly<Record<string, string | Uint8Array>>

/**
 * A workspace over the subject's backend with some files in it. Lines are not judged: here it is the shell and its files
 * that have to keep what they promise.
 */
export async function open(
  subject: ShellSubject,
  tree: Tree = {},
  options: Partial<WorkspaceOptions> = {},
): Promise<ShellBench> {
  const backend = subject.backend ?? memory()
  await plant(backend, tree)
  const workspace = await createWorkspace({
    policy: { preset: 'autonomous', tools: { run_command: 'allow', start_command: 'allow' } },
    shell: unjudged(subject.shell),
    ...options,
    backend,
  })
  const call = (name: string, input: object, how?: { signal?: AbortSignal }) =>
    workspace.callTool(name, input, how) as Promise<Answer>
  const bench: ShellBench = {
    workspace,
    backend,
    call,
    run: (command, more = {}, how) => call('run_command', { command, ...more }, how),
    async ok(command, more) {
      const answer = await bench.run(command, more)
      check(answer.ok === true, `${command}: it was refused: ${JSON.stringify(answer)}`)
      return answer
    },
    snapshot: () => snapshot(backend),
  }
  return bench
}

/** Puts files there before anything else is there to notice. */
async function plant(backend: Backend, tree: Tree): Promise<void> {
  const seed = memory(tree)
  const changes: Change[] = []
  const waiting: Path[] = ['' as Path]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { name, type } of await seed.list(next)) {
      const path = (next === '' ? name : `${next}/${name}`) as Path
      if (type === 'directory') {
        changes.push({ path, expect: 'any', to: { type } })
        waiting.push(path)
      } else {
        const { bytes } = await seed.read(path)
        changes.push({ path, expect: 'any', to: { type: 'file', bytes } })
      }
    }
  }
  if (changes.length > 0) await backend.commit(changes, { durability: 'relaxed' })
}

/** The shell with a judge that lets every line pass. */
function unjudged(shell: Shell): Shell {
  const line: CommandVerdict = { decision: 'allow', commands: [], accesses: [], reasons: [] }
  return {
    ...shell,
    judge: (_, { policy, call }) => ({ line, verdict: policy.evaluate({ ...call, commands: [] }), opens: [] }),
  }
}

/** What a slow machine may need. */
const PATIENCE_MS = 20_000

/** Waits for something that must come, so that a shell that hangs fails its case. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  return withTimeout(promise, PATIENCE_MS, () => new Error(`${what}: it hangs`))
}

/** Waits until something is so. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_MS
  while (!(await isSo())) {
    check(Date.now() < end, `${what}: it did not come about`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
