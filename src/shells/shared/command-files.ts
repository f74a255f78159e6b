import { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../../policy/access.ts'
import type { Change, Stat } from '../../storage/backend.ts'
import type { FileState } from '../../storage/versions.ts'
import type { CommandFiles, RefusedAccess } from '../types.ts'
import { type CommandFilesOptions, CommandGate, type ReadContent } from './command-gate.ts'
import { createCommandReads } from './command-reads.ts'
import { createCommandWrites, writeContent } from './command-writes.ts'

/** The files of one command, with a record of what it reached through them. */
export interface TrackedCommandFiles extends CommandFiles {
  /** Returns the refused accesses, each once, with pieces of secrets as marks. */
  refusals(): Promise<readonly RefusedAccess[]>
  /** The accesses that changed something. */
  readonly accesses: readonly GuardedAccess[]
  readonly readContents: ReadonlyMap<Path, ReadContent>
  /** Evaluates and records an access made on behalf of the command, and returns it. @throws ToolError if it is refused */
  reach(access: Access): Promise<GuardedAccess>
  /** Applies many changes at once. Each is evaluated before the first one is applied. */
  apply(changes: readonly Change[]): Promise<void>
  /** Writes a content that is not in memory. `appendsTo`: the file that the content begins with, as it was read. */
  writeContent(path: string, state: FileState, options?: { readonly appendsTo?: Stat | undefined }): Promise<void>
  /** Returns earlier content of a path as a command may see it: evaluated by that name, secrets as marks. */
  show(path: string, stored: Uint8Array): Promise<Uint8Array>
  /** Finds the secrets of the files, before a program that opens files by itself starts. */
  findSecrets(): Promise<void>
  /** Replaces secrets of the files by marks in the texts that a program that opens files by itself has made. */
  hideSecrets<T>(made: T): Promise<T>
}

/** Creates the files of one command. Every access passes through one gate, which guards, classifies and evaluates it. */
export function createCommandFiles(options: CommandFilesOptions): TrackedCommandFiles {
  const gate = new CommandGate(options)
  return {
    ...createCommandReads(gate),
    ...createCommandWrites(gate),

    refusals: () => gate.refusals(),
    get accesses() {
      return gate.accesses
    },
    readContents: gate.readContents,
    findSecrets: () => gate.findSecrets(),
    hideSecrets: (made) => gate.hideSecrets(made),
    refuse: (permission, path, error) => gate.refuse(permission, path, error),

    reach: (access) =>
      gate.attempt(
        access.permission === 'file:write' ? 'file:write:create' : access.permission,
        access.path,
        async () => {
          const guarded = await gate.reach(access)
          gate.record(guarded)
          return guarded
        },
      ),

    apply: (changes) => apply(gate, changes),
    writeContent: (path, state, writeOptions) => writeContent(gate, path, state, writeOptions),

    show: (path, stored) =>
      gate.attempt('file:read', path, async () => {
        const access = await gate.reach({ permission: 'file:read', path })
        options.onRead(access.path, stored.length)
        return gate.hide(stored, access.path)
      }),
  }
}

async function apply(gate: CommandGate, changes: readonly Change[]): Promise<void> {
  const accesses: GuardedAccess[] = []
  for (const { path, to, expect } of changes) {
    const permission = to === null ? 'file:delete' : expect === 'absent' ? 'file:write:create' : 'file:write:replace'
    // The command did not name the path, so the refusal must not reveal that it exists.
    if (!gate.listing.see(path, 'file') && !gate.listing.see(path, 'directory')) {
      throw gate.refuse(permission, '.', new ToolError('POLICY_DENIED', 'A file that policy hides would be changed'))
    }
    await gate.attempt(permission, path, async () => {
      accesses.push(await gate.reach({ permission, path, noFollow: true }))
    })
  }
  // Git restores what it stored under the name of the file.
  await gate.commit(changes, accesses, { keepsContent: true })
}
