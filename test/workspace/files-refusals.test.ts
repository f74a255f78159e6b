import { expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type PolicyInput, ToolError, type WorkspaceFiles } from '../../src/index.ts'
import { everyNth } from '../counts.ts'

const token = ['ghp', '0123456789abcdefghijABCDEFGHIJ012345'].join('_')
const utf16 = Uint8Array.from([0xff, 0xfe, ...[...`key ${token}\n`].flatMap((char) => [char.charCodeAt(0), 0])])
const tree = {
  ...{
    'a.txt': 'a\n',
    'wide.txt': utf16,
    'key.txt': `key ${token}\n`,
    '.env': 'A=1\n',
    'bin.dat': new Uint8Array([0]),
  },
  ...{
    'node_modules/a/b.js': 'b\n',
    'denied/a.md': 'a\n',
    'unseen/a.md': 'a\n',
    'part/a.md': 'a\n',
    'part/x.hid': 'x\n',
  },
  ...{ 'to-nothing': { link: 'gone' }, 'to-env': { link: '.env' }, '.git/config': '[core]\n' },
}
const view = (name: string, path: string) =>
  ({ name, action: 'deny', permissions: ['file:view'], paths: [path] }) as const
const policy: PolicyInput = {
  ...{ preset: 'autonomous', deniedPaths: ['denied/**'], readOnlyPaths: ['bin.dat'] },
  rules: [view('unseen', 'unseen/**'), view('parts', '**/*.hid')],
}
const paths = [...Object.keys(tree), 'denied', 'unseen', 'part', '.', 'none/x', '../x', '/abs', '']

async function all(entries: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of entries);
}

type Act = (files: WorkspaceFiles, path: string, options: { readonly signal?: AbortSignal }) => unknown
const acts: Readonly<Record<string, Act>> = {
  readBytes: (files, path, options) => files.readBytes(path, options),
  readText: (files, path, options) => files.readText(path, options),
  readable: async (files, path, options) => all(await files.readable(path, options)),
  stat: (files, path, options) => files.stat(path, options),
  entries: (files, path, options) => files.entries(path, options),
  walk: async (files, path, options) => all(files.walk(path, options)),
  readLink: (files, path, options) => files.readLink(path, options),
  realPath: (files, path, options) => files.realPath(path, options),
  write: (files, path, options) => files.write(path, 'y', options),
  append: (files, path, options) => files.append(path, 'y', options),
  makeDirectory: (files, path, options) => files.makeDirectory(path, options),
  delete: (files, path, options) => files.delete(path, { recursive: true, ...options }),
  rename: (files, path, options) => files.rename(path, 'new/a', options),
  'rename onto': (files, path, options) => files.rename('a.txt', path, options),
  copy: (files, path, options) => files.copy(path, 'new/a', options),
  'copy onto': (files, path, options) => files.copy('a.txt', path, options),
  setMode: (files, path, options) => files.setMode(path, 0o755, options),
  link: (files, path, options) => files.link(path, 'a.txt', options),
  batch: (files, path, options) => files.batch((batch) => batch.delete(path, { recursive: true }), options),
}

it('a refusal of files names no command, because none was there', async () => {
  const refusals = new Set<string>()
  for (const [name, act] of Object.entries(acts)) {
    for (const [options, tried] of [
      [{}, paths],
      [{ signal: AbortSignal.abort() }, everyNth(paths, 5)],
    ] as const) {
      for (const path of tried) {
        const { files } = await createWorkspace({ backend: memory(tree), policy })
        try {
          await act(files, path, options)
        } catch (error) {
          if (!(error instanceof ToolError)) throw error
          refusals.add(error.message)
          expect([name, path, error.message]).toEqual([name, path, expect.not.stringMatching(/command/i)])
        }
      }
    }
  }
  expect(refusals.size).toBeGreaterThan(100)
  expect(refusals).toContain('"wide.txt" holds a secret and is UTF-16, so it cannot be shown')
  expect(refusals).toContain('Cannot change "part": it contains files that are not visible here')
})
