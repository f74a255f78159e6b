import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { MARK } from './environment.ts'

/** Rounds of looking at what is left, of which each may show children that were started meanwhile. */
const MOST_ROUNDS = 500
const ROUND_MS = 10

/**
 * Ends all processes of a command: its group, and on Linux those that have left it and still carry its mark. They are
 * asked first, and killed once the grace is over. Settles when none is left.
 */
export async function endProcesses(group: number, mark: string, graceMs: number): Promise<void> {
  const until = performance.now() + graceMs
  let last: NodeJS.Signals | undefined
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const isLeft = groupLives(group)
    const strays = isLeft ? [] : marked(mark)
    if (!isLeft && strays.length === 0) return
    const signal = performance.now() < until ? 'SIGTERM' : 'SIGKILL'
    // Asking once is enough; a kill is repeated, for what was forked under it.
    if (signal !== last || signal === 'SIGKILL' || !isLeft) {
      if (isLeft) send(-group, signal)
      for (const pid of strays) send(pid, signal)
      last = signal
    }
    await delay(ROUND_MS)
  }
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether any process of a group lives. One that has ended and waits for its parent counts for none. */
function groupLives(group: number): boolean {
  if (!send(-group, 0)) return false
  const all = living()
  return all.length === 0 || all.some(({ pgrp }) => pgrp === group)
}

/** The living processes with the mark of a command in their environment, where the system shows it. */
function marked(mark: string): number[] {
  const wanted = `${MARK}=${mark}\0`
  return look()
    .filter(({ pid }) => pid !== process.pid && read(`/proc/${pid}/environ`).includes(wanted))
    .map(({ pid }) => pid)
}

interface Living {
  readonly pid: number
  readonly pgrp: number
}

let seen: { readonly at: number; readonly all: readonly Living[] } | undefined

/** All living processes, looked at anew in every round; none where the system does not show them. */
function living(): readonly Living[] {
  const now = performance.now()
  if (seen === undefined || now - seen.at > ROUND_MS / 2) seen = { at: now, all: look() }
  return seen.all
}

function look(): readonly Living[] {
  let names: readonly string[] = []
  try {
    names = readdirSync('/proc')
  } catch {
    // Not every system has it.
  }
  const all: Living[] = []
  for (const pid of names.map(Number)) {
    if (!Number.isInteger(pid)) continue
    const stat = read(`/proc/${pid}/stat`)
    // The name, in parentheses, may hold anything.
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (stat !== '' && state !== 'Z' && state !== 'X') all.push({ pid, pgrp: Number(pgrp) })
  }
  return all
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
