import { createWorkspace } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import 'wardspace/elements'
import { bash } from 'wardspace/shells/bash'
import {
  createApprovals,
  createChanges,
  createConversation,
  createEditor,
  createFiles,
  createPolicyEditor,
  createTerminal,
  createTimeline,
  trackCalls,
} from 'wardspace/ui'

/** All elements over one workspace, for tests under a policy of the page. */
const approvals = createApprovals()
const timeline = createTimeline()
const workspace = await createWorkspace({
  backend: memory({ 'src/price.js': 'export const price = 1\n' }),
  policy: 'supervised',
  shell: bash(),
})
const agent = trackCalls(workspace, { timeline, approvals })
const controllers = {
  approvals,
  timeline,
  files: createFiles({ workspace }),
  editor: createEditor({ workspace }),
  diff: createChanges({ workspace }),
  terminal: createTerminal({ workspace }),
  policy: createPolicyEditor({ policy: 'supervised', onApply: () => {} }),
  chat: createConversation({
    async respond({ say }) {
      say('I set the **price**.')
      await agent.callTool('edit_file', { path: 'src/price.js', oldText: 'price = 1', newText: 'price = 2' })
    },
  }),
}
for (const [name, controller] of Object.entries(controllers)) {
  const element = Object.assign(document.createElement(`wardspace-${name}`), { controller, timeline, approvals })
  element.style.height = '500px'
  document.body.append(element)
}
await controllers.editor.open('src/price.js')
