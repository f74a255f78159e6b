import { readdirSync, readFileSync } from 'node:fs'
import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import { changedDirectories, type Journal, journalUndo, rollbackFailedError, undoSteps } from './apply-set.ts'
import { isNoLongerThere } from './errno.ts'
import { doStep, lstatAt, openPins, type Pins, tempPathOf, tempsOf } from './journal-steps.ts'
import { type Lock, unlinkIfThere } from './lock.ts'
import { removeTree } from './remove-tree.ts'
import { syncDirectories } from './staging.ts'
import { bootId, parseLog, type StateDirectory, type Temp } from './state-directory.ts'
import { isTempName, tempPrefix } from './temp-names.ts'
import type { TreeAccess } from './tree-access.ts'

/** Completes or rolls back the unfinished commit of a killed process. The caller must hold the lock. */
export async function recover(access: TreeAccess, state: StateDirectory, lock: Lock, strays: Temp[]): Promise<void> {
  const pins = openPins(access)
  try {
    await replay(pins, state)
    await sweep(access, pins, state, lock)
    for (const temp of strays.splice(0)) if (!tryRemove(pins, temp)) strays.push(temp)
    state.logLeft(strays)
  } finally {
    pins.close()
  }
}

/** Rolls a complete journal forward, or back if that is no longer possible. */
async function replay(pins: Pins, state: StateDirectory): Promise<void> {
  const text = state.readJournal()
  if (text !== undefined) {
    const journal = JSON.parse(text) as Journal
    // After another boot, an unsynced journal proves nothing: its temporary files may be lost.
    if (journal.durable || journal.boot === bootId()) await finish(pins, state, journal)
  }
  if (state.hasJournal()) state.clearJournal(true)
}

async function finish(pins: Pins, state: StateDirectory, journal: Journal): Promise<void> {
  const { steps } = journal
  let forward = journal.undo !== true
  try {
    if (forward) for (const step of steps) doStep(pins, step, 'again')
  } catch {
    forward = false
    journalUndo(state, journal)
  }
  if (!forward && (await undoSteps(pins, steps)).some((error) => !isNoLongerThere(error))) throw rollbackFailedError()
  await syncDirectories(pins, changedDirectories(steps)).catch(() => {})
  for (const temp of steps.flatMap(tempsOf)) tryRemove(pins, temp)
}

/** Removes temporary files and state files of dead openings. */
async function sweep(access: TreeAccess, pins: Pins, state: StateDirectory, lock: Lock): Promise<void> {
  const boot = bootId()
  const names = readdirSync(state.at('.'))
  const lostPrefixes: string[] = []
  for (const name of names) {
    if (!name.startsWith('claim-')) continue
    const id = name.slice('claim-'.length)
    if (!/^[0-9a-f]{32}$/.test(id) || (await lock.isAlive(id))) continue
    const removed = parseLog(readOr(state.at(`log-${id}`), '')).map((temp) => tryRemove(pins, temp))
    // After another boot, the log may be lost while the files are not.
    if (readOr(state.at(name), '').split('\n')[1] !== boot) lostPrefixes.push(tempPrefix(id))
    if (removed.includes(false)) continue
    for (const file of [`log-${id}`, `sock-${id}`, `take-${id}`]) unlinkIfThere(state.at(file))
    if (lostPrefixes.length === 0) unlinkIfThere(state.at(name))
  }
  if (lostPrefixes.length > 0) {
    removeLost(access, pins, ROOT, lostPrefixes)
    for (const name of names) {
      if (lostPrefixes.some((prefix) => name.startsWith(`claim-${prefix.slice(tempPrefix('').length)}`)))
        unlinkIfThere(state.at(name))
    }
  }
  sweepHalfOpened(state, names)
  // No process takes over a lock that is held by a live one, so guards of dead openings protect nothing.
  for (const name of names) {
    if (!name.startsWith('break-')) continue
    const holder = readOr(state.at(name), '').slice(0, 32)
    if (holder !== '' && holder !== state.id && !(await lock.isAlive(holder))) unlinkIfThere(state.at(name))
  }
}

/** Removes logs and sockets of openings that were killed before they had a claim. Young ones may still get one. */
function sweepHalfOpened(state: StateDirectory, names: readonly string[]): void {
  for (const name of names) {
    const id = /^(?:log|sock|take)-([0-9a-f]{32})$/.exec(name)?.[1]
    if (id === undefined || names.includes(`claim-${id}`)) continue
    const age = Date.now() - (lstatAt(state.at(name))?.mtimeMs ?? Date.now())
    if (age > HALF_OPENED_MS) unlinkIfThere(state.at(name))
  }
}

/** Longer than any opening takes, in milliseconds. */
const HALF_OPENED_MS = 600_000

/** Searches the whole tree for temporary files of openings that ended with the machine. */
function removeLost(access: TreeAccess, pins: Pins, directory: Path, prefixes: readonly string[]): void {
  let pin: ReturnType<TreeAccess['pin']>
  try {
    pin = access.pin(directory)
  } catch {
    return
  }
  const below: string[] = []
  try {
    for (const entry of readdirSync(pin.self, { withFileTypes: true })) {
      if (isTempName(entry.name)) {
        if (prefixes.some((prefix) => entry.name.startsWith(prefix))) removeTree(pin.at(entry.name))
      } else if (entry.isDirectory()) below.push(entry.name)
    }
  } finally {
    pin.close()
  }
  for (const name of below) removeLost(access, pins, childOf(directory, name), prefixes)
}

function tryRemove(pins: Pins, temp: Temp): boolean {
  try {
    if (isTempName(temp[1])) removeTree(tempPathOf(pins, temp))
    return true
  } catch (error) {
    // If its directory is gone or is a link now, there is nothing of ours to remove.
    return isNoLongerThere(error)
  }
}

function readOr(place: string, otherwise: string): string {
  try {
    return readFileSync(place, 'utf8')
  } catch {
    return otherwise
  }
}
