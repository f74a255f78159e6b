import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '../../errors.ts'
import { type Path, ROOT } from '../../paths/logical-path.ts'
import { makeOwn, removeOwn } from './own.ts'
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
      ...[String(masks.length), ...masks.flatMap(({ kind, path }) => [kind, path])],
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

let probed: { readonly sandbox: Sandbox } | { readonly why: string } | undefined

/** The sandbox that this machine really gives, tried once: one that keeps writes apart, else one that does not. */
export function probeUnshare(): { readonly sandbox: Sandbox } | { readonly why: string } {
  probed ??= probe()
  return probed
}

function probe(): { sandbox: Sandbox } | { why: string } {
  if (process.platform !== 'linux') return { why: 'only Linux has namespaces' }
  let why = ''
  for (const writes of ['apart', 'in-place'] as const) {
    const sandbox = unshareSandbox(writes)
    const failed = tryOut(sandbox)
    if (failed === undefined) return { sandbox }
    why = failed
  }
  return { why }
}

/** Whether a masked file stays closed and a write arrives where it should; if not, why. */
function tryOut(sandbox: Sandbox): string | undefined {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-probe-')))
  const own = join(base, 'own')
  const root = join(base, 'root')
  try {
    if (/[:,\\]/.test(base)) return 'the directory for temporary files has a name that overlayfs does not take'
    mkdirSync(root)
    makeOwn(own)
    writeFileSync(join(root, 'masked'), 'planted')
    const line = 'cat masked 2>/dev/null && exit 1; echo written > written'
    const masks = [{ kind: 'f', path: 'masked' }] as const
    const argv = sandbox.wrap({ root, own, cwd: ROOT, masks, readable: [], argv: ['/bin/sh', '-c', line] })
    const { status, stderr, error } = spawnSync(argv[0] as string, argv.slice(1), {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      timeout: 20_000,
      killSignal: 'SIGKILL',
    })
    if (error !== undefined) return 'unshare of util-linux is not there'
    if (status !== 0) return stderr.split('\n')[0]?.replaceAll(base, '') || 'it could not be set up'
    readFileSync(join(sandbox.apart === undefined ? root : join(own, 'upper'), 'written'))
    return undefined
  } catch {
    return 'what was written in it is not there'
  } finally {
    removeOwn(own)
    rmSync(base, { recursive: true, force: true })
  }
}
