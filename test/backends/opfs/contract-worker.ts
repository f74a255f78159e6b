import { opfs } from '../../../src/backends/opfs.ts'
import { backendContract } from '../../../src/testing/index.ts'
import { type CaseResult, runCase } from '../../runtimes/report.ts'

/** Runs the contract here, in a worker, over workspaces that it opens itself, and says how it went. */
globalThis.onmessage = async ({ data: layout }: { readonly data: 'packed' | 'files' }) => {
  let count = 0
  const root = await navigator.storage.getDirectory()
  const cases = backendContract({
    name: layout,
    async create() {
      count += 1
      const name = `worker-${layout}-${count}`
      const open = () => opfs({ name, layout })
      return {
        backend: await open(),
        reopen: open,
        async dispose() {
          await (await root.getDirectoryHandle('wardspace')).removeEntry(name, { recursive: true })
        },
      }
    },
  })
  const outcomes: CaseResult[] = []
  for (const one of cases) outcomes.push(await runCase(one))
  globalThis.postMessage(outcomes)
}
