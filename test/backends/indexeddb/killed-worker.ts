import { indexedDb } from '../../../src/backends/indexeddb/index.ts'
import { commitGeneration } from '../killed-generations.ts'

/** The victim: commits sets of files in an endless loop, and posts each acknowledged generation. */
self.onmessage = async ({ data }: MessageEvent<{ readonly name: string; readonly first: number }>) => {
  const backend = await indexedDb(data.name)
  for (let generation = data.first + 1; ; generation++) {
    await commitGeneration(backend, generation)
    self.postMessage(generation)
  }
}
