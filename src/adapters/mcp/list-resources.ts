import type { ListResourcesResult, ListResourceTemplatesResult } from '@modelcontextprotocol/sdk/types.js'
import type { CallOptions } from '../../call/state/call.ts'
import { classifyPath } from '../../files/classify/index.ts'
import type { LogicalPath } from '../../paths/logical-path.ts'
import { invalidParams } from './protocol-errors.ts'
import { mimeTypeOf } from './read-resource.ts'
import { hasTool, ownCalls, type Served, type ServedRun } from './served-workspace.ts'
import { artifactTemplate, fileTemplate, fileUri, ownUri } from './uris.ts'

type Resource = ListResourcesResult['resources'][number]

/** Resources on a page, and files on all pages together: whoever wants others names them by the template. */
const PAGE = 200
const MOST_FILES = 1000

/**
 * One page of what may be read: what the workspace tells of itself, artifacts of this connection, and files, sorted, as far as
 * a listing shows them. Protected files are not among them. A cursor is the last path of the page before.
 */
export async function listResources(
  { run }: Served,
  artifacts: readonly string[],
  cursor: string | undefined,
  options: CallOptions,
): Promise<ListResourcesResult> {
  const after = cursor === undefined ? undefined : pathOf(cursor)
  const first = after === undefined
  const own = first ? [...about(await hasTool(run, 'diff_workspace')), ...artifacts.map(artifactResource)] : []
  const files = await readableFiles(run, options)
  const rest = after === undefined ? files : files.filter((path) => path > after)
  const page = rest.slice(0, PAGE)
  const last = page.at(-1)
  return {
    resources: [...own, ...page.map(fileResource)],
    ...(last === undefined || page.length === rest.length ? {} : { nextCursor: encodeURIComponent(last) }),
  }
}

/** How what is not listed may be named. */
export const resourceTemplates: ListResourceTemplatesResult = {
  resourceTemplates: [
    {
      uriTemplate: fileTemplate,
      name: 'file',
      title: 'A file of the workspace',
      description: 'Text of a file by its path from the root; large ones in ranges of lines.',
    },
    {
      uriTemplate: artifactTemplate,
      name: 'artifact',
      title: 'A stored result',
      description: 'A full output or diff of this run, by the artifactUri of a result.',
    },
  ],
}

function about(hasDiff: boolean): Resource[] {
  const diff = {
    uri: ownUri('diff'),
    name: 'diff',
    title: 'Diff of the workspace',
    description: 'What changed since the HEAD commit, or since the workspace was opened.',
    mimeType: 'text/x-diff',
  }
  return [
    ...(hasDiff ? [diff] : []),
    {
      uri: ownUri('report'),
      name: 'report',
      title: 'Report of this run',
      description: 'What was read, changed, tried and approved, and why.',
      mimeType: 'text/markdown',
    },
    {
      uri: ownUri('report.json'),
      name: 'report.json',
      title: 'Report of this run, as data',
      mimeType: 'application/json',
    },
    {
      uri: ownUri('policy'),
      name: 'policy',
      title: 'Policy',
      description: 'What the workspace allows, asks about and denies.',
      mimeType: 'application/json',
    },
  ]
}

function fileResource(path: string): Resource {
  return { uri: fileUri(path), name: path, mimeType: mimeTypeOf(path) }
}

function artifactResource(uri: string): Resource {
  return { uri, name: uri.slice(uri.lastIndexOf('/') + 1), mimeType: mimeTypeOf(uri) }
}

async function readableFiles(run: ServedRun, options: CallOptions): Promise<string[]> {
  const paths = await foundFiles(run, options)
  return paths.filter((path) => classifyPath(path as LogicalPath).readable)
}

/** By whichever tool there is; where neither may be called, nothing is shown. */
async function foundFiles(run: ServedRun, options: CallOptions): Promise<readonly string[]> {
  const found = await ownCalls(run).call('find_files', { pattern: '**/*', maxResults: MOST_FILES }, options)
  if (found.ok) return found.files
  const listed = await ownCalls(run).call('list_directory', { path: '.', maxDepth: 32, maxEntries: 500 }, options)
  return listed.ok ? listed.entries.flatMap(({ path, type }) => (type === 'file' ? [path] : [])) : []
}

function pathOf(cursor: string): string {
  try {
    return decodeURIComponent(cursor)
  } catch {
    throw invalidParams('The cursor is none of this server')
  }
}
