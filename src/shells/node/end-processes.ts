import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { MARK } from './environment.ts'

/** Maximum number of rounds. Each one may find children that were started meanwhile. */
const MAX_ROUNDS = 500
const ROUND_MS = 10

/**
 * Ends all processes of a command: its process group and, on Linux, those that left the group but still carry its mark.
 * Sends SIGTERM first, and SIGKILL after the grace period. Settles when no process is left.
 */
export async function endProcesses(group: number, mark: string, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs
  let lastSignal: NodeJS.Signals | undefined
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const isGroupAlive = hasLiveProcess(group)
    const strays = isGroupAlive ? [] : processesWithMark(mark)
    if (!isGroupAlive && strays.length === 0) return
    const signal = performance.now() < deadline ? 'SIGTERM' : 'SIGKILL'
    // SIGTERM is sent once. SIGKILL is repeated, for processes forked meanwhile.
    if (signal !== lastSignal || signal === 'SIGKILL' || !isGroupAlive) {
      if (isGroupAlive) send(-group, signal)
      for (const pid of strays) send(pid, signal)
      lastSignal = signal
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

/** Whether a group has a live process. A zombie does not count. */
function hasLiveProcess(group: number): boolean {
  if (!send(-group, 0)) return false
  const processes = liveProcesses()
  return processes.length === 0 || processes.some(({ pgrp }) => pgrp === group)
}

/** Returns the live processes that have the mark in their environment, on systems that show it. */
function processesWithMark(mark: string): number[] {
  const variable = `${MARK}=${mark}\0`
  return readProcesses()
    .filter(({ pid }) => pid !== process.pid && readText(`/proc/${pid}/environ`).includes(variable))
    .map(({ pid }) => pid)
}

interface LiveProcess {
  readonly pid: number
  readonly pgrp: number
}

let cache: { readonly at: number; readonly processes: readonly LiveProcess[] } | undefined

/** Returns all live processes, read at most once per round. Empty on systems without `/proc`. */
function liveProcesses(): readonly LiveProcess[] {
  const now = performance.now()
  if (cache === undefined || now - cache.at > ROUND_MS / 2) cache = { at: now, processes: readProcesses() }
  return cache.processes
}

function readProcesses(): readonly LiveProcess[] {
  let names: readonly string[] = []
  try {
    names = readdirSync('/proc')
  } catch {
    // Not every system has `/proc`.
  }
  const processes: LiveProcess[] = []
  for (const pid of names.map(Number)) {
    if (!Number.isInteger(pid)) continue
    const stat = readText(`/proc/${pid}/stat`)
    // The name, in parentheses, may contain any characters.
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (stat !== '' && state !== 'Z' && state !== 'X') processes.push({ pid, pgrp: Number(pgrp) })
  }
  return processes
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
