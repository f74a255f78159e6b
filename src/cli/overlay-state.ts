import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { takeFileLock } from '../audit/file-lock.ts'
import { nodeBackend } from '../backends/node/index.ts'
import { type OverlayBackend, overlay } from '../backends/overlay/index.ts'

/**
 * Opens the overlay of a directory, which is kept between sessions in the user's state directory: one for each directory, for
 * one process at a time. The directory does not change until the overlay is accepted.
 *
 * @throws TypeError if another process uses the overlay, or the root is not a directory
 */
export function openPersistentOverlay(root: string): OverlayBackend {
  const lower = nodeBackend(root)
  const directory = join(stateHome(), 'overlays', sha256(realpathSync(root)).slice(0, 32))
  const files = join(directory, 'files')
  mkdirSync(files, { recursive: true, mode: 0o700 })
  const lock = takeFileLock(join(directory, 'lock'))
  if (lock === undefined) throw new TypeError(`Another process uses the overlay of "${root}"; wait until it ends`)
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
