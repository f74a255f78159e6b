import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Path } from 'wardspace'
import { type Backend, childOf, ROOT } from 'wardspace/backend'
import { memory } from 'wardspace/backends/memory'
import { nodeBackend } from 'wardspace/backends/node'
import { memoryByteStore } from '../../playground/projects/byte-store.ts'
import { repositoryOf } from '../../playground/projects/export-repository.ts'
import { openSession } from '../../playground/session/open-session.ts'
import { projectPatch } from '../../playground/session/project-patch.ts'
import { everyNth } from '../counts.ts'
import { git } from '../git/repositories.ts'

/** Exports are checked with the real git. */
let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'playground-exports-'))
  return () => rmSync(directory, { recursive: true, force: true })
})

function write(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    const at = join(directory, path)
    if (path.endsWith('/')) mkdirSync(at, { recursive: true })
    else {
      mkdirSync(dirname(at), { recursive: true })
      writeFileSync(at, content)
    }
  }
}

describe('a repository', () => {
  it('is created for a project without one, complete and clean', async () => {
    const files = { 'a.txt': 'a\r\n', 'src/b.ts': 'export {}\n', '.gitignore': 'dist/\n', 'dist/out.js': '1\n' }
    const zip = await repositoryOf(memory(files), { name: 'sample' })
    write(unzipSync(new Uint8Array(await zip.arrayBuffer())))
    expect(git(directory, 'fsck', '--strict')).toBe('')
    expect(git(directory, 'status', '--porcelain')).toBe('')
    expect(git(directory, 'log', '--format=%s').trim()).toBe('sample, as exported')
    expect(git(directory, 'ls-files').trim().split('\n').sort()).toEqual(['.gitignore', 'a.txt', 'src/b.ts'])
    expect(readFileSync(join(directory, 'dist/out.js'), 'utf8'), 'what is ignored is there, too').toBe('1\n')
  })
})

describe('a patch', () => {
  const base = {
    'a.txt': 'one\r\ntwo\r\n',
    'gone.txt': 'gone\n',
    'src/näme 1.ts': 'let a = 1\n',
    'docs/old/deep/x.md': '# X\n',
    'docs/old/y.md': 'y\n',
    'logo.png': Uint8Array.from({ length: 300 }, (_, at) => at),
    pointer: { link: 'a.txt' },
    'dist/out.js': '1\n',
    '.gitignore': 'dist/\n',
    '.env': 'TOKEN=planted-secret\n',
    'config.js': 'let port = 1\n',
  } as const

  /** Opens a project, acts in it, and returns its patch, after the real git has applied it to the first files. */
  async function patchAfter(act: (call: (tool: string, input: unknown) => Promise<void>) => Promise<void>) {
    const backend = memory(base)
    const session = await openSession({ info: { id: 'p', name: 'P' }, backend, kept: memoryByteStore() })
    await act(async (tool, input) => {
      expect(await session.callAsOwner(tool, input), JSON.stringify(input)).toMatchObject({ ok: true })
    })
    const patch = await projectPatch({ backend }, session.workspace.value.history())
    const now = await treeOf(backend)
    await session.close()
    for (const [path, content] of Object.entries(base)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, join(directory, path))
      else write({ [path]: content })
    }
    const file = mkdtempSync(join(tmpdir(), 'playground-patch-'))
    writeFileSync(join(file, 'x.patch'), patch.text)
    if (patch.text !== '') git(directory, 'apply', join(file, 'x.patch'))
    rmSync(file, { recursive: true })
    return { patch, now, applied: await treeOf(nodeBackend(directory)) }
  }

  /** The files and links of a storage, with their contents in Base64. */
  async function treeOf(backend: Backend): Promise<Record<string, string>> {
    const tree: Record<string, string> = {}
    const visit = async (path: Path): Promise<void> => {
      for (const { name, type } of await backend.list(path)) {
        const child = childOf(path, name)
        if (type === 'directory') await visit(child)
        else if (type === 'link') tree[child] = `-> ${await backend.readLink(child)}`
        else tree[child] = Buffer.from((await backend.read(child)).bytes).toString('base64')
      }
    }
    await visit(ROOT)
    return tree
  }

  const ways: readonly (readonly [string, readonly (readonly [string, unknown])[]])[] = [
    [
      'changed, new and deleted files',
      [
        ['edit_file', { path: 'a.txt', oldText: 'two', newText: 'three' }],
        ['delete_file', { path: 'gone.txt' }],
        ['write_file', { path: 'new/file.txt', content: 'new, no newline' }],
      ],
    ],
    ['a file in new nested folders', [['run_command', { command: 'mkdir -p d/e && echo x > d/f && echo y > d/e/g' }]]],
    [
      'a link in a new folder',
      [['run_command', { command: 'mkdir -p d/e && ln -s ../../a.txt d/e/l && ln -s e d/m' }]],
    ],
    ['a renamed folder', [['run_command', { command: 'mv docs/old docs/new && echo more >> docs/new/y.md' }]]],
    ['a folder that moves into a new one', [['run_command', { command: 'mkdir -p far/off && mv docs far/off' }]]],
    ['an empty folder', [['create_directory', { path: 'empty/er' }]]],
    [
      'a file that becomes a folder',
      [
        ['run_command', { command: 'rm a.txt' }],
        ['run_command', { command: 'mkdir a.txt && echo x > a.txt/b' }],
      ],
    ],
    ['a folder that becomes a file', [['run_command', { command: 'rm -r docs && echo x > docs' }]]],
    ['a folder that becomes a link', [['run_command', { command: 'rm -r docs && ln -s src docs' }]]],
    [
      'a link that becomes a folder',
      [
        ['run_command', { command: 'rm pointer' }],
        ['run_command', { command: 'mkdir pointer && echo x > pointer/b' }],
      ],
    ],
    ['a link that leads elsewhere', [['run_command', { command: 'ln -sf gone.txt pointer' }]]],
    ['a binary file in a new folder', [['run_command', { command: 'mkdir img && cp logo.png img/b.png' }]]],
    ['a binary file that changes', [['run_command', { command: 'printf "\\000\\001" > logo.png' }]]],
    ['a binary lockfile', [['run_command', { command: 'printf "\\000\\001" > bun.lockb' }]]],
    ['a binary file that is deleted', [['delete_file', { path: 'logo.png' }]]],
    ['more than a result of a call contains', [['run_command', { command: 'seq 1 900000 > n.txt' }]]],
    [
      'more files than a result of a call lists',
      [['run_command', { command: 'mkdir m; for i in $(seq 1 1200); do echo $i > m/$i; done' }]],
    ],
  ]

  it.each(everyNth(ways, 6))('has %s, and git makes the same files from it', async (_, calls) => {
    const { patch, now, applied } = await patchAfter(async (call) => {
      for (const [tool, input] of calls) await call(tool, input)
    })
    expect(patch.leftOut).toEqual([])
    expect(applied).toEqual(now)
  })

  it('leaves out what is protected, secret or ignored, and names it', async () => {
    const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
    const { patch, now, applied } = await patchAfter(async (call) => {
      await call('append_file', { path: '.env', content: 'OTHER=planted\n' })
      await call('write_file', { path: 'dist/new.js', content: '2\n' })
      await call('write_file', { path: 'k/config.js', content: `let token = "${token}"\n` })
      await call('append_file', { path: 'gone.txt', content: 'more\n' })
    })
    expect([...patch.leftOut].sort()).toEqual([
      'Left out: ".env", which is protected',
      'Left out: "dist/new.js", which git ignores',
      'Left out: "k/config.js", which contains a secret',
    ])
    expect(patch.text).not.toMatch(/planted|ghp_|dist/)
    expect(applied['gone.txt']).toBe(now['gone.txt'])
  })

  const secret = `let token = "ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}"\n`
  const encodings = {
    'UTF-16': Buffer.from(`\ufeff${secret}`, 'utf16le'),
    'UTF-16 with the higher byte first': Buffer.from(`\ufeff${secret}`, 'utf16le').swap16(),
    'Latin-1': Buffer.from(`\u00e9 ${secret}`, 'latin1'),
    'a binary file': Buffer.from(`\0\u0001${secret}`, 'latin1'),
  }

  it.each(Object.entries(encodings))('leaves out a secret in %s', async (_, bytes) => {
    const escapes = Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
    const { patch } = await patchAfter((call) => call('run_command', { command: `printf '${escapes}' > k.bin` }))
    expect(patch.leftOut).toEqual(['Left out: "k.bin", which contains a secret'])
    expect(patch.text).toBe('')
  })
})
