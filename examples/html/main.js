import 'wardspace/elements'
import { createWorkspace } from 'wardspace'
import { callbackSink } from 'wardspace/audit'
import { memory } from 'wardspace/backends/memory'
import { createApprovals, createTimeline, trackCalls } from 'wardspace/ui'

const approvals = createApprovals()
const timeline = createTimeline()
const workspace = await createWorkspace({
  backend: memory({ 'src/price.js': 'export const price = 1\n', '.env': 'TOKEN=never-shown\n' }),
  policy: 'supervised',
  audit: callbackSink(timeline.take),
})
// The agent gets this run: each call is checked, shown, and waits for the person where the policy asks.
const agent = trackCalls(workspace, { timeline, approvals })

document.querySelector('wardspace-approvals').controller = approvals

// A real agent calls the tools from the answers of a model: see "With model APIs and frameworks".
document.querySelector('#start').addEventListener('click', async () => {
  await agent.call('read_file', { path: '.env' })
  await agent.call('edit_file', { path: 'src/price.js', oldText: 'price = 1', newText: 'price = 2' })
})
