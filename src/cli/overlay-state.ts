import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { takeFileLock } from '../audit/file-lock.ts'
import { nodeBackend } from '../backends/node/index.ts'
import { type OverlayBackend, overlay } from '../backends/overlay/index.ts'

/**
 * The overlay of a directory, kept between sessions among the user's own state files: one for each directory, and one
 * process at a time. Nothing in the directory changes until it is accepted.
 *
 * @throws TypeError where another process works on it, or for what is no directory
 */
export function openPersistentOverlay(root: string): OverlayBackend {
  const lower = nodeBackend(root)
  const place = join(stateHome(), 'overlays', sha256(realpathSync(root)).slice(0, 32))
  const files = join(place, 'files')
  mkdirSync(files, { recursive: true, mode: 0o700 })
  const lock = takeFileLock(join(place, 'lock'))
  if (lock === undefined) throw new TypeError(`Another process works on the overlay of "${root}"`)
  const closing = {
    ...lower,
    async close() {
      await lower.close()
      lock.release()
    },
  }
  return overlay(closing, nodeBackend(files))
}

function stateHome(): string {
  return join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'wardspace')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
