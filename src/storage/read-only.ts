import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import { refuseSurplus } from '../util/check-options.ts'
import type { Backend, Change } from './backend.ts'
import { isBackend } from './is-backend.ts'

/**
 * Returns a read-only view of a backend. Every commit throws `READ_ONLY`, also an empty one. Forks are read-only as well.
 * Closing it closes the backend.
 */
export function readOnly(backend: Backend): Backend {
  refuseSurplus('readOnly()', 1, arguments)
  isBackend(backend, 'backend', 'readOnly()')
  const { scan, statDirectories, walk, tree, readsNow, watch, fork, pin, containsPhysicalPath } = backend
  return {
    capabilities: backend.capabilities,
    canonical: (path, options) => backend.canonical(path, options),
    stat: (path) => backend.stat(path),
    list: (path) => backend.list(path),
    read: (path, range) => backend.read(path, range),
    readLink: (path) => backend.readLink(path),
    commit: refuse,
    checkPlaces: refuse,
    ...(scan && { scan: (paths, visit, maxBytes) => scan.call(backend, paths, visit, maxBytes) }),
    ...(walk && { walk: (start, visitor) => walk.call(backend, start, visitor) }),
    ...(statDirectories && {
      statDirectories: (directories, previous) => statDirectories.call(backend, directories, previous),
    }),
    ...(tree && { tree: () => tree.call(backend) }),
    ...(watch && { watch: (path, onChange, options) => watch.call(backend, path, onChange, options) }),
    ...(readsNow && { readsNow: () => readsNow.call(backend) }),
    ...(containsPhysicalPath && {
      containsPhysicalPath: (physicalPath) => containsPhysicalPath.call(backend, physicalPath),
    }),
    ...(pin && { pin: () => pin.call(backend) }),
    ...(fork && { fork: () => readOnly(fork.call(backend)) }),
    close: () => backend.close(),
  }
}

async function refuse([first]: readonly Change[]): Promise<never> {
  const target = first === undefined ? 'anything' : quote(first.path)
  throw new ToolError('READ_ONLY', `Cannot change ${target}: the storage is read-only`, first && { path: first.path })
}
