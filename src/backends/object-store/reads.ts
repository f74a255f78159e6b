import { ToolError } from '../../errors.ts'
import { childOf, type Path, quote } from '../../paths/logical-path.ts'
import type { Backend, FileRead } from '../../storage/backend.ts'
import { canonicalSync, type LookupResult } from '../../storage/canonical-path.ts'
import { rangeOf } from '../../storage/read-range.ts'
import { type ReadVerb, wrongType } from '../../storage/wrong-type.ts'
import type { Contents } from './contents.ts'
import type { Entry, Manifest } from './manifest.ts'

type Reads = Required<Pick<Backend, 'canonical' | 'stat' | 'list' | 'read' | 'readLink' | 'scan'>>

/** Files that a scan reads at the same time. */
const SCAN_CONCURRENCY = 6

/** The reads of a backend. Each one first loads the current manifest. */
export function createReads(load: () => Promise<Manifest>, contents: Contents): Reads {
  return {
    async canonical(path, options) {
      const tree = await load()
      const entry = tree.at(path as Path)
      if (entry !== undefined && (entry.type !== 'link' || options?.noFollow)) return path as Path
      return canonicalSync((at) => lookUp(tree, at), path, options?.noFollow ?? false)
    },

    async stat(path) {
      return (await load()).at(path)?.stat
    },

    async list(path) {
      const tree = await load()
      if (tree.at(path)?.type !== 'directory') throw wrongTypeIn(tree, 'list', path)
      return Array.from(tree.names(path), (name) => ({ name, type: (tree.at(childOf(path, name)) as Entry).type }))
    },

    read: async (path, range) => readFile(load, contents, await load(), path, range),

    async readLink(path) {
      const tree = await load()
      const entry = tree.at(path)
      if (entry?.type !== 'link') throw wrongTypeIn(tree, 'read link', path)
      return entry.target
    },

    async scan(paths, visit, maxBytes = Number.POSITIVE_INFINITY) {
      const tree = await load()
      for (let at = 0; at < paths.length; at += SCAN_CONCURRENCY) {
        const batch = paths.slice(at, at + SCAN_CONCURRENCY)
        const files = await Promise.all(batch.map((path) => readIfPresent(load, contents, tree, path, maxBytes)))
        for (const [index, file] of files.entries()) {
          if (file !== undefined && !visit(batch[index] as Path, file.bytes, file.stat)) return
        }
      }
    },
  }
}

function lookUp(tree: Manifest, path: Path): LookupResult {
  const entry = tree.at(path)
  return entry?.type === 'link' ? { link: entry.target } : entry
}

function wrongTypeIn(tree: Manifest, verb: ReadVerb, path: Path): ToolError {
  return wrongType(verb, path, (at) => tree.at(at)?.type)
}

/** Reads a file. If its content is gone because the file was replaced meanwhile, reads the new content. */
async function readFile(
  load: () => Promise<Manifest>,
  contents: Contents,
  from: Manifest,
  path: Path,
  range: Parameters<Backend['read']>[1],
): Promise<FileRead> {
  let tree = from
  for (;;) {
    const entry = tree.at(path)
    if (entry?.type !== 'file') throw wrongTypeIn(tree, 'read', path)
    const { stat } = entry
    const { start, end } = rangeOf(path, range, stat, () => entry.sha256)
    const bytes = await contents.read(entry.content, stat.size, start, end)
    if (bytes !== undefined) return { bytes, stat }
    tree = await load()
    const current = tree.at(path)
    if (current?.type === 'file' && current.content === entry.content) {
      throw new ToolError('BACKEND_ERROR', `Cannot read ${quote(path)}: its content is missing in the store`, { path })
    }
  }
}

/**
 * Reads a file for a scan. Returns `undefined` for a path that is not a file, or that is removed or replaced by another type
 * meanwhile. The content of a file over `maxBytes` is not requested from the store.
 */
async function readIfPresent(
  load: () => Promise<Manifest>,
  contents: Contents,
  tree: Manifest,
  path: Path,
  maxBytes: number,
): Promise<FileRead | undefined> {
  const entry = tree.at(path)
  if (entry?.type !== 'file') return undefined
  if (entry.stat.size > maxBytes) return { bytes: new Uint8Array(), stat: entry.stat }
  try {
    return await readFile(load, contents, tree, path, undefined)
  } catch (error) {
    if (error instanceof ToolError && error.code !== 'BACKEND_ERROR') return undefined
    throw error
  }
}
