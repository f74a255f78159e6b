import { indexedDb } from '../../../src/backends/indexeddb/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import { contentOf, FILES } from '../killed-generations.ts'

/** The victim: commits sets of files in an endless loop, and posts each acknowledged generation. */
self.onmessage = async ({ data }: MessageEvent<{ readonly name: string; readonly first: number }>) => {
  const backend = await indexedDb(data.name)
  for (let generation = data.first + 1; ; generation++) {
    await backend.commit(
      FILES.map((path) => ({
        path: path as Path,
        expect: 'any',
        to: { type: 'file', bytes: contentOf(path, generation) },
      })),
      { durability: 'durable' },
    )
    self.postMessage(generation)
  }
}
