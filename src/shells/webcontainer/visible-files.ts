import { ToolError } from '../../errors.ts'
import type { Visibility } from '../../guard/visibility.ts'
import { childOf, display, type Path, ROOT } from '../../paths/logical-path.ts'
import { linkTarget } from '../../storage/link-target.ts'
import type { CommandFiles } from '../types.ts'
import type { ContainerEntry } from './file-tree.ts'

/** An entry as a command may read it, with recognized secrets replaced by marks. */
export interface VisibleEntry {
  readonly content: ContainerEntry
  /** Tag of a file. Equal tags mean equal content. */
  readonly tag?: string
}

interface VisibleFile extends VisibleEntry {
  readonly content: Extract<ContainerEntry, { type: 'file' }>
}

/** Returns the content read earlier for a path and a tag. */
export type CacheLookup = (path: Path, tag: string) => ContainerEntry | 'unreadable' | undefined

export interface VisibleFilesOptions {
  readonly files: CommandFiles
  readonly visibility: Visibility
  readonly cached: CacheLookup
  /** Called for a visible file that cannot be read. */
  readonly onUnreadable: (path: Path, tag: string) => void
  /** Include symbolic links. */
  readonly links: boolean
  readonly maxBytes: number
}

/** Reads everything that a command may read, by path. @throws ToolError `LIMIT_EXCEEDED` */
export async function readVisibleFiles(options: VisibleFilesOptions): Promise<Map<Path, VisibleEntry>> {
  const { files, visibility, links, maxBytes } = options
  const entries = new Map<Path, VisibleEntry>()
  let bytes = 0
  const pending: Path[] = [ROOT]
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const { name, type } of await files.list(display(directory))) {
      const path = childOf(directory, name)
      if (!visibility.see(path, type)) continue
      if (type === 'directory') {
        entries.set(path, { content: { type } })
        pending.push(path)
      } else if (type === 'link' && links) {
        // The gate refuses a link whose target is not visible.
        const target = await files.readLink(path).catch(() => undefined)
        if (target !== undefined && staysInside(path, target)) entries.set(path, { content: { type, target } })
      } else if (type === 'file') {
        const file = await readVisibleFile(path, options)
        if (file === undefined) continue
        entries.set(path, file)
        bytes += file.content.bytes.length
        if (bytes > maxBytes) throw tooLarge(maxBytes)
      }
    }
  }
  return entries
}

async function readVisibleFile(
  path: Path,
  { files, cached, onUnreadable, maxBytes }: VisibleFilesOptions,
): Promise<VisibleFile | undefined> {
  const stat = await files.stat(path, { noFollow: true })
  if (stat?.type !== 'file') return undefined
  const { tag, size } = stat
  const content = cached(path, tag)
  if (content === 'unreadable') return undefined
  if (content?.type === 'file') return { content, tag }
  if (size > maxBytes) throw tooLarge(maxBytes)
  try {
    return { content: { type: 'file', bytes: await files.read(path) }, tag }
  } catch (error) {
    // The file is too large for a command, or its secrets cannot be hidden. The result of the call lists it.
    if (!(error instanceof ToolError) || !unreadableCodes.has(error.code)) throw error
    onUnreadable(path, tag)
    return undefined
  }
}

const unreadableCodes: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'LIMIT_EXCEEDED',
  'UNSUPPORTED_ENCODING',
  'POLICY_DENIED',
  'POLICY_DENIED_SECRET',
  'PATH_REJECTED',
])

/** Whether the target of a link is inside the workspace. */
function staysInside(path: Path, target: string): boolean {
  try {
    linkTarget(path, target)
    return true
  } catch {
    return false
  }
}

function tooLarge(maxBytes: number): ToolError {
  return new ToolError('LIMIT_EXCEEDED', 'The workspace is too large for a container', {
    limit: 'maxBytes',
    value: maxBytes,
  })
}
