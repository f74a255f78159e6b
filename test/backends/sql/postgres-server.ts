import { execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A Postgres server in a temporary directory, reached through its socket. */
export interface PostgresServer {
  readonly host: string
  readonly user: string
  /** Ends the server at once, as a power cut would. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** Whether the programs of a Postgres server are installed. */
export const hasPostgres = spawnSync('initdb', ['--version']).status === 0

/** Creates and starts a server. The programs refuse to run as root, which therefore starts them as another user. */
export async function startPostgres(): Promise<PostgresServer> {
  const home = mkdtempSync(join(tmpdir(), 'wardspace-postgres-'))
  const as = process.getuid?.() === 0 ? idsOf('postgres') : {}
  const data = join(home, 'data')
  mkdirSync(data)
  if (as.uid !== undefined) {
    chmodSync(home, 0o755)
    for (const path of [home, data]) chownSync(path, as.uid, as.gid as number)
  }
  const options: SpawnOptions = { ...as, cwd: home, stdio: 'ignore' }
  execFileSync('initdb', ['-D', data, '-U', 'tester', '--auth=trust', '-E', 'UTF8', '--no-sync'], options)
  const server = () => spawn('postgres', ['-D', data, '-k', home, '-c', 'listen_addresses='], options)
  let running = server()
  const ready = async () => {
    for (let tries = 0; tries < 300; tries++) {
      if (spawnSync('pg_isready', ['-h', home]).status === 0) return
      await new Promise((resume) => setTimeout(resume, 100))
    }
    throw new Error('The server did not start')
  }
  const end = async (signal: NodeJS.Signals) => {
    const ended = new Promise((resume) => running.once('exit', resume))
    running.kill(signal)
    await ended
  }
  await ready()
  return {
    host: home,
    user: 'tester',
    kill: () => end('SIGKILL'),
    async start() {
      running = server()
      await ready()
    },
    async stop() {
      await end('SIGINT')
      rmSync(home, { recursive: true, force: true })
    },
  }
}

function idsOf(user: string): { uid?: number; gid?: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
