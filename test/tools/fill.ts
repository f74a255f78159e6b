import { type Path, ROOT } from '../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../src/storage/backend.ts'

/** Copies all entries of one backend to an empty one. */
export async function fill(backend: Backend, source: Backend): Promise<void> {
  const changes: Change[] = []
  const waiting: Path[] = [ROOT]
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const { name, type } of await source.list(directory)) {
      const path = (directory === '' ? name : `${directory}/${name}`) as Path
      if (type === 'directory') {
        waiting.push(path)
        changes.push({ path, expect: 'any', to: { type } })
      } else if (type === 'link') {
        changes.push({ path, expect: 'absent', to: { type, target: await source.readLink(path) } })
      } else if (type === 'file') {
        const { bytes, stat } = await source.read(path)
        const mode = stat.mode === undefined ? {} : { mode: stat.mode }
        changes.push({ path, expect: 'absent', to: { type, bytes: bytes.slice(), ...mode } })
      }
    }
  }
  if (changes.length > 0) await backend.commit(changes, { durability: 'relaxed' })
}
