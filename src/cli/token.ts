import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isInRoots, type Root } from './roots.ts'

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
  try {
    return { token: readFileSync(file, 'utf8').trim(), isNew: false }
  } catch {
    throw new TypeError(`Cannot read the token file "${file}"`)
  }
}
