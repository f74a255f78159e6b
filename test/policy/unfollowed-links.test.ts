import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { createWorkspace, type Workspace } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { part, times } from '../counts.ts'

const files = { 'd/a.txt': 'a\n', 'priv/s.txt': 's\n' }

/** Where the link `d/link` leads. Only what lies inside and is allowed makes it a link that the run may remove. */
const targets: Readonly<
  Record<string, { readonly target: string; readonly removable: boolean; readonly disk?: true }>
> = {
  'to a file': { target: 'a.txt', removable: true },
  'to nothing': { target: 'missing.txt', removable: true },
  'to nothing in a missing directory': { target: 'x/y/z', removable: true },
  'through a file': { target: 'a.txt/x', removable: true },
  'to itself': { target: 'link', removable: true },
  'in a circle': { target: 'other', removable: true },
  'through a circle': { target: 'other/x', removable: true },
  'to a denied file': { target: '../priv/s.txt', removable: false },
  'through a denied file': { target: '../priv/s.txt/x', removable: false },
  'to nothing in a denied directory': { target: '../priv/none', removable: false },
  'through a link and a denied file': { target: 'mid/x', removable: false },
  'to git': { target: '../.git/config', removable: false },
  'outside of the workspace': { target: '../../out', removable: false, disk: true },
  'to an absolute path': { target: '/etc/passwd', removable: false, disk: true },
}

const command = (line: string) => (workspace: Workspace) => workspace.call('run_command', { command: line })

const ways: Readonly<Record<string, (workspace: Workspace) => ReturnType<Workspace['call']>>> = {
  delete_file: (workspace) => workspace.call('delete_file', { path: 'd/link' }),
  move_file: (workspace) => workspace.call('move_file', { path: 'd/link', to: 'd/moved' }),
  rm: command('rm d/link'),
  'rm -fv': command('rm -fv -- d/link'),
  'rm -r': command('rm -r d'),
  mv: command('mv d/link d/moved'),
  'mv into a directory': command('mkdir e && mv -v d/link e'),
  'mv of the directory': command('mv d e'),
  find: command('find d -name link -delete'),
  unlinkSync: command(`node -e "require('fs').unlinkSync('d/link')"`),
  renameSync: command(`node -e "require('fs').renameSync('d/link', 'd/moved')"`),
  rmSync: command(`node -e "require('fs').rmSync('d/link')"`),
}

const storages = {
  memory: (root: string, links: Readonly<Record<string, string>>) => withLinks(memory(files), links, root),
  disk: (root: string, links: Readonly<Record<string, string>>) => onDisk(root, links),
  overlay: async (root: string, links: Readonly<Record<string, string>>) => overlay(await onDisk(root, links)),
}

async function withLinks(backend: Backend, links: Readonly<Record<string, string>>, _root: string): Promise<Backend> {
  const changes = Object.entries(links).map(([path, target]) => ({
    path: path as Path,
    expect: 'any' as const,
    to: { type: 'link' as const, target },
  }))
  await backend.commit(changes, { durability: 'relaxed' })
  return backend
}

async function onDisk(root: string, links: Readonly<Record<string, string>>): Promise<Backend> {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, 'r', dirname(path)), { recursive: true })
    writeFileSync(join(root, 'r', path), content)
  }
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(root, 'r', path))
  return nodeBackend(join(root, 'r'), { stateDir: join(root, 's') })
}

const cases = part(
  Object.keys(storages)
    .flatMap((storage) =>
      Object.keys(targets).flatMap((target) => Object.keys(ways).map((way) => ({ storage, target, way }))),
    )
    .filter((_, index) => index % times(23, 1) === 0),
)

describe('a link', () => {
  it.each(cases)('$target is removed by $way as policy allows, on $storage', async ({ storage, target, way }) => {
    const { target: leadsTo, removable, disk } = targets[target] as (typeof targets)[string]
    // A backend whose links are its own holds none that leads outside.
    if (disk && storage === 'memory') return
    const root = mkdtempSync(join(tmpdir(), 'links-'))
    const links = { 'd/link': leadsTo, 'd/other': 'link', 'd/mid': '../priv/s.txt' }
    // A directory with a link that may not be removed may not be removed as a whole.
    const { 'd/mid': _, ...own } = links
    const backend = await storages[storage as keyof typeof storages](root, leadsTo === 'mid/x' ? links : own)
    const workspace = await createWorkspace({
      backend,
      shell: bash({ worker: false }),
      policy: { preset: 'autonomous', deniedPaths: ['priv', 'priv/**'] },
    })
    const result = (await (ways[way] as (typeof ways)[string])(workspace)) as { readonly callId?: string }
    const left = await backend.stat('d/link' as Path)
    if (removable) {
      expect(left, JSON.stringify(result)).toBeUndefined()
      expect(await workspace.undo(String(result.callId))).toMatchObject({ ok: true })
    } else expect(left?.type, JSON.stringify(result)).toBe('link')
    expect(await backend.readLink('d/link' as Path)).toBe(leadsTo)
    for (const [path, content] of Object.entries(files)) {
      expect(Buffer.from((await backend.read(path as Path)).bytes).toString()).toBe(content)
    }
    await workspace.close()
    rmSync(root, { recursive: true })
  })
})
