import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { AcpGuard } from './acp-guard.ts'
import type { Host } from './mcp.ts'
import { openWorkspace } from './options.ts'
import { parseWords } from './parse-words.ts'
import { oneRoot, realPathOf } from './roots.ts'

const optionNames = ['root', 'policy', 'audit', 'read-only', 'overlay', 'record', 'shell', 'git'] as const

/**
 * `wardspace acp -- AGENT`: starts an agent of the Agent Client Protocol between an editor on stdio and the workspace, which answers its
 * requests for files, terminals and permissions. Ends with the agent, and stops it when the editor has gone.
 */
export async function acp(words: string[], host: Host = process): Promise<number> {
  const { values, positionals } = parseWords('acp', words, optionNames)
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
  const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const failed = once(agent, 'error').then(([error]) => error as Error)
  // A write to an agent that has ended: its exit is what counts.
  agent.stdin.on('error', () => {})
  guard = new AcpGuard({ host, agent: { stdin: agent.stdin, stdout: agent.stdout }, workspace, roots, report })
  const ended = once(agent, 'close').then(([code]) => code as number | null)
  const gone = Promise.race([
    guard.disconnected,
    ...(['SIGINT', 'SIGTERM'] as const).map((signal) => new Promise<void>((done) => host.once(signal, done))),
  ])
  try {
    const end = await Promise.race([ended, failed, gone])
    if (end instanceof Error) throw new TypeError(`Cannot start the agent "${command}": ${end.message}`)
    if (typeof end === 'number') return end === 0 ? 0 : 1
    agent.kill()
    await ended
    return 0
  } finally {
    await guard.close()
    await workspace.close()
  }
}
