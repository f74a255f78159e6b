import { dirname } from 'node:path'
import type { Path } from '../dist/paths/logical-path.js'
import type { Backend, Change } from '../dist/storage/backend.js'

/** The path of a file by its number, in directories of up to 32 entries, three deep. */
export function pathAt(file: number): string {
  const directory = Math.floor(file / 32)
  return `d${Math.floor(directory / 32)}/e${directory % 32}/f${file % 32}.ts`
}

const COMMIT_CHANGES = 20_000

/** Writes files with paths of `pathAt` and their directories into a storage, in commits of bounded size. */
export async function fillStore(backend: Backend, files: Readonly<Record<string, string>>): Promise<void> {
  const made = new Set<string>()
  let changes: Change[] = []
  const commit = async () => {
    await backend.commit(changes, { durability: 'relaxed' })
    changes = []
  }
  for (const [path, text] of Object.entries(files)) {
    const parent = dirname(path)
    for (const directory of [dirname(parent), parent]) {
      if (made.has(directory)) continue
      made.add(directory)
      changes.push({ path: directory as Path, expect: 'any', to: { type: 'directory' } })
    }
    changes.push({ path: path as Path, expect: 'any', to: { type: 'file', bytes: new TextEncoder().encode(text) } })
    if (changes.length >= COMMIT_CHANGES) await commit()
  }
  await commit()
}
