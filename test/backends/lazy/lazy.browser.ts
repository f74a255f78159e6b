import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { github, httpIndex, lazy, zip } from '../../../src/backends/lazy/index.ts'
import { overlay } from '../../../src/backends/overlay/index.ts'
import { objectId } from '../../../src/files/hash/sha1.ts'
import { createWorkspace } from '../../../src/index.ts'

const text = 'first\n'.repeat(100)
const bytes = strToU8(text)
const address = (path: string) => `${location.origin}/lazy/${path}`
const archive = zipSync({ 'a.txt': bytes }, { level: 6 })

/** Answers of a server of the same origin. */
async function answer(url: string, { headers = {} }: RequestInit): Promise<Response> {
  const { pathname } = new URL(url)
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(new Headers(headers).get('range') ?? '') ?? []
  if (pathname.endsWith('.zip') && first !== undefined) {
    const start = first === '' ? Math.max(0, archive.length - Number(last)) : Number(first)
    const end = first === '' ? archive.length : Number(last) + 1
    const range = { 'content-range': `bytes ${start}-${end - 1}/${archive.length}` }
    return new Response(archive.slice(start, end), { status: 206, headers: range })
  }
  const sha = objectId('blob', bytes)
  if (pathname.includes('/git/trees/')) {
    const tree = [{ path: 'a.txt', mode: '100644', type: 'blob', sha, size: bytes.length }]
    return Response.json({ sha, tree, truncated: false })
  }
  if (pathname.endsWith('index.json')) return Response.json({ files: [{ path: 'a.txt', size: bytes.length }] })
  return new Response(bytes.slice())
}

describe('in a page', () => {
  it.each([
    ['a picked archive', () => zip(new File([archive.slice()], 'a.zip'))],
    ['an archive on a server', () => zip(address('a.zip'), { fetch: answer })],
    ['an address relative to the page', () => zip('lazy/a.zip', { fetch: answer })],
    ['an index', () => httpIndex(address('index.json'), { fetch: answer })],
    ['a repository', () => github('octo/files', { api: address('api'), fetch: answer })],
  ] as const)('%s is read and changed', async (_name, source) => {
    const workspace = await createWorkspace({ backend: overlay(lazy<never>(source() as never)), policy: 'autonomous' })
    const read = await workspace.call('read_file', { path: 'a.txt' })
    expect(read.ok && read.content).toBe(text)
    const written = await workspace.call('write_file', { path: 'b.txt', content: 'new\n', expectedSha256: null })
    expect(written.ok).toBe(true)
    await workspace.close()
  })
})
