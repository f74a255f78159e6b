import type { PromiseFsClient } from 'isomorphic-git'
import { ToolError } from '../errors.ts'
import { objectId } from '../files/hash/sha1.ts'
import { isWithin, type Path, parsePath, quote } from '../paths/logical-path.ts'
import type { Change } from '../storage/backend.ts'
import { throwIfAborted } from '../util/abort.ts'
import { type Changed, gitMode, SUBMODULE } from './changed-path.ts'
import { filesOf, indexAfterCheckout, type LocalChange, planCheckout, planRestore } from './checkout.ts'
import { cancelled, httpClient } from './http.ts'
import { indexFile, type StagedFile } from './index-writer.ts'
import { deflate } from './inflate.ts'
import { gitFs, gitPath, makeDirectories, removeRepository } from './isomorphic-fs.ts'
import { loadIsomorphic } from './load-isomorphic.ts'
import type { GitHost, Person, RemoteOptions, Repository } from './provider.ts'
import { openReader, type RepositoryReader } from './reader.ts'
import { EMPTY_TREE, type TreeDirectory, type TreeFile } from './trees.ts'
import { createWorkspaceDiffs } from './workspace-diff.ts'

const DIR = '/'
const REMOTE = 'origin'

/** Opens the repository of a host, there or not: `init` and `clone` make one. */
export function openRepository(host: GitHost, options: { readonly author?: Person } = {}): Repository {
  const { backend } = host
  const fs = gitFs(backend) as unknown as PromiseFsClient
  const diffs = createWorkspaceDiffs(backend)
  let reader: RepositoryReader = openReader(backend)
  const author = options.author ?? { name: 'Wardspace', email: 'wardspace@localhost' }

  /** Runs isomorphic-git; what it throws is told without its stack. */
  async function git<T>(
    what: string,
    run: (isomorphic: Awaited<ReturnType<typeof loadIsomorphic>>) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    try {
      return await run(await loadIsomorphic())
    } catch (error) {
      if (signal?.aborted === true) throw cancelled()
      if (error instanceof ToolError) throw error
      const code = (error as { code?: string }).code
      const known =
        code === 'NotFoundError' ? 'NOT_FOUND' : code === 'AlreadyExistsError' ? 'ALREADY_EXISTS' : 'BACKEND_ERROR'
      const why = (error as { data?: unknown }).data !== undefined ? (error as Error).message : 'an unexpected failure'
      throw new ToolError(known, `Cannot ${what}: ${why.replace(/\s+/g, ' ').slice(0, 300)}`)
    }
  }

  async function headTree(): Promise<TreeDirectory> {
    const commit = await reader.headCommit()
    return commit === undefined ? EMPTY_TREE : reader.tree(commit)
  }

  async function staged(): Promise<Map<string, StagedFile>> {
    return new Map((await reader.index()).entries)
  }

  async function writeIndex(files: ReadonlyMap<string, StagedFile>): Promise<void> {
    const path = gitPath('index')
    await backend.commit([{ path, expect: 'any', to: { type: 'file', bytes: indexFile(files) } }], {
      durability: 'durable',
    })
  }

  async function writeBlobs(sides: readonly { id: string; bytes: Uint8Array }[]): Promise<void> {
    const changes: Change[] = []
    const seen = new Set<string>()
    for (const { id, bytes } of sides) {
      const path = gitPath('objects', id.slice(0, 2), id.slice(2))
      if (seen.has(id) || (await reader.objects.read(id)) !== undefined) continue
      seen.add(id)
      await makeDirectories(backend, path)
      const header = new TextEncoder().encode(`blob ${bytes.length}\0`)
      const whole = new Uint8Array(header.length + bytes.length)
      whole.set(header)
      whole.set(bytes, header.length)
      changes.push({ path, expect: 'any', to: { type: 'file', bytes: new Uint8Array(await deflate(whole)) } })
    }
    if (changes.length > 0) await backend.commit(changes, { durability: 'relaxed' })
  }

  function requireName(name: string): void {
    if (!/^(?!-)[\w./+@-]{1,200}$/.test(name) || /\.\.|\/\/|@\{|\.lock$|[./]$|^\/|\/\./.test(name)) {
      throw new ToolError('INVALID_INPUT', `Cannot use ${quote(name)} as a name of a branch`)
    }
  }

  async function requireRepository(): Promise<void> {
    if ((await backend.stat(gitPath('HEAD'))) === undefined) {
      throw new ToolError('NOT_FOUND', 'The workspace has no repository', { hint: 'Make one with init or clone.' })
    }
  }

  async function checkoutCommit(commit: string, force: boolean) {
    const from = await headTree()
    const to = await reader.tree(commit)
    // Without a commit, HEAD's tree is empty, and every file that is there was added.
    const head = await reader.headCommit()
    const dirty = head === undefined ? await presentOf(to) : await diffs.changed(head)
    const index = await staged()
    const carried = indexAfterCheckout(force ? new Map() : index, from, to)
    const plan = await planCheckout(backend, reader.objects, from, to, dirty, index, force)
    if (plan.changes.length > 0) await host.change(plan.changes, `checkout ${commit.slice(0, 12)}`)
    await writeIndex(carried)
    return { commit, skipped: plan.skipped }
  }

  /** Files that stand where a first checkout would write. */
  async function presentOf(tree: TreeDirectory): Promise<LocalChange[]> {
    const present: LocalChange[] = []
    for (const [path] of filesOf(tree)) {
      const stat = await backend.stat(path as Path)
      if (stat?.type !== 'file') continue
      const { bytes } = await backend.read(path as Path)
      const now = { mode: gitMode(stat.mode, undefined), id: objectId('blob', bytes) }
      present.push({ path: path as Path, old: null, now })
    }
    return present
  }

  const repository: Repository = {
    async init({ defaultBranch = 'main' } = {}) {
      requireName(defaultBranch)
      await git('init', (isomorphic) => isomorphic.init({ fs, dir: DIR, defaultBranch }))
    },

    async add(paths, { tracked = false } = {}) {
      await requireRepository()
      const wanted = (typeof paths === 'string' ? [paths] : paths).map((path) => parsePath(path))
      const files = await staged()
      const head = await reader.headCommit()
      const all = await changedSince(head)
      const blobs: { id: string; bytes: Uint8Array }[] = []
      const done: string[] = []
      let leftOut = 0
      for (const { path, now } of all) {
        if (!wanted.some((one) => isWithin(path, one)) || (tracked && !files.has(path))) continue
        if (!host.mayRead(path)) {
          leftOut += 1
          continue
        }
        if (now === null) files.delete(path)
        else {
          const bytes = await now.bytes()
          if (bytes === undefined)
            throw new ToolError('FILE_TOO_LARGE', `Cannot add ${quote(path)}: it cannot be read whole`, { path })
          const id = objectId('blob', bytes)
          blobs.push({ id, bytes })
          files.set(path, { mode: now.mode, id, size: bytes.length })
        }
        done.push(path)
      }
      // What is again as HEAD has it must not stay in the index as it was meanwhile.
      const differing = new Set(all.map(({ path }) => path as string))
      const committed = new Map(filesOf(await headTree()))
      // Nor what is in no file and no commit.
      for (const [path, { mode }] of [...files]) {
        if (differing.has(path) || committed.has(path) || mode === SUBMODULE) continue
        if (!wanted.some((one) => isWithin(path as Path, one))) continue
        const stat = await backend.stat(path as Path)
        if (stat === undefined || stat.type === 'directory') files.delete(path)
      }
      for (const [path, file] of committed) {
        const known = files.get(path)
        if (differing.has(path) || (known?.id === file.id && known.mode === file.mode)) continue
        if (tracked && known === undefined) continue
        if (wanted.some((one) => isWithin(path as Path, one))) files.set(path, { ...file, size: 0 })
      }
      await writeBlobs(blobs)
      await writeIndex(files)
      return { staged: done, leftOut }
    },

    async commit({ message: given, author: by = author, amend = false }) {
      await requireRepository()
      if ((await backend.stat(gitPath('MERGE_HEAD'))) !== undefined) {
        throw new ToolError('BACKEND_ERROR', 'Cannot commit: a merge was begun, and only git itself can end it')
      }
      const message = given ?? (amend ? await lastMessage() : undefined)
      if (message === undefined) throw new ToolError('INVALID_INPUT', 'Cannot commit without a message')
      const at = { ...by, timestamp: Math.floor(host.now() / 1000), timezoneOffset: 0 }
      return git('commit', (isomorphic) =>
        isomorphic.commit({ fs, dir: DIR, message, author: at, committer: at, amend }),
      )
    },

    async log({ ref = 'HEAD', depth } = {}) {
      await requireRepository()
      const id = await reader.resolve(ref)
      const found = await git('log', (isomorphic) =>
        isomorphic.log({ fs, dir: DIR, ref: id, ...(depth === undefined ? {} : { depth }) }),
      )
      return found.map(({ oid, commit }) => ({
        commit: oid,
        parents: commit.parent,
        message: commit.message,
        author: { name: commit.author.name, email: commit.author.email, at: commit.author.timestamp * 1000 },
      }))
    },

    async status() {
      await requireRepository()
      const head = await reader.headCommit()
      const files = (await reader.index()).entries
      const changed = await changedSince(head)
      return changed.map(({ path, old, now }) => {
        const known = files.get(path)
        return {
          path,
          status: old === null ? 'added' : now === null ? 'deleted' : 'modified',
          staged: now === null ? known === undefined : known?.id === now.id && known.mode === now.mode,
        } as const
      })
    },

    async branches() {
      await requireRepository()
      return git('list branches', (isomorphic) => isomorphic.listBranches({ fs, dir: DIR }))
    },

    async currentBranch() {
      await requireRepository()
      return (await git('tell the branch', (isomorphic) => isomorphic.currentBranch({ fs, dir: DIR }))) ?? undefined
    },

    async branch(name, { at = 'HEAD' } = {}) {
      requireName(name)
      await requireRepository()
      const object = await reader.resolve(at)
      await git(`make branch ${quote(name)}`, (isomorphic) => isomorphic.branch({ fs, dir: DIR, ref: name, object }))
    },

    async deleteBranch(name) {
      requireName(name)
      await requireRepository()
      if ((await repository.currentBranch()) === name) {
        throw new ToolError('INVALID_INPUT', `Cannot delete branch ${quote(name)}: it is checked out`)
      }
      if (!(await repository.branches()).includes(name)) {
        throw new ToolError('NOT_FOUND', `Cannot delete branch ${quote(name)}: there is none of that name`)
      }
      await git(`delete branch ${quote(name)}`, (isomorphic) =>
        isomorphic.deleteRef({ fs, dir: DIR, ref: `refs/heads/${name}` }),
      )
    },

    async moveTo(branch) {
      requireName(branch)
      await requireRepository()
      await writeHead(`refs/heads/${branch}`, true)
    },

    async checkout(ref, { force = false } = {}) {
      await requireRepository()
      const commit = await reader.resolve(ref)
      const isBranch = (await repository.branches()).includes(ref)
      const result = await checkoutCommit(commit, force)
      await writeHead(isBranch ? `refs/heads/${ref}` : commit, isBranch)
      return result
    },

    async restore(paths, { from, only, overlay = false } = {}) {
      await requireRepository()
      const wanted = paths.map((path) => parsePath(path))
      const files = await staged()
      const tree = from === undefined ? undefined : await reader.tree(await reader.resolve(from))
      const source = tree === undefined ? files : new Map(filesOf(tree))
      const changes = new Map<Path, StagedFile | TreeFile | null>()
      for (const one of wanted) {
        const all = new Set(overlay ? source.keys() : [...source.keys(), ...files.keys()])
        const below = [...all].filter((path) => isWithin(path as Path, one) && host.mayRead(path as Path))
        if (below.length === 0) {
          throw new ToolError('NOT_FOUND', `Cannot restore ${quote(one)}: it matches no file known to git`, {
            path: one,
          })
        }
        for (const path of below) changes.set(path as Path, source.get(path) ?? null)
      }
      const plan = only === 'index' ? undefined : await planRestore(backend, reader.objects, changes)
      if (plan !== undefined && plan.changes.length > 0) await host.change(plan.changes, 'restore')
      if (tree === undefined) return plan?.skipped ?? []
      for (const [path, file] of changes) {
        if (file === null) files.delete(path)
        else if (files.get(path)?.id !== file.id || files.get(path)?.mode !== file.mode)
          files.set(path, { ...file, size: 0 })
      }
      await writeIndex(files)
      return plan?.skipped ?? []
    },

    async fetch({ url, ref, corsProxy, headers, onProgress, signal, depth } = {}) {
      await requireRepository()
      throwIfAborted(signal)
      const { fetchHead } = await git(
        'fetch',
        (isomorphic) =>
          isomorphic.fetch({
            fs,
            http: httpClient(signal, host.requireHost),
            dir: DIR,
            remote: REMOTE,
            singleBranch: ref !== undefined,
            tags: false,
            ...(ref === undefined ? {} : { ref }),
            ...(url === undefined ? {} : { url }),
            ...(corsProxy === undefined ? {} : { corsProxy }),
            ...(headers === undefined ? {} : { headers: { ...headers } }),
            ...(depth === undefined ? {} : { depth }),
            ...(onProgress === undefined ? {} : { onProgress }),
          }),
        signal,
      )
      reader = openReader(backend)
      return fetchHead ?? undefined
    },

    async clone(url, { ref, ...how } = {}) {
      if ((await backend.stat(gitPath())) !== undefined) {
        throw new ToolError('ALREADY_EXISTS', 'Cannot clone: the workspace has a repository already')
      }
      try {
        return await cloned(url, ref, how)
      } catch (error) {
        // What was fetched of it must not stand in the way of the next try.
        await removeRepository(backend)
        reader = openReader(backend)
        throw error
      }
    },
  }

  async function cloned(url: string, ref: string | undefined, how: RemoteOptions) {
    await repository.init()
    await git('add the remote', (isomorphic) => isomorphic.addRemote({ fs, dir: DIR, remote: REMOTE, url }))
    const commit = await repository.fetch({ ...how, url, ...(ref === undefined ? {} : { ref }) })
    if (commit === undefined) throw new ToolError('NOT_FOUND', 'Cannot clone: the remote has no such branch')
    const name = ref ?? (await remoteBranch(commit)) ?? 'main'
    requireName(name)
    throwIfAborted(how.signal)
    const result = await checkoutCommit(commit, false)
    await git('make the branch', (isomorphic) =>
      isomorphic.writeRef({ fs, dir: DIR, ref: `refs/heads/${name}`, value: commit, force: true }),
    )
    await writeHead(`refs/heads/${name}`, true)
    return result
  }

  async function lastMessage(): Promise<string | undefined> {
    const head = await reader.headCommit()
    if (head === undefined) return undefined
    const text = new TextDecoder().decode(await reader.objects.need(head, 'commit'))
    return text.slice(text.indexOf('\n\n') + 2)
  }

  async function writeHead(value: string, symbolic: boolean): Promise<void> {
    await git('set HEAD', (isomorphic) =>
      isomorphic.writeRef({ fs, dir: DIR, ref: 'HEAD', value, symbolic, force: true }),
    )
  }

  /** The remote's own branch: the one that its HEAD names. */
  async function remoteBranch(commit: string): Promise<string | undefined> {
    const head = await backend.read(gitPath('refs', 'remotes', REMOTE, 'HEAD')).then(
      ({ bytes }) => new TextDecoder().decode(bytes),
      () => '',
    )
    const named = /refs\/remotes\/origin\/(\S+)/.exec(head)?.[1]
    if (named !== undefined) return named
    const all = await git('list branches', (isomorphic) => isomorphic.listBranches({ fs, dir: DIR, remote: REMOTE }))
    for (const name of all) {
      if (name !== 'HEAD' && (await reader.resolve(`refs/remotes/${REMOTE}/${name}`)) === commit) return name
    }
    return undefined
  }

  /** Sorted, as a disk is not compared in the order of paths. Before the first commit, every file that is not ignored is new. */
  async function changedSince(head: string | undefined): Promise<readonly Changed[]> {
    const changed = head === undefined ? await diffs.changedFrom(EMPTY_TREE) : await diffs.changed(head)
    return [...changed].sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  return repository
}
