import { afterEach, describe, expect, it } from 'vitest'
import { type GithubOptions, github, lazy } from '../../../src/backends/lazy/index.ts'
import { overlay } from '../../../src/backends/overlay/index.ts'
import { createWorkspace } from '../../../src/index.ts'
import { type GithubServer, type GithubServerOptions, type Repository, startGithub } from './github-server.ts'

const servers: GithubServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function serve(repository: Repository, options?: GithubServerOptions): Promise<GithubServer> {
  const server = await startGithub(repository, options)
  servers.push(server)
  return server
}

const open = (server: GithubServer, options: GithubOptions = {}) =>
  lazy(github('octo/files', { api: server.url, ...options }))

/** 30,000 files in 300 directories. */
function large(): Repository {
  const directory = (i: number) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, k) => [`file${k}.ts`, `export const value = ${i * 100 + k}\n`]))
  return Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`package${i}`, directory(i)]))
}

describe('a repository of 30,000 files', () => {
  it('is open in one request, and a file costs one', async () => {
    const server = await serve(large())
    const workspace = await createWorkspace({ backend: overlay(open(server)), policy: 'autonomous' })
    const listed = await workspace.call('list_directory', { path: '.' })
    expect(listed.ok).toBe(true)
    const found = await workspace.call('find_files', { pattern: '**/file7.ts' })
    expect(found.ok && found.totalFound).toBe(300)
    expect(server.requests).toEqual(['GET /trees/HEAD?recursive=1'])

    const path = 'package7/file42.ts'
    expect(await workspace.call('read_file', { path })).toMatchObject({
      ok: true,
      content: 'export const value = 742\n',
    })
    expect(server.requests.length).toBe(2)
    expect(await workspace.call('file_info', { path })).toMatchObject({ ok: true, totalLines: 1 })
    await workspace.call('edit_file', { path, oldText: '742', newText: '743' })
    expect(await workspace.call('read_file', { path })).toMatchObject({ content: 'export const value = 743\n' })
    const written = await workspace.call('write_file', {
      path: 'package7/new.ts',
      content: 'new\n',
      expectedSha256: null,
    })
    expect(written.ok).toBe(true)
    const diff = await workspace.call('diff_workspace', {})
    expect(diff.ok).toBe(true)
    expect(server.requests.length).toBe(2)
    await workspace.close()
  })
})
