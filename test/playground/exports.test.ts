import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'
import { beforeEach, describe, expect, it } from 'vitest'
import { createWorkspace } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { patchOf } from '../../playground/projects/export-patch.ts'
import { repositoryOf } from '../../playground/projects/export-repository.ts'
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
  it('turns the old files into the current ones', async () => {
    const before = { 'a.txt': 'one\r\ntwo\r\n', 'gone.txt': 'gone\n', 'src/näme 1.ts': 'let a = 1\n' }
    write(before)
    const workspace = await createWorkspace({ backend: memory(before), policy: 'autonomous' })
    const call = async (name: string, input: unknown): Promise<void> => {
      expect(await workspace.callTool(name, input)).toMatchObject({ ok: true })
    }
    await call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'three' })
    await call('delete_file', { path: 'gone.txt' })
    await call('write_file', { path: 'new/file.txt', content: 'new, no newline' })
    const patch = await patchOf(workspace.call)
    expect(patch.filesChanged).toBe(3)
    writeFileSync(join(directory, 'x.patch'), patch.text)
    git(directory, 'apply', 'x.patch')
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('one\r\nthree\r\n')
    expect(readFileSync(join(directory, 'new/file.txt'), 'utf8')).toBe('new, no newline')
    expect(() => readFileSync(join(directory, 'gone.txt'))).toThrow('ENOENT')
    await workspace.close()
  })

  it('is complete even if a result can only contain its beginning', async () => {
    const limits = { diffBytes: 10_000, diffBytesHard: 10_000 }
    const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', limits })
    const text = 'a line of some length\n'.repeat(5_000)
    const paths = ['a.txt', 'b.txt', 'c.txt']
    for (const path of paths) {
      expect(await workspace.call('write_file', { path, content: text })).toMatchObject({ ok: true })
    }
    const patch = await patchOf(workspace.call)
    expect(patch.text.length).toBeGreaterThan(300_000)
    writeFileSync(join(directory, 'x.patch'), patch.text)
    git(directory, 'apply', 'x.patch')
    for (const path of paths) expect(readFileSync(join(directory, path), 'utf8') === text).toBe(true)
    await workspace.close()
  })
})
