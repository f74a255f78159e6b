import { execFile } from 'node:child_process'
import { ToolError } from '../../errors.ts'
import { type Path, ROOT } from '../../paths/logical-path.ts'
import type { Sandbox } from './sandbox.ts'
import { NAMES, SETUP } from './unshare-setup.ts'

const FLAGS = ['--user', '--map-root-user', '--mount', '--propagation', 'private'] as const
const ALONE = ['--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child'] as const
const UNSHARE = '/usr/bin/unshare'

/** As many bytes of names as are read back. */
const MOST_NAMES = 256 * 1024 * 1024

/**
 * A sandbox out of what Linux gives to everyone: namespaces, by `unshare` of util-linux. The system is read-only, home
 * directories are not there, nor any network, and no privilege can be got.
 */
export function unshareSandbox(writes: 'apart' | 'in-place'): Sandbox {
  const sandbox: Sandbox = {
    name: 'unshare',
    network: false,
    wrap: ({ root, own, cwd, masks, readable, argv }) => [
      UNSHARE,
      ...FLAGS,
      ...ALONE,
      ...['--', '/bin/sh', '-c', SETUP, 'sandbox', root, own, writes, cwd],
      ...[String(masks.length), ...masks.flatMap(({ kind, source = kind, path }) => [source, path])],
      ...[String(readable.length), ...readable],
      ...argv,
    ],
  }
  if (writes === 'in-place') return sandbox
  return { ...sandbox, apart: { names: namesIn } }
}

async function namesIn(
  { root, own }: { readonly root: string; readonly own: string },
  directories: readonly Path[],
): Promise<Map<Path, Set<string>>> {
  const places = directories.map((path) => (path === ROOT ? '.' : `./${path}`))
  const argv = [...FLAGS, '--', '/bin/sh', '-c', NAMES, 'names', root, own, ...places]
  const output = await new Promise<string>((resolve, reject) => {
    execFile(UNSHARE, argv, { maxBuffer: MOST_NAMES, env: {}, cwd: '/' }, (error, stdout) => {
      if (error === null) resolve(stdout)
      else reject(new ToolError('BACKEND_ERROR', 'What the command changed could not be read'))
    })
  })
  const found = new Map<Path, Set<string>>(directories.map((path) => [path, new Set()]))
  for (const entry of output.split('\0')) {
    if (entry === '') continue
    const slash = entry.lastIndexOf('/')
    found.get(entry.slice(2, Math.max(2, slash)) as Path)?.add(entry.slice(slash + 1))
  }
  return found
}
