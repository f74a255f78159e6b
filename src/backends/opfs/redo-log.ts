import type { Path } from '../../paths/logical-path.ts'
import { crc32 } from '../../util/crc32.ts'
import { openReader, openWriter } from './byte-cursor.ts'
import { parseRecord, RECORD_HEADER, sealRecord } from './record-frame.ts'

/** The target of one path: a content, inline or staged under a name, a directory, or absence. */
export type RedoStep =
  /** Removes only an entry of that type: applied again, it must not remove what replaced it. */
  | { readonly do: 'remove file' | 'remove directory'; readonly path: Path }
  | { readonly do: 'directory'; readonly path: Path }
  | { readonly do: 'file'; readonly path: Path; readonly staged: string }
  | { readonly do: 'content'; readonly path: Path; readonly bytes: Uint8Array }

/** Encodes the steps of a set as a journal. */
export function encodeSteps(steps: readonly RedoStep[]): Uint8Array {
  const room = steps.reduce((sum, step) => sum + 16 + 3 * step.path.length + contentRoom(step), 0)
  const record = new Uint8Array(RECORD_HEADER + room)
  const writer = openWriter(record, RECORD_HEADER)
  for (const step of steps) {
    writer.u8(KINDS.indexOf(step.do))
    writer.text(step.path)
    if (step.do === 'file') writer.text(step.staged)
    if (step.do === 'content') {
      writer.f64(step.bytes.length)
      writer.bytes(step.bytes)
    }
  }
  const whole = record.subarray(0, writer.at)
  sealRecord(whole, { seq: 1, flushed: 0, previous: 0 }, SALT)
  return whole
}

/** Decodes a journal. Returns `undefined` if it is incomplete. Throws for an unknown step. */
export function decodeSteps(bytes: Uint8Array): RedoStep[] | undefined {
  const header = parseRecord(bytes, SALT)
  const payload = bytes.subarray(RECORD_HEADER)
  if (header === undefined || header.length !== payload.length || crc32(payload) !== header.payloadCrc) return undefined
  const reader = openReader(payload)
  const steps: RedoStep[] = []
  while (!reader.isAtEnd()) {
    const kind = KINDS[reader.u8()]
    const path = reader.text() as Path
    if (kind === 'file') steps.push({ do: kind, path, staged: reader.text() })
    else if (kind === 'content') steps.push({ do: kind, path, bytes: reader.bytes(reader.f64()) })
    else if (kind === undefined) throw new RangeError('The journal contains an unknown step')
    else steps.push({ do: kind, path })
  }
  return steps
}

function contentRoom(step: RedoStep): number {
  if (step.do === 'content') return step.bytes.length
  return step.do === 'file' ? step.staged.length : 0
}

const KINDS = ['remove file', 'remove directory', 'directory', 'file', 'content'] as const
const SALT = 0x66696c65
