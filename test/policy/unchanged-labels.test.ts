import { describe, expect, it } from 'vitest'
import { memory } from '../../dist/backends/memory/index.js'
import { overlay } from '../../dist/backends/overlay/index.js'
import { git } from '../../dist/git/index.js'
import { createWorkspace, type Workspace } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'

const labels = { sources: [{ label: 'restricted' as const, paths: ['conf/**'] }] }
const author = { name: 'Ada', email: 'ada@example.org' }
const SECRET = '4711\n'

/** A repository whose last commit has a labelled file that is not in the workspace now. */
async function open(): Promise<Workspace> {
  const backend = memory({ 'a.txt': 'a\n', 'conf/pin': SECRET })
  const owner = await createWorkspace({ backend, policy: 'autonomous', git: git({ author }) })
  await owner.git?.init()
  await owner.git?.add('.')
  await owner.git?.commit({ message: 'First' })
  await owner.files.delete('conf/pin')
  return createWorkspace({
    backend,
    policy: { preset: 'autonomous', labels },
    git: git({ author }),
    shell: bash({ worker: false }),
  })
}

const run = (workspace: Workspace, command: string) => workspace.call('run_command', { command })
const writes: Readonly<Record<string, (workspace: Workspace, guess: string) => Promise<unknown>>> = {
  write_file: (workspace, guess) => workspace.call('write_file', { path: 'conf/pin', content: guess }),
  files: ({ files }, guess) => files.write('conf/pin', guess),
  command: (workspace, guess) => run(workspace, `mkdir -p conf && printf '${guess.trim()}\\n' > conf/pin`),
  move: async (workspace, guess) => {
    await workspace.files.write('moved', guess)
    await workspace.files.makeDirectory('conf')
    await workspace.files.rename('moved', 'conf/pin')
  },
}
const looks: Readonly<Record<string, (workspace: Workspace) => Promise<unknown>>> = {
  diff_workspace: (workspace) => workspace.call('diff_workspace', {}),
  'diff_workspace of the path': (workspace) => workspace.call('diff_workspace', { paths: ['conf/pin'], base: 'main' }),
  'the hash of a patch': (workspace) =>
    workspace.call('apply_patch', { patch: '*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch' }),
  'git status': (workspace) => run(workspace, 'git status --short'),
  'git stash': (workspace) => run(workspace, 'git stash -q'),
  'git diff': (workspace) => run(workspace, 'git diff HEAD'),
  'git diff --quiet': (workspace) => run(workspace, 'git diff --quiet; echo $?'),
  'git diff of commits': (workspace) =>
    run(workspace, 'git switch -qc guess; git add -A; git commit -qm x; git diff main guess --stat'),
}

describe('a comparison that shows no difference', () => {
  for (const [writeName, write] of Object.entries(writes)) {
    for (const [lookName, look] of Object.entries(looks)) {
      it(`${lookName} after ${writeName} has the label of a file whose content the call has chosen`, async () => {
        for (const guess of ['0000\n', SECRET]) {
          const workspace = await open()
          await write(workspace, guess)
          expect(workspace.taint.label()).toBe('public')
          await look(workspace)
          expect([guess, workspace.taint.label()]).toEqual([guess, 'restricted'])
          await workspace.close()
        }
      })
    }
  }

  it('git status has the label of the files that it compared for a rename', async () => {
    for (const guess of ['0000\n', SECRET]) {
      const workspace = await open()
      await workspace.files.write('guess.txt', guess)
      await run(workspace, 'git add -A')
      expect(workspace.taint.label()).toBe('public')
      await run(workspace, 'git status --short')
      expect([guess, workspace.taint.label()]).toEqual([guess, 'restricted'])
      await workspace.close()
    }
  })

  it('has no label of files that no call has written', async () => {
    const backend = memory({ 'a.txt': 'a\n', 'conf/pin': SECRET })
    for (const at of [backend, overlay(backend)]) {
      const workspace = await createWorkspace({ backend: at, policy: { preset: 'autonomous', labels } })
      await workspace.call('write_file', { path: 'b.txt', content: 'b\n' })
      await workspace.call('diff_workspace', {})
      expect(workspace.taint.label()).toBe('public')
      await workspace.close()
    }
  })
})
