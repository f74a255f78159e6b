import type { Backend } from '../../../src/storage/backend.ts'
import { change, commit, directory, file, snapshot } from '../../../src/testing/backend/case.ts'
import type { BackendSubject } from '../../../src/testing/index.ts'

/** `dead`: from the chosen call on, every call of the storage fails, as after a kill. `once`: only that call fails. */
export type Failing = 'dead' | 'once'

/** The results for a set whose storage failed at each of its calls. */
export interface Crashed {
  readonly outcomes: Readonly<Record<'old' | 'new', number>>
  /** Violations: a partial tree, or a result that contradicts the tree. */
  readonly faults: readonly string[]
}

/**
 * Commits one set repeatedly on storage that fails at its first call, then at its second, and so on until no call
 * fails. With a `step`, it takes fewer calls: `dead` begins with the first one, and `once` with the last one of a step. After each commit, it reopens the storage and checks the tree.
 */
export async function crashEverywhere(
  create: () => Promise<BackendSubject>,
  failing: Failing,
  step: number,
): Promise<Crashed> {
  const outcomes = { old: 0, new: 0 }
  const faults: string[] = []
  const after = await unfailing(create)
  for (let at = failing === 'dead' ? 1 : step; ; at += step) {
    const subject = await create()
    let { backend } = subject
    await begin(backend)
    const before = await stateOf(backend)
    const storage = failFrom(at, failing)
    const error = await end(backend).catch((error: Error) => error)
    const isReached = storage.restore()
    await backend.close()
    backend = (await subject.reopen?.()) as Backend
    const now = await stateOf(backend)
    const isNew = now === after
    if (!isNew && now !== before) faults.push(`call ${at}: neither old nor new: ${now}`)
    if (error === undefined && !isNew) faults.push(`call ${at}: was acknowledged, and is not there`)
    if (failing === 'once' && error instanceof Error && isNew) faults.push(`call ${at}: was refused, and is there`)
    outcomes[isNew ? 'new' : 'old'] += 1
    await backend.close()
    await subject.dispose?.()
    if (!isReached) return { outcomes, faults }
  }
}

/** The tree after the set. */
async function unfailing(create: () => Promise<BackendSubject>): Promise<string> {
  const { backend, dispose } = await create()
  await begin(backend)
  await end(backend)
  const after = await stateOf(backend)
  await backend.close()
  await dispose?.()
  return after
}

async function begin(backend: Backend): Promise<void> {
  await commit(backend, change('replaced', file('old')), change('gone', file('old')), change('was', directory))
}

async function end(backend: Backend): Promise<undefined> {
  const was = await backend.stat('was' as Parameters<Backend['stat']>[0])
  await commit(
    backend,
    change('replaced', file('new')),
    change('gone', null),
    change('was', file('a file now'), { tag: was?.tag ?? '' }),
    change('fresh', directory),
    change('fresh/one', file('1')),
  )
}

async function stateOf(backend: Backend): Promise<string> {
  return JSON.stringify([...(await snapshot(backend))].sort())
}

/** Makes calls of the browser's storage fail. */
function failFrom(at: number, failing: Failing) {
  const undo: (() => void)[] = []
  let count = 0
  for (const [owner, names] of storageCalls()) {
    for (const name of names) {
      const original = owner[name]
      if (original === undefined) continue
      owner[name] = function (this: unknown, ...args: unknown[]) {
        count += 1
        if (count < at || (failing === 'once' && count > at)) return original.apply(this, args)
        const error = new DOMException('The test refuses it', 'QuotaExceededError')
        if (owner === globalThis.FileSystemSyncAccessHandle?.prototype) throw error
        return Promise.reject(error)
      }
      undo.push(() => {
        owner[name] = original
      })
    }
  }
  return {
    /** Restores the calls. Returns whether one has failed. */
    restore(): boolean {
      for (const back of undo) back()
      return count >= at
    },
  }
}

type Owner = Record<string, ((...args: unknown[]) => unknown) | undefined>

declare global {
  var FileSystemSyncAccessHandle: { readonly prototype: object } | undefined
}

function storageCalls(): [Owner, readonly string[]][] {
  const calls: [object | undefined, readonly string[]][] = [
    [FileSystemDirectoryHandle.prototype, ['getFileHandle', 'getDirectoryHandle', 'removeEntry']],
    [FileSystemFileHandle.prototype, ['createWritable', 'createSyncAccessHandle', 'move', 'getFile']],
    [globalThis.FileSystemWritableFileStream?.prototype, ['write', 'close']],
    [globalThis.FileSystemSyncAccessHandle?.prototype, ['write', 'flush']],
  ]
  return calls.flatMap(([owner, names]) => (owner === undefined ? [] : [[owner as Owner, names]]))
}
