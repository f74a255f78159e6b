import { mkdirSync, renameSync, type Stats } from 'node:fs'
import { childOf, isWithin, nameOf, type Path, parentOf } from '../../paths/logical-path.ts'
import type { Version } from '../../vfs/backend.ts'
import { applyOrder, throwIfAborted } from '../../vfs/changes.ts'
import { makeLast } from './applying-one.ts'
import { errnoOf, failure } from './errno.ts'
import { elsewhere } from './ground.ts'
import { patiently } from './patience.ts'
import { stage, syncDirectories } from './staging.ts'
import { disturbed, openPins, type Pins, place } from './steps.ts'
import { type Applying, dropTemps, type Task, verbFor } from './tasks.ts'
import { versionAfter } from './versions.ts'

/** The new directory that a set consists of, if it consists of one new directory with what is in it. */
export function newTree(tasks: readonly Task[]): Path | undefined {
  let top: Path | undefined
  for (const { change, present } of tasks) {
    if (present !== undefined || change.to === null) return undefined
    if (change.to.type === 'directory' && (top === undefined || isWithin(top, change.path))) top = change.path
  }
  return top !== undefined && tasks.every(({ change }) => isWithin(change.path, top)) ? top : undefined
}

/** The whole tree is made under a temporary name; one rename gives it its own. */
export async function applyTree(how: Applying, pins: Pins, tasks: readonly Task[], top: Path): Promise<Version[]> {
  const parent = parentOf(top)
  const staged = how.state.nextTemp(parent)
  const inside = openPins(how.ground)
  const written = new Map<Path, Stats | undefined>()
  try {
    const pin = await patiently(() => pins.get(parent))
    how.state.log([...how.strays, staged])
    const directories: Path[] = []
    for (const { path, to } of applyOrder(tasks.map(({ change }) => change))) {
      const there = `${childOf(parent, staged[1])}${path.slice(top.length)}` as Path
      try {
        const at = await patiently(() => place(inside, there))
        if (to?.type === 'directory') {
          mkdirSync(at)
          directories.push(there)
        } else if (to !== null) written.set(path, await stage(at, to, undefined, how.durable))
      } catch (error) {
        // The temporary name is nobody's business.
        if (errnoOf(error) === undefined) throw disturbed(path)
        throw failure(verbFor(to), path, error)
      }
    }
    if (how.durable) await syncDirectories(inside, directories.reverse())
    inside.close()
    throwIfAborted(how.signal)
    if (!pin.holds()) throw elsewhere(parent)
    // A directory can take the place of an empty one only, so that nothing is overwritten.
    renameSync(pin.at(staged[1]), pin.at(nameOf(top)))
  } catch (error) {
    inside.close()
    dropTemps(how, pins, [staged])
    if (TAKEN.has(errnoOf(error) ?? '')) throw disturbed(top)
    throw failure('create directory', top, error)
  }
  if (how.durable) await makeLast(pins, top, parent)
  how.state.log(how.strays)
  return tasks.map(({ change }) => versionAfter(change.to, written.get(change.path), how.modes))
}

const TAKEN: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR'])
