import { strToU8, zipSync } from 'fflate'
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FileServer, startFiles } from '../backends/lazy/file-server.ts'
import { type GithubServer, startGithub } from '../backends/lazy/github-server.ts'
import { startWorker } from './workerd.ts'

let workerd: Miniflare
let files: FileServer
let github: GithubServer
const text = `first\n${'one line of several\n'.repeat(100)}`

beforeAll(async () => {
  files = await startFiles({
    'a.zip': zipSync({ 'a.txt': strToU8(text) }),
    'index.json': JSON.stringify({ files: [{ path: 'a.txt', size: text.length }] }),
    'a.txt': text,
  })
  github = await startGithub({ 'a.txt': text })
  workerd = await startWorker('lazy-worker.ts')
})
afterAll(async () => {
  await workerd?.dispose()
  await files?.close()
  await github?.close()
})

it('files on demand are read and changed in workerd, from GitHub, a zip archive and an index', async () => {
  const once = text.replace('first', 'changed')
  const query = new URLSearchParams({
    api: github.url,
    archive: `${files.url}/a.zip`,
    index: `${files.url}/index.json`,
  })
  const response = await workerd.dispatchFetch(`http://worker/?${query}`)
  const all = (await response.json()) as unknown[]
  expect(all.map((read) => (typeof read === 'string' ? read.slice(0, 8) : read))).toEqual(
    Array.from({ length: 3 }, () => once.slice(0, 8)),
  )
  expect([github.requests.length, files.requests.length]).toEqual([2, 4])
})
