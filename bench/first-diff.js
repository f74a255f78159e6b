// Prints the milliseconds of the first diff in a process: node first-diff.js ROOT STATE_DIR
import { nodeBackend } from '../dist/backends/node/index.js'
import { createWorkspace } from '../dist/index.js'

const [root, stateDir] = process.argv.slice(2)
const workspace = await createWorkspace({ backend: nodeBackend(root, { stateDir }), policy: 'autonomous' })
const started = performance.now()
const result = await workspace.call('diff_workspace', {})
console.log(performance.now() - started)
if (!result.ok) throw new Error(result.message)
await workspace.close()
