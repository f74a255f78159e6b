import { parsePath } from '../../paths/logical-path.ts'

/** The keys of the objects of one workspace. */
export interface Keys {
  readonly manifest: string
  /** Prefix of the keys of all contents. */
  readonly contents: string
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
  return { manifest: `${path}/manifest.json`, contents: `${path}/contents/`, probes: `${path}/probes/` }
}
