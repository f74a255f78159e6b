import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import type { Backend } from './backend.ts'

/**
 * The same backend for reading only: every commit is refused with `READ_ONLY`, an empty one too. A fork of it is
 * read-only as well. Closing it closes the backend below.
 */
export function readOnly(backend: Backend): Backend {
  const { scan, statDirectories: glance, walk: descend, tree, fork, containsPhysicalPath: holds } = backend
  return {
    capabilities: backend.capabilities,
    canonical: (path, options) => backend.canonical(path, options),
    stat: (path) => backend.stat(path),
    list: (path) => backend.list(path),
    read: (path, range) => backend.read(path, range),
    readLink: (path) => backend.readLink(path),
    async commit(changes) {
      const first = changes[0]
      const what = first === undefined ? 'anything' : quote(first.path)
      throw new ToolError('READ_ONLY', `Cannot change ${what}: the storage is read-only`, first && { path: first.path })
    },
    ...(scan && { scan: (paths, visit) => scan.call(backend, paths, visit) }),
    ...(descend && { walk: (start, visitor) => descend.call(backend, start, visitor) }),
    ...(glance && { statDirectories: (directories, known) => glance.call(backend, directories, known) }),
    ...(tree && { tree: () => tree.call(backend) }),
    ...(holds && { containsPhysicalPath: (physicalPath) => holds.call(backend, physicalPath) }),
    ...(fork && { fork: () => readOnly(fork.call(backend)) }),
    close: () => backend.close(),
  }
}
