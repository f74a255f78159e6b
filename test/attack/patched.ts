import { writeSync } from 'node:fs'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { patchTo } from './patched-files.ts'

/**
 * The victim process: applies patches of 20 files in an endless loop, each through the complete pipeline. Writes to
 * standard output when a commit begins and which patches were acknowledged. Starts when it receives the last generation
 * in a message. Arguments: the root and the state directory.
 */
const [root = '', stateDir = ''] = process.argv.slice(2)

process.once('message', async (from) => {
  const workspace = await createWorkspace({
    backend: nodeBackend(root, { stateDir }),
    policy: 'autonomous',
    // The intent is recorded directly before the commit.
    audit: {
      append({ phase }) {
        if (phase === 'intent') writeSync(1, 'intent\n')
      },
    },
    limits: { patchInsertions: 10_000, patchDeletions: 10_000 },
  })
  for (let generation = Number(from) + 1; ; generation++) {
    const answer = await workspace.call('apply_patch', { patch: patchTo(generation) })
    if (!answer.ok) throw new Error(JSON.stringify(answer))
    writeSync(1, `patch ${generation}\n`)
  }
})
