import {
  isAbortSignal,
  isBoolean,
  isBytes,
  isObjectValue,
  isObjectWith,
  isPositive,
  isText,
  refuseSurplus,
} from '../../util/check-options.ts'
import { encoded } from '../fs/encoding.ts'
import { optionsAt, withMethodOptions } from '../sandbox/method-options.ts'
import { type LineOutcome, runLine } from '../sandbox/run-line.ts'
import {
  hasCode,
  type OpenTarget,
  openTarget,
  refuseEnvironment,
  type SandboxOptions,
  type SandboxTarget,
  withText,
} from '../sandbox/target.ts'

/** The path of a file, and a signal that aborts the access. */
export interface SandboxPath {
  readonly path: string
  readonly abortSignal?: AbortSignal
}

/** A command line and where it runs. Without `workingDirectory`, that is the root of the workspace. */
export interface SandboxLine {
  readonly command: string
  readonly workingDirectory?: string
  /** Must be empty. */
  readonly env?: Record<string, string>
  readonly abortSignal?: AbortSignal
}

/** A command line that runs beside other calls. Its output is complete when it has ended. */
export interface AiSdkSandboxProcess {
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  /** Resolves when the line has ended; 143 after `kill()`. Rejects with the reason of its signal. */
  wait(): Promise<{ exitCode: number }>
  /** Ends the line, whose changes are dropped. */
  kill(): Promise<void>
}

const ofPath = { path: isText, abortSignal: isAbortSignal }
const ofLine = { command: isText, workingDirectory: isText, env: isObjectValue, abortSignal: isAbortSignal }
const onlyPath = optionsAt<SandboxPath>(0, ofPath, 'path')
const methodOptions = {
  ...{ readFile: onlyPath, readBinaryFile: onlyPath, stat: onlyPath, listDirectory: onlyPath, deleteFile: onlyPath },
  readTextFile: optionsAt(0, { ...ofPath, encoding: isText, startLine: isPositive, endLine: isPositive }, 'path'),
  writeFile: optionsAt(0, { ...ofPath, content: isObjectWith('a stream', 'pipeTo') }, 'path', 'content'),
  writeBinaryFile: optionsAt(0, { ...ofPath, content: isBytes }, 'path', 'content'),
  writeTextFile: optionsAt(0, { ...ofPath, content: isText, encoding: isText }, 'path', 'content'),
  run: optionsAt<SandboxLine>(0, ofLine, 'command'),
  spawn: optionsAt(0, { ...ofLine, stdin: isBoolean }, 'command'),
}

/** `Experimental_SandboxSession` of the AI SDK 7. A refusal rejects with its code and hint as the message. */
export interface AiSdkSandbox {
  /** What a model should know. */
  readonly description: string
  /** Returns the bytes of a file, or null if there is none. */
  readFile(options: SandboxPath): Promise<ReadableStream<Uint8Array> | null>
  /** Returns the bytes of a file, or null if there is none. */
  readBinaryFile(options: SandboxPath): Promise<Uint8Array | null>
  /** Returns the text of a file or its lines, counted from 1, or null if there is no file. */
  readTextFile(
    options: SandboxPath & { readonly encoding?: string; readonly startLine?: number; readonly endLine?: number },
  ): Promise<string | null>
  /** Writes a file when its stream has ended. */
  writeFile(options: SandboxPath & { readonly content: ReadableStream<Uint8Array> }): Promise<void>
  /** Writes a file. */
  writeBinaryFile(options: SandboxPath & { readonly content: Uint8Array }): Promise<void>
  /** Writes a file. */
  writeTextFile(options: SandboxPath & { readonly content: string; readonly encoding?: string }): Promise<void>
  /** Returns type and size, following links, or null. */
  stat(options: SandboxPath): Promise<{ type: 'file' | 'directory' | 'other'; size: number } | null>
  /** Lists a directory, or returns null if there is none. */
  listDirectory(
    options: SandboxPath,
  ): Promise<{ name: string; type: 'file' | 'directory' | 'symlink' | 'other' }[] | null>
  /** Deletes a file or a link. Returns false if there is none. */
  deleteFile(options: SandboxPath): Promise<boolean>
  /** Runs a command line. A refused line has the exit code 126, one that took too long 124. */
  run(options: SandboxLine): Promise<{ exitCode: number; stdout: string; stderr: string }>
  /** Runs a command line beside other calls, within the time limit of `run`. There is no `stdin`. */
  spawn(options: SandboxLine & { readonly stdin?: boolean }): Promise<AiSdkSandboxProcess & { stdin: never }>
}

/**
 * Returns a workspace or a run as a sandbox session of the AI SDK 7, for `experimental_sandbox` of `generateText`, `streamText` and
 * `ToolLoopAgent`. Relative paths start at the root of the workspace. Each method is one call with guard, policy, approval, audit
 * and undo.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * const sandbox = aiSdkSandbox(workspace)
 * const { stdout } = await sandbox.run({ command: 'ls' })
 */
export function aiSdkSandbox(target: SandboxTarget, options?: SandboxOptions): AiSdkSandbox {
  refuseSurplus('aiSdkSandbox()', 2, arguments)
  const open = openTarget('aiSdkSandbox()', target, options)
  const { files, inward, root } = open
  const line = ({ command, workingDirectory = '.', env, abortSignal }: SandboxLine, signal = abortSignal) => {
    refuseEnvironment(env)
    return runLine(open, command, { cwd: inward(workingDirectory), signal })
  }
  const methods: AiSdkSandbox = {
    description: `The workspace at ${root}. Relative paths and commands start there. Some operations are refused: the error says why and what to do.`,
    ...reads(open),
    writeFile: ({ path, content, abortSignal: signal }) =>
      withText(open, signal, async () => {
        await content.pipeTo(await files.writable(inward(path), optional(signal)), optional(signal))
      }),
    writeBinaryFile: ({ path, content, abortSignal: signal }) =>
      withText(open, signal, async () => void (await files.write(inward(path), content, optional(signal)))),
    writeTextFile: ({ path, content, encoding = 'utf-8', abortSignal: signal }) =>
      withText(open, signal, async () => {
        await files.write(
          inward(path),
          encoded(content, encoding.toLowerCase().replace('utf-8', 'utf8')),
          optional(signal),
        )
      }),
    deleteFile: ({ path, abortSignal: signal }) =>
      withText(open, signal, async () => {
        const at = inward(path)
        const stat = await files.stat(at, { ...optional(signal), noFollow: true })
        if (stat?.type === 'directory') throw new Error(`${path} is a directory`)
        if (stat !== undefined) await files.delete(at, optional(signal))
        return stat !== undefined
      }),
    async run(options) {
      const { exitCode, stdout, stderr } = await line(options)
      return { exitCode, stdout, stderr }
    },
    async spawn({ stdin, ...options }) {
      if (stdin === true) throw new TypeError('Commands of the workspace have no standard input')
      refuseEnvironment(options.env)
      return processOf((signal) => line(options, signal), options.abortSignal) as AiSdkSandboxProcess & { stdin: never }
    },
  }
  return withMethodOptions('aiSdkSandbox()', methods, methodOptions)
}

const optional = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal })

function reads(
  open: OpenTarget,
): Pick<AiSdkSandbox, 'readFile' | 'readBinaryFile' | 'readTextFile' | 'stat' | 'listDirectory'> {
  const { files, inward } = open
  const orNull = <T>(signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T | null> =>
    withText(open, signal, () =>
      act().catch((error) => {
        if (hasCode(error, 'NOT_FOUND')) return null
        throw error
      }),
    )
  const readBinaryFile: AiSdkSandbox['readBinaryFile'] = ({ path, abortSignal: signal }) =>
    orNull(signal, () => files.readBytes(inward(path), optional(signal)))
  return {
    readBinaryFile,
    readFile: ({ path, abortSignal: signal }) => orNull(signal, () => files.readable(inward(path), optional(signal))),
    async readTextFile({ encoding = 'utf-8', startLine, endLine, ...options }) {
      const bytes = await readBinaryFile(options)
      if (bytes === null) return null
      const text = new TextDecoder(encoding).decode(bytes)
      if (startLine === undefined && endLine === undefined) return text
      return text
        .split('\n')
        .slice((startLine ?? 1) - 1, endLine)
        .join('\n')
    },
    stat: ({ path, abortSignal: signal }) =>
      withText(open, signal, async () => {
        const stat = await files.stat(inward(path), optional(signal))
        if (stat === undefined) return null
        return { type: stat.type === 'link' ? 'other' : stat.type, size: stat.size }
      }),
    listDirectory: ({ path, abortSignal: signal }) =>
      orNull(signal, async () => {
        const entries = await files.entries(inward(path), optional(signal))
        return entries.map(({ name, type }) => ({ name, type: type === 'link' ? 'symlink' : type }))
      }),
  }
}

/** Exit code of a program that was ended by SIGTERM. */
const TERMINATED = 143

function processOf(
  start: (signal: AbortSignal) => Promise<LineOutcome>,
  given: AbortSignal | undefined,
): AiSdkSandboxProcess {
  const stop = new AbortController()
  const abort = () => stop.abort(given?.reason)
  if (given?.aborted) abort()
  given?.addEventListener('abort', abort, { once: true })
  let isKilled = false
  const ended = start(stop.signal)
    .catch((error: unknown) => {
      if (isKilled) return { stdout: '', stderr: '', exitCode: TERMINATED }
      throw error
    })
    .finally(() => given?.removeEventListener('abort', abort))
  // The program may wait later, or never.
  ended.catch(() => undefined)
  const stream = (name: 'stdout' | 'stderr') =>
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        const text = (await ended.catch(() => undefined))?.[name] ?? ''
        if (text !== '') controller.enqueue(new TextEncoder().encode(text))
        controller.close()
      },
    })
  return {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    wait: async () => ({ exitCode: (await ended).exitCode }),
    async kill() {
      isKilled = true
      stop.abort()
      await ended.catch(() => undefined)
    },
  }
}
