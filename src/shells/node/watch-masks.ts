import { execFile } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import { type LogicalPath, parsePath, quote } from '../../paths/logical-path.ts'
import type { CommandFiles } from '../types.ts'
import type { Mask } from './sandbox.ts'

/** Masks that notice who opens them. */
export interface WatchedMasks {
  readonly masks: readonly Mask[]
  /** Notes, as refusals, every try that was noticed; watches no longer. Gives how many there were. */
  settle(files: Pick<CommandFiles, 'refuse'>): number
}

/** More masks than this are closed, and notice nothing. */
const MOST_WATCHED = 100
const MKFIFO = '/usr/bin/mkfifo'

/**
 * Gives masked files a pipe with a name of its own each: whoever opens it to read waits until this end is opened as well,
 * which tells that somebody waits, and then reads nothing. Whoever opens it to write is refused, as the pipe is closed to that.
 * Directories stay closed and notice nothing; so do files where pipes cannot be made.
 */
export async function watchMasks(own: string, masks: readonly Mask[]): Promise<WatchedMasks> {
  const watched = new Map<string, LogicalPath>()
  const given = masks.map((mask): Mask => {
    const path = mask.kind === 'f' && watched.size < MOST_WATCHED ? nameOf(mask.path) : undefined
    if (path === undefined) return mask
    const source = `p${watched.size}`
    watched.set(join(own, 'void', source), path)
    return { ...mask, source }
  })
  if (watched.size === 0 || !(await makePipes([...watched.keys()]))) return { masks, settle: () => 0 }

  const tried = new Set<LogicalPath>()
  function look(): void {
    for (const [pipe, path] of watched) if (hasReader(pipe)) tried.add(path)
  }
  // A reader waits for this: often for few, and without taking much of the time for many.
  const timer = setInterval(look, Math.max(15, watched.size))
  timer.unref()
  return {
    masks: given,
    settle(files) {
      clearInterval(timer)
      look()
      for (const path of tried) files.refuse('file:read', path, refusal(path))
      return tried.size
    },
  }
}

/** Lets whoever waits to read go on, to the end of nothing. */
function hasReader(pipe: string): boolean {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK))
    return true
  } catch {
    return false
  }
}

function refusal(path: LogicalPath): ToolError {
  const { redacted, reason } = classifyPath(path)
  const why = redacted ? `: ${reason}` : ''
  const code = redacted ? 'POLICY_DENIED_SECRET' : 'POLICY_DENIED'
  return new ToolError(code, `A command may not read ${quote(path)}${why}; it was given nothing`, { path })
}

function makePipes(paths: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(MKFIFO, ['-m', '400', ...paths], { env: {}, cwd: '/' }, (error) => resolve(error === null))
  })
}

function nameOf(path: string): LogicalPath | undefined {
  try {
    const parsed = parsePath(path)
    return parsed === path ? parsed : undefined
  } catch {
    return undefined
  }
}
