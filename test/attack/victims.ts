import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** Starts one process after another, until `use` returns false. The next one starts while the current one works. */
export async function withVictims(
  script: string,
  args: readonly string[],
  use: (victim: ChildProcess) => Promise<boolean>,
): Promise<void> {
  const start = () => fork(script, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  let next = start()
  try {
    for (let isGoingOn = true; isGoingOn; ) {
      const victim = next
      next = start()
      isGoingOn = await use(victim)
    }
  } finally {
    next.kill('SIGKILL')
    if (next.exitCode === null && next.signalCode === null) await once(next, 'exit')
  }
}

/**
 * Starts the work of a victim, and kills it at a random moment, up to `delay` milliseconds after it has begun one of its first
 * `starts` operations. Returns what it acknowledged last by each word, and the last word: one without a value begins an operation.
 */
export async function killOne(
  victim: ChildProcess,
  starts: number,
  delay: number,
): Promise<{ readonly said: Readonly<Record<string, string>>; readonly last: string }> {
  const said: Record<string, string> = {}
  let last = ''
  let left = 1 + Math.floor(Math.random() * starts)
  const begun = new Promise<void>((done) => {
    createInterface({ input: victim.stdout as Readable }).on('line', (line) => {
      const [word = '', value] = line.split(' ')
      last = word
      if (value !== undefined) said[word] = value
      else if (--left === 0) done()
    })
  })
  const closed = once(victim, 'close')
  victim.send('go')
  await Promise.race([begun, closed])
  if (last === '') throw new Error('The victim ended before it began')
  await sleep(Math.random() * delay)
  victim.kill('SIGKILL')
  await closed
  return { said, last }
}
