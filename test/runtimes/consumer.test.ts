import { afterAll, describe, expect, it } from 'vitest'
import { type Built, builds, newProject, type Project } from './consumer.ts'
import { onPage } from './host-chromium.ts'

const main = `
import { createWorkspace } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { git } from 'wardspace/git'

async function main() {
  const workspace = await createWorkspace({
    backend: memory({ 'a.txt': 'one\\ntwo\\n' }),
    policy: 'autonomous',
    git: git(),
    clock: () => 1_700_000_000_000,
  })
  await workspace.git.init()
  await workspace.git.add('.')
  const commit = await workspace.git.commit({ message: 'first' })
  const file = await workspace.call('read_file', { path: 'a.txt' })
  await workspace.call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'zwei', expectedSha256: file.sha256 })
  const { diff } = await workspace.call('diff_workspace', {})
  const log = await workspace.git.log()
  return { content: file.content, commit, diff, messages: log.map(({ message }) => message) }
}
globalThis.result = main().catch((error) => String(error?.stack ?? error))
`

/** The id is git's own, of the same tree, author and time. */
const wanted = {
  content: 'one\ntwo\n',
  commit: '<commit>',
  diff: expect.stringContaining('-two\n+zwei\n'),
  messages: ['first\n'],
}

const projects: Project[] = []
function project(text: string): Project {
  const made = newProject(text)
  projects.push(made)
  return made
}
afterAll(() => {
  for (const { remove } of projects) remove()
})

async function open({ files }: Built): Promise<unknown> {
  return onPage(
    (path) => files[path],
    async (page) => {
      await page.waitForFunction('globalThis.result !== undefined')
      return page.evaluate('globalThis.result')
    },
  )
}

describe.each(Object.entries(builds))(
  "a user's project made from scratch, built by %s without configuration",
  (_, build) => {
    it('builds without a complaint, and runs tools over memory and git in Chromium', async () => {
      const { directory } = project(main)
      const built = await build(directory)
      expect(built.complaints).toBe('')
      expect(await open(built)).toEqual(wanted)
    })

    it('would be seen to complain of a module of Node', async () => {
      const { directory } = project(
        "import { readFileSync } from 'node:fs'\nglobalThis.result = String(readFileSync)\n",
      )
      const complaints = await build(directory).then(({ complaints }) => complaints, String)
      expect(complaints).toMatch(/node:fs/)
    })
  },
)
