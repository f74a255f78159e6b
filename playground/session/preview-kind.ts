import { ownValue } from '../../src/util/own-value.ts'

/** How a file can be shown other than as text. */
export type PreviewKind = 'html' | 'markdown' | 'image' | 'pdf'

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  json: 'application/json',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  woff: 'font/woff',
  woff2: 'font/woff2',
  ttf: 'font/ttf',
  otf: 'font/otf',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  webm: 'video/webm',
  pdf: 'application/pdf',
}

function extensionOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1).toLowerCase()
}

/** Returns the media type of a file by its name. */
export function mediaTypeOf(path: string): string {
  return ownValue(mediaTypes, extensionOf(path)) ?? 'application/octet-stream'
}

export function previewKindOf(path: string): PreviewKind | undefined {
  const type = mediaTypeOf(path)
  if (type.startsWith('image/')) return 'image'
  if (type === 'text/html') return 'html'
  if (type === 'application/pdf') return 'pdf'
  return /^(md|markdown)$/.test(extensionOf(path)) ? 'markdown' : undefined
}
