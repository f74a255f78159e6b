import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type builds, type Installed, install } from './consumer.ts'
import { onPage } from './host-chromium.ts'

const author = { name: 'A', email: 'a@example.com' }
const at = '1700000000 +0000'

/** Code of a user's project. */
const main = `
import { createWorkspace } from 'wardspace'
import { directoryHandle } from 'wardspace/backends/directory-handle'
import { memory } from 'wardspace/backends/memory'
import { opfs } from 'wardspace/backends/opfs'
import { overlay } from 'wardspace/backends/overlay'
import { git } from 'wardspace/git'
import { bash } from 'wardspace/shells/bash'

async function use(backend, repository) {
  const workspace = await createWorkspace({ backend, policy: 'autonomous', git: git(), shell: bash(), clock: () => 1_700_000_000_000 })
  await workspace.call('write_file', { path: 'a.txt', content: 'one\\ntwo\\n' })
  if (repository) {
    await workspace.git.init()
    await workspace.git.add('.')
    await workspace.git.commit({ message: 'first', author: ${JSON.stringify(author)} })
  }
  const { sha256 } = await workspace.call('read_file', { path: 'a.txt' })
  await workspace.call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'zwei', expectedSha256: sha256 })
  const { diff, baseCommit } = await workspace.call('diff_workspace', {})
  const messages = repository ? (await workspace.git.log()).map(({ message }) => message) : undefined
  const { content } = await workspace.call('read_file', { path: 'a.txt' })
  const command = 'sort -r a.txt | gzip | zcat; node -e "console.log(6 * 7)"'
  const { stdout } = await workspace.call('run_command', { command })
  await workspace.close()
  return { content, diff, baseCommit, messages, stdout }
}

async function main() {
  const stored = await opfs({ name: 'consumer', persist: false })
  const { access, warnings } = await stored.info()
  const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('picked', { create: true })
  return {
    memory: await use(memory(), true),
    overlay: await use(overlay(memory()), true),
    opfs: await use(stored, true),
    directoryHandle: await use(await directoryHandle(folder), true),
    access,
    warnings: warnings.length,
  }
}
globalThis.result = main().catch((error) => String(error?.stack ?? error))
`

/** Registers the tests that each of the builds must pass. */
export function consumerCases(by: typeof builds): void {
  describe("a user's project", () => {
    let installed: Installed
    let baseCommit: string
    beforeAll(() => {
      installed = install(['isomorphic-git', 'buffer'])
      baseCommit = committedByGit(installed.project('reference', ''))
    }, 300_000)
    afterAll(() => installed.remove())

    describe.each(Object.entries(by))('built by %s without configuration', (_, build) => {
      it('builds without warnings, and runs tools, git and commands over memory, OPFS and a folder in Chromium', async () => {
        const { files, complaints } = await build(installed.project('good', main))
        expect(complaints).toBe('')
        const result = await onPage(
          (path) => files[path],
          async (page) => {
            await page.waitForFunction('globalThis.result !== undefined')
            return page.evaluate('globalThis.result')
          },
        )
        const expected = {
          content: 'one\nzwei\n',
          diff: 'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n',
          baseCommit,
          messages: ['first\n'],
          stdout: 'zwei\none\n42\n',
        }
        expect(result).toEqual({
          memory: expected,
          overlay: expected,
          opfs: expected,
          directoryHandle: expected,
          access: 'sync',
          warnings: 0,
        })
      }, 300_000)

      it('reports a warning for an import of a Node module', async () => {
        const bad = "import { readFileSync } from 'node:fs'\nglobalThis.result = String(readFileSync)\n"
        expect((await build(installed.project('bad', bad))).complaints).toMatch(/node:fs/)
      }, 300_000)
    })
  })
}

/** Returns the id of the same commit, created by git itself. */
function committedByGit(directory: string): string {
  const names = { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email, GIT_AUTHOR_DATE: at }
  const committer = { GIT_COMMITTER_NAME: author.name, GIT_COMMITTER_EMAIL: author.email, GIT_COMMITTER_DATE: at }
  const env = { ...process.env, ...names, ...committer, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, env, encoding: 'utf8' }).trim()
  writeFileSync(join(directory, 'a.txt'), 'one\ntwo\n')
  git('init', '--quiet')
  git('add', 'a.txt')
  git('commit', '--quiet', '--message', 'first')
  return git('rev-parse', 'HEAD')
}
