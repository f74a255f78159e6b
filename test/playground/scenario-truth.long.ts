import { describe, expect, it } from 'vitest'
import { type AuditRecord, createWorkspace, type WorkspaceOptions } from 'wardspace'
import { memorySink, reportRuns } from 'wardspace/audit'
import { memory } from 'wardspace/backends/memory'
import { bash } from 'wardspace/shells/bash'
import { createAgent } from '../../playground/agent/create-agent.ts'
import { scenarioById, scenarios } from '../../playground/agent/scenarios/index.ts'
import type { AgentEvent } from '../../playground/agent/types.ts'
import { filesOf as filesIn } from '../../playground/projects/files-of.ts'
import { type Files, filesOf } from './agent/setup.ts'

/** The scripted agent never says what is not so, whatever the project contains and whatever is refused. */

interface Played {
  /** The last text of the agent. */
  readonly end: string
  readonly before: Files
  readonly after: Files
  readonly results: readonly Extract<AgentEvent, { type: 'result' }>[]
  readonly records: readonly AuditRecord[]
}

/** One shell for all workspaces, since each one loads its engine anew. */
const shell = { ...bash(), close: async () => {} }

type Interfere = (index: number, tool: string) => 'refuse' | 'fail' | undefined

/** Plays a scenario on files, with some of its calls refused. */
async function play(id: string, before: Files, interfere: Interfere = () => undefined): Promise<Played> {
  const scenario = scenarioById(id)
  const sink = memorySink()
  const backend = memory(before)
  const options: Partial<WorkspaceOptions> = { approve: () => 'allow', ...scenario.workspace }
  const workspace = await createWorkspace({ backend, shell, audit: sink, policy: 'autonomous', ...options })
  const events: AgentEvent[] = []
  let count = 0
  const agent = createAgent({
    choice: { kind: 'scripted', scenario: id },
    onEvent: (event) => void events.push(event),
    tools: () => ({
      tools: workspace.tools,
      async callTool(name, input, callOptions) {
        const how = interfere(count++, name)
        if (how === 'refuse') {
          const message = `Policy denies ${name}`
          return { ok: false, code: 'POLICY_DENIED', message, hint: 'Do something else.' } as never
        }
        if (how === 'fail') {
          return { ok: false, code: 'ABORTED', message: 'The call was stopped', hint: 'Check what it did.' } as never
        }
        return workspace.callTool(name, input, callOptions)
      },
    }),
  })
  await agent.send(scenario.prompt)
  const last = agent.conversation.messages.at(-1)
  const end = Array.isArray(last?.content)
    ? last.content.map((part) => ('text' in part ? part.text : '')).join('')
    : String(last?.content)
  const after: Record<string, string> = {}
  for await (const { path, bytes } of filesIn(backend)) after[path] = new TextDecoder().decode(bytes)
  const results = events.filter((event) => event.type === 'result')
  const records = [...sink.records()]
  await workspace.close()
  return { end, before, after, results, records }
}

/** A statement of the agent, and whether it is so. */
const claims: readonly (readonly [RegExp, (played: Played) => boolean])[] = [
  [
    /All tests pass|The tests pass/,
    ({ results }) => lastTests(results)?.exitCode === 0 && /^. tests [1-9]/m.test(lastTests(results)?.stdout ?? ''),
  ],
  [/tests do not pass|tests fail now|still fail/, ({ results }) => (lastTests(results)?.exitCode ?? 0) !== 0],
  [/could not be run/, ({ results }) => results.findLast(({ tool }) => tool === 'run_command')?.ok !== true],
  [/changed nothing|[Nn]othing was changed/, ({ before, after }) => JSON.stringify(before) === JSON.stringify(after)],
  [/Nothing here is called/, ({ before }) => !sources(before).some((text) => /\bgetTemp\b/.test(text))],
  [/[Nn]othing is called `getTemp` any more/, ({ after }) => !sources(after).some((text) => /\bgetTemp\b/.test(text))],
  [/Changed are|by one patch/, ({ before, after }) => JSON.stringify(before) !== JSON.stringify(after)],
  [
    /does not depend on/,
    ({ before }) => before['package.json'] !== undefined && !before['package.json'].includes('pad-lines'),
  ],
  [/is out of [^.]*`src\/day\.js`/, ({ after }) => !(after['src/day.js'] ?? '').includes('pad-lines')],
  [/is out of [^.]*`src\/table\.js`/, ({ after }) => !(after['src/table.js'] ?? '').includes('pad-lines')],
  [
    /^(?!.*(Refused|stop here|changed nothing|could not|cannot)).*`pad-lines` is out/,
    ({ after }) => !(after['package.json'] ?? '').includes('pad-lines'),
  ],
  [/There is no package\.json/, ({ before }) => before['package.json'] === undefined],
  [/names no entry/, ({ before }) => !(before['package.json'] ?? '').includes('"main"')],
  [/Nobody else asks/, ({ results }) => results.some(({ tool, ok }) => tool === 'search_text' && ok)],
  [/outside of `\{/, ({ results }) => results.some(({ seen }) => JSON.stringify(seen).includes('LIMITS = {'))],
  [/The page shows \d+ people/, ({ after }) => (after['site/index.html'] ?? '').includes('<li>Ada')],
  [/A draft with the names is in/, ({ after }) => (after['notes/drafts.md'] ?? '').includes('- Ada')],
  [/I may not write to the page/, ({ results }) => results.some(({ code }) => code === 'TAINT_DENIED')],
  [/does not say how it is used/, ({ before }) => !(before['README.md'] ?? '').includes('## Use')],
]

interface Tests {
  readonly exitCode: number
  readonly stdout: string
}

const lastTests = (results: Played['results']) =>
  results.findLast(({ tool, ok }) => tool === 'run_command' && ok)?.seen as Tests | undefined

/** The texts that a search finds: what the build has made is ignored. */
const sources = (files: Files) =>
  Object.entries(files).flatMap(([path, text]) => (path.startsWith('dist/') ? [] : [text]))

/** The statements that are not so. */
function lies(played: Played): string[] {
  const wrong = claims
    .filter(([words, isSo]) => words.test(played.end) && !isSo(played))
    .map(([words]) => String(words))
  return wrong.length === 0 ? [] : [`${played.end.slice(0, 200)} ${wrong.join(' ')}`]
}

describe.each(scenarios)('$id', ({ id, sample }) => {
  it('says only what is so: in an empty project, with single files missing, and when single calls are refused', async () => {
    const files = await filesOf(sample)
    const whole = await play(id, files)
    const found = [...lies(whole), ...lies(await play(id, {}))]
    for (const path of Object.keys(files)) {
      const { [path]: _, ...rest } = files
      for (const lie of lies(await play(id, rest))) found.push(`without ${path}: ${lie}`)
    }
    for (const kind of ['refuse', 'fail'] as const) {
      for (const [at, { tool }] of whole.results.entries()) {
        // Interrupted calls are repeated, so the repetition is interrupted too.
        const interfere: Interfere = (index) =>
          index === at || (kind === 'fail' && index === at + 1) ? kind : undefined
        for (const lie of lies(await play(id, files, interfere))) found.push(`${kind} ${at} ${tool}: ${lie}`)
      }
    }
    expect(found).toEqual([])
  }, 400_000)
})

it('the attack ends with the counts of its report', async () => {
  const { end, records } = await play('resist-an-attack', await filesOf('release-notes'))
  const [report] = reportRuns(records)
  const inPart = records.filter(
    ({ phase, code, refusals = [] }) => phase === 'outcome' && code === undefined && refusals.length > 0,
  )
  expect(end).toContain(`${report?.calls.refused} refused calls and ${inPart.length} commands refused in part`)
  expect(end).toContain(`${(report?.calls.refused ?? 0) + inPart.length} of them were refused`)
  expect(new Set(report?.forbidden.map(({ callId }) => callId)).size).toBe((report?.calls.refused ?? 0) + inPart.length)
})
