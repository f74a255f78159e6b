import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'

/** A lock that is held; releasing it twice does nothing. */
export interface FileLock {
  release(): void
}

interface Owner {
  readonly pid: number
  readonly host: string
  /** Tells apart processes that got the same number; empty where the platform does not say. */
  readonly started: string
}

const MAX_TRIES = 20

/**
 * Takes the lock at a path, or gives `undefined` while a living process holds it. The lock is a small file that names its
 * owner and is linked in complete; that of a dead process is taken over. A holder on another host counts as alive.
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
      const held = readText(path)
      if (held !== undefined) {
        if (isAlive(held)) return undefined
        breakLock(path, held)
      }
    }
    return undefined
  } finally {
    unlinkSync(temporary)
  }
}

/** Moves a dead owner's lock away. If that caught another's, which came in between, it is put back. */
function breakLock(path: string, dead: string): void {
  const aside = `${path}.${randomName()}`
  try {
    renameSync(path, aside)
  } catch {
    /* v8 ignore next -- @preserve: another process has moved it first */
    return
  }
  try {
    /* v8 ignore if -- @preserve: another process has taken it between the look and the move */
    if (readText(aside) !== dead) linkSync(aside, path)
  } catch {
    // Somebody else has the lock by now; the owner of this one finds out by its own checks.
  }
  unlinkSync(aside)
}

function releaseOwn(path: string, mine: string): void {
  try {
    if (readText(path) === mine) unlinkSync(path)
  } catch {
    // It names a process that will be dead: whoever comes next takes it over.
  }
}

function isAlive(held: string): boolean {
  let owner: Partial<Owner>
  try {
    owner = JSON.parse(held) as Partial<Owner>
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

/** When a process started, in the kernel's own units; empty where it does not say. */
function startOf(pid: number): string {
  try {
    // The 22nd field of proc_pid_stat(5); the second, the name in parentheses, may hold anything.
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
