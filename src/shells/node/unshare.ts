import { execFile } from 'node:child_process'
import { ToolError } from '../../errors.ts'
import { type Path, ROOT } from '../../paths/logical-path.ts'
import type { Sandbox } from './sandbox.ts'
import { NAMES, SETUP } from './unshare-setup.ts'

const MOUNT_FLAGS = ['--user', '--map-root-user', '--mount', '--propagation', 'private'] as const
const ISOLATION_FLAGS = ['--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child'] as const
const UNSHARE = '/usr/bin/unshare'

/** Maximum size of the list of names, in bytes. */
const MAX_NAMES = 256 * 1024 * 1024

/**
 * A sandbox of namespaces, by `unshare` of util-linux, on systems where every user can create them. The system is
 * read-only; there are no home directories and no network, and a command cannot gain privileges.
 */
export function unshareSandbox(writes: 'overlayfs' | 'in-place'): Sandbox {
  const sandbox: Sandbox = {
    name: 'unshare',
    network: false,
    wrap: ({ root, commandDir, cwd, masks, readable, argv }) => [
      UNSHARE,
      ...MOUNT_FLAGS,
      ...ISOLATION_FLAGS,
      ...['--', '/bin/sh', '-c', SETUP, 'sandbox', root, commandDir, writes, cwd],
      ...[String(masks.length), ...masks.flatMap(({ kind, source = kind, path }) => [source, path])],
      ...[String(readable.length), ...readable],
      ...argv,
    ],
  }
  if (writes === 'in-place') return sandbox
  return { ...sandbox, overlayfs: { listNames } }
}

async function listNames(
  { root, commandDir }: { readonly root: string; readonly commandDir: string },
  directories: readonly Path[],
): Promise<Map<Path, Set<string>>> {
  const operands = directories.map((path) => (path === ROOT ? '.' : `./${path}`))
  const argv = [...MOUNT_FLAGS, '--', '/bin/sh', '-c', NAMES, 'names', root, commandDir, ...operands]
  const output = await new Promise<string>((resolve, reject) => {
    execFile(UNSHARE, argv, { maxBuffer: MAX_NAMES, env: {}, cwd: '/' }, (error, stdout) => {
      if (error === null) resolve(stdout)
      else reject(new ToolError('BACKEND_ERROR', 'The changes of the command could not be read'))
    })
  })
  const names = new Map<Path, Set<string>>(directories.map((path) => [path, new Set()]))
  for (const entry of output.split('\0')) {
    if (entry === '') continue
    const slash = entry.lastIndexOf('/')
    names.get(entry.slice(2, Math.max(2, slash)) as Path)?.add(entry.slice(slash + 1))
  }
  return names
}
