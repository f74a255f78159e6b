import { parsePath } from '../../paths/logical-path.ts'

/** Where in the store the objects of one workspace are. */
export interface Keys {
  readonly manifest: string
  /** What the keys of all contents begin with. */
  readonly contents: string
  /** What the keys of objects begin with that are there only to try the store out. */
  readonly probes: string
}

/** @throws TypeError for a prefix that is no plain path */
export function keysBelow(prefix = 'wardspace'): Keys {
  let path: string
  try {
    path = parsePath(prefix)
  } catch (error) {
    throw new TypeError(`The prefix of an object store: ${(error as Error).message}`, { cause: error })
  }
  if (path === '') throw new TypeError('The prefix of an object store must not be empty')
  return { manifest: `${path}/manifest.json`, contents: `${path}/contents/`, probes: `${path}/probes/` }
}
