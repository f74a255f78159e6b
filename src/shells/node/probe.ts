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

/** A sandbox that works, or the reason why none does. */
export type ProbeResult = { readonly sandbox: Sandbox } | { readonly why: string }

let cached: ProbeResult | undefined

/** Finds the sandbox that works on this machine; prefers one with a separate layer for writes. Probes once per process. */
export function probeSandbox(): ProbeResult {
  cached ??= probe()
  return cached
}

function probe(): ProbeResult {
  /* v8 ignore if -- @preserve: another platform */
  if (process.platform !== 'linux') return { why: 'only Linux has namespaces' }
  return firstThatWorks([unshareSandbox('overlayfs'), bubblewrap(), unshareSandbox('in-place')])
}

/** Returns the first sandbox that works, or the reason why the first one does not. */
export function firstThatWorks(sandboxes: readonly Sandbox[]): ProbeResult {
  let why = ''
  for (const sandbox of sandboxes) {
    const failed = testSandbox(sandbox)
    if (failed === undefined) return { sandbox }
    why ||= failed
  }
  return { why }
}

/** @throws ToolError `SHELL_UNAVAILABLE` with the reason */
export function requireSandbox(result: ProbeResult): Sandbox {
  if ('sandbox' in result) return result.sandbox
  throw new ToolError('SHELL_UNAVAILABLE', `This machine has no sandbox for commands: ${result.why}`, {
    hint: "Pass a `sandbox`, or run commands without one: sandbox: 'none'.",
  })
}

/** Checks that a masked file cannot be read and that a write arrives. Returns the reason of a failure. */
export function testSandbox(sandbox: Sandbox): string | undefined {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-probe-')))
  const commandDir = join(base, 'command')
  const root = join(base, 'root')
  try {
    if (/[^\w./-]/.test(base)) return 'the path of the directory for temporary files contains unusual characters'
    mkdirSync(root)
    createCommandDirectory(commandDir)
    writeFileSync(join(root, 'masked'), 'planted')
    const line = 'cat masked 2>/dev/null && exit 1; echo written > written'
    const masks = [{ kind: 'f', path: 'masked' }] as const
    const argv = sandbox.wrap({ root, commandDir, cwd: ROOT, masks, readable: [], argv: ['/bin/sh', '-c', line] })
    const { status, stderr, error } = spawnSync(argv[0] as string, argv.slice(1), {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      timeout: 20_000,
      killSignal: 'SIGKILL',
    })
    if (error !== undefined) return `${sandbox.name} is not installed`
    if (status !== 0) return stderr.split('\n')[0]?.replaceAll(base, '') || 'it could not be set up'
    readFileSync(join(sandbox.overlayfs === undefined ? root : join(commandDir, 'upper'), 'written'))
    return undefined
  } catch {
    return 'a file written in it is missing'
  } finally {
    removeCommandDirectory(commandDir)
    rmSync(base, { recursive: true, force: true })
  }
}
