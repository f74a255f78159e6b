import type { PromiseFsClient } from 'isomorphic-git'
import { ToolError } from '../errors.ts'
import { isWithin, type Path, parsePath, quote } from '../paths/logical-path.ts'
import type { Change } from '../vfs/backend.ts'
import { throwIfAborted } from '../vfs/changes.ts'
import type { Changed, Side } from './changed.ts'
import { filesOf, planCheckout } from './checkout.ts'
import { gitFs, gitPath, makeDirectories } from './fs.ts'
import { cancelled, httpClient } from './http.ts'
import { indexFile, type StagedFile } from './index-writer.ts'
import { deflate } from './inflate.ts'
import { loadIsomorphic } from './load.ts'
import type { GitHost, Person, Repository } from './provider.ts'
import { openReader, type RepositoryReader } from './reader.ts'
import { objectId } from './sha1.ts'
import { EMPTY_TREE, type TreeDirectory } from './trees.ts'
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
    const plan = await planCheckout(backend, reader.objects, from, to, dirty, force)
    if (plan.changes.length > 0) await host.change(plan.changes, `checkout ${commit.slice(0, 12)}`)
    const files = new Map<string, StagedFile>()
    // Without times and sizes: git looks at the content itself, once.
    for (const [path, file] of filesOf(to)) files.set(path, { ...file, size: 0 })
    await writeIndex(files)
    return { commit, skipped: plan.skipped }
  }

  /** Files that stand where a first checkout would write. */
  async function presentOf(tree: TreeDirectory): Promise<Changed[]> {
    const present: Changed[] = []
    for (const [path] of filesOf(tree)) {
      const stat = await backend.stat(path as Path)
      if (stat?.type !== 'file') continue
      const { bytes } = await backend.read(path as Path)
      const now: Side = {
        mode: (stat.mode ?? 0) & 0o100 ? 0o100755 : 0o100644,
        id: objectId('blob', bytes),
        bytes: () => bytes,
      }
      present.push({ path: path as Path, old: null, now })
    }
    return present
  }

  const repository: Repository = {
    async init({ defaultBranch = 'main' } = {}) {
      requireName(defaultBranch)
      await git('init', (isomorphic) => isomorphic.init({ fs, dir: DIR, defaultBranch }))
    },

    async add(paths) {
      await requireRepository()
      const wanted = (typeof paths === 'string' ? [paths] : paths).map((path) => parsePath(path))
      const files = await staged()
      const head = await reader.headCommit()
      const all = await changedSince(head)
      const blobs: { id: string; bytes: Uint8Array }[] = []
      const done: string[] = []
      let leftOut = 0
      for (const { path, old, now } of all) {
        if (!wanted.some((one) => isWithin(path, one))) continue
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
        if (old === null || now === null || old.id !== now.id || old.mode !== now.mode) done.push(path)
      }
      // What is again as HEAD has it must not stay in the index as it was meanwhile.
      const differing = new Set(all.map(({ path }) => path as string))
      for (const [path, file] of filesOf(await headTree())) {
        const known = files.get(path)
        if (differing.has(path) || (known?.id === file.id && known.mode === file.mode)) continue
        if (wanted.some((one) => isWithin(path as Path, one))) files.set(path, { ...file, size: 0 })
      }
      await writeBlobs(blobs)
      await writeIndex(files)
      return { staged: done, leftOut }
    },

    async commit({ message, author: by = author }) {
      await requireRepository()
      const at = { ...by, timestamp: Math.floor(host.now() / 1000), timezoneOffset: 0 }
      return git('commit', (isomorphic) => isomorphic.commit({ fs, dir: DIR, message, author: at, committer: at }))
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

    async checkout(ref, { force = false } = {}) {
      await requireRepository()
      const commit = await reader.resolve(ref)
      const isBranch = (await repository.branches()).includes(ref)
      const result = await checkoutCommit(commit, force)
      await git('set HEAD', (isomorphic) =>
        isomorphic.writeRef({
          fs,
          dir: DIR,
          ref: 'HEAD',
          value: isBranch ? `refs/heads/${ref}` : commit,
          symbolic: isBranch,
          force: true,
        }),
      )
      return result
    },

    async fetch({ url, ref, corsProxy, headers, onProgress, signal, depth } = {}) {
      await requireRepository()
      throwIfAborted(signal)
      const { fetchHead } = await git(
        'fetch',
        (isomorphic) =>
          isomorphic.fetch({
            fs,
            http: httpClient(signal),
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
      await repository.init()
      await git('add the remote', (isomorphic) => isomorphic.addRemote({ fs, dir: DIR, remote: REMOTE, url }))
      const commit = await repository.fetch({ ...how, url, ...(ref === undefined ? {} : { ref }) })
      if (commit === undefined) throw new ToolError('NOT_FOUND', 'Cannot clone: the remote has no such branch')
      const name = ref ?? (await remoteBranch(commit)) ?? 'main'
      requireName(name)
      throwIfAborted(how.signal)
      const result = await checkoutCommit(commit, false)
      await git('make the branch', async (isomorphic) => {
        await isomorphic.writeRef({ fs, dir: DIR, ref: `refs/heads/${name}`, value: commit, force: true })
        await isomorphic.writeRef({
          fs,
          dir: DIR,
          ref: 'HEAD',
          value: `refs/heads/${name}`,
          symbolic: true,
          force: true,
        })
      })
      return result
    },
  }

  /** The remote's own branch: the one that its HEAD names. */
  async function remoteBranch(commit: string): Promise<string | undefined> {
    const head = await backend.read(gitPath('refs', 'remotes', REMOTE, 'HEAD')).catch(() => undefined)
    const named =
      head === undefined ? undefined : /refs\/remotes\/origin\/(\S+)/.exec(new TextDecoder().decode(head.bytes))?.[1]
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
