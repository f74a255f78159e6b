import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { endProcesses } from '../shells/node/end-processes.ts'
import { MARK } from '../shells/node/environment.ts'
import { AcpGuard } from './acp-guard.ts'
import type { Host } from './mcp.ts'
import { openWorkspace } from './options.ts'
import { parseWords } from './parse-words.ts'
import { oneRoot, realPathOf } from './roots.ts'

/**
 * `wardspace acp -- AGENT`: starts an agent of the Agent Client Protocol between an editor on stdio and the workspace, which answers its
 * requests for files, terminals and permissions. Ends with the agent, and stops it when the editor has gone.
 */
export async function acp(words: string[], host: Host = process): Promise<number> {
  const { values, positionals } = parseWords('acp', words)
  const [command, ...args] = positionals
  if (command === undefined) throw new TypeError('Which agent? wardspace acp --policy supervised -- AGENT')
  const root = oneRoot(values.root)
  const roots = [resolve(root), realPathOf(root)] as const
  const report = (text: string) => void host.stderr.write(`wardspace: ${text}\n`)
  let guard: AcpGuard | undefined
  const workspace = await openWorkspace(values, {
    run: { actor: 'acp' },
    commandRoot: roots[0],
    approve: (request, { signal }) => (guard as AcpGuard).approve(request, signal),
  })
  // A group and a mark of its own, so that what the agent has started ends with it. Windows has neither.
  const mark = randomUUID()
  const detached = process.platform !== 'win32'
  const env = { ...process.env, [MARK]: mark }
  const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], detached, env })
  const failed = once(agent, 'error').then(([error]) => error as Error)
  // A write to an agent that has ended: its exit is what counts.
  agent.stdin.on('error', () => {})
  guard = new AcpGuard({ host, agent: { stdin: agent.stdin, stdout: agent.stdout }, workspace, roots, report })
  const ended = once(agent, 'exit').then(async ([code]) => {
    // Its last messages.
    await isOver(finished(agent.stdout).catch(() => {}))
    return code ?? 1
  })
  const gone = Promise.race([
    guard.disconnected,
    ...(['SIGINT', 'SIGTERM'] as const).map((signal) => new Promise<void>((done) => host.once(signal, done))),
  ])
  try {
    const end = await Promise.race([ended, failed, gone])
    if (end instanceof Error) throw new TypeError(`Cannot start the agent "${command}": ${reasonOf(end)}`)
    if (end !== undefined) return end === 0 ? 0 : 1
    agent.stdin.end()
    await isOver(ended)
    return 0
  } finally {
    if (!detached) agent.kill()
    else if (agent.pid !== undefined) await endProcesses(agent.pid, mark, GRACE_MS)
    agent.stdout.destroy()
    await guard.close()
    await workspace.close()
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such program; write its path, or install it'
  return code === 'EACCES' ? 'it is not executable' : message
}

/** Milliseconds that an agent has to end by itself, and then after a signal. */
const GRACE_MS = 2000

/** Waits for an end, for the time of grace. */
async function isOver(ended: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController()
  const late = delay(GRACE_MS, false, { signal: timer.signal }).catch(() => false)
  const over = await Promise.race([ended.then(() => true), late])
  timer.abort()
  return over
}
