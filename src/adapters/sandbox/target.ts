import type { CallOptions, Success } from '../../call/state/call.ts'
import type { DialectResult } from '../../dialects/runtime/types.ts'
import { type Failure, ToolError, toFailure } from '../../errors.ts'
import { anySignal } from '../../util/abort.ts'
import {
  checkArgument,
  checkOptions,
  isAbortSignal,
  isFunction,
  isText,
  must,
  type OptionTable,
} from '../../util/check-options.ts'
import { withoutEndSlashes } from '../../util/slashes.ts'
import type { FileOptions, WorkspaceFiles } from '../../workspace/files.ts'
import { isWorkspaceOrRun } from '../fs/target.ts'
import { refusalText } from '../model/refusal-text.ts'

/** Calls tools by their names. */
export interface SandboxCaller<R = Success | Failure> {
  /** Calls a tool. Never rejects for anything that a model, a file or a backend can cause. */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<R>
}

/** A workspace or a run, with or without a dialect, whose files and commands a framework uses. */
export type SandboxTarget = { readonly files: WorkspaceFiles } & (
  | SandboxCaller
  | (SandboxCaller<DialectResult> & {
      /** The workspace's own tools. */
      readonly own: SandboxCaller
    })
)

/** Options of the file systems and sandboxes of frameworks. `signal`, `approve` and `step` are those of every call. */
export interface SandboxOptions extends FileOptions {
  /** The path at which commands see the workspace, if the shell has another one. Default: `/workspace` */
  readonly root?: string
}

/** The checks of the options of every call. */
export const filesTable: OptionTable<FileOptions> = { signal: isAbortSignal, approve: isFunction, step: isText }

/** The checks of {@link SandboxOptions}. */
export const sandboxTable: OptionTable<SandboxOptions> = {
  ...filesTable,
  root: must('an absolute path such as "/workspace"', (root) => /^(\/[^/]+)+$/.test(String(root))),
}

/** The files and tools of a run, with the paths that a framework uses for them. */
export interface OpenTarget {
  /** The files. The options of the target are those of each call, beside the call's own. */
  readonly files: WorkspaceFiles
  readonly root: string
  /** Returns the signal that cancels a call with a signal of its own. */
  signal(own?: AbortSignal): AbortSignal | undefined
  /** Calls a tool. @throws ToolError if it is refused */
  call(name: string, input: unknown, signal?: AbortSignal): Promise<Success>
  /** Returns the path of the workspace for a path below `root`. Any other path is returned as it is, and refused by the guard if it is absolute. */
  inward(path: string): string
  /** The same, where the root of the workspace is also `/`. */
  rooted(path: string): string
  /** Returns the path below `root` for a path of the workspace. */
  outward(path: string): string
}

/** Checks the arguments of a function that opens files and commands for a framework. */
export function openTarget<O extends SandboxOptions>(
  owner: string,
  target: SandboxTarget,
  requested: O | undefined,
  table: OptionTable<O> = sandboxTable as OptionTable<O>,
  defaultRoot = '/workspace',
): OpenTarget & { readonly given: O } {
  const given = checkOptions<O>(owner, requested, table)
  checkArgument(owner, 'target', target, isWorkspaceOrRun)
  const { root = defaultRoot, signal: whole, approve, step } = given
  const caller: SandboxCaller = 'own' in target ? target.own : target
  const signalOf = (own?: AbortSignal) => (own && whole ? anySignal(own, whole) : (own ?? whole))
  const withOptions = <F extends FileOptions>(own: F | undefined): F => {
    const signal = signalOf(own?.signal)
    return { ...(approve && { approve }), ...(step !== undefined && { step }), ...own, ...(signal && { signal }) } as F
  }
  const prefix = root === '/' ? root : `${root}/`
  const inward = (path: string) => {
    if (path === root) return '.'
    return path.startsWith(prefix) ? withoutEndSlashes(path.slice(prefix.length)) || '.' : path
  }
  return {
    files: filesWith(target.files, withOptions),
    given,
    root,
    signal: signalOf,
    async call(name, input, signal) {
      const result = await caller.callTool(name, input, withOptions(signal && { signal }))
      if (result.ok) return result as Success
      const { ok: _, code, message, ...details } = result as Failure
      throw new ToolError(code, message, details)
    },
    inward,
    rooted: (path) => withoutEndSlashes(inward(path).replace(/^\/+/, '')) || '.',
    outward: (path) => (path === '' || path === '.' ? root : prefix + path),
  }
}

/** The methods of files that take options, with the place of these. */
const optionPlaces: Readonly<Record<string, number>> = {
  ...{ readBytes: 1, readText: 1, stat: 1, exists: 1, entries: 1, walk: 1, readLink: 1, realPath: 1, makeDirectory: 1 },
  ...{ delete: 1, readable: 1, writable: 1, batch: 1, watch: 1 },
  ...{ write: 2, append: 2, setMode: 2, link: 2, rename: 2, copy: 2 },
}

/** Returns files whose methods add options to those of a call. */
function filesWith(files: WorkspaceFiles, withOptions: (own: FileOptions | undefined) => FileOptions): WorkspaceFiles {
  const added = Object.entries(optionPlaces).map(([name, place]) => [
    name,
    (...args: unknown[]) => {
      args[place] = withOptions(args[place] as FileOptions | undefined)
      return (files[name as keyof WorkspaceFiles] as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return { ...files, ...Object.fromEntries(added) }
}

/** Returns an error as text for a model, as `toModelText` does. */
export function errorText(error: unknown): string {
  return refusalText(toFailure(error))
}

/** Whether an error is a refusal with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof ToolError && codes.includes(error.code)
}

/**
 * Runs an operation. A refusal is thrown as an error whose message is for a model, with the refusal as its `cause`; a cancelled
 * call rejects with the reason of its signal.
 */
export async function withText<T>(
  target: OpenTarget,
  signal: AbortSignal | undefined,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const whole = target.signal(signal)
    if (!(error instanceof ToolError)) throw error
    if (error.code === 'ABORTED' && whole?.aborted) throw whole.reason
    throw Object.assign(new Error(errorText(error), { cause: error }), { code: error.code })
  }
}

/** @throws TypeError for environment variables, which commands do not take */
export function refuseEnvironment(env: Readonly<Record<string, unknown>> | undefined): void {
  if (env !== undefined && Object.keys(env).length > 0) {
    throw new TypeError('Commands of the workspace take no environment variables')
  }
}
