import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Bomb, bombFiles } from './bombs.ts'

/** The effect of a bomb on the program that ran it. */
export interface BombResult {
  readonly bomb: Bomb
  /** The exit code of the line, the code of its refusal, or `DEAD` if the program ended or did not answer. */
  readonly code: string
  readonly text: string
  readonly ms: number
  /** The longest time in milliseconds for which the program's event loop was blocked. */
  readonly gap: number
  /** Growth of the resident memory of the program and its children, in MiB. */
  readonly memory: number
  /** CPU time in milliseconds that the program and its children used in half a second after the result. */
  readonly leftover: number
  /** The harm that the bomb did. */
  readonly harm: readonly string[]
}

export const BOMB_LIMITS = { gap: 1000, lateness: 1000, memory: 512, leftover: 250 }

interface HostAnswer {
  readonly ms: number
  readonly gap: number
  readonly code: string
  readonly text: string
}

const top = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs bombs one after another in a separate program. A program that was harmed is replaced. */
export class BombRunner {
  readonly #timeoutMs: number
  readonly #top: string
  #host: ChildProcess | undefined

  constructor(timeoutMs: number, built = top) {
    this.#timeoutMs = timeoutMs
    this.#top = built
  }

  async run(bomb: Bomb): Promise<BombResult> {
    this.#host ??= await this.#start()
    const host = this.#host
    const pid = host.pid as number
    const before = usage(pid)
    let peak = before.kib
    const sampling = setInterval(() => (peak = Math.max(peak, usage(pid).kib)), 25)
    const patience = AbortSignal.timeout(this.#timeoutMs + 5000)
    const start = performance.now()
    let answer: HostAnswer | undefined
    try {
      const exit = once(host, 'exit', { signal: patience }).then(() => undefined)
      const message = once(host, 'message', { signal: patience }).then(([value]) => value as HostAnswer)
      exit.catch(() => {})
      message.catch(() => {})
      host.send({ command: bomb.line, files: bombFiles, large: bomb.files, isJudged: bomb.kind === 'words' })
      answer = await Promise.race([message, exit]).catch(() => undefined)
    } finally {
      clearInterval(sampling)
    }
    const ms = performance.now() - start
    if (answer === undefined) {
      const exited = host.exitCode !== null || host.signalCode !== null
      await this.close()
      return this.#result(bomb, {
        answer: { ms, gap: exited ? 0 : ms, code: 'DEAD', text: '' },
        memory: (peak - before.kib) / 1024,
        leftover: 0,
        harm: [exited ? 'ended the program' : 'the program did not answer'],
      })
    }
    // A killed process needs a moment to disappear.
    await wait(150)
    let leftover = await busyTime(pid)
    // A new process still compiles code, which ends soon. Work that a line left behind continues.
    for (let i = 0; i < 3 && leftover > BOMB_LIMITS.leftover; i++) leftover = await busyTime(pid)
    const result = this.#result(bomb, { answer, memory: (peak - before.kib) / 1024, leftover, harm: [] })
    if (result.harm.length > 0) await this.close()
    return result
  }

  async close(): Promise<void> {
    const host = this.#host
    this.#host = undefined
    if (host === undefined || host.exitCode !== null || host.signalCode !== null) return
    host.kill('SIGKILL')
    await once(host, 'exit')
  }

  async #start(): Promise<ChildProcess> {
    const host = fork(
      fileURLToPath(new URL('./bomb-host.mjs', import.meta.url)),
      [this.#top, String(this.#timeoutMs)],
      {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        execArgv: [],
      },
    )
    await once(host, 'message')
    // The first command loads the interpreter.
    host.send({ command: 'node -p 1', files: {}, isJudged: true })
    await once(host, 'message')
    return host
  }

  #result(
    bomb: Bomb,
    measured: { answer: HostAnswer; memory: number; leftover: number; harm: readonly string[] },
  ): BombResult {
    const { answer, memory, leftover } = measured
    const harm = [...measured.harm]
    if (answer.code !== 'DEAD') {
      if (answer.gap > BOMB_LIMITS.gap) harm.push(`blocked the event loop for ${Math.round(answer.gap)} ms`)
      if (answer.ms > this.#timeoutMs + BOMB_LIMITS.lateness) harm.push(`took ${Math.round(answer.ms)} ms`)
    }
    if (memory > BOMB_LIMITS.memory) harm.push(`took ${Math.round(memory)} MiB`)
    if (leftover > BOMB_LIMITS.leftover) harm.push(`left something running (${leftover} ms of 500)`)
    return { bomb, ...answer, memory, leftover, harm }
  }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The CPU time in milliseconds that a process and its children use in half a second. */
async function busyTime(pid: number): Promise<number> {
  const { cpuMs } = usage(pid)
  await wait(500)
  return usage(pid).cpuMs - cpuMs
}

/** The resident memory and CPU time of a process and of its children. */
function usage(pid: number): { kib: number; cpuMs: number } {
  let kib = 0
  let cpuMs = 0
  const pending = [pid]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    try {
      const fields = readFileSync(`/proc/${next}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      kib += Number(fields[21]) * 4
      cpuMs += (Number(fields[11]) + Number(fields[12])) * 10
      for (const thread of readdirSync(`/proc/${next}/task`)) {
        const children = readFileSync(`/proc/${next}/task/${thread}/children`, 'utf8').split(' ')
        pending.push(...children.filter((child) => child !== '').map(Number))
      }
    } catch {
      // The process has ended.
    }
  }
  return { kib, cpuMs }
}
