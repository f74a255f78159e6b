import { memory } from '../../../../src/backends/memory/index.ts'
import { childOf, isWithin, nameOf, type Path, parentOf } from '../../../../src/paths/logical-path.ts'
import type { Backend, Change, EntryState } from '../../../../src/storage/backend.ts'

/** The files of a stand-in: a memory backend without a guard. */
export interface Disk {
  readonly backend: Backend
  state(path: Path): Promise<EntryState>
  set(path: Path, to: EntryState): Promise<void>
  /** Creates a directory and its parents. Returns the first one created. */
  makeDirectories(path: Path): Promise<Path | undefined>
  /** Returns everything below a path, parents first. */
  below(path: Path): Promise<{ path: Path; state: Exclude<EntryState, null> }[]>
  remove(path: Path): Promise<void>
  move(from: Path, to: Path): Promise<void>
  watch(path: Path, recursive: boolean, listener: (event: 'rename' | 'change', name: string) => void): () => void
}

export function createDisk(): Disk {
  const store = memory()
  const watchers = new Set<(path: Path, event: 'rename' | 'change') => void>()
  const backend: Backend = {
    ...store,
    async commit(changes, options) {
      const before = await Promise.all(changes.map(({ path }) => store.stat(path)))
      const receipt = await store.commit(changes, options)
      for (const [i, { path, to }] of changes.entries()) {
        const event = before[i]?.type === 'file' && to?.type === 'file' ? 'change' : 'rename'
        for (const tell of watchers) tell(path, event)
      }
      return receipt
    },
  }
  const commit = (...changes: Change[]) => backend.commit(changes, { durability: 'relaxed' })

  const disk: Disk = {
    backend,
    async state(path) {
      const stat = path === '' ? ({ type: 'directory' } as const) : await store.stat(path)
      if (stat === undefined || stat.type === 'other') return null
      if (stat.type === 'link') return { type: 'link', target: await store.readLink(path) }
      return stat.type === 'directory' ? { type: 'directory' } : { type: 'file', bytes: (await store.read(path)).bytes }
    },
    async set(path, to) {
      await commit({ path, expect: 'any', to })
    },
    async makeDirectories(path) {
      let first: Path | undefined
      const names = path.split('/')
      for (let i = 1; i <= names.length; i++) {
        const one = names.slice(0, i).join('/') as Path
        const there = await disk.state(one)
        if (there?.type === 'directory') continue
        if (there !== null) throw new Error(`EEXIST: file already exists, mkdir '${one}'`)
        await commit({ path: one, expect: 'absent', to: { type: 'directory' } })
        first ??= one
      }
      return first
    },
    async below(path) {
      const entries: { path: Path; state: Exclude<EntryState, null> }[] = []
      for (const { name } of await store.list(path)) {
        const one = childOf(path, name)
        const state = await disk.state(one)
        if (state === null) continue
        entries.push({ path: one, state })
        if (state.type === 'directory') entries.push(...(await disk.below(one)))
      }
      return entries
    },
    async remove(path) {
      const all = (await disk.state(path))?.type === 'directory' ? await disk.below(path) : []
      await commit(
        ...[path, ...all.map((one) => one.path)].map((one): Change => ({ path: one, expect: 'any', to: null })),
      )
    },
    async move(from, to) {
      const state = await disk.state(from)
      const all = state?.type === 'directory' ? await disk.below(from) : []
      if ((await disk.state(to)) !== null) await disk.remove(to)
      const moved = [{ path: from, state }, ...all]
      await commit(
        ...moved.map(({ path }): Change => ({ path, expect: 'any', to: null })),
        ...moved.map(
          ({ path, state }): Change => ({
            path: `${to}${path.slice(from.length)}` as Path,
            expect: 'absent',
            to: state,
          }),
        ),
      )
    },
    watch(path, recursive, listener) {
      const tell = (changed: Path, event: 'rename' | 'change') => {
        if (changed === path) return listener(event, nameOf(path))
        if (!isWithin(changed, path) || (!recursive && parentOf(changed) !== path)) return
        listener(event, changed.slice(path === '' ? 0 : path.length + 1))
      }
      watchers.add(tell)
      return () => watchers.delete(tell)
    },
  }
  return disk
}
