import { afterAll, describe, expect, it } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Path, type Workspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { isLong, oneOfEach } from '../counts.ts'
import { hiddenCases } from './secret-marks.ts'

const shell = bash({ worker: false })
afterAll(() => shell.close())

/** Writes the shown content of `t.txt`, and one more line, over it. */
type Way = (workspace: Workspace, content: string) => Promise<unknown>

const line = (command: (content: string) => string): Way => {
  return async (workspace, content) => {
    await workspace.files.write('n.txt', content)
    return workspace.call('run_command', { command: command(content) })
  }
}
const patch =
  (of: (added: string) => string): Way =>
  (workspace, content) => {
    const added = content.trimEnd().replace(/^/gm, '+')
    return workspace.call('apply_patch', { patch: `*** Begin Patch\n${of(added)}\n*** End Patch` })
  }
const viaFs =
  (act: (fs: ReturnType<typeof createFs>['promises'], content: string) => Promise<unknown>): Way =>
  (workspace, content) =>
    act(createFs(workspace).promises, content)

const ways: Readonly<Record<string, Way>> = {
  write_file: (workspace, content) =>
    workspace.call('write_file', { path: 't.txt', content, mode: 'CREATE_OR_REPLACE' }),
  append_file: (workspace, content) => workspace.call('append_file', { path: 't.txt', content }),
  edit_file: (workspace, content) => workspace.call('edit_file', { path: 't.txt', oldText: 'last', newText: content }),
  'a patch that deletes and adds': patch((added) => `*** Delete File: t.txt\n*** Add File: t.txt\n${added}`),
  'a patch that moves another file there': patch(
    (added) =>
      `*** Delete File: t.txt\n*** Add File: m.txt\n${added}\n*** Update File: m.txt\n*** Move to: t.txt\n@@\n-last\n+end`,
  ),
  'files.write': (workspace, content) => workspace.files.write('t.txt', content),
  'files.rename': async ({ files }, content) => {
    await files.write('n.txt', content)
    return files.rename('n.txt', 't.txt', { overwrite: true })
  },
  'files.copy': async ({ files }, content) => {
    await files.write('n.txt', content)
    return files.copy('n.txt', 't.txt', { overwrite: true })
  },
  'files.writable': async ({ files }, content) => {
    const writer = (await files.writable('t.txt')).getWriter()
    await writer.write(content)
    return writer.close()
  },
  'a batch that deletes and writes': ({ files }, content) =>
    files.batch(async (batch) => {
      await batch.delete('t.txt')
      await batch.write('t.txt', content)
    }),
  'a batch that moves the file away': ({ files }, content) =>
    files.batch(async (batch) => {
      await batch.rename('t.txt', 'old.txt')
      await batch.write('t.txt', content)
    }),
  'fs.writeFile': viaFs((fs, content) => fs.writeFile('t.txt', content)),
  'fs.rename of a temporary file': viaFs(async (fs, content) => {
    await fs.writeFile('n.txt', content)
    await fs.rename('n.txt', 't.txt')
  }),
  'fs.copyFile': viaFs(async (fs, content) => {
    await fs.writeFile('n.txt', content)
    await fs.copyFile('n.txt', 't.txt')
  }),
  'a here document': line((content) => `cat > t.txt <<'END'\n${content}END`),
  cp: line(() => 'cp n.txt t.txt'),
  mv: line(() => 'mv n.txt t.txt'),
  'rm and mv': line(() => 'rm t.txt; mv n.txt t.txt'),
  'cat >': line(() => 'cat n.txt > t.txt'),
  tee: line(() => 'tee t.txt < n.txt > /dev/null'),
  node: line(() => `node -e 'const fs = require("fs"); fs.writeFileSync("t.txt", fs.readFileSync("n.txt"))'`),
}

const names = Object.keys(ways)
const cases = oneOfEach(hiddenCases, ({ kind }) => kind).flatMap((one, index) =>
  names.filter((_, way) => isLong || (way + index) % 7 === 0).map((name) => ({ ...one, name })),
)

describe('a mark', () => {
  it.each(names)('is not written over the secret that it hides: %s', async (name) => {
    const failed: unknown[] = []
    for (const { kind, before, secret, after } of cases.filter((one) => one.name === name)) {
      const content = `first\n${before}${secret}${after}\nlast\n`
      const backend = memory({ 't.txt': content })
      const { close: _, ...shared } = shell
      const workspace = await createWorkspace({
        ...{ backend, policy: 'autonomous' },
        shell: { ...shared, close: async () => {} },
      })
      const shown = await workspace.call('read_file', { path: 't.txt' })
      const text = shown.ok ? shown.content : ''
      await Promise.resolve(ways[name]?.(workspace, `more\n${text}`)).catch(() => {})
      const stored = String(Buffer.from((await backend.read('t.txt' as Path)).bytes))
      if (!text.includes('[REDACTED:') || stored !== content) failed.push([kind, text, stored])
      await workspace.close()
    }
    expect(failed).toEqual([])
  })

  it('is written in place of a file that was deleted first, and by an undo that brings it back', async () => {
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40)
    const workspace = await createWorkspace({
      backend: memory({ 't.txt': '[REDACTED:github-token:1]\n' }),
      policy: 'autonomous',
    })
    const start = workspace.checkpoint()
    await workspace.files.delete('t.txt')
    await workspace.files.write('t.txt', `key ${secret}\n`)
    expect(await workspace.rollback(start.id)).toMatchObject({ ok: true })
    expect(await workspace.files.readText('t.txt')).toBe('[REDACTED:github-token:1]\n')
    await workspace.close()
  })
})
