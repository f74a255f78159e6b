import { callOptionTable } from '../call/call-options.ts'
import { callTool } from '../call/call-tool.ts'
import { requireOpen } from '../call/require-open.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
import type { Rates } from '../policy/rate-limits.ts'
import type { DirectoryEntry, EntryType } from '../storage/backend.ts'
import { copyBytes, isUint8Array } from '../util/bytes.ts'
import {
  checkArgument,
  checkOptions,
  isBoolean,
  isFunction,
  isPositive,
  must,
  OptionError,
  type OptionTable,
  refuseSurplus,
  requireText,
} from '../util/check-options.ts'
import { type Operate, operateByCalls, runBatch, successOf } from './file-calls.ts'
import type { Content, OperationInput, OperationName } from './file-operations.ts'
import { type WatchOptions, watchFiles } from './file-watch.ts'
import type {
  FileChange,
  FileDeleteOptions,
  FileOperations,
  FileOptions,
  FileRange,
  FileStat,
  FileTransferOptions,
  FileWriteOptions,
  WorkspaceFiles,
} from './files.ts'
import { checkContent } from './held-bytes.ts'
import { recordStep, type StepContext } from './run-step.ts'

const { signal, approve, step } = callOptionTable
const fileOptions: OptionTable<FileOptions> = { signal, approve, step }

const isOffset = must('an integer of at least 0', (value) => Number.isSafeInteger(value) && Number(value) >= 0)
const isContent = must('a string or a Uint8Array', (value) => typeof value === 'string' || isUint8Array(value))
const isMode = must('permission bits from 0 to 0o7777', (value) => isBits(value))
const isText = must('a string', (value) => typeof value === 'string')
const isVersion = must('a sha256 in lowercase hex, or null', (value) => value === null || isSha256(value))

function isBits(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0o7777
}

function isSha256(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

const rangeOptions: OptionTable<FileOptions & FileRange> = { ...fileOptions, start: isOffset, end: isOffset }

function checkRange(owner: string, options: unknown): FileOptions & FileRange {
  const range = checkOptions<FileOptions & FileRange>(owner, options, rangeOptions)
  const { start = 0, end = start } = range
  if (end < start)
    throw new OptionError(`Option "end" of ${owner} must be at least ${start}, which is "start", not ${end}`)
  return range
}

const writeOptions: OptionTable<FileWriteOptions> = {
  ...fileOptions,
  expectedSha256: isVersion,
  expectedTag: isText,
  mode: isMode,
  createParents: isBoolean,
}
const transferOptions: OptionTable<FileTransferOptions> = {
  ...fileOptions,
  createParents: isBoolean,
  overwrite: isBoolean,
}

/** Whether a content may come part by part: hooks before the call and rules on `content` have to see the whole. */
function mayWriteParts({ backend, hooks, policy }: WorkspaceState): boolean {
  if (backend.stage === undefined || [hooks.preToolCall ?? []].flat().length > 0) return false
  return (policy.data.rules ?? []).every(({ args }) => args === undefined || !Object.hasOwn(args, 'content'))
}

/** The operations of a run, or of a batch. */
export class FileMethods implements FileOperations {
  readonly #operate: Operate
  readonly #rates: Rates

  constructor(operate: Operate, rates: Rates) {
    this.#operate = operate
    this.#rates = rates
  }

  async readBytes(path: string, options?: FileOptions & FileRange): Promise<Uint8Array> {
    const range = checkRange('files.readBytes()', options)
    const { bytes } = await this.#run('readBytes', { path }, range, rangeOptions)
    // The bytes may belong to the backend.
    return copyBytes(bytes as Uint8Array)
  }

  async readText(path: string, options?: FileOptions): Promise<string> {
    const { bytes } = await this.#run('readBytes', { path }, options, fileOptions, 'readText')
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes as Uint8Array)
    } catch {
      throw new ToolError('UNSUPPORTED_ENCODING', `Cannot read ${JSON.stringify(path)} as a text: it is not UTF-8`, {
        path,
        hint: 'Use readBytes().',
      })
    }
  }

  async stat(path: string, options?: FileOptions & { readonly noFollow?: boolean }): Promise<FileStat | undefined> {
    const { stat } = await this.#run('stat', { path }, options, { ...fileOptions, noFollow: isBoolean })
    return stat as FileStat | undefined
  }

  async exists(path: string, options?: FileOptions): Promise<boolean> {
    const { stat } = await this.#run('stat', { path }, options, fileOptions, 'exists')
    return stat !== undefined
  }

  async entries(path = '.', options?: FileOptions): Promise<readonly DirectoryEntry[]> {
    const { entries } = await this.#run('entries', { path }, options, fileOptions)
    return entries as readonly DirectoryEntry[]
  }

  async *walk(
    path = '.',
    options?: FileOptions & { readonly maxDepth?: number },
  ): AsyncIterable<{ readonly path: string; readonly type: EntryType }> {
    const { entries } = await this.#run('walk', { path }, options, { ...fileOptions, maxDepth: isPositive })
    yield* entries as readonly { readonly path: string; readonly type: EntryType }[]
  }

  async readLink(path: string, options?: FileOptions): Promise<string> {
    const { target } = await this.#run('readLink', { path }, options, fileOptions)
    return String(target)
  }

  async realPath(path: string, options?: FileOptions): Promise<string> {
    const { target } = await this.#run('realPath', { path }, options, fileOptions)
    return String(target)
  }

  async write(
    path: string,
    content: string | Uint8Array,
    options?: string | null | FileWriteOptions,
  ): Promise<{ sha256: string }> {
    const given = typeof options === 'string' || options === null ? { expectedSha256: options } : options
    checkArgument('files.write()', 'content', content, isContent)
    return this.writeContent('write', path, content, given)
  }

  async append(path: string, content: string | Uint8Array, options?: FileWriteOptions): Promise<{ sha256: string }> {
    checkArgument('files.append()', 'content', content, isContent)
    return this.writeContent('append', path, content, options)
  }

  async setMode(path: string, mode: number, options?: FileOptions): Promise<void> {
    checkArgument('files.setMode()', 'mode', mode, isMode)
    await this.#run('setMode', { path, bits: mode }, options, fileOptions)
  }

  async makeDirectory(path: string, options?: FileOptions & { readonly recursive?: boolean }): Promise<void> {
    await this.#run('makeDirectory', { path }, options, { ...fileOptions, recursive: isBoolean })
  }

  async link(path: string, target: string, options?: FileOptions): Promise<void> {
    requireText('files.link()', 'target', target)
    await this.#run('link', { path, target }, options, fileOptions)
  }

  async rename(from: string, to: string, options?: FileTransferOptions): Promise<void> {
    requireText('files.rename()', 'to', to)
    await this.#run('rename', { path: from, to }, options, transferOptions)
  }

  async copy(from: string, to: string, options?: FileTransferOptions): Promise<void> {
    requireText('files.copy()', 'to', to)
    await this.#run('copy', { path: from, to }, options, transferOptions)
  }

  async delete(path: string, options?: FileDeleteOptions): Promise<void> {
    const table = { ...fileOptions, expectedSha256: isVersion, recursive: isBoolean }
    await this.#run('delete', { path }, options, table)
  }

  /** Writes a content, which may come part by part. */
  protected async writeContent(
    name: 'write' | 'append',
    path: string,
    content: string | Content,
    options: FileWriteOptions | undefined,
  ): Promise<{ sha256: string }> {
    const owner = `files.${name}()`
    if (isUint8Array(content)) checkContent(this.#rates, content)
    const { mode, ...others } = checkOptions<FileWriteOptions>(owner, options, writeOptions)
    const input = { path, ...(mode === undefined ? {} : { bits: mode }) }
    const { mode: _, ...table } = writeOptions
    // The caller may change its bytes after an approval has shown them.
    const copy = isUint8Array(content) ? copyBytes(content) : content
    const { newSha256 } = await this.#run(name, input, others, table, name, copy)
    return { sha256: String(newSha256) }
  }

  /** Runs an operation with the options of its method: those of the call, and others, which belong to the input. */
  async #run<T extends FileOptions>(
    name: OperationName,
    input: OperationInput,
    options: T | undefined,
    table: OptionTable<T>,
    method: string = name,
    content?: string | Content,
  ): Promise<Readonly<Record<string, unknown>>> {
    const owner = `files.${method}()`
    requireText(owner, 'path', input.path)
    const checked: FileOptions = checkOptions<T>(owner, options, table)
    const callOptions: FileOptions = {}
    const others: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(checked)) {
      if (value !== undefined) Object.assign(key in fileOptions ? callOptions : others, { [key]: value })
    }
    return this.#operate(name, { ...input, ...others }, callOptions, content)
  }
}

/** The number of parameters of each method. */
const parameters: Readonly<Record<keyof WorkspaceFiles, number>> = {
  ...{ read: 1, list: 1, remove: 2, readBytes: 2, readText: 2, stat: 2, exists: 2, entries: 2, walk: 2, readLink: 2 },
  ...{ realPath: 2, makeDirectory: 2, delete: 2, readable: 2, writable: 2, batch: 2, watch: 2 },
  ...{ write: 3, append: 3, setMode: 3, link: 3, rename: 3, copy: 3 },
}

/** Methods that take options, for those that take none. */
const withOptions: Readonly<Record<string, string>> = { read: 'readText', list: 'entries', remove: 'delete' }

/** What a batch has in place of methods of a run. */
const notInBatch = {
  ...{ read: 'readText()', list: 'entries()', remove: 'delete()', readable: 'readBytes()', writable: 'write()' },
  ...{ watch: 'files.watch() outside of it', batch: 'the operations of this batch' },
} as const satisfies Readonly<Record<Exclude<keyof WorkspaceFiles, keyof FileOperations>, string>>

/** Opens the files of a run. Their methods refuse surplus arguments. */
export function openFiles(context: StepContext): WorkspaceFiles {
  return withoutSurplus(new RunFiles(context))
}

function withoutSurplus<F extends FileOperations>(files: F): F {
  const methods = files as unknown as Readonly<Record<string, (...args: unknown[]) => unknown>>
  const checked: Record<string, unknown> = {}
  for (const [name, count] of Object.entries(parameters)) {
    const other = withOptions[name]
    if (methods[name] === undefined) {
      checked[name] = () => {
        throw new TypeError(`A batch has no ${name}(): use ${notInBatch[name as keyof typeof notInBatch]}`)
      }
      continue
    }
    checked[name] = (...args: unknown[]) => {
      refuseSurplus(`files.${name}()`, count, args, other === undefined ? '' : `; files.${other}() takes options`)
      return methods[name]?.(...args)
    }
  }
  return checked as unknown as F
}

/** The files of a run. */
class RunFiles extends FileMethods implements WorkspaceFiles {
  readonly #context: StepContext

  constructor(context: StepContext) {
    super(operateByCalls(context.workspace, context.run), context.run.rates)
    this.#context = context
  }

  override async write(
    path: string,
    content: string | Uint8Array,
    options?: string | null | FileWriteOptions,
  ): Promise<{ sha256: string }> {
    if (typeof content !== 'string' || !(typeof options === 'string' || options === null)) {
      return super.write(path, content, options)
    }
    const { newSha256 } = await this.#call('write_file', { path, content, expectedSha256: options })
    return { sha256: String(newSha256) }
  }

  async read(path: string): Promise<{ content: string; sha256: string }> {
    const { content, sha256, truncated } = await this.#call('read_file', { path, maxLines: 1000 })
    if (truncated === true) throw new ToolError('FILE_TOO_LARGE', 'The file is too large to read at once', { path })
    return { content: String(content), sha256: String(sha256) }
  }

  async remove(path: string, expectedSha256: string): Promise<void> {
    if (typeof expectedSha256 !== 'string') {
      throw new TypeError(
        'Argument "expectedSha256" of files.remove() must be a string: the sha256 that read() returned',
      )
    }
    await this.#call('delete_file', { path, expectedSha256 })
  }

  async list(path = '.'): Promise<readonly { path: string; type: string }[]> {
    const { entries } = await this.#call('list_directory', { path })
    return entries as readonly { path: string; type: string }[]
  }

  async readable(path: string, options?: FileOptions & FileRange): Promise<ReadableStream<Uint8Array>> {
    requireText('files.readable()', 'path', path)
    const checked = checkRange('files.readable()', options)
    const { openReadable } = await import('./file-streams.ts')
    const { start, end, ...callOptions } = checked
    const operate = operateByCalls(this.#context.workspace, this.#context.run)
    return openReadable((range) => operate('readBytes', { path, ...range }, callOptions), path, { start, end })
  }

  async writable(path: string, options?: FileWriteOptions): Promise<WritableStream<Uint8Array | string>> {
    requireText('files.writable()', 'path', path)
    const checked = checkOptions<FileWriteOptions>('files.writable()', options, writeOptions)
    requireOpen(this.#context.workspace)
    const { openWritable } = await import('./file-streams.ts')
    const { workspace, run } = this.#context
    return openWritable({
      rates: run.rates,
      write: (content) => this.write(path, content, checked),
      writeParts: mayWriteParts(workspace) ? (parts) => this.writeContent('write', path, parts, checked) : undefined,
    })
  }

  async batch<R>(act: (files: FileOperations) => Promise<R>, options?: FileOptions): Promise<R> {
    checkArgument('files.batch()', 'act', act, isFunction)
    const callOptions = checkOptions<FileOptions>('files.batch()', options, fileOptions)
    const { workspace, run } = this.#context
    return runBatch(workspace, run, callOptions, (operate) =>
      act(withoutSurplus<FileOperations>(new FileMethods(operate, run.rates))),
    )
  }

  async watch(path = '.', options?: WatchOptions): Promise<AsyncIterable<FileChange>> {
    requireText('files.watch()', 'path', path)
    const checked = checkOptions<WatchOptions>('files.watch()', options, { ...fileOptions, recursive: isBoolean })
    return watchFiles(this.#context, this, path, checked)
  }

  /** Calls a tool of the workspace, by its true name. */
  async #call(name: string, input: object): Promise<Readonly<Record<string, unknown>>> {
    const { workspace, run } = this.#context
    return successOf(
      await recordStep(this.#context, { type: 'call', name, input }, {}, (options) =>
        callTool(workspace, run, name, input, options),
      ),
    )
  }
}
