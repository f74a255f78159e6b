import { closeSync, constants, fstatSync, openSync, read, type Stats, write } from 'node:fs'
import { promisify } from 'node:util'
import type { Path } from '../../paths/logical-path.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { unknownContent } from './staged-content.ts'
import { adopt, fsyncAsync, type Staged, stage } from './staging.ts'
import type { ApplyContext } from './tasks.ts'

/** Bytes that are copied at once. */
const PART_BYTES = 1024 * 1024

/** {@link stage} of a state whose content may be stored already. */
export async function stageState(
  { contents, durable }: ApplyContext,
  { at, path, to }: { readonly at: string; readonly path: Path; readonly to: Staged },
  old: Stats | undefined,
): Promise<Stats | undefined> {
  if (to.type === 'link' || to.content === undefined) return stage(at, to, old, durable)
  if (!contents.has(to.content)) throw unknownContent(path)
  return contents.place(to.content, { at, path, mode: to.mode }, old, durable)
}

/** Copies a file of the tree to a temporary name, part by part. It gets the bits and the owner of `old`. */
export async function copyFile(
  { access, durable }: ApplyContext,
  from: Path,
  at: string,
  { mode }: { readonly mode?: number },
  old: Stats | undefined,
): Promise<Stats> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const bits = mode ?? (old?.isFile() ? old.mode & 0o777 : 0o666)
  const source = await retryOnDescriptorLimit(() => {
    const entry = access.look(from)
    try {
      return entry.open()
    } finally {
      entry.close()
    }
  })
  let target = -1
  try {
    target = await retryOnDescriptorLimit(() => openSync(at, flags, bits & 0o777))
    const bytes = new Uint8Array(PART_BYTES)
    for (let position = 0; ; ) {
      const { bytesRead } = await promisify(read)(source, bytes, 0, bytes.length, position)
      if (bytesRead === 0) break
      for (let done = 0; done < bytesRead; ) {
        const { bytesWritten } = await promisify(write)(target, bytes, done, bytesRead - done, position + done)
        if (bytesWritten <= 0) throw Object.assign(new Error('short write'), { code: 'ENOSPC' })
        done += bytesWritten
      }
      position += bytesRead
    }
    adopt(target, fstatSync(target), bits & 0o777, old)
    if (durable) await fsyncAsync(target)
    return fstatSync(target)
  } finally {
    closeSync(source)
    if (target !== -1) closeSync(target)
  }
}
