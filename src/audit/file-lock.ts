import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'

/** An acquired lock. Releasing it twice has no effect. */
export interface FileLock {
  release(): void
}

interface Owner {
  readonly pid: number
  readonly host: string
  /** The start time, which distinguishes processes with the same number. Empty if the platform does not provide it. */
  readonly started: string
}

const MAX_TRIES = 20

/**
 * Acquires the lock at a path. Returns `undefined` while a running process holds it. The lock is a small file that names its
 * owner and is linked atomically. The lock of a dead process is taken over. An owner on another host counts as running.
 */
export function takeFileLock(path: string): FileLock | undefined {
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), started: startOf(process.pid), id: randomName() })
  const temporary = `${path}.${randomName()}`
  writeFileSync(temporary, mine, { mode: 0o600, flag: 'wx' })
  try {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      try {
        linkSync(temporary, path)
        return { release: () => releaseOwn(path, mine) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const current = readText(path)
      if (current !== undefined) {
        if (isAlive(current)) return undefined
        breakLock(path, current)
      }
    }
    return undefined
  } finally {
    unlinkSync(temporary)
  }
}

/** Removes the lock of a dead owner. If another process has acquired it in between, its lock is put back. */
function breakLock(path: string, dead: string): void {
  const aside = `${path}.${randomName()}`
  try {
    renameSync(path, aside)
  } catch {
    /* v8 ignore next -- @preserve: another process has moved it first */
    return
  }
  try {
    /* v8 ignore if -- @preserve: another process has acquired it between the check and the move */
    if (readText(aside) !== dead) linkSync(aside, path)
  } catch {
    // Another process has the lock now. The owner of this one notices by its own checks of the file.
  }
  unlinkSync(aside)
}

function releaseOwn(path: string, mine: string): void {
  try {
    if (readText(path) === mine) unlinkSync(path)
  } catch {
    // The lock stays, but this process will end, so the next one takes it over.
  }
}

function isAlive(lock: string): boolean {
  let owner: Partial<Owner>
  try {
    owner = JSON.parse(lock) as Partial<Owner>
  } catch {
    return false
  }
  if (owner.host !== hostname()) return true
  if (typeof owner.pid !== 'number') return false
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return owner.started === startOf(owner.pid)
}

/** Returns when a process started, in kernel clock ticks; empty if the platform does not provide it. */
function startOf(pid: number): string {
  try {
    // The 22nd field of proc_pid_stat(5). The second, the name in parentheses, may contain anything.
    return readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) (?:\S+ ){19}(\S+).*$/s, '$1')
  } catch {
    return ''
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function randomName(): string {
  return randomBytes(8).toString('hex')
}
