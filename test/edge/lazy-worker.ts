import { github, httpIndex, lazy, zip } from '../../src/backends/lazy/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { createWorkspace } from '../../src/index.ts'

export default {
  /** Reads and changes a file of each source. The addresses are in the query. */
  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const [api = '', archive = '', index = ''] = ['api', 'archive', 'index'].map((name) => searchParams.get(name) ?? '')
    const sources = [lazy(github('octo/files', { api, token: 'a-token' })), lazy(zip(archive)), lazy(httpIndex(index))]
    const texts: unknown[] = []
    for (const source of sources) {
      const workspace = await createWorkspace({ backend: overlay(source), policy: 'autonomous' })
      const edited = await workspace.call('edit_file', { path: 'a.txt', oldText: 'first', newText: 'changed' })
      const read = await workspace.call('read_file', { path: 'a.txt' })
      texts.push(edited.ok && read.ok ? read.content : [edited, read])
      await workspace.close()
    }
    await globalThis.tellCoverage?.()
    return Response.json(texts)
  },
}
