import { createWorkspace, type Path } from 'wardspace'
import type { Change } from 'wardspace/backend'
import { outsideFetch } from '../../../playground/outside/fetch.ts'
import { zipOf } from '../../../playground/projects/export-zip.ts'
import { filesOf, type StoredFile } from '../../../playground/projects/files-of.ts'
import { openProjects } from '../../../playground/projects/index.ts'
import { createRegistry } from '../../../playground/projects/registry.ts'
import { removeUnfinished } from '../../../playground/projects/remove-unfinished.ts'
import type { Elsewhere, OpenProject, Progress, ProjectSource, Storage } from '../../../playground/projects/types.ts'

/** The projects of the playground without its user interface, for tests that call it in a page. Bytes are passed as base64. */
const projects = openProjects()
const opened = new Map<string, OpenProject>()
const events: Elsewhere[] = []
let phases: Progress[] = []

export interface PlainFile {
  readonly path: string
  readonly base64: string
  readonly mode?: number
  readonly target?: string
}

const here = (id: string): OpenProject => {
  const project = opened.get(id)
  if (project === undefined) throw new Error(`Project ${id} is not open`)
  return project
}

const plain = ({ path, bytes, mode, target }: StoredFile): PlainFile => ({
  path,
  base64: toBase64(bytes),
  ...(mode !== undefined && { mode }),
  ...(target !== undefined && { target }),
})

const api = {
  async importZip(base64: string, storage: Storage) {
    return api.make({ kind: 'zip', file: new Blob([fromBase64(base64)]) }, storage)
  },
  async make(source: ProjectSource, storage: Storage, cancelAfter = Number.POSITIVE_INFINITY) {
    phases = []
    const stop = new AbortController()
    const onProgress = (progress: Progress): void => {
      phases.push(progress)
      if (phases.length >= cancelAfter) stop.abort(new Error('cancelled'))
    }
    return projects.create(source, { name: 'Imported', storage }, { onProgress, signal: stop.signal })
  },
  phases: () => phases,
  list: () => projects.list(),
  lost: () => projects.lost(),
  removeUnfinished: () => removeUnfinished(createRegistry()),
  rename: (id: string, name: string) => projects.rename(id, name),
  remove: (id: string) => projects.remove(id),
  async open(id: string, takeOver = false) {
    const project = await projects.open(id, { takeOver })
    opened.set(id, project)
    project.onElsewhere((event) => events.push(event))
    return { writable: project.writable, info: project.info }
  },
  writable: (id: string) => here(id).writable,
  events: () => events,
  async close(id: string) {
    await here(id).close()
    opened.delete(id)
  },
  async files(id: string): Promise<PlainFile[]> {
    const files: PlainFile[] = []
    for await (const file of filesOf(here(id).backend)) files.push(plain(file))
    return files
  },
  async exportZip(id: string): Promise<string> {
    return toBase64(new Uint8Array(await (await zipOf(here(id).backend)).arrayBuffer()))
  },
  /** Writes a file with the library's guarded tools. */
  async write(id: string, path: string, content: string) {
    const workspace = await createWorkspace({ backend: here(id).backend, policy: 'autonomous' })
    const result = await workspace.call('file_info', { path })
    const previous = result.ok ? { expectedSha256: result.sha256 } : {}
    return workspace.call('write_file', { path, content, ...previous })
  },
  /** Commits changes without a pause, so that a test can interrupt it. */
  async keepWriting(id: string) {
    for (let i = 0; ; i++) {
      const bytes = new TextEncoder().encode(`${i}`)
      const change: Change = { path: 'counter' as Path, expect: 'any', to: { type: 'file', bytes } }
      await here(id).backend.commit([change], { durability: 'durable' })
      await here(id).kept.save('counter', i)
    }
  },
  save: (id: string, name: string, value: unknown) => here(id).kept.save(name, value),
  load: (id: string, name: string) => here(id).kept.load<unknown>(name),
  async fetchOutside(origins: readonly string[], url: string, init?: RequestInit) {
    const response = await outsideFetch(origins)(url, init)
    return { status: response.status, text: await response.text() }
  },
  async fetchHere(url: string) {
    return (await fetch(url)).status
  },
  /** Creates a folder with a file, like one that a picker returns. */
  async folder(name: string): Promise<FileSystemDirectoryHandle> {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle(name, { create: true })
    const stream = await (await folder.getFileHandle('here.txt', { create: true })).createWritable()
    await stream.write('already here\n')
    await stream.close()
    return folder
  },
  async importPicked(name: string) {
    return api.make({ kind: 'directory', handle: await api.folder(name) }, 'directory')
  },
  async inFolder(name: string, file: string) {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle(name)
    return (await (await folder.getFileHandle(file)).getFile()).text()
  },
}

export type StorageApi = typeof api

Object.assign(globalThis, { api })

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}
