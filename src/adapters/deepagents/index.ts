/** The files and commands of a workspace as a backend of deepagents. Its own tools work on them. */

import { globAtAnyDepth } from '../../dialects/runtime/find-files.ts'
import { ToolError } from '../../errors.ts'
import type { ToolInput, ToolOutput } from '../../tools/index.ts'
import { refuseSurplus } from '../../util/check-options.ts'
import { ownValue } from '../../util/own-value.ts'
import type { FileOptions } from '../../workspace/files.ts'
import { runLine } from '../sandbox/run-line.ts'
import {
  errorText,
  filesTable,
  hasCode,
  type OpenTarget,
  openTarget,
  type SandboxOptions,
  type SandboxTarget,
} from '../sandbox/target.ts'

export type { FileOptions } from '../../workspace/files.ts'
export type { SandboxCaller, SandboxOptions, SandboxTarget } from '../sandbox/target.ts'

/** An entry of a listing. */
export interface BackendFileInfo {
  path: string
  is_dir: boolean
}

/** A matching line. */
export interface BackendMatch {
  path: string
  /** From 1. */
  line: number
  text: string
}

/** The content of a file with its dates. */
export interface BackendFileData {
  content: string | Uint8Array
  mimeType: string
  created_at: string
  modified_at: string
}

/** An error of a transfer. */
export type BackendTransferError = 'file_not_found' | 'permission_denied' | 'is_directory' | 'invalid_path'

/** `BackendProtocolV2` of deepagents. A refusal is the `error` of a result, with its code and hint; nothing is thrown. */
export interface DeepagentsBackend {
  /** Lists a directory. */
  ls(path: string): Promise<{ error?: string; files?: BackendFileInfo[] }>
  /** Reads lines of a text file, or the bytes of any other. `offset` counts from 0. */
  read(
    path: string,
    offset?: number,
    limit?: number,
  ): Promise<{
    error?: string
    content?: string | Uint8Array
    mimeType?: string
    totalLines?: number
    startLine?: number
    endLine?: number
    nextOffset?: number
  }>
  /** Reads a whole file. */
  readRaw(path: string): Promise<{ error?: string; data?: BackendFileData }>
  /** Creates or replaces a file. */
  write(path: string, content: string): Promise<{ error?: string; path?: string }>
  /** Replaces a text, which must occur once unless `replaceAll` is true. */
  edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
  ): Promise<{ error?: string; path?: string; occurrences?: number }>
  /** Deletes a file, or a directory with everything in it. */
  delete(path: string): Promise<{ error?: string; path?: string }>
  /** Finds files by a glob, relative to a directory or absolute. */
  glob(pattern: string, path?: string): Promise<{ error?: string; files?: BackendFileInfo[]; truncated?: boolean }>
  /** Finds lines that contain a text. */
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<{ error?: string; matches?: BackendMatch[]; truncated?: boolean }>
  /** Writes files, each as a call of its own. */
  uploadFiles(files: [string, Uint8Array][]): Promise<{ path: string; error: BackendTransferError | null }[]>
  /** Reads files, each as a call of its own. */
  downloadFiles(
    paths: string[],
  ): Promise<{ path: string; content: Uint8Array | null; error: BackendTransferError | null }[]>
}

/** `SandboxBackendProtocolV2` of deepagents. */
export interface DeepagentsSandbox extends DeepagentsBackend {
  readonly id: string
  /** Runs a command line from the root. A refused line has the exit code 126, and the refusal as its output. */
  execute(command: string): Promise<{ output: string; exitCode: number | null; truncated: boolean }>
}

/**
 * Returns the files of a workspace or a run as a backend of deepagents, for `createDeepAgent({ backend })`. `/` is the root of the
 * workspace. Each method is one call with guard, policy, approval, audit and undo.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * const backend = deepagentsBackend(workspace)
 * const listed = await backend.ls('/')
 */
export function deepagentsBackend(target: SandboxTarget, options?: FileOptions): DeepagentsBackend {
  refuseSurplus('deepagentsBackend()', 2, arguments)
  return createBackend(openTarget('deepagentsBackend()', target, options, filesTable, '/'))
}

/**
 * The same as {@link deepagentsBackend}, with the commands of the workspace's shell for the tool `execute`. Files may be named as
 * commands see them (`/workspace/a.txt`) or from the root (`/a.txt`); results have the former.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * const { output, exitCode } = await deepagentsSandbox(workspace).execute('ls')
 */
export function deepagentsSandbox(target: SandboxTarget, options?: SandboxOptions): DeepagentsSandbox {
  refuseSurplus('deepagentsSandbox()', 2, arguments)
  const open = openTarget('deepagentsSandbox()', target, options)
  return {
    ...createBackend(open),
    id: 'wardspace',
    async execute(command) {
      const { stdout, stderr, exitCode, truncated } = await runLine(open, command)
      return { output: stdout + stderr, exitCode, truncated }
    },
  }
}

function createBackend(target: OpenTarget): DeepagentsBackend {
  const { files, rooted, outward } = target
  const info = (path: string, is_dir = false): BackendFileInfo => ({
    path: outward(path) + (is_dir ? '/' : ''),
    is_dir,
  })
  return {
    ls: (path) =>
      answered('', async () => {
        const at = rooted(path)
        const entries = await entriesOf(target, at)
        return {
          files: entries.map(({ name, type }) => info(at === '.' ? name : `${at}/${name}`, type === 'directory')),
        }
      }),
    read: (path, offset = 0, limit = 500) => answered('', () => readPage(target, path, offset, limit)),
    readRaw: (path) =>
      answered('', async () => {
        const bytes = await files.readBytes(rooted(path))
        const stat = await files.stat(rooted(path))
        const at = new Date(stat?.modifiedAt ?? 0).toISOString()
        return { data: { ...contentOf(path, bytes), created_at: at, modified_at: at } }
      }),
    write: (path, content) =>
      answered(ERROR, async () => {
        await files.write(rooted(path), content)
        return { path }
      }),
    edit: (path, oldText, newText, replaceAll = false) =>
      answered(ERROR, async () => {
        const occurrences = await edit(target, { path: rooted(path), oldText, newText, replaceAll })
        return { path, occurrences }
      }),
    delete: (path) =>
      answered(ERROR, async () => {
        await files.delete(rooted(path), { recursive: true })
        return { path }
      }),
    glob: (pattern, path = '/') =>
      answered('', async () => {
        const input = { ...globIn(target, pattern, path), includeHidden: true }
        const found = (await target.call('find_files', input)) as unknown as ToolOutput<'find_files'>
        return { files: found.files.map((file) => info(file)), truncated: found.truncated }
      }),
    grep: (query, path, glob, maxMatches) =>
      answered(ERROR, async () => {
        const include = glob == null ? { path: rooted(path ?? '/') } : searchIn(target, glob, path ?? '/')
        const limit = maxMatches == null ? {} : { maxMatches }
        const input = { query, ...include, ...limit, includeHidden: true }
        const { matches, truncated } = (await target.call('search_text', input)) as unknown as ToolOutput<'search_text'>
        return {
          matches: matches.map(({ path, line, snippet: text }) => ({ path: outward(path), line, text })),
          truncated,
        }
      }),
    async uploadFiles(list) {
      const results: { path: string; error: BackendTransferError | null }[] = []
      for (const [path, bytes] of list) {
        const error = await files.write(rooted(path), bytes).then(() => null, transferError)
        results.push({ path, error })
      }
      return results
    },
    async downloadFiles(paths) {
      const results: { path: string; content: Uint8Array | null; error: BackendTransferError | null }[] = []
      for (const path of paths) {
        const read = files.readBytes(rooted(path))
        results.push(
          await read.then(
            (content) => ({ path, content, error: null }),
            (error) => ({ path, content: null, error: transferError(error) }),
          ),
        )
      }
      return results
    },
  }
}

/** @throws ToolError for anything but a number of lines */
async function readPage({ files, rooted }: OpenTarget, path: string, offset: number, limit: number) {
  for (const [name, value] of Object.entries({ offset, limit })) requireCount(name, value)
  return pageOf(path, await files.readBytes(rooted(path)), offset, limit)
}

function requireCount(name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return
  throw new ToolError('INVALID_INPUT', `"${name}" must be 0 or a positive integer`)
}

/** Returns the entries of a directory: none where nothing is, as deepagents lists it. */
async function entriesOf({ files }: OpenTarget, path: string) {
  try {
    return await files.entries(path)
  } catch (error) {
    if (!hasCode(error, 'NOT_FOUND')) throw error
    return []
  }
}

/** Edits a file, and returns how often the text occurred. deepagents has no error for an edit that changes nothing. */
async function edit(target: OpenTarget, input: ToolInput<'edit_file'>): Promise<number> {
  const { path, oldText, newText } = input
  try {
    const result = await target.call('edit_file', input)
    return (result as unknown as ToolOutput<'edit_file'>).replacements
  } catch (error) {
    if (!oldText || oldText !== newText || !hasCode(error, 'INVALID_INPUT')) throw error
    return (await target.files.readText(path)).split(oldText).length - 1 || 1
  }
}

/** What the tools of deepagents write before an error, if the backend does not. */
const ERROR = 'Error: '

/** What deepagents calls an error, before the words of the workspace. */
const ownWords: Readonly<Record<string, string>> = {
  NOT_FOUND: 'File not found',
  EDIT_NO_MATCH: 'String not found',
  EDIT_AMBIGUOUS: 'Multiple occurrences',
}

/** Returns a refusal as the `error` of the result. */
async function answered<T>(prefix: string, act: () => Promise<T>): Promise<T | { error: string }> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    const words = ownWords[error.code]
    return { error: prefix + (words === undefined ? '' : `${words}: `) + errorText(error) }
  }
}

function transferError(error: unknown): BackendTransferError {
  if (!(error instanceof ToolError)) throw error
  if (hasCode(error, 'NOT_FOUND')) return 'file_not_found'
  if (hasCode(error, 'IS_DIRECTORY')) return 'is_directory'
  return hasCode(error, 'PATH_REJECTED', 'NOT_A_DIRECTORY') ? 'invalid_path' : 'permission_denied'
}

/** Returns the directory and the glob of a search. An absolute glob starts at the root. */
function globIn({ rooted }: OpenTarget, pattern: string, path: string) {
  return pattern.startsWith('/') ? { path: '.', pattern: rooted(pattern) } : { path: rooted(path), pattern }
}

function searchIn(target: OpenTarget, glob: string, path: string) {
  const { path: directory, pattern } = globIn(target, glob, path)
  return { path: directory, includeGlob: glob.startsWith('/') ? pattern : globAtAnyDepth(pattern) }
}

const mimeTypes: Readonly<Record<string, string>> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' },
  ...{ pdf: 'application/pdf', mp3: 'audio/mpeg', wav: 'audio/wav', mp4: 'video/mp4' },
}

/** Returns the content as text if it is UTF-8, and else as bytes, with a type that says so. */
function contentOf(path: string, bytes: Uint8Array): { content: string | Uint8Array; mimeType: string } {
  try {
    return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), mimeType: 'text/plain' }
  } catch {
    const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
    return { content: bytes, mimeType: ownValue(mimeTypes, ending) ?? 'application/octet-stream' }
  }
}

/** Returns lines of a text as deepagents counts them: an empty last line is none. */
function pageOf(path: string, bytes: Uint8Array, offset: number, limit: number) {
  const { content, mimeType } = contentOf(path, bytes)
  if (typeof content !== 'string') return { content, mimeType }
  const lines = content.split('\n')
  const totalLines = lines.at(-1) === '' ? lines.length - 1 : lines.length
  const selected = lines.slice(offset, offset + limit)
  const text = { content: selected.join('\n'), mimeType }
  if (selected.length === 0 || offset >= totalLines) return text
  const endLine = Math.min(offset + selected.length, totalLines)
  return { ...text, totalLines, startLine: offset + 1, endLine, ...(endLine < totalLines && { nextOffset: endLine }) }
}
