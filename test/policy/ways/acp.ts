import { expect } from 'vitest'
import { type ConnectedAgent, connectAgent } from '../../adapters/acp-agent.ts'
import { PLAN } from './tree.ts'

/** An agent of the SDK of the Agent Client Protocol, and its permission requests whose answers are not those of the policy. */
interface WayAgent extends ConnectedAgent {
  readonly wrong: string[]
}

/** What an agent does. */
export type AcpUse = (agent: WayAgent) => Promise<unknown>

const root = '/workspace'
const A = `${root}/docs/a.md`

/** Runs a command line in a terminal, and releases it at its end. */
async function inTerminal({ requests, sessionId }: ConnectedAgent, command: string, more: object = {}) {
  const terminal = await requests.createTerminal({ sessionId, command, ...more })
  const status = await terminal.waitForExit()
  const { output } = await terminal.currentOutput()
  await terminal.release()
  return { output, ...status }
}

/** The same by an agent that does not wait, and asks for the output again. */
async function polled({ requests, sessionId }: ConnectedAgent, command: string) {
  const terminal = await requests.createTerminal({ sessionId, command })
  for (;;) {
    const { output, exitStatus } = await terminal.currentOutput()
    if (exitStatus) return { output, ...exitStatus }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/**
 * Asks for the permission, and goes on whatever the answer is. What a rule denies is rejected before, and nothing that was rejected has
 * an effect.
 */
async function permitted({ permission, wrong }: WayAgent, toolCall: object, act: () => Promise<unknown>) {
  const { outcome } = await permission(toolCall)
  const isAllowed = outcome.outcome === 'selected' && outcome.optionId === 'yes'
  let refusal: string | undefined
  try {
    return await act()
  } catch (error) {
    refusal = (Object(error) as { readonly data?: { readonly refusal?: string } }).data?.refusal
    throw error
  } finally {
    if (isAllowed === (refusal === 'POLICY_DENIED')) wrong.push(JSON.stringify([toolCall, outcome, refusal]))
  }
}

const edit = { kind: 'edit', content: [{ type: 'diff', path: A, oldText: 'one\ntwo\n', newText: 'n' }] }

/** The uses that change something below `docs`, by name. The first word is the method. */
export const acpChanges: Readonly<Record<string, AcpUse>> = {
  'fs/write_text_file over a file': ({ write }) => write(A, 'n'),
  'fs/write_text_file of an empty text': ({ write }) => write(A, ''),
  'fs/write_text_file of a new file': ({ write }) => write(`${root}/docs/n/new.md`, 'n'),
  'fs/write_text_file by another spelling': ({ write }) => write(`${root}/src/..//docs/./a.md`, 'n'),
  'terminal/create': (agent) => inTerminal(agent, 'rm docs/a.md'),
  'terminal/create of a redirection, without output': (agent) =>
    inTerminal(agent, 'echo n > docs/new.md', { outputByteLimit: 0 }),
  'terminal/create with arguments': (agent) => inTerminal(agent, 'rm', { args: [A] }),
  'terminal/create elsewhere, with variables': (agent) =>
    inTerminal(agent, 'bash', { args: ['-c', 'rm "$A"'], cwd: `${root}/docs`, env: [{ name: 'A', value: 'a.md' }] }),
  'terminal/output until the end': (agent) => polled(agent, 'rm docs/a.md'),
  'session/request_permission of an edit, and the edit': (agent) => permitted(agent, edit, () => agent.write(A, 'n')),
  'session/request_permission of a path, and a new file': (agent) =>
    permitted(agent, { kind: 'edit', rawInput: { file_path: `${root}/docs/new.md` } }, () =>
      agent.write(`${root}/docs/new.md`, 'n'),
    ),
  'session/request_permission of a command, and the command': (agent) =>
    agent
      .permission({ kind: 'execute', title: '`rm docs/a.md`' })
      .then(async (answer) => [answer, await inTerminal(agent, 'rm docs/a.md')]),
}

const FULL = `${root}/${PLAN}`

/** The uses that show the content of {@link PLAN}, by name. */
export const acpViews: Readonly<Record<string, AcpUse>> = {
  'fs/read_text_file': ({ read }) => read(FULL),
  'fs/read_text_file of lines': ({ read }) => read(FULL, { line: 1, limit: 1 }),
  'fs/read_text_file of a link': async (agent) => {
    await inTerminal(agent, `ln -s ../${PLAN} src/p.md`)
    return agent.read(`${root}/src/p.md`)
  },
  'fs/read_text_file of a copy': async (agent) => {
    await inTerminal(agent, `cp ${PLAN} src/p.md`)
    return agent.read(`${root}/src/p.md`)
  },
  'terminal/create': (agent) => inTerminal(agent, `cat ${PLAN}`),
  'terminal/create with arguments, elsewhere': (agent) =>
    inTerminal(agent, 'cat', { args: ['plan.md'], cwd: `${root}/private` }),
  'terminal/create that prints an error': (agent) => inTerminal(agent, `cat ${PLAN} >&2; exit 1`),
  'terminal/output until the end': (agent) => polled(agent, `cat ${PLAN}`),
  'session/request_permission of a read, and the read': (agent) =>
    permitted(agent, { kind: 'read', locations: [{ path: FULL }] }, () => agent.read(FULL)),
  'session/request_permission of a path, and the read': (agent) =>
    permitted(agent, { kind: 'other', rawInput: { path: FULL } }, () => agent.read(FULL, { limit: 9 })),
}

/** The ways of a list of uses, each by an agent of its own. */
export const acpWays = <A>(uses: Readonly<Record<string, AcpUse>>, asAnswer: (use: Promise<unknown>) => Promise<A>) =>
  Object.entries(uses).map(([name, use]) => ({
    name,
    async act({ workspace }: { readonly workspace: Parameters<typeof connectAgent>[0] }) {
      const agent = { ...(await connectAgent(workspace)), wrong: [] as string[] }
      try {
        const answer = await asAnswer(use(agent))
        expect(agent.wrong).toEqual([])
        return answer
      } finally {
        agent.connected.close()
        await agent.guarded.close()
      }
    },
  }))
