import { writeSync } from 'node:fs'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { patchTo } from './patched-files.ts'

/**
 * The victim, a process of its own: applies patches of 20 files without end, each through the whole pipeline, and tells on
 * its standard output when a commit begins and which patches were acknowledged. It waits for a message that names the generation to go on from.
 * Arguments: the root, the state directory.
 */
const [root = '', stateDir = ''] = process.argv.slice(2)

process.once('message', async (from) => {
  const workspace = await createWorkspace({
    backend: nodeBackend(root, { stateDir }),
    policy: 'autonomous',
    // The intent is recorded just before the commit begins.
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
