import { type ErrorCode, type ErrorDetails, ToolError } from '../../errors.ts'
import type { Operator } from '../../policy/command-operators.ts'
import type { OutputStream } from '../shared/shown-output.ts'
import type { CommandStart } from './command-hooks.ts'
import type { CommandContext } from './custom-command.ts'
import type { SystemError } from './fs-errors.ts'
import type { Script, ScriptResult } from './node-emulation/script.ts'
import type { LineRequest, LineResult } from './run-line.ts'
import type { SearchRequest } from './search-files.ts'

/** Tells the module of the thread that it is a process of its own. */
export const PROCESS_ARGUMENT = 'wardspace-bash'

/** A line or a script to run. `isLive`: its output is sent as it comes. `asks`: it may request input. */
export type JobStart =
  | {
      readonly type: 'line'
      readonly request: LineRequest
      readonly commands: readonly string[]
      readonly isLive?: boolean
      readonly asks?: boolean
    }
  | {
      readonly type: 'script'
      readonly script: Script
      readonly timeoutMs: number
      readonly isLive?: boolean
      readonly asks?: boolean
    }

/** A message to a thread. Jobs have numbers, and so have the questions of a job. */
export type ToThread =
  | (JobStart & { readonly job: number })
  | { readonly type: 'answer'; readonly job: number; readonly question: number; readonly answer: Settled }
  | { readonly type: 'stop'; readonly job: number }

/** A message from a thread. */
export type FromThread =
  | { readonly type: 'ready' }
  | { readonly type: 'output'; readonly job: number; readonly pieces: readonly OutputPiece[] }
  | { readonly type: 'ask'; readonly job: number; readonly question: number; readonly asked: ThreadRequest }
  | { readonly type: 'done'; readonly job: number; readonly answer: Settled<LineResult | ScriptResult> }

/** A part of the output of a job that runs. */
export interface OutputPiece {
  readonly stream: OutputStream
  readonly text: string
}

/**
 * A request of a job to the thread that has the files and the policy: a call of a file system method, the next files of a search
 * with a number, a command of ours, the refusal of a command that starts or of operators in a script, or the next input of a person.
 */
export type ThreadRequest =
  | { readonly fs: string; readonly args: readonly unknown[] }
  | ({ readonly search: number } & SearchRequest)
  | ({ readonly command: string; readonly args: readonly string[] } & CommandContext)
  | { readonly start: CommandStart }
  | { readonly operators: readonly Operator[] }
  | { readonly input: { readonly isHidden?: boolean } }

export type Settled<T = unknown> = { readonly value: T } | { readonly error: SentError }

/** An error as it is sent to another thread. */
export interface SentError {
  readonly message: string
  readonly code?: string
  readonly details?: ErrorDetails
  readonly is: 'tool' | 'system' | 'end'
  /** The refusal that a program gets as an error of a system. */
  readonly refusal?: SentError
}

/** Runs a function and returns its result or its error as it is sent to another thread. */
export async function toMessage<T>(run: () => Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await run() }
  } catch (error) {
    return { error: toSentError(error) }
  }
}

function toSentError(error: unknown): SentError {
  if (error instanceof ToolError) {
    const { message, code, details } = error
    return { message, code, details, is: 'tool' }
  }
  const { message = 'it failed', code, ends, refusal } = error as Partial<SystemError> & { ends?: boolean }
  return {
    message,
    ...(typeof code === 'string' ? { code } : {}),
    is: ends === true ? 'end' : 'system',
    ...(refusal instanceof ToolError ? { refusal: toSentError(refusal) } : {}),
  }
}

/** Restores an error. `ends` makes the error that ends a script. */
export function fromMessage(
  { message, code, details, is, refusal }: SentError,
  ends: (message: string) => Error,
): Error {
  if (is === 'tool') return new ToolError(code as ErrorCode, message, details)
  if (is === 'end') return ends(message)
  return Object.assign(new Error(message), {
    ...(code === undefined ? {} : { code }),
    ...(refusal === undefined ? {} : { refusal: fromMessage(refusal, ends) }),
  })
}

/** The methods of the file system that a thread may call. `noteMetadata` is the only one that just-bash does not have. */
export const fsMethods = [
  'readFile',
  'readFileBytes',
  'readFileBuffer',
  'writeFile',
  'appendFile',
  'exists',
  'stat',
  'lstat',
  'mkdir',
  'readdir',
  'readdirWithFileTypes',
  'rm',
  'cp',
  'mv',
  'chmod',
  'symlink',
  'link',
  'readlink',
  'realpath',
  'utimes',
  'noteMetadata',
] as const
