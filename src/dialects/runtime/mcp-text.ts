import { nameOf, type Path } from '../../paths/logical-path.ts'
import type { ToolOutput } from '../../tools/index.ts'
import { byteText } from '../../util/native-bytes.ts'
import type { Answer } from './types.ts'

type Listing = ToolOutput<'list_directory'>
type Entry = Listing['entries'][number]

/** Whether a listed name is a directory, as the reference server marks it. */
export function directoryMarker({ type }: Entry): string {
  return type === 'directory' ? '[DIR]' : '[FILE]'
}

/** Says that a listing is cut. */
export function notShown({ truncated, entries, totalEntries }: Listing): string[] {
  return truncated ? [`(${totalEntries - entries.length} of ${totalEntries} entries are not shown.)`] : []
}

/** Names with their sizes, and their sum. What has no size of its own, or none that may be told, shows a dash. */
export function withSizes(entries: readonly Entry[], sortBy: 'name' | 'size'): string[] {
  const shown = entries.map((entry) => ({ ...entry, name: nameOf(entry.path as Path), size: entry.sizeBytes ?? 0 }))
  shown.sort((a, b) => (sortBy === 'size' ? b.size - a.size : 0) || a.name.localeCompare(b.name, 'en'))
  const lines = shown.map((entry) => {
    const size = entry.sizeBytes === undefined ? '-' : sizeText(entry.sizeBytes)
    return `${directoryMarker(entry)} ${entry.name.padEnd(30)} ${entry.type === 'directory' ? '' : size.padStart(10)}`
  })
  const directories = shown.filter(({ type }) => type === 'directory').length
  const sum = shown.reduce((bytes, { size }) => bytes + size, 0)
  return [
    ...lines,
    '',
    `Total: ${shown.length - directories} files, ${directories} directories`,
    `Combined size: ${sizeText(sum)}`,
  ]
}

const units = ['B', 'KB', 'MB', 'GB', 'TB']

function sizeText(bytes: number): string {
  const unit = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  return unit === 0 ? `${bytes} B` : `${(bytes / 1024 ** unit).toFixed(2)} ${units[unit]}`
}

/** The facts of a file, one a line; what is not known is left out. */
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

/** A diff with the reference server's header, in a fence that is longer than any in it. */
export function fencedDiff(diff: string, path: string): string {
  const hunks = diff.slice(diff.search(/^@@/m))
  const header = `Index: ${path}\n${'='.repeat(67)}\n--- ${path}\toriginal\n+++ ${path}\tmodified\n`
  let fence = '```'
  while (hunks.includes(fence)) fence += '`'
  return `${fence}diff\n${header}${hunks}${fence}\n\n`
}

/** Text as base64, of the type that its name tells. */
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
