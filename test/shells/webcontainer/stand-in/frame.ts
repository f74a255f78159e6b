import type { Path } from '../../../../src/paths/logical-path.ts'
import { createDisk, type Disk } from './disk.ts'
import { createProcesses, type SpawnRequest } from './processes.ts'
import { load, type Sent, serialize } from './tree.ts'
import { byReference, expose, handedOver, type Remote } from './wire.ts'

/**
 * A stand-in for the frame of the vendor, on another origin. It talks to the real client, and its processes run in bash().
 * The client passes its API key in the URL; tests use the key to select a stand-in without some features.
 */
const query = new URLSearchParams(location.search)
const switches = new Set((query.get('client_id') ?? '').split(','))

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The most recent container. */
let last: Disk | undefined

function build(bootOptions: { host: string; version: string; workdirName?: string }): object {
  const disk = createDisk()
  last = disk
  // bash() shows the whole container as `/workspace`.
  const home = `home/${bootOptions.workdirName ?? 'generated'}` as Path
  const listeners = new Map<string, Set<Remote>>()
  const emit = (event: string, ...args: unknown[]) => {
    for (const tell of listeners.get(event) ?? []) void tell(...args)
  }
  const hasTrap = !switches.has('no-trap')
  const processes = createProcesses({ disk, home, hasTrap, isDull: switches.has('dull'), emit })
  const ready = disk.makeDirectories(home).then(() => note('build.json', { ...bootOptions, query: query.toString() }))
  const at = (path: string) => resolve(home, path)

  /** Stores a message for a process to read, outside the working directory. */
  async function note(name: string, value: unknown): Promise<void> {
    await disk.set(name as Path, { type: 'file', bytes: encoder.encode(JSON.stringify(value)) })
  }

  return byReference({
    async fs() {
      await ready
      return fileSystem(disk, at)
    },
    previewScript: () => ({}),
    runtimeInfo: () => ({ path: '/bin:/usr/bin', cwd: `/workspace/${home}` }),
    run: (request: SpawnRequest, _stdout: unknown, _stderr: unknown, output: Remote | undefined) =>
      processes.spawn(request, output),
    async serialize(path: string, options: { format: string; includes?: string[]; excludes?: string[] }) {
      if (options.format === 'zip') throw new Error('The stand-in does not support zip')
      const { includes, excludes } = options
      const tree = await serialize(disk, at(path), {
        ...{ includes, excludes },
        links: !switches.has('no-links'),
        stripsBom: switches.has('strips-bom'),
        empty: !switches.has('no-empty'),
      })
      return handedOver(encoder.encode(JSON.stringify(tree)))
    },
    async loadFiles(payload: Uint8Array, { mountPoints }: { mountPoints?: string }) {
      const top = mountPoints === undefined ? home : at(mountPoints)
      if ((await disk.state(top))?.type !== 'directory') throw new Error(`ENOENT: no such directory, mount '${top}'`)
      await load(disk, top, JSON.parse(decoder.decode(payload)) as Sent)
    },
    on(event: string, listener: Remote) {
      const all = listeners.get(event) ?? new Set()
      listeners.set(event, all.add(listener))
      return byReference(() => all.delete(listener))
    },
    setPreviewScript: (source: string, options: unknown) => note('preview-script.json', { source, options }),
    setCredentials: (credentials: unknown) => note('credentials.json', credentials),
    teardown: () => processes.close(),
  })
}

/** The `fs.promises` of Node, below the working directory. */
function fileSystem(disk: Disk, at: (path: string) => Path): object {
  async function present(path: string, call: string) {
    const state = await disk.state(at(path))
    if (state === null) throw new Error(`ENOENT: no such file or directory, ${call} '${path}'`)
    return state
  }
  async function inDirectory(path: string, call: string): Promise<void> {
    const parent = at(path).split('/').slice(0, -1).join('/') as Path
    if ((await disk.state(parent))?.type === 'directory') return
    throw new Error(`ENOENT: no such file or directory, ${call} '${path}'`)
  }
  return byReference({
    async readFile(path: string, encoding?: string | null) {
      const state = await present(path, 'open')
      if (state.type === 'directory') throw new Error('EISDIR: illegal operation on a directory, read')
      if (state.type !== 'file') throw new Error('ELOOP: the stand-in does not follow links')
      return encoding ? decoder.decode(state.bytes) : state.bytes.slice()
    },
    async writeFile(path: string, data: string | Uint8Array) {
      await inDirectory(path, 'open')
      if ((await disk.state(at(path)))?.type === 'directory')
        throw new Error('EISDIR: illegal operation on a directory')
      await disk.set(at(path), { type: 'file', bytes: typeof data === 'string' ? encoder.encode(data) : data })
    },
    async readdir(path: string, options?: string | { encoding?: string; withFileTypes?: boolean } | null) {
      const state = await present(path, 'scandir')
      if (state.type !== 'directory') throw new Error(`ENOTDIR: not a directory, scandir '${path}'`)
      const { encoding, withFileTypes } = typeof options === 'object' ? (options ?? {}) : { encoding: options }
      const entries = await disk.backend.list(at(path))
      return entries.map(({ name, type }) => {
        const filename = encoding === 'buffer' ? encoder.encode(name) : name
        return withFileTypes ? { name: filename, 'Symbol(type)': type === 'directory' ? 2 : 1 } : filename
      })
    },
    async mkdir(path: string, options?: { recursive?: boolean }) {
      if (options?.recursive) return disk.makeDirectories(at(path))
      await inDirectory(path, 'mkdir')
      if ((await disk.state(at(path))) !== null) throw new Error(`EEXIST: file already exists, mkdir '${path}'`)
      return disk.set(at(path), { type: 'directory' })
    },
    async rm(path: string, options?: { force?: boolean; recursive?: boolean }) {
      const state = await disk.state(at(path))
      if (state === null && options?.force) return
      await present(path, 'rm')
      if (state?.type === 'directory' && !options?.recursive) throw new Error(`EISDIR: is a directory, rm '${path}'`)
      await disk.remove(at(path))
    },
    async rename(from: string, to: string) {
      await present(from, 'rename')
      await inDirectory(to, 'rename')
      await disk.move(at(from), at(to))
    },
    async watch(path: string, options: { recursive?: boolean } | string | null, listener: Remote | undefined) {
      await present(path, 'watch')
      const isDeep = typeof options === 'object' && options?.recursive === true
      const stop = disk.watch(at(path), isDeep, (event, name) => void listener?.(event, name))
      return byReference({ close: () => stop() })
    },
  })
}

function resolve(home: Path, path: string): Path {
  const names = home.split('/')
  for (const name of path.split('/')) {
    if (name === '..') throw new Error(`EACCES: outside of the working directory, '${path}'`)
    if (name !== '' && name !== '.') names.push(name)
  }
  return names.join('/') as Path
}

/** Lets tests read all files directly, and add some. */
addEventListener('message', ({ data, source }) => {
  if (data?.type !== 'stand-in' || last === undefined) return
  void answer(last, data).then((reply) => source?.postMessage({ type: 'stand-in', told: reply }, { targetOrigin: '*' }))
})

async function answer(disk: Disk, { plant = {} }: { plant?: Record<string, string> }): Promise<Record<string, string>> {
  for (const [path, text] of Object.entries(plant)) {
    const parent = path.split('/').slice(0, -1).join('/') as Path
    if (parent !== '') await disk.makeDirectories(parent)
    await disk.set(path as Path, { type: 'file', bytes: encoder.encode(text) })
  }
  const all: Record<string, string> = {}
  for (const { path, state } of await disk.below('' as Path)) {
    all[path] = state.type === 'file' ? decoder.decode(state.bytes) : state.type === 'link' ? `-> ${state.target}` : '/'
  }
  return all
}

const { port1, port2 } = new MessageChannel()
expose({ build }, port1)
if (!switches.has('silent')) parent.postMessage({ type: 'init' }, '*', [port2])
