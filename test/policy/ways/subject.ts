import { memory } from '../../../dist/backends/memory/index.js'
import { anthropic } from '../../../dist/dialects/anthropic/index.js'
import { dialects } from '../../../dist/dialects/index.js'
import { git } from '../../../dist/git/index.js'
// The published build, because `node` in the shell needs a separate file for its process.
import { createWorkspace, type PolicyInput, type Workspace, type WorkspaceRun } from '../../../dist/index.js'
import type { Shell } from '../../../dist/shells/author.js'
import { bash } from '../../../dist/shells/bash/index.js'
import type { Backend } from '../../../dist/storage/backend.js'
import type { Answer } from '../../../src/testing/shell/case.ts'
import { fileCommands } from '../../shells/bash/file-commands.ts'

export type { Answer }

/** A workspace with a rule that applies to one run. */
export interface Subject {
  /** The run under the rule, and the operations of the workspace. */
  readonly workspace: Workspace
  /** A run without the rule, for the preparations of a way. */
  readonly free: WorkspaceRun
  /** The risk of the task of runs under the rule. */
  readonly task: { readonly text: string; readonly risk: string }
  /** Calls a tool, and throws if the call fails. */
  ok(run: Pick<WorkspaceRun, 'callTool'>, name: string, input: object): Promise<Answer>
}

/** One way to change or to view a path. */
export interface Way {
  readonly name: string
  /** The dialect of the workspace. */
  readonly dialect?: string
  /** Whether the way works on an overlay, whose changes reach the files by `commit`. */
  readonly isOverlay?: boolean
  /** Runs before the files are compared. */
  prepare?(subject: Subject): Promise<unknown>
  /** Uses the way, and returns its answer. */
  act(subject: Subject): Promise<unknown>
}

const RISK = 'guarded'
const task = { text: 'x', risk: RISK }

export type Rule = 'none' | 'deny' | 'ask'

/** The permission and paths of the rule, and the directory of the agent's notes. */
export interface RuleSetting {
  readonly permission: string
  readonly paths: readonly string[]
  readonly notes: string
  /** Rules on all runs. */
  readonly others?: readonly object[]
}

/** Returns a policy that allows everything except for one rule on runs of the risk `guarded`. */
function policyOf(action: Rule, { permission, paths, notes, others = [] }: RuleSetting): PolicyInput {
  const memory = { path: notes }
  if (action === 'none') return { preset: 'autonomous', memory, rules: [...others] } as PolicyInput
  const rule = { name: 'the rule', action, permissions: [permission], paths: [...paths], risk: [RISK] }
  return { preset: 'autonomous', memory, rules: [rule, ...others] } as PolicyInput
}

export interface Question {
  readonly tool: string
  /** The rules that caused it. */
  readonly rules: readonly string[]
}

export interface Outcome {
  readonly answer: Answer | undefined
  /** The questions of calls under the rule. */
  readonly questions: readonly Question[]
  /** The results of `observe` before and after the way. */
  readonly before: string
  readonly after: string
  /** The error codes of refusals in the audit. */
  readonly codes: ReadonlySet<string>
  readonly records: string
}

/** Returns a dialect by its name. The memory directory of Anthropic's tools is the directory of the notes. */
function dialectOf(name: string, { notes }: RuleSetting) {
  if (name === 'anthropic') return anthropic({ '/workspace': '', '/memories': notes })
  return dialects[name]?.()
}

/** One shell for all ways, so that its process is started once. */
const sharedShell = bash({ commands: fileCommands })
export const closeShell = () => sharedShell.close()

export interface Attempt {
  readonly rule: Rule
  readonly setting: RuleSetting
  readonly backend: Backend
  /** Returns the state that the way changes. */
  observe?(): Promise<string>
  /** Instead of `bash()`. */
  readonly shell?: Shell
  /** The answer to every question. */
  readonly reply?: 'allow' | { readonly deny: string }
}

/** Uses a way in a new workspace over a backend. */
export async function tryWay(way: Way, attempt: Attempt): Promise<Outcome> {
  const { rule, setting, backend, observe = async () => '', reply = { deny: 'no' }, shell = sharedShell } = attempt
  const questions: Question[] = []
  const options = {
    backend,
    policy: policyOf(rule, setting),
    shell: { ...shell, async close() {} },
    git: git(),
    approve: (request: { tool: string; verdict: { rules: readonly { name: string; action: string }[] } }) => {
      const rules = request.verdict.rules.filter(({ action }) => action === 'ask').map(({ name }) => name)
      questions.push({ tool: request.tool, rules: [...new Set(rules)] })
      return reply
    },
    run: { id: 'guarded', task },
    ...(way.dialect === undefined ? {} : { dialect: dialectOf(way.dialect, setting) }),
  }
  const workspace = (await createWorkspace(options as never)) as unknown as Workspace
  const subject: Subject = {
    workspace,
    free: workspace.run({ id: 'free' }),
    task,
    async ok(run, name, input) {
      const answer = (await run.callTool(name, input)) as Answer
      if (answer.ok === false || answer.isError === true) throw new Error(`${name}: ${JSON.stringify(answer)}`)
      return answer
    },
  }
  try {
    await way.prepare?.(subject)
    const before = await observe()
    const answer = (await way.act(subject)) as Answer | undefined
    const after = await observe()
    await workspace.close()
    const records = workspace.auditRecords()
    const codes = records.flatMap(({ code, refusals = [] }) => [code ?? '', ...refusals.map((refusal) => refusal.code)])
    return { answer, questions, before, after, codes: new Set(codes), records: JSON.stringify(records) }
  } finally {
    await workspace.close().catch(() => {})
  }
}

/** Returns everything below a directory of a backend, as text. */
export async function treeText(backend: Backend, path: string): Promise<string> {
  const stat = await backend.stat(path as never)
  if (stat === undefined) return `${path} absent\n`
  if (stat.type === 'link') return `${path} link ${await backend.readLink(path as never)}\n`
  if (stat.type !== 'directory') {
    const { bytes } = await backend.read(path as never)
    return `${path} ${stat.mode?.toString(8)} ${new TextDecoder().decode(bytes)}\n`
  }
  const names = (await backend.list(path as never)).map(({ name }) => name).sort()
  let text = `${path}/\n`
  for (const name of names) text += await treeText(backend, `${path}/${name}`)
  return text
}

export { memory }
