import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { httpIndex, lazy, zip } from '../../../src/backends/lazy/index.ts'
import { overlay } from '../../../src/backends/overlay/index.ts'
import { createWorkspace } from '../../../src/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import { times } from '../../counts.ts'
import { type FileServer, startFiles } from './file-server.ts'

const servers: FileServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

async function serve(files: Readonly<Record<string, string>>, index: unknown): Promise<FileServer> {
  const served = Object.fromEntries(Object.entries(files).map(([path, text]) => [`docs/${path}`, text]))
  const server = await startFiles({ ...served, 'docs/index.json': JSON.stringify(index), secret: 'outside\n' })
  servers.push(server)
  return server
}

const indexOf = (files: Readonly<Record<string, string>>) => ({
  files: Object.entries(files).map(([path, text]) => ({
    path,
    size: new TextEncoder().encode(text).length,
    sha256: sha256(text),
  })),
})

describe('an index on a web server', () => {
  it('is open in one request, and a file costs one', async () => {
    const count = times(1500, 30_000)
    const many = Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i % 200}/f${i}.md`, `${i}\n`]))
    const server = await serve({ 'd7/f207.md': '207\n' }, indexOf(many))
    const backend = lazy(httpIndex(`${server.url}/docs/index.json?version=2`))
    const workspace = await createWorkspace({ backend: overlay(backend), policy: 'autonomous' })
    expect(server.requests).toEqual([])
    const found = await workspace.call('find_files', { pattern: '**' })
    expect(found.ok && found.totalFound).toBe(count)
    expect(await workspace.call('read_file', { path: 'd7/f207.md' })).toMatchObject({ ok: true, content: '207\n' })
    expect(await workspace.call('read_file', { path: 'd7/f207.md' })).toMatchObject({ ok: true })
    expect(server.requests).toEqual(['/docs/index.json', '/docs/d7/f207.md'])
  })

  it('names files as they are, and leaves out what is not below it', async () => {
    const names = [
      'a b&c?d#e%2e.txt',
      'ü/名.txt',
      '%2e%2e/secret',
      '../secret',
      '/secret',
      'x/../../secret',
      'http://127.0.0.1/secret',
    ]
    const files = Object.fromEntries(names.map((name) => [name, `${name}\n`]))
    const server = await serve(files, indexOf(files))
    const backend = lazy(httpIndex(`${server.url}/docs/index.json`))
    for (const path of names.slice(0, 3)) {
      expect(new TextDecoder().decode((await backend.read(path as Path)).bytes)).toBe(`${path}\n`)
    }
    expect((await backend.omitted()).map(({ path }) => path)).toEqual(names.slice(3))
    expect(server.requests.filter((request) => request.startsWith('/secret'))).toEqual([])
  })

  it('tells executables, and refuses other contents than listed', async () => {
    const files = [
      { path: 'run', size: 2, executable: true },
      { path: 'size', size: 3 },
      { path: 'less', size: 1 },
      { path: 'hash', size: 2, sha256: sha256('no') },
      { path: 'gone', size: 2 },
    ]
    const server = await serve({ run: 'ok', size: 'ok', less: 'ok', hash: 'ok' }, { files })
    const backend = lazy(httpIndex(new URL(`${server.url}/docs/index.json`)))
    expect((await backend.read('run' as Path)).stat.mode).toBe(0o755)
    for (const path of ['size', 'less', 'hash', 'gone']) {
      await expect(backend.read(path as Path)).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    }
  })

  it.each([
    'nothing',
    [],
    { files: 'a' },
    { files: [1] },
    { files: [{ path: 'a' }] },
    { files: [{ path: 'a', size: -1 }] },
    { files: [{ path: 'a', size: 1.5 }] },
    { files: [{ path: 'a', size: 1, sha256: 'abc' }] },
    { files: [{ path: 7, size: 1 }] },
  ])('%j is no index', async (index) => {
    const server = await serve({}, index)
    await expect(lazy(httpIndex(`${server.url}/docs/index.json`)).list('' as Path)).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
    })
  })

  it('needs an address of the web', () => {
    for (const url of ['index.json', 'file:///etc/passwd', 'data:application/json,{}', '']) {
      expect(() => httpIndex(url)).toThrow(TypeError)
    }
    expect(() => zip('nourl')).toThrow('must be an address with http: or https:, not a string')
    for (const url of [
      'https://u:p@example.com/a.zip',
      'https://u@example.com/a',
      new URL('https://:p@example.com/a'),
    ]) {
      for (const source of [httpIndex, zip]) expect(() => source(url)).toThrow('without a user name and password')
      expect(() => zip(url)).not.toThrow(/u:p/)
    }
  })
})
