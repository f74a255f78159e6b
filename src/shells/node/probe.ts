import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '../../errors.ts'
import { ROOT } from '../../paths/logical-path.ts'
import { bubblewrap } from './bubblewrap.ts'
import { createCommandDirectory, removeCommandDirectory } from './command-directory.ts'
import type { Sandbox } from './sandbox.ts'
import { unshareSandbox } from './unshare.ts'

/** A sandbox that works, or why there is none. */
export type Probed = { readonly sandbox: Sandbox } | { readonly why: string }

let probed: Probed | undefined

/** The sandbox that this machine really gives, tried once: one that keeps writes apart, else one that does not. */
export function probeSandbox(): Probed {
  probed ??= probe()
  return probed
}

function probe(): Probed {
  /* v8 ignore if -- @preserve: another platform */
  if (process.platform !== 'linux') return { why: 'only Linux has namespaces' }
  return firstThatWorks([unshareSandbox('apart'), bubblewrap(), unshareSandbox('in-place')])
}

/** The first that works, or why the first of all does not. */
export function firstThatWorks(sandboxes: readonly Sandbox[]): Probed {
  let why = ''
  for (const sandbox of sandboxes) {
    const failed = testSandbox(sandbox)
    if (failed === undefined) return { sandbox }
    why ||= failed
  }
  return { why }
}

/** @throws ToolError `SHELL_UNAVAILABLE` with the reason */
export function requireSandbox(found: Probed): Sandbox {
  if ('sandbox' in found) return found.sandbox
  throw new ToolError('SHELL_UNAVAILABLE', `This machine gives no sandbox for commands: ${found.why}`, {
    hint: "Give one as `sandbox`, or run commands without: sandbox: 'none'.",
  })
}

/** Whether a masked file stays closed and a write arrives where it should; if not, why. */
export function testSandbox(sandbox: Sandbox): string | undefined {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-probe-')))
  const own = join(base, 'own')
  const root = join(base, 'root')
  try {
    if (/[^\w./-]/.test(base)) return 'the path of the directory for temporary files holds unusual characters'
    mkdirSync(root)
    createCommandDirectory(own)
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
    if (error !== undefined) return `${sandbox.name} is not there`
    if (status !== 0) return stderr.split('\n')[0]?.replaceAll(base, '') || 'it could not be set up'
    readFileSync(join(sandbox.apart === undefined ? root : join(own, 'upper'), 'written'))
    return undefined
  } catch {
    return 'what was written in it is not there'
  } finally {
    removeCommandDirectory(own)
    rmSync(base, { recursive: true, force: true })
  }
}
