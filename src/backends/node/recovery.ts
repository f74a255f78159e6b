import { readdirSync, readFileSync } from 'node:fs'
import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import { changedDirectories, type Journal, journalUndo, rollbackFailedError, undoSteps } from './apply-set.ts'
import { isNoLongerThere } from './errno.ts'
import { doStep, lstatAt, openPins, type Pins, tempPlace, tempsOf } from './journal-steps.ts'
import { type Lock, unlinkIfThere } from './lock.ts'
import { removeTree } from './remove-tree.ts'
import { syncDirectories } from './staging.ts'
import { bootId, parseLog, type StateDirectory, type Temp } from './state-directory.ts'
import { isTempName, tempPrefix } from './temp-names.ts'
import type { TreeAccess } from './tree-access.ts'

/** Finishes or takes back what a killed process left. Only under the lock. */
export async function recover(ground: TreeAccess, state: StateDirectory, lock: Lock, strays: Temp[]): Promise<void> {
  const pins = openPins(ground)
  try {
    await replay(pins, state)
    await sweep(ground, pins, state, lock)
    for (const temp of strays.splice(0)) if (!tryRemove(pins, temp)) strays.push(temp)
    state.logLeft(strays)
  } finally {
    pins.close()
  }
}

/** A journal that is whole was meant: it is rolled forward, or back where that is no longer possible. */
async function replay(pins: Pins, state: StateDirectory): Promise<void> {
  const text = state.readJournal()
  if (text !== undefined) {
    const journal = JSON.parse(text) as Journal
    // What was not synced may not have outlived a power cut: then there is nothing to go by.
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

/** Removes what dead openings left: their temporaries, and their own files. */
async function sweep(ground: TreeAccess, pins: Pins, state: StateDirectory, lock: Lock): Promise<void> {
  const boot = bootId()
  const names = readdirSync(state.at('.'))
  const lost: string[] = []
  for (const name of names) {
    if (!name.startsWith('claim-')) continue
    const id = name.slice('claim-'.length)
    if (!/^[0-9a-f]{32}$/.test(id) || (await lock.isAlive(id))) continue
    const removed = parseLog(readOr(state.at(`log-${id}`), '')).map((temp) => tryRemove(pins, temp))
    // Another boot: the log may have been lost while the files were not.
    if (readOr(state.at(name), '').split('\n')[1] !== boot) lost.push(tempPrefix(id))
    if (removed.includes(false)) continue
    for (const own of [`log-${id}`, `sock-${id}`, `take-${id}`]) unlinkIfThere(state.at(own))
    if (lost.length === 0) unlinkIfThere(state.at(name))
  }
  if (lost.length > 0) {
    removeLost(ground, pins, ROOT, lost)
    for (const name of names) {
      if (lost.some((prefix) => name.startsWith(`claim-${prefix.slice(tempPrefix('').length)}`)))
        unlinkIfThere(state.at(name))
    }
  }
  sweepHalfOpened(state, names)
  // Nobody takes over a lock that we hold alive: guards of the dead protect nothing.
  for (const name of names) {
    if (!name.startsWith('break-')) continue
    const holder = readOr(state.at(name), '').slice(0, 32)
    if (holder !== '' && holder !== state.id && !(await lock.isAlive(holder))) unlinkIfThere(state.at(name))
  }
}

/** An opening that was killed before it had its claim leaves a log or a socket; young ones may be about to have it. */
function sweepHalfOpened(state: StateDirectory, names: readonly string[]): void {
  for (const name of names) {
    const id = /^(?:log|sock|take)-([0-9a-f]{32})$/.exec(name)?.[1]
    if (id === undefined || names.includes(`claim-${id}`)) continue
    const age = Date.now() - (lstatAt(state.at(name))?.mtimeMs ?? Date.now())
    if (age > HALF_OPENED_MS) unlinkIfThere(state.at(name))
  }
}

/** No opening takes that long, in milliseconds. */
const HALF_OPENED_MS = 600_000

/** Walks the whole tree for names with the prefixes of openings that ended with the machine. */
function removeLost(ground: TreeAccess, pins: Pins, directory: Path, prefixes: readonly string[]): void {
  let pin: ReturnType<TreeAccess['pin']>
  try {
    pin = ground.pin(directory)
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
  for (const name of below) removeLost(ground, pins, childOf(directory, name), prefixes)
}

function tryRemove(pins: Pins, temp: Temp): boolean {
  try {
    if (isTempName(temp[1])) removeTree(tempPlace(pins, temp))
    return true
  } catch (error) {
    // Its directory is gone, or a link stands there now: nothing of ours is to be found.
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
