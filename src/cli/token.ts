import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { readBounded } from '../util/regular-file.ts'
import { isInRoots, type Root } from './roots.ts'

const MAX_BYTES = 64 * 1024

/** The bearer token of clients, and whether it was generated here. */
export interface Token {
  readonly token: string
  readonly isNew: boolean
}

/**
 * Returns the token of the server: from a file, from the environment, or a new one. Never from the command line, which every
 * user of the machine can read.
 *
 * @throws TypeError if the file cannot be read, or an agent could read it
 */
export function tokenOf(
  file: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  roots: readonly Root[],
): Token {
  if (file === undefined) {
    const token = environment.WARDSPACE_TOKEN
    return token === undefined || token === ''
      ? { token: randomBytes(32).toString('base64url'), isNew: true }
      : { token, isNew: false }
  }
  if (isInRoots(roots, file)) {
    throw new TypeError(`The token file "${file}" is inside the root, where an agent could read it`)
  }
  let fd: number | undefined
  try {
    // A pipe is read too, as of `--token-file <(pass show mcp)`.
    fd = openSync(file, 'r')
    return { token: readBounded(fd, MAX_BYTES).toString('utf8').trim(), isNew: false }
  } catch {
    throw new TypeError(`Cannot read the token file "${file}"`)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
