import type { LanguageModel } from 'ai'
import { createWorkspace, type Workspace } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { calls, scriptedModel } from 'wardspace/testing/scripted-model'

/** The files of the agent. Without `approve`: the page answers. */
export const createFiles = (): Promise<Workspace> =>
  createWorkspace({
    backend: memory({ 'price.txt': 'price: 10\n', 'old.txt': 'nobody needs this\n' }),
    policy: 'supervised',
  })

/** A script instead of a model. */
export const createModel = (): LanguageModel =>
  scriptedModel(function* () {
    const [edited, deleted] = yield* calls(
      'I raise the price, and delete the old file.',
      { name: 'edit_file', input: { path: 'price.txt', oldText: 'price: 10', newText: 'price: 12' } },
      { name: 'delete_file', input: { path: 'old.txt' } },
    )
    return `The price is ${edited?.ok ? 'new' : 'as before'}. The old file is ${deleted?.ok ? 'gone' : 'still there'}.`
  })
