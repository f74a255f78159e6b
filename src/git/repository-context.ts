import type { PromiseFsClient } from 'isomorphic-git'
import { type ErrorCode, ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import type { Backend } from '../storage/backend.ts'
import { counted } from '../util/counted.ts'
import type { Changed } from './changed-path.ts'
import { cancelled } from './http.ts'
import type { StagedFile } from './index-writer.ts'
import { type GitFs, gitFs, gitPath, untilAborted } from './isomorphic-fs.ts'
import { loadIsomorphic } from './load-isomorphic.ts'
import type { CredentialsSource, GitHost, Person } from './provider.ts'
import { openReader, type RepositoryReader } from './reader.ts'
import { EMPTY_TREE, type TreeDirectory } from './trees.ts'
import { createWorkspaceDiffs, type WorkspaceDiffs } from './workspace-diff.ts'

type Isomorphic = Awaited<ReturnType<typeof loadIsomorphic>>

/** The arguments that every function of isomorphic-git takes. */
export interface RepositoryLocation {
  readonly fs: PromiseFsClient
  readonly dir: string
}

/** What the commands of a repository share. */
export class RepositoryContext {
  readonly host: GitHost
  readonly backend: Backend
  readonly author: Person
  readonly credentials: CredentialsSource | undefined
  readonly location: RepositoryLocation
  readonly diffs: WorkspaceDiffs
  readonly #fs: GitFs
  #reader: RepositoryReader

  constructor(host: GitHost, author: Person, credentials: CredentialsSource | undefined) {
    this.host = host
    this.backend = host.backend
    this.author = author
    this.credentials = credentials
    this.#fs = gitFs(host.backend)
    this.location = locationOf(this.#fs)
    this.diffs = createWorkspaceDiffs(host.backend)
    this.#reader = openReader(host.backend)
  }

  get reader(): RepositoryReader {
    return this.#reader
  }

  /** Returns the location with an end: isomorphic-git goes on after a signal, for as many refs as a server has sent. */
  locationUntil(signal: AbortSignal | undefined): RepositoryLocation {
    return signal === undefined ? this.location : locationOf(untilAborted(this.#fs, signal))
  }

  /** Drops the cached packs, after a fetch or a failed clone. */
  reopenReader(): void {
    this.#reader = openReader(this.backend)
  }

  /**
   * Runs a function of isomorphic-git.
   *
   * @param action what failed, for the message of an error: `Cannot ACTION: reason`
   * @throws ToolError for every failure, without the stack of isomorphic-git
   */
  async runGit<T>(action: string, run: (isomorphic: Isomorphic) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await run(await loadIsomorphic())
    } catch (error) {
      if (signal?.aborted === true) throw cancelled()
      if (error instanceof ToolError) throw error
      const { cause } = error as Error
      if (cause instanceof ToolError && ofStorage.has(cause.code)) throw cause
      const { code, data, message, path = '' } = error as Error & { code?: string; data?: unknown; path?: string }
      // Errors of isomorphic-git itself have `data`; the message of any other one may reveal internals.
      const reason = data !== undefined ? message : (refInTheWay(code, path) ?? 'an unexpected failure')
      throw new ToolError(toErrorCode(code), `Cannot ${action}: ${reason.replace(/\s+/g, ' ').slice(0, 300)}`)
    }
  }

  /** @throws ToolError `NOT_FOUND` if there is no repository */
  async requireRepository(): Promise<void> {
    if ((await this.backend.stat(gitPath('HEAD'))) === undefined) {
      throw new ToolError('NOT_FOUND', 'The workspace has no repository', { hint: 'Create one with init or clone.' })
    }
  }

  /** Returns the tree of HEAD; the empty tree before the first commit. */
  async headTree(): Promise<TreeDirectory> {
    const commit = await this.reader.headCommit()
    return commit === undefined ? EMPTY_TREE : this.reader.tree(commit)
  }

  /**
   * Returns a copy of the files in the index.
   *
   * @throws ToolError `BACKEND_ERROR` during a merge with conflicts that we would lose
   */
  async stagedFiles(): Promise<Map<string, StagedFile>> {
    const { entries, unmerged } = await this.reader.index()
    const [first] = unmerged
    if (first !== undefined) {
      const conflicts = `${counted(unmerged.size, 'file')} in conflict, such as ${quote(first)}`
      throw new ToolError('BACKEND_ERROR', `Cannot use the index: it has ${conflicts}`, {
        hint: 'Only git itself can finish the merge: ask the user.',
      })
    }
    return new Map(entries)
  }

  /** Returns the changes since HEAD, sorted by path. Before the first commit, every file that is not ignored is new. */
  async changedSinceHead(): Promise<readonly Changed[]> {
    const head = await this.reader.headCommit()
    const changed = head === undefined ? await this.diffs.changedFrom(EMPTY_TREE) : await this.diffs.changed(head)
    return [...changed].sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** Points HEAD to a ref (`symbolic`) or to a commit. */
  async writeHead(value: string, symbolic: boolean): Promise<void> {
    await this.runGit('set HEAD', (isomorphic) =>
      isomorphic.writeRef({ ...this.location, ref: 'HEAD', value, symbolic, force: true }),
    )
  }
}

function locationOf(fs: GitFs): RepositoryLocation {
  return { fs: fs as unknown as PromiseFsClient, dir: '/' }
}

/** What an error says when a ref is a directory for another one, such as `feat` and `feat/x`. */
function refInTheWay(code: string | undefined, path: string): string | undefined {
  const [, ref] = /\/\.git\/(refs\/.+)$/.exec(path) ?? []
  if (ref === undefined || !['ENOTDIR', 'EISDIR', 'EEXIST'].includes(code ?? '')) return undefined
  return `a branch and another one below its name cannot both exist, at ${quote(ref)}`
}

/** Failures of the storage that mean the same for every command. Of others, isomorphic-git knows what they mean. */
const ofStorage: ReadonlySet<ErrorCode> = new Set(['READ_ONLY', 'NO_SPACE', 'LIMIT_EXCEEDED'])

function toErrorCode(code: string | undefined) {
  return code === 'NotFoundError' ? 'NOT_FOUND' : code === 'AlreadyExistsError' ? 'ALREADY_EXISTS' : 'BACKEND_ERROR'
}
