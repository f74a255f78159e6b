import { readFileSync, writeFileSync } from 'node:fs'

/** What some processes need over the memory that they have now. Each has its peak at a time of its own. Needs Linux. */
export class PeakMemory {
  readonly #before: ReadonlyMap<number, number>

  constructor(pids: readonly number[]) {
    // Resets the peak.
    for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5')
    this.#before = new Map(pids.map((pid) => [pid, bytesOf(pid, 'VmRSS')]))
  }

  /** Returns the sum over the processes, in bytes. */
  read(): number {
    return [...this.#before].reduce((sum, [pid, before]) => sum + bytesOf(pid, 'VmHWM') - before, 0)
  }
}

function bytesOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  if (kib === undefined) throw new Error(`The process ${pid} has no ${field}`)
  return Number(kib) * 1024
}
