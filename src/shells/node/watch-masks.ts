import { execFile } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import { type LogicalPath, quote } from '../../paths/logical-path.ts'
import type { CommandFiles } from '../types.ts'
import { toLogicalPath } from './find-masks.ts'
import type { Mask } from './sandbox.ts'

/** Masks that detect attempts to read them. */
export interface WatchedMasks {
  readonly masks: readonly Mask[]
  /** Stops watching and records each detected attempt as a refusal. Returns their number. */
  stop(files: Pick<CommandFiles, 'refuse'>): number
}

/** Masks beyond this number cannot be read either, but are not watched. */
const MAX_WATCHED = 100
const MKFIFO = '/usr/bin/mkfifo'

/**
 * Replaces masked files by named pipes. A process that opens one for reading blocks until this side opens it for
 * writing; that open succeeds only if a reader waits, and the reader then reads nothing. Opening one for writing fails,
 * because the pipe has no write permission. Directories are not watched, nor are files on systems without pipes.
 */
export async function watchMasks(commandDir: string, masks: readonly Mask[]): Promise<WatchedMasks> {
  const pathByPipe = new Map<string, LogicalPath>()
  const watchedMasks = masks.map((mask): Mask => {
    const path = mask.kind === 'f' && pathByPipe.size < MAX_WATCHED ? toLogicalPath(mask.path) : undefined
    if (path === undefined) return mask
    const source = `p${pathByPipe.size}`
    pathByPipe.set(join(commandDir, 'void', source), path)
    return { ...mask, source }
  })
  if (pathByPipe.size === 0 || !(await makePipes([...pathByPipe.keys()]))) return { masks, stop: () => 0 }

  const attempted = new Set<LogicalPath>()
  function poll(): void {
    for (const [pipe, path] of pathByPipe) if (releaseReader(pipe)) attempted.add(path)
  }
  // A reader blocks until the next poll. The interval grows with the number of pipes to limit the load.
  const timer = setInterval(poll, Math.max(15, pathByPipe.size))
  timer.unref()
  return {
    masks: watchedMasks,
    stop(files) {
      clearInterval(timer)
      poll()
      for (const path of attempted) files.refuse('file:read', path, readRefusal(path))
      return attempted.size
    },
  }
}

/** Lets a waiting reader continue, to an empty file. Returns whether there was one. */
function releaseReader(pipe: string): boolean {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK))
    return true
  } catch {
    return false
  }
}

function readRefusal(path: LogicalPath): ToolError {
  const { redacted, reason } = classifyPath(path)
  const suffix = redacted ? `: ${reason}` : ''
  const code = redacted ? 'POLICY_DENIED_SECRET' : 'POLICY_DENIED'
  return new ToolError(code, `A command may not read ${quote(path)}${suffix}; it received no content`, { path })
}

function makePipes(paths: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(MKFIFO, ['-m', '400', ...paths], { env: {}, cwd: '/' }, (error) => resolve(error === null))
  })
}
