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

/** A shell under test, used for one case only. */
export interface ShellSubject {
  readonly shell: Shell
  /** An empty backend over which the shell can run. Default: memory. */
  readonly backend?: Backend
  /** Cleans up after the case. */
  dispose?(): Promise<void> | void
  /** A text that no message may contain, such as the directory on disk. */
  readonly physical?: string
}

/** One case, over a shell of its own. */
export type ShellCase = SubjectCase<ShellSubject>

/** Skips a case if the shell declares one of the capabilities absent. */
export function needs(...names: (keyof ShellCapabilities)[]) {
  return ({ shell: { capabilities } }: ShellSubject): string | undefined => {
    const missing = names.find((name) => !capabilities[name])
    return missing && `the shell does not declare ${missing}`
  }
}

// biome-ignore lint/suspicious/noExplicitAny: cases read arbitrary fields of results
export type Answer = Record<string, any>

/** A workspace with the shell under test. */
export interface ShellBench {
  readonly workspace: Workspace
  readonly backend: Backend
  run(command: string, input?: object, options?: { signal?: AbortSignal }): Promise<Answer>
  /** Runs a command and fails the case if the call is refused. The exit code can have any value. */
  ok(command: string, input?: object): Promise<Answer>
  call(name: string, input: object): Promise<Answer>
  /** Returns the content of the backend, without a call. */
  snapshot(): Promise<Map<string, string>>
}

/** Contents of files by path. */
export type Tree = Readonly<Record<string, string | Uint8Array>>

/**
 * Opens a workspace over the subject's backend with the given files. Every line passes the analysis, so that a case tests the
 * shell and its access to files.
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
    shell: withoutAnalysis(subject.shell),
    ...options,
    backend,
  })
  const call = (name: string, input: object, callOptions?: { signal?: AbortSignal }) =>
    workspace.callTool(name, input, callOptions) as Promise<Answer>
  const bench: ShellBench = {
    workspace,
    backend,
    call,
    run: (command, input = {}, callOptions) => call('run_command', { command, ...input }, callOptions),
    async ok(command, input) {
      const answer = await bench.run(command, input)
      check(answer.ok === true, `${command}: expected a success, got ${JSON.stringify(answer)}`)
      return answer
    },
    snapshot: () => snapshot(backend),
  }
  return bench
}

/** Writes the files before the workspace is opened. */
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

/** Returns the shell with an analysis that allows every line. */
function withoutAnalysis(shell: Shell): Shell {
  const line: CommandVerdict = { decision: 'allow', commands: [], accesses: [], reasons: [] }
  return {
    ...shell,
    judge: (_, { policy, call }) => ({ line, verdict: policy.evaluate({ ...call, commands: [] }), opens: [] }),
  }
}

/** Time limit of a case, enough for a slow machine. */
const WAIT_MS = 20_000

/** Waits for a promise with a time limit, so that a shell that hangs fails its case. */
export async function within<T>(label: string, promise: Promise<T>): Promise<T> {
  return withTimeout(promise, WAIT_MS, () => new Error(`${label}: no result after ${WAIT_MS} ms`))
}

/** Waits until a condition holds. */
export async function until(label: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WAIT_MS
  while (!(await holds())) {
    check(Date.now() < end, `${label}: not reached after ${WAIT_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
