import type { StepFiles } from '../call/commands/program-files.ts'
import { readParts } from '../storage/read-parts.ts'
import { HEAD_BYTES } from '../storage/versions.ts'
import { refuseMarksIn } from './refuse-marks.ts'

/** A write of a content that is not in memory. */
export interface LargeWrite {
  readonly path: string
  readonly bits: number | undefined
  /** Whether the parts are added to the file that is there. */
  readonly append: boolean
}

/** Stores a content part by part, and makes it the content of a file. Returns its version. */
export async function writeParts(
  step: StepFiles,
  { path, bits, append }: LargeWrite,
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<string> {
  const { files, drafts, signal, stage } = step
  if (stage === undefined) throw new TypeError('the backend does not store contents part by part')
  // Before the first part is taken, which cannot be taken again after an approval.
  const { path: target } = await files.reach({ permission: append ? 'file:append' : 'file:write', path })
  const stat = append ? await drafts.stat(target) : undefined
  const sink = await stage(target)
  let head: Uint8Array = new Uint8Array()
  const write = async (bytes: Uint8Array) => {
    if (head.length < HEAD_BYTES) {
      const grown = new Uint8Array(Math.min(HEAD_BYTES, head.length + bytes.length))
      grown.set(head)
      grown.set(bytes.subarray(0, grown.length - head.length), head.length)
      head = grown
    }
    await sink.write(bytes)
  }
  if (stat?.type === 'file') for await (const bytes of readParts(drafts, target, stat)) await write(bytes)
  for await (const bytes of parts) await write(bytes)
  const content = await sink.finish()
  await refuseMarksIn({ ...drafts, signal }, target, content, stat?.type === 'file' ? stat.size : 0)
  const mode = bits === undefined ? {} : { mode: bits }
  await files.writeContent(path, { type: 'file', bytes: head, content, ...mode }, { appendsTo: stat })
  return content.sha256
}
