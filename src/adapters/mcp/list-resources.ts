import type { CallOptions } from '../../call/state/call.ts'
import { classifyPath } from '../../files/classify/index.ts'
import type { LogicalPath } from '../../paths/logical-path.ts'
import { hasTool } from '../model/has-tool.ts'
import { invalidParams } from './protocol-errors.ts'
import { mimeTypeOf } from './read-resource.ts'
import type { ListResourcesResult, ListResourceTemplatesResult } from './sdk.ts'
import { ownCalls, type Served, type ServedRun } from './served-workspace.ts'
import { artifactTemplate, fileTemplate, fileUri, ownUri } from './uris.ts'

type Resource = ListResourcesResult['resources'][number]

/** Maximum number of files on a page. */
const PAGE_SIZE = 200
/** Maximum number of files on all pages. Other files can be read with the template. */
const MAX_FILES = 1000

/**
 * Returns one page of readable resources: those about the workspace, artifacts of this connection, and listed files in order.
 * Protected files are left out. A cursor is the last path of the previous page.
 */
export async function listResources(
  { run }: Served,
  artifacts: readonly string[],
  cursor: string | undefined,
  options: CallOptions,
): Promise<ListResourcesResult> {
  const after = cursor === undefined ? undefined : pathOf(cursor)
  const isFirst = after === undefined
  const leading = isFirst
    ? [...workspaceResources(await hasTool(ownCalls(run), 'diff_workspace')), ...artifacts.map(artifactResource)]
    : []
  const files = await readableFiles(run, options)
  const remaining = after === undefined ? files : files.filter((path) => path > after)
  const page = remaining.slice(0, PAGE_SIZE)
  const last = page.at(-1)
  return {
    resources: [...leading, ...page.map(fileResource)],
    ...(last === undefined || page.length === remaining.length ? {} : { nextCursor: encodeURIComponent(last) }),
  }
}

/** Templates for resources that are not listed. */
export const resourceTemplates: ListResourceTemplatesResult = {
  resourceTemplates: [
    {
      uriTemplate: fileTemplate,
      name: 'file',
      title: 'A file of the workspace',
      description:
        'A file by its path from the root: its text, large ones in ranges of lines; an image or PDF as a blob.',
    },
    {
      uriTemplate: artifactTemplate,
      name: 'artifact',
      title: 'A stored result',
      description: 'A full output or diff of this run, by the artifactUri of a result.',
    },
  ],
}

function workspaceResources(hasDiff: boolean): Resource[] {
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
      description: 'What was read, changed, refused and approved, and why.',
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
  const paths = await listFiles(run, options)
  return paths.filter((path) => classifyPath(path as LogicalPath).readable)
}

/** Lists files with `find_files`, else with `list_directory`. Returns none if both are refused. */
async function listFiles(run: ServedRun, options: CallOptions): Promise<readonly string[]> {
  const search = await ownCalls(run).call('find_files', { pattern: '**/*', maxResults: MAX_FILES }, options)
  if (search.ok) return search.files
  const listing = await ownCalls(run).call('list_directory', { path: '.', maxDepth: 32, maxEntries: 500 }, options)
  return listing.ok ? listing.entries.flatMap(({ path, type }) => (type === 'file' ? [path] : [])) : []
}

function pathOf(cursor: string): string {
  try {
    return decodeURIComponent(cursor)
  } catch {
    throw invalidParams('The cursor is invalid')
  }
}
