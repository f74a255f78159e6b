import { ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import { guardAccesses } from '../../guard/guard-accesses.ts'
import { createGuardedFiles, type GuardedFiles } from '../../guard/guarded-files.ts'
import { createVisibility, type Visibility } from '../../guard/visibility.ts'
import { display, nameOf, notFound, type Path } from '../../paths/logical-path.ts'
import type { PolicyCall } from '../../policy/evaluation.ts'
import type { EntryType } from '../../storage/backend.ts'
import { throwIfAborted } from '../../util/abort.ts'
import type { CheckFiles } from '../state/checks.ts'
import { policyCall } from '../state/run-state.ts'
import type { CheckedCall } from '../state/workspace-state.ts'

/** Every entry that policy shows. */
const EVERYTHING = { includeHidden: true, includeIgnored: true } as const

/**
 * The files of a workspace as a check sees them: those for which a call of `read_file` needs no approval. Everything that
 * is read is labelled and counted like a read of the run.
 */
export class CheckFileView {
  readonly #call: CheckedCall
  readonly #signal: AbortSignal | undefined
  readonly #facts: Omit<PolicyCall, 'accesses'>
  readonly #reading: Visibility
  readonly #listing: Visibility
  readonly #hasArguments: boolean
  #guarded: Promise<GuardedFiles> | undefined

  constructor(call: CheckedCall, signal?: AbortSignal) {
    const { policy } = call.workspace
    this.#call = call
    this.#signal = signal
    this.#facts = policyCall(call.run, 'read_file', {}, undefined)
    // Nobody is asked: what needs an approval is not shown.
    this.#reading = createVisibility(policy, this.#facts, 'read', NO_RULES)
    this.#listing = createVisibility(policy, this.#facts, 'list', NO_RULES)
    this.#hasArguments = policy.data.rules?.some(({ args }) => args !== undefined) === true
  }

  /** Returns whether the agent may read a file of this name. */
  sees(path: Path): boolean {
    return this.#reading.see(path, 'file') && this.#isAllowed(path)
  }

  /** Returns whether a listing shows a file of this name. */
  lists(path: string): boolean {
    return this.#listing.see(path as Path, 'file')
  }

  get files(): CheckFiles {
    return {
      readText: async (path) => {
        const { limits } = this.#call.workspace
        const file = await this.#reach(path)
        const guarded = await this.#open()
        if (file === undefined || (await guarded.stat(file)) === undefined) throw notFound(path)
        return (await guarded.document(file, limits.textFileBytes)).text
      },
      versionOf: async (path) => {
        const file = await this.#reach(path)
        const stat = file === undefined ? undefined : await (await this.#open()).stat(file)
        return stat?.type === 'file' && file !== undefined ? `${stat.tag}\n${file}` : undefined
      },
      entries: (path = '.') => this.#entries(path),
    }
  }

  async #entries(path: string): Promise<readonly { readonly name: string; readonly type: EntryType }[]> {
    const directory = await this.#reach(path, 'directory')
    if (directory === undefined) return []
    const guarded = await this.#open()
    if ((await this.#call.workspace.backend.stat(directory))?.type !== 'directory') return []
    const entries: { name: string; type: EntryType }[] = []
    for await (const { path: entry, type } of guarded.walk(directory, 'list', EVERYTHING, 1)) {
      if (type !== 'file' || this.sees(entry)) entries.push({ name: nameOf(entry), type })
    }
    return entries
  }

  /** Returns the canonical path of a name, or `undefined` if policy does not show it. */
  async #reach(path: string, type: EntryType = 'file'): Promise<Path | undefined> {
    throwIfAborted(this.#signal, 'The check has ended')
    try {
      const [access] = await guardAccesses(this.#call.workspace.backend, [{ permission: 'file:read', path }])
      if (access === undefined) return undefined
      const names = [access.asked as string as Path, access.path]
      if (type === 'directory') return names.every((name) => this.#listing.see(name, type)) ? access.path : undefined
      return names.every((name) => this.sees(name)) ? access.path : undefined
    } catch (error) {
      // What cannot be resolved does not exist here, whatever the reason is.
      if (error instanceof ToolError && error.code !== 'ABORTED') return undefined
      throw error
    }
  }

  /** Evaluates rules on arguments, which patterns of paths do not contain. */
  #isAllowed(path: Path): boolean {
    if (!this.#hasArguments) return true
    const { policy } = this.#call.workspace
    const access = {
      ...{ permission: 'file:read' as const, asked: path, path },
      classification: classifyPath(path),
      recursive: false,
    }
    return policy.evaluate({ ...this.#facts, input: { path }, accesses: [access] }).decision === 'allow'
  }

  #open(): Promise<GuardedFiles> {
    this.#guarded ??= this.#openFiles()
    return this.#guarded
  }

  async #openFiles(): Promise<GuardedFiles> {
    const { workspace, run, taint, audit } = this.#call
    const accesses = await guardAccesses(workspace.backend, [{ permission: 'file:read', path: '.', recursive: true }])
    return createGuardedFiles({
      backend: workspace.backend,
      documents: workspace.documents,
      accesses,
      ...{ describesFiles: false, notesVisits: true, showsStats: true },
      requireAllowed(access) {
        throw notFound(display(access.asked))
      },
      visibility: (kind) => createVisibility(workspace.policy, this.#facts, kind, NO_RULES),
      signal: this.#signal,
      onTarget: (path) => taint.addRead(path),
      onName: (path) => taint.addName(path),
      onRead(path, bytes) {
        run.rates.countRead(bytes)
        audit.addRead(path)
        taint.addRead(path)
      },
    })
  }
}

const NO_RULES = { rules: [] } as const
