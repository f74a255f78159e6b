import { ToolError } from '../../errors.ts'
import type { Visibility } from '../../guard/visibility.ts'
import { childOf, display, type Path, ROOT } from '../../paths/logical-path.ts'
import { linkTarget } from '../../storage/change-set.ts'
import type { CommandFiles } from '../types.ts'
import type { ContainerEntry } from './file-tree.ts'

/** What a command may read of a path: content as it is shown, recognised secrets as marks. */
export interface VisibleEntry {
  readonly content: ContainerEntry
  /** Of a file: while it is the same, so is the content. */
  readonly tag?: string
}

interface ReadableFile extends VisibleEntry {
  readonly content: Extract<ContainerEntry, { type: 'file' }>
}

/** What was last read of a path. */
export type CacheLookup = (path: Path, tag: string) => ContainerEntry | 'unreadable' | undefined

export interface VisibleFilesOptions {
  readonly files: CommandFiles
  readonly visibility: Visibility
  readonly cached: CacheLookup
  /** Told of a file that may be read and cannot. */
  readonly onUnreadable: (path: Path, tag: string) => void
  readonly links: boolean
  readonly maxBytes: number
}

/** All that a command may read, by path. @throws ToolError `LIMIT_EXCEEDED` */
export async function readVisibleFiles(options: VisibleFilesOptions): Promise<Map<Path, VisibleEntry>> {
  const { files, visibility: sight, cached: known, links, maxBytes } = options
  const found = new Map<Path, VisibleEntry>()
  let bytes = 0
  const waiting: Path[] = [ROOT]
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const { name, type } of await files.list(display(directory))) {
      const path = childOf(directory, name)
      if (!sight.see(path, type)) continue
      if (type === 'directory') {
        found.set(path, { content: { type } })
        waiting.push(path)
      } else if (type === 'link' && links) {
        const target = await files.readLink(path)
        if (staysInside(path, target)) found.set(path, { content: { type, target } })
      } else if (type === 'file') {
        const one = await fileAt(path)
        if (one === undefined) continue
        found.set(path, one)
        bytes += one.content.bytes.length
        if (bytes > maxBytes) throw tooLarge(maxBytes)
      }
    }
  }

  async function fileAt(path: Path): Promise<ReadableFile | undefined> {
    const stat = await files.stat(path, { noFollow: true })
    if (stat?.type !== 'file') return undefined
    const { tag, size } = stat
    const held = known(path, tag)
    if (held === 'unreadable') return undefined
    if (held?.type === 'file') return { content: held, tag }
    if (size > maxBytes) throw tooLarge(maxBytes)
    try {
      return { content: { type: 'file', bytes: await files.read(path) }, tag }
    } catch (error) {
      // It is too large for a command, or it cannot be shown without its secrets. The result of the call tells.
      if (!(error instanceof ToolError) || !unreadable.has(error.code)) throw error
      options.onUnreadable(path, tag)
      return undefined
    }
  }

  return found
}

const unreadable: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'LIMIT_EXCEEDED',
  'UNSUPPORTED_ENCODING',
  'POLICY_DENIED',
  'POLICY_DENIED_SECRET',
  'PATH_REJECTED',
])

/** A link that leads nowhere else than the workspace. */
function staysInside(path: Path, target: string): boolean {
  try {
    linkTarget(path, target)
    return true
  } catch {
    return false
  }
}

function tooLarge(maxBytes: number): ToolError {
  return new ToolError('LIMIT_EXCEEDED', 'The workspace holds too much for a container', {
    limit: 'maxBytes',
    value: maxBytes,
  })
}
