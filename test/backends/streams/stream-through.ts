import { createSha256 } from '../../../src/files/hash/sha256.ts'
import { createWorkspace } from '../../../src/index.ts'
import type { Backend } from '../../../src/storage/backend.ts'

const MIB = 1024 * 1024

/** The hash of what a stream was given, and of what another one returned. */
export interface Streamed {
  readonly written: string
  readonly read: string
  readonly bytes: number
}

/** Writes a file of that many mebibytes by a stream and reads it by a stream. Closes the backend. */
export async function streamThrough(backend: Backend, mebibytes: number): Promise<Streamed> {
  const limits = { bytesWrittenPerRun: (mebibytes + 1) * MIB }
  const workspace = await createWorkspace({ backend, policy: 'autonomous', limits })
  const written = createSha256()
  const writer = (await workspace.files.writable('big')).getWriter()
  for (let i = 0; i < mebibytes; i++) {
    const part = new Uint8Array(MIB).fill(i)
    new DataView(part.buffer).setUint32(0, i)
    written.update(part)
    await writer.write(part)
  }
  await writer.close()
  const read = createSha256()
  let bytes = 0
  const reader = (await workspace.files.readable('big')).getReader()
  for (let part = await reader.read(); part.value !== undefined; part = await reader.read()) {
    read.update(part.value)
    bytes += part.value.length
  }
  await workspace.close()
  return { written: written.digest(), read: read.digest(), bytes }
}
