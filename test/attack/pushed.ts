import { writeSync } from 'node:fs'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { git } from '../../src/git/index.ts'
import { createWorkspace } from '../../src/index.ts'

/**
 * The victim process: commits to the repository of a directory and pushes, in an endless loop. Writes `commit ID` after a commit,
 * `push` before a push and `pushed ID` after it. Starts when it receives a message. Arguments: the root and its state directory.
 */
const [root = '', stateDir = ''] = process.argv.slice(2)

process.once('message', async () => {
  const workspace = await createWorkspace({
    backend: nodeBackend(root, { stateDir }),
    policy: { preset: 'autonomous', network: { hosts: ['127.0.0.1:*'] } },
    git: git(),
  })
  const repository = workspace.git
  if (repository === undefined) throw new Error('no git')
  const say = (line: string) => writeSync(1, `${line}\n`)
  for (let count = 0; ; count++) {
    await workspace.files.write(`files/${count % 20}.txt`, `${Math.random()}\n`.repeat(200))
    await repository.add('.')
    say(`commit ${await repository.commit({ message: `commit ${count}` })}`)
    say('push')
    say(`pushed ${(await repository.push()).to}`)
  }
})
