import { isUint8Array } from '../../util/bytes.ts'
import { withoutEndSlashes } from '../../util/slashes.ts'
import { argumentError, valueError } from './errors.ts'

/** A path as `node:fs` takes it. `/` and relative paths start at the root of the workspace. */
export type FsPath = string | URL | Uint8Array

/** A path as the program wrote it, and as the workspace names it. */
export interface Located {
  readonly shown: string
  /** Relative to the root of the workspace, without a slash at its end; `.` for the root. */
  readonly path: string
}

/** Finds the path of the workspace for a path of a program. */
export function locate(path: FsPath, name = 'path'): Located {
  const shown = textOf(path, name)
  if (shown.includes('\0')) {
    throw valueError(name, shown, 'must be a string, Uint8Array, or URL without null bytes')
  }
  return { shown, path: shown === '' ? '' : withoutEndSlashes(shown.replace(/^\/+/, '')) || '.' }
}

function textOf(path: FsPath, name: string): string {
  if (typeof path === 'string') return path
  if (path instanceof URL) return fileOf(path)
  if (isUint8Array(path)) return new TextDecoder().decode(path)
  throw argumentError(name, 'of type string or an instance of Buffer or URL', path)
}

function fileOf({ protocol, host, pathname }: URL): string {
  const fault = (code: string, reason: string) => Object.assign(new TypeError(reason), { code })
  if (protocol !== 'file:') throw fault('ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file')
  if (host !== '') throw fault('ERR_INVALID_FILE_URL_HOST', 'File URL host must be "localhost" or empty on linux')
  if (/%2f/i.test(pathname)) {
    throw fault('ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters')
  }
  return decodeURIComponent(pathname)
}

/** Returns the target of a link relative to the real path of its directory. An absolute one starts at the root. */
export function relativeTarget(target: string, directory: string): string {
  if (!target.startsWith('/')) return target
  const depth = /^\.?$/.test(directory) ? 0 : directory.split('/').length
  return `${'../'.repeat(depth)}${target.replace(/^\/+/, '')}` || '.'
}
