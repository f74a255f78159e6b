import { createWorkspace } from 'wardspace'
import { callbackSink } from 'wardspace/audit'
import { memory } from 'wardspace/backends/memory'
import {
  createApprovals,
  createChanges,
  createConversation,
  createEditor,
  createFiles,
  createTimeline,
  trackCalls,
} from 'wardspace/ui'

export const approvals = createApprovals()
export const timeline = createTimeline()
const workspace = await createWorkspace({
  backend: memory({ 'src/price.js': 'export const price = 1\n', '.env': 'TOKEN=never-shown\n' }),
  policy: 'supervised',
  audit: callbackSink(timeline.take),
})
// The agent gets this run: each call is checked, shown, and waits for the person where the policy asks.
const agent = trackCalls(workspace, { timeline, approvals })

// A real agent asks a model and gives it the tools of `agent`: see "With model APIs and frameworks".
export const conversation = createConversation({
  timeline,
  async respond({ say }) {
    say('I look at the files, and correct the price.')
    await agent.call('read_file', { path: '.env' })
    await agent.call('read_file', { path: 'src/price.js' })
    const edited = await agent.call('edit_file', { path: 'src/price.js', oldText: 'price = 1', newText: 'price = 2' })
    say(edited.ok ? 'The price is **2** now.' : 'I have changed nothing.')
  },
})
export const files = createFiles({ workspace })
export const editor = createEditor({ workspace })
export const changes = createChanges({ workspace })
