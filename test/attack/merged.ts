import { writeSync } from 'node:fs'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { increment } from './merged-files.ts'

/**
 * The victim process: changes files, changes the same files in an overlay that is stored on disk or in a fork, and merges, in an
 * endless loop. Writes each acknowledged step to standard output, and `merge` before a merge. Starts when it receives a message.
 * Arguments: the root, the files of the overlay, and the state directories of both.
 */
const [root = '', upper = '', rootState = '', upperState = ''] = process.argv.slice(2)

process.once('message', async () => {
  const policy = 'autonomous'
  const lower = nodeBackend(root, { stateDir: rootState })
  const below = await createWorkspace({ backend: lower, policy })
  const draft = overlay(lower, nodeBackend(upper, { stateDir: upperState }), { closesLower: false })
  const above = await createWorkspace({ backend: draft, policy })
  const say = (line: string) => writeSync(1, `${line}\n`)
  const merge = async (act: () => Promise<{ readonly ok: boolean }>, line: string) => {
    say('merge')
    const merged = await act()
    if (!merged.ok) throw new Error(JSON.stringify(merged))
    say(line)
  }
  for (;;) {
    const overlaid = await increment(above, 'overlay')
    say(`overlay ${overlaid}`)
    say(`below ${await increment(below, 'below')}`)
    await merge(() => above.commit({ merge: true }), `merged ${overlaid}`)
    const fork = await below.fork()
    const forked = await increment(fork, 'fork')
    say(`below ${await increment(below, 'below')}`)
    await merge(() => fork.merge(), `fork ${forked}`)
  }
})
