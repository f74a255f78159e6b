import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = join(import.meta.dirname, '../..')
export const exampleTokens = { AGENT_TOKEN: 'agent-token', APPROVER_TOKEN: 'approver-token' }

/** The example of a worker in a process of its own. */
export interface ExampleServer {
  readonly address: string
  /** Kills it and workerd at once, in the middle of what they do. */
  kill(): Promise<void>
}

/** Starts the example like `npm run example:edge`, over the files of a directory. */
export async function startExample(data: string): Promise<ExampleServer> {
  const script = join(root, 'examples/edge-worker/start.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, '--port', '0', '--data', data], {
    cwd: root,
    env: { ...process.env, ...exampleTokens },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Runs in its own process group, so that workerd is killed with it.
    detached: true,
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /in workerd: (http:\/\/\S+)/.exec(line)?.[1]
    if (address === undefined) continue
    return {
      address,
      async kill() {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
        await ended
      },
    }
  }
  throw new Error('The example ended before it was ready')
}
