import { opfs } from '../../../src/backends/opfs/index.ts'
import { freshName, removeWorkspace } from '../opfs/subjects.ts'
import { type Streamed, streamThrough } from './stream-through.ts'

/** The functions that a test calls in the page. A worker loads this module, too. */
const api = {
  async inPage(mebibytes: number): Promise<Streamed> {
    const name = freshName()
    const streamed = await streamThrough(await opfs({ name, layout: 'files' }), mebibytes)
    await removeWorkspace(name)
    return streamed
  },

  async inWorker(mebibytes: number): Promise<Streamed> {
    const worker = new Worker('/page.js', { type: 'module' })
    const streamed = await new Promise<Streamed>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = ({ message }) => reject(new Error(message))
      worker.postMessage(mebibytes)
    })
    worker.terminate()
    return streamed
  },
}

export type StreamPageApi = typeof api
Object.assign(globalThis, { api })

if (typeof document === 'undefined') {
  globalThis.onmessage = async ({ data }: { readonly data: number }) => {
    globalThis.postMessage(await api.inPage(data))
  }
}
