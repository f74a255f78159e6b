import { parsePath } from '../../paths/logical-path.ts'

/** The keys of the objects of one workspace. */
export interface Keys {
  /** Prefix of all keys. */
  readonly below: string
  readonly manifest: string
  /** Prefix of the keys of all contents. */
  readonly contents: string
  /** Prefix of the keys of all nodes of the tree. */
  readonly nodes: string
  /** Prefix of the keys of objects that test the store. */
  readonly probes: string
}

/** @throws TypeError for a prefix that is not a plain path */
export function keysBelow(prefix = 'wardspace'): Keys {
  let path: string
  try {
    path = parsePath(prefix)
  } catch (error) {
    throw new TypeError(`The prefix of an object store: ${(error as Error).message}`, { cause: error })
  }
  if (path === '') throw new TypeError('The prefix of an object store must not be empty')
  return {
    below: `${path}/`,
    manifest: `${path}/manifest.json`,
    contents: `${path}/contents/`,
    nodes: `${path}/nodes/`,
    probes: `${path}/probes/`,
  }
}

/** Returns a name that no object ever had. */
export function newName(): string {
  const random = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(12))))
  return random.replaceAll('+', '-').replaceAll('/', '_')
}
