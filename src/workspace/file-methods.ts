import { callOptionTable } from '../call/call-options.ts'
import { callTool } from '../call/call-tool.ts'
import { ToolError } from '../errors.ts'
import { checkArgument, checkOptions, isBoolean, must, requireText } from '../util/check-options.ts'
import { callOperation, type OperationInput, type OperationName } from './file-operations.ts'
import type { FileOptions, FileRange, FileStat, FileWriteOptions, WorkspaceFiles } from './files.ts'
import { recordStep, type StepContext } from './run-step.ts'

const { signal, approve, step } = callOptionTable
const fileOptions = { signal, approve, step }

const isOffset = must('an integer of at least 0', (value) => Number.isSafeInteger(value) && Number(value) >= 0)
const isContent = must('a string or a Uint8Array', (value) => typeof value === 'string' || value instanceof Uint8Array)
const isMode = must('permission bits from 0 to 0o7777', (value) => isBits(value))
const isVersion = must('a sha256 in lowercase hex, or null', (value) => value === null || isSha256(value))

function isBits(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0o7777
}

function isSha256(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

/** The methods of `files` of a run. */
export class FileMethods implements WorkspaceFiles {
  readonly #context: StepContext

  constructor(context: StepContext) {
    this.#context = context
  }

  async read(path: string): Promise<{ content: string; sha256: string }> {
    const { content, sha256, truncated } = await this.#callTool<{
      content: string
      sha256: string
      truncated: boolean
    }>('read_file', { path, maxLines: 1000 })
    if (truncated) throw new ToolError('FILE_TOO_LARGE', 'The file is too large to read at once', { path })
    return { content, sha256 }
  }

  async readBytes(path: string, options?: FileOptions & FileRange): Promise<Uint8Array> {
    requireText('files.readBytes()', 'path', path)
    const { start, end, ...callOptions } = checkOptions<FileOptions & FileRange>('files.readBytes()', options, {
      ...fileOptions,
      start: isOffset,
      end: isOffset,
    })
    const { bytes } = await this.#operate('readBytes', { path, ...present({ start, end }) }, callOptions)
    // The bytes may belong to the backend.
    return (bytes as Uint8Array).slice()
  }

  async write(
    path: string,
    content: string | Uint8Array,
    options?: string | null | FileWriteOptions,
  ): Promise<{ sha256: string }> {
    requireText('files.write()', 'path', path)
    if (typeof content === 'string' && (typeof options === 'string' || options === null)) {
      const { newSha256 } = await this.#callTool<{ newSha256: string }>('write_file', {
        ...{ path, content, expectedSha256: options },
      })
      return { sha256: newSha256 }
    }
    checkArgument('files.write()', 'content', content, isContent)
    const { expectedSha256, mode, createParents, ...callOptions } = checkOptions<FileWriteOptions>(
      'files.write()',
      typeof options === 'string' || options === null ? { expectedSha256: options } : options,
      { ...fileOptions, expectedSha256: isVersion, mode: isMode, createParents: isBoolean },
    )
    const input = { path, ...present({ expectedSha256, createParents, permissions: mode }) }
    const { newSha256 } = await this.#operate('write', input, callOptions, content)
    return { sha256: String(newSha256) }
  }

  async remove(path: string, expectedSha256: string): Promise<void> {
    if (typeof expectedSha256 !== 'string') {
      throw new TypeError(
        'Argument "expectedSha256" of files.remove() must be a string: the sha256 that read() returned',
      )
    }
    await this.#callTool('delete_file', { path, expectedSha256 })
  }

  async list(path = '.'): Promise<readonly { path: string; type: string }[]> {
    const { entries } = await this.#callTool<{ entries: readonly { path: string; type: string }[] }>('list_directory', {
      path,
    })
    return entries
  }

  async stat(path: string, options?: FileOptions & { readonly noFollow?: boolean }): Promise<FileStat | undefined> {
    requireText('files.stat()', 'path', path)
    const { noFollow, ...callOptions } = checkOptions<FileOptions & { readonly noFollow?: boolean }>(
      'files.stat()',
      options,
      { ...fileOptions, noFollow: isBoolean },
    )
    const { stat } = await this.#operate('stat', { path, ...present({ noFollow }) }, callOptions)
    return stat as FileStat | undefined
  }

  #operate(name: OperationName, input: OperationInput, options: FileOptions, content?: string | Uint8Array) {
    const { workspace, run } = this.#context
    return callOperation(workspace, run, name, input, options, content)
  }

  /** Calls a tool of the workspace, by its true name. */
  async #callTool<T>(name: string, input: object): Promise<T> {
    const { workspace, run } = this.#context
    const result = await recordStep(this.#context, { type: 'call', name, input }, {}, (options) =>
      callTool(workspace, run, name, input, options),
    )
    if (result.ok) return result as unknown as T
    const { ok, code, message, ...details } = result
    throw new ToolError(code, message, details)
  }
}

function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
