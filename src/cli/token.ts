import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isInRoots, type Root } from './roots.ts'

/** What clients have to send, and whether it was made here. */
export interface Token {
  readonly token: string
  readonly isNew: boolean
}

/**
 * The token of the server: from a file, from the environment, or made here. Never from the command line, which every user of
 * the machine can read.
 *
 * @throws TypeError for a file that cannot be read, or that an agent could read
 */
export function tokenOf(
  file: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  roots: readonly Root[],
): Token {
  if (file === undefined) {
    const given = environment.WARDSPACE_TOKEN
    return given === undefined || given === ''
      ? { token: randomBytes(32).toString('base64url'), isNew: true }
      : { token: given, isNew: false }
  }
  if (isInRoots(roots, file)) {
    throw new TypeError(`The token file "${file}" lies inside the root, where an agent could read it`)
  }
  try {
    return { token: readFileSync(file, 'utf8').trim(), isNew: false }
  } catch {
    throw new TypeError(`Cannot read the token file "${file}"`)
  }
}
