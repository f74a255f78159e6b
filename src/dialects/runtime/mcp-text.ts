import { nameOf, type Path } from '../../paths/logical-path.ts'
import type { ToolOutput } from '../../tools/index.ts'
import { byteText } from '../../util/native-bytes.ts'
import type { Answer, ContentBlock } from './types.ts'

type Media = NonNullable<ToolOutput<'read_file'>['media']>
type Entry = ToolOutput<'list_directory'>['entries'][number]

/** Returns the reference server's marker for an entry. */
export function directoryMarker({ type }: Entry): string {
  return type === 'directory' ? '[DIR]' : '[FILE]'
}

/** Formats entries with their sizes, and the sum. A dash means that there is no size, or that policy hides it. */
export function formatSizes(entries: readonly Entry[], sortBy: 'name' | 'size'): string[] {
  const rows = entries.map((entry) => ({ ...entry, name: nameOf(entry.path as Path), size: entry.sizeBytes ?? 0 }))
  rows.sort((a, b) => (sortBy === 'size' ? b.size - a.size : 0) || a.name.localeCompare(b.name, 'en'))
  const lines = rows.map((entry) => {
    const size = entry.sizeBytes === undefined ? '-' : sizeText(entry.sizeBytes)
    return `${directoryMarker(entry)} ${entry.name.padEnd(30)} ${entry.type === 'directory' ? '' : size.padStart(10)}`
  })
  const directories = rows.filter(({ type }) => type === 'directory').length
  const sum = rows.reduce((bytes, { size }) => bytes + size, 0)
  return [
    ...lines,
    '',
    `Total: ${rows.length - directories} files, ${directories} directories`,
    `Combined size: ${sizeText(sum)}`,
  ]
}

const units = ['B', 'KB', 'MB', 'GB', 'TB']

function sizeText(bytes: number): string {
  const unit = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  return unit === 0 ? `${bytes} B` : `${(bytes / 1024 ** unit).toFixed(2)} ${units[unit]}`
}

/** Formats the metadata of a file, one fact per line; unknown ones are left out. */
export function describeFile({ type, sizeBytes, modifiedAt, mode }: ToolOutput<'file_info'>): string {
  const facts = {
    size: sizeBytes,
    modified: modifiedAt,
    isDirectory: type === 'directory',
    isFile: type === 'file',
    permissions: mode?.slice(-3),
  }
  return Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

/** Formats a diff with the reference server's header, in a fence longer than any in the diff. */
export function fencedDiff(diff: string, path: string): string {
  const hunks = diff.slice(diff.search(/^@@/m))
  const header = `Index: ${path}\n${'='.repeat(67)}\n--- ${path}\toriginal\n+++ ${path}\tmodified\n`
  let fence = '```'
  while (hunks.includes(fence)) fence += '`'
  return `${fence}diff\n${header}${hunks}${fence}\n\n`
}

/** Returns an image or a document as a block, under the name that the caller has for it. */
export function mediaBlock(path: string, { mimeType, data, type }: Media): ContentBlock {
  if (type === 'image') return { type: 'image', data, mimeType }
  return { type: 'resource', resource: { uri: `file://${encodeURI(path)}`, mimeType, blob: data } }
}

/** Returns the answer with an image or a document below a line of text. */
export function shownMedia(text: string, path: string, media: Media): Answer {
  return { output: text, content: [{ type: 'text', text }, mediaBlock(path, media)] }
}

/** Returns a text file as base64, with the MIME type of its extension. */
export function mediaAnswer(path: string, text: string): Answer {
  const mimeType = /\.svg$/i.test(path) ? 'image/svg+xml' : 'application/octet-stream'
  const data = base64(text)
  const block = mimeType.startsWith('image/')
    ? ({ type: 'image', data, mimeType } as const)
    : ({ type: 'resource', resource: { uri: `file://${encodeURI(path)}`, mimeType, blob: data } } as const)
  return { output: block, content: [block], structured: { content: [block] } }
}

function base64(text: string): string {
  return btoa(byteText(new TextEncoder().encode(text)))
}
