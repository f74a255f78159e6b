import type { ExecResult } from 'just-bash'
import { ToolError } from '../../errors.ts'
import { looksBinary } from '../../files/text/encoding.ts'
import { type CommandContext, type CustomCommand, customCommand } from './custom-command.ts'
import { countLines, eachShownLine } from './matching-lines.ts'
import { MAX_OUTPUT } from './run-line.ts'
import type { OpenSearch, SearchedFile } from './search-files.ts'
import { parseSearch, type Search, type SearchName } from './search-options.ts'
import { resolvePath, workspacePath } from './virtual-paths.ts'

/**
 * `grep -r` and `rg` on our own search, which is many times faster. Other calls are left to the interpreter's commands. Only
 * the files come from the thread that has them: a search that takes long or has much output can be ended.
 */
export function searchCommands(open: OpenSearch, root: string): CustomCommand[] {
  const command = (name: SearchName) =>
    customCommand(name, async (args, at) => {
      const search = parseSearch(name, args)
      if (search === undefined) return undefined
      try {
        return await run({ name, args, search, open, root }, at)
      } catch (error) {
        if (error !== outputFull) throw error
        const stderr = `bash: ${name}: output size limit exceeded (${MAX_OUTPUT} bytes)\n`
        return { stdout: '', stderr, exitCode: 126 }
      }
    })
  return [command('grep'), command('egrep'), command('fgrep'), command('rg')]
}

interface SearchCall {
  readonly name: SearchName
  readonly args: readonly string[]
  readonly search: Search
  readonly open: OpenSearch
  /** Absolute path under which commands see the workspace. */
  readonly root: string
}

async function run(
  { name, args, search, open, root }: SearchCall,
  { cwd, stdin }: CommandContext,
): Promise<ExecResult | undefined> {
  const isImplied = search.operands.length === 0
  if (isImplied && name === 'rg' && stdin !== '') return undefined
  const operands = isImplied ? ['.'] : search.operands
  const paths = operands.map((operand) => workspacePath(resolvePath(cwd, operand), root))
  if (!paths.every((path) => path !== undefined)) return undefined
  const output = new SearchOutput(search)
  let stderr = ''
  for (const [i, operand] of operands.entries()) {
    try {
      const batches = open({ name, args, path: paths[i] as string })
      for (let { value } = await batches.next(); value !== undefined; { value } = await batches.next()) {
        const { isDirectory, files } = value
        const base = isImplied ? '' : operand.endsWith('/') ? operand : `${operand}/`
        const withNames = search.withNames ?? (isDirectory || operands.length > 1)
        const goesOn = files.every((file) => output.add(file, isDirectory ? base + file.relative : operand, withNames))
        if (!goesOn) break
      }
    } catch (error) {
      if (!(error instanceof ToolError) || error.code === 'ABORTED') throw error
      stderr += `${name}: ${operand}: ${error.code === 'NOT_FOUND' ? 'No such file or directory' : 'Permission denied'}\n`
    }
  }
  const exitCode = stderr !== '' ? 2 : output.hasMatches ? 0 : 1
  return { stdout: output.text(), stderr: stderr + output.notes, exitCode }
}

/** Thrown when the output is larger than the interpreter allows. */
const outputFull = Symbol('output full')

const LINE_FEED = Uint8Array.of(0x0a)
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The output of a search. Collects bytes, because many short lines take many times their size as strings. */
class SearchOutput {
  readonly #search: Search
  #bytes = new Uint8Array(64 * 1024)
  #length = 0
  hasMatches = false
  notes = ''

  constructor(search: Search) {
    this.#search = search
  }

  /** Adds what is shown of a file. Returns false if the search is decided. */
  add({ bytes, isTooLarge }: SearchedFile, label: string, withNames: boolean): boolean {
    const search = this.#search
    const { query, show } = search
    if (isTooLarge) {
      this.notes += `grep: ${label}: too large to be searched\n`
      return true
    }
    if (query === undefined || bytes === undefined) {
      this.hasMatches = true
      this.#addText(`${label}\n`)
      return true
    }
    const isBinary = looksBinary(bytes)
    if (isBinary && !search.binary) return true
    if (show === 'lines' && !isBinary) {
      this.#addLines(bytes, withNames ? label : '')
      return true
    }
    const count = countLines(query, bytes, show === 'count' ? search : { ...search, maxCount: 1 })
    if (show === 'others') {
      if (count > 0) return true
      this.#addText(`${label}\n`)
    } else if (show === 'count') {
      if (count > 0 || search.binary) this.#addText(withNames ? `${label}:${count}\n` : `${count}\n`)
    } else if (count === 0) return true
    else if (show === 'files') this.#addText(`${label}\n`)
    else if (show === 'lines') this.notes += `grep: ${label}: binary file matches\n`
    if (count > 0 || show === 'others') this.hasMatches = true
    return show !== 'nothing'
  }

  /** Returns the whole output. */
  text(): string {
    return decoder.decode(this.#bytes.subarray(0, this.#length))
  }

  #addLines(bytes: Uint8Array, label: string): void {
    const search = this.#search
    if (search.query === undefined) return
    const hasContext = search.before > 0 || search.after > 0
    const prefixes = [encoder.encode(label && `${label}-`), encoder.encode(label && `${label}:`)] as const
    let isFirst = true
    eachShownLine(search.query, bytes, search, ({ start, end, number, isMatch, isApart }) => {
      this.hasMatches = true
      // A separator stands between groups of lines, also of two files.
      if (hasContext && (isFirst ? this.#length > 0 : isApart)) this.#addText('--\n')
      isFirst = false
      this.#addBytes(prefixes[isMatch ? 1 : 0])
      if (search.lineNumbers) this.#addText(`${number}${isMatch ? ':' : '-'}`)
      this.#addBytes(bytes, start, end)
      this.#addBytes(LINE_FEED)
    })
  }

  #addText(text: string): void {
    this.#addBytes(encoder.encode(text))
  }

  #addBytes(from: Uint8Array, start = 0, end = from.length): void {
    this.#reserve(end - start)
    const bytes = this.#bytes
    if (end - start > 64) bytes.set(from.subarray(start, end), this.#length)
    // Most lines are short: a native call costs more than copying them.
    else for (let at = start, to = this.#length; at < end; at++, to++) bytes[to] = from[at] as number
    this.#length += end - start
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed > MAX_OUTPUT) throw outputFull
    if (needed <= this.#bytes.length) return
    const larger = new Uint8Array(Math.min(MAX_OUTPUT, Math.max(needed, this.#bytes.length * 2)))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}
