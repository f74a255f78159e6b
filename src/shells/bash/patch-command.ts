import type { ExecResult } from 'just-bash'
import { ToolError } from '../../errors.ts'
import { applyToFile } from '../../patch/apply-file.ts'
import type { FileChange } from '../../patch/file-change.ts'
import { planPatch } from '../../patch/plan.ts'
import type { LogicalPath } from '../../paths/logical-path.ts'
import type { CommandFiles } from '../types.ts'
import { bytesOfText } from './byte-encoding.ts'
import { type CustomCommand, customCommand } from './custom-command.ts'
import { type FlagTable, parseFlags } from './flags.ts'
import { resolvePath, resolveVirtualPath, type VirtualRoots } from './virtual-paths.ts'

const flagTable: FlagTable = {
  plain: {
    '--dry-run': 'dryRun',
    '-s': 'silent',
    '--silent': 'silent',
    '--quiet': 'silent',
    '-u': 'ignored',
    '--unified': 'ignored',
    '-f': 'ignored',
    '--force': 'ignored',
    '-t': 'ignored',
    '--batch': 'ignored',
    '--verbose': 'ignored',
    '--posix': 'ignored',
    '--no-backup-if-mismatch': 'ignored',
  },
  valued: {
    '-p': 'strip',
    '--strip': 'strip',
    '-i': 'input',
    '--input': 'input',
    '-d': 'directory',
    '--directory': 'directory',
  },
}

const MAX_FILE_BYTES = 64 * 1024 * 1024

/** `patch`: applies a unified diff to the guarded files, completely or not at all, with the engine of `apply_patch`. */
export function patchCommand(roots: VirtualRoots): CustomCommand {
  return customCommand('patch', async (args, { cwd, stdin }) => {
    const flags = parseFlags(args, flagTable)
    if (flags === undefined) return refused('an option of it is not available in this shell')
    const strip = flags.values('strip').at(-1) ?? '1'
    if (strip !== '0' && strip !== '1') return refused(`-p${strip} is not available in this shell, only -p0 and -p1`)
    if (flags.operands.length > 0) return refused('files are named in the patch; give it with -i or on the input')
    const directory = resolvePath(cwd, flags.values('directory').at(-1) ?? '.')
    const start = resolveVirtualPath(directory, roots)
    if (start.in !== 'files' || start.files !== roots.workspace) return refused('it works in the workspace only')
    const base = start.path === '.' ? '' : `${start.path}/`
    try {
      const source = flags.values('input').at(-1)
      const text = textOf(source === undefined ? bytesOfText(stdin, 'latin1') : await readSource(source, cwd, roots))
      const steps = await apply(planPatch(text).changes, base, roots.workspace)
      if (flags.count('dryRun') === 0) for (const { run } of steps) await run()
      const verb = flags.count('dryRun') > 0 ? 'checking' : 'patching'
      const lines = flags.count('silent') > 0 ? [] : steps.map(({ path }) => `${verb} file ${path}\n`)
      return { stdout: lines.join(''), stderr: '', exitCode: 0 }
    } catch (error) {
      if (!(error instanceof ToolError) || error.code === 'ABORTED') throw error
      return refused(error.message)
    }
  })
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws ToolError `UNSUPPORTED_ENCODING`: other bytes than UTF-8 would change in the patched files */
function textOf(patch: Uint8Array): string {
  try {
    return decoder.decode(patch)
  } catch {
    throw new ToolError('UNSUPPORTED_ENCODING', 'Cannot apply the patch: it is not UTF-8')
  }
}

async function readSource(name: string, cwd: string, roots: VirtualRoots): Promise<Uint8Array> {
  const location = resolveVirtualPath(resolvePath(cwd, name), roots)
  if (location.in !== 'files') throw new ToolError('NOT_FOUND', `Cannot open the patch ${JSON.stringify(name)}`)
  return location.files.read(location.path)
}

interface Step {
  readonly path: string
  run(): Promise<void>
}

/** Plans the steps of all changes. Nothing is written before every change applies. */
async function apply(
  changes: readonly FileChange<LogicalPath>[],
  base: string,
  files: CommandFiles,
): Promise<readonly Step[]> {
  const steps: Step[] = []
  /** Files as the earlier changes leave them. */
  const states = new Map<string, Uint8Array | null>()
  const stateOf = async (path: string): Promise<Uint8Array | null> => {
    const planned = states.get(path)
    if (planned !== undefined) return planned
    return (await files.stat(base + path)) === undefined ? null : files.read(base + path)
  }
  for (const change of changes) {
    const { kind, oldPath, newPath } = change
    const old = oldPath === null ? null : await stateOf(oldPath)
    const creates = oldPath === null || (change.mayCreate && old === null)
    if (old === null && !creates)
      throw new ToolError('NOT_FOUND', `Cannot patch ${JSON.stringify(oldPath)}: it does not exist`)
    if (oldPath === null && newPath !== null && (await stateOf(newPath)) !== null) {
      throw new ToolError('ALREADY_EXISTS', `Cannot create ${JSON.stringify(newPath)}: it already exists`)
    }
    const patched = await applyToFile(old, change, { textFileBytes: MAX_FILE_BYTES })
    if (oldPath !== null && kind !== 'copy' && oldPath !== newPath) {
      states.set(oldPath, null)
      if (newPath === null) steps.push({ path: oldPath, run: () => files.remove(base + oldPath) })
    }
    if (newPath === null) continue
    states.set(newPath, patched)
    const mode = change.newMode ?? change.oldMode
    steps.push({
      path: newPath,
      async run() {
        if (kind === 'rename' && oldPath !== null) {
          await makeParents(base + newPath, files)
          await files.rename(base + oldPath, base + newPath)
        }
        if (creates || kind === 'copy') await makeParents(base + newPath, files)
        await files.write(base + newPath, patched.slice(), mode === undefined ? {} : { mode })
      },
    })
  }
  return steps
}

async function makeParents(path: string, files: CommandFiles): Promise<void> {
  const names = path.split('/').slice(0, -1)
  for (const [i] of names.entries()) {
    const above = names.slice(0, i + 1).join('/')
    if ((await files.stat(above)) === undefined) await files.makeDirectory(above, { mayExist: true })
  }
}

function refused(reason: string): ExecResult {
  return { stdout: '', stderr: `patch: **** ${reason}\n`, exitCode: 1 }
}
