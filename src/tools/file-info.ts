import * as z from 'zod/mini'
import { ToolError } from '../errors.ts'
import { classifyContent, classifyDirectory } from '../files/classify/index.ts'
import type { Classification } from '../files/classify/types.ts'
import { sha256 } from '../files/hash/sha256.ts'
import { createDocument } from '../files/text/document.ts'
import { display, notFound } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { Stat } from '../storage/backend.ts'
import { counted } from '../util/counted.ts'
import { type BuiltinContext, defineBuiltinTool } from './builtin-tool.ts'
import { filePath } from './shared/fields.ts'
import { hashFile } from './shared/file-version.ts'
import { isoTime } from './shared/iso-time.ts'
import { targetOf } from './shared/target.ts'

const input = z.strictObject({ path: filePath })

const output = z.object({
  path: z.string(),
  type: z.enum(['file', 'directory', 'link', 'other']),
  kind: z.string(),
  readable: z.boolean(),
  writable: z.boolean(),
  redacted: z.boolean(),
  reason: z.string(),
  sizeBytes: z.optional(z.number()),
  modifiedAt: z.optional(z.string()),
  sha256: z.optional(z.string()),
  mode: z.optional(z.string().check(z.describe('Permission bits in octal'))),
  encoding: z.optional(z.string()),
  bom: z.optional(z.boolean()),
  eol: z.optional(z.string()),
  totalLines: z.optional(z.number()),
  target: z.optional(z.string()),
})

type Output = z.output<typeof output>

/**
 * Describes a path without its content. For a protected file, reports only that it exists. For a file that policy does not
 * allow to read, omits what follows from its content: the hash of a short file confirms a guess of it.
 */
export const fileInfo = defineBuiltinTool({
  name: 'file_info',
  title: 'File info',
  description: 'Describe a file, directory or link: kind, size, version, and why it can or cannot be read or changed.',
  input,
  output,
  permission: 'file:info',
  mutates: false,
  idempotent: true,
  plan: ({ path }) => [{ permission: 'file:info', path, noFollow: true }],
  async draft(_input, context) {
    const access = targetOf(context)
    const { path, asked: requestedPath } = access
    const stat: Stat | undefined = await context.files.stat(path)
    if (stat === undefined) throw notFound(path)
    const info = await describe(access, stat, context)
    return {
      summary: `${display(requestedPath)}: ${info.type}, ${info.kind}${info.sizeBytes === undefined ? '' : `, ${counted(info.sizeBytes, 'byte')}`}`,
      result: () => ({ path: display(requestedPath), ...info }),
    }
  },
})

async function describe(access: GuardedAccess, stat: Stat, context: BuiltinContext): Promise<Omit<Output, 'path'>> {
  const { type } = stat
  if (type === 'directory') return { type, ...facts(classifyDirectory(access.path)), ...timesOf(stat) }
  if (type === 'link') {
    // The classification of the target applies to the link. The guard has evaluated the target.
    const target = context.accesses[1] as GuardedAccess
    return { type, ...facts(target.classification), target: display(target.path) }
  }
  if (type === 'other')
    return {
      type,
      kind: 'UNKNOWN',
      readable: false,
      writable: false,
      redacted: false,
      reason: 'it is not a regular file',
    }
  if (access.classification.redacted) return { type, ...facts(access.classification) }
  context.addLabel(context.labelOf(access.path), access.path)
  const content = await contentOf(access, stat, context).catch((error: unknown) => {
    if (!(error instanceof ToolError) || error.code !== 'POLICY_DENIED') throw error
    return { ...facts(access.classification), readable: false, reason: 'policy restricts reading it' }
  })
  return { type, ...content, sizeBytes: stat.size, ...timesOf(stat), ...modeOf(stat) }
}

function facts({
  kind,
  readable,
  writable,
  redacted,
  reason,
}: Classification): Pick<Output, 'kind' | 'readable' | 'writable' | 'redacted' | 'reason'> {
  return { kind, readable, writable, redacted, reason }
}

function timesOf({ modifiedAt }: Stat): Pick<Output, 'modifiedAt'> {
  return modifiedAt === undefined ? {} : { modifiedAt: isoTime(modifiedAt) }
}

function modeOf({ mode }: Stat): Pick<Output, 'mode'> {
  return mode === undefined ? {} : { mode: (mode & 0o7777).toString(8).padStart(4, '0') }
}

/** Bytes of a large file that are enough to classify it. */
const HEAD_BYTES = 64 * 1024

async function contentOf(
  { path, classification }: GuardedAccess,
  stat: Stat,
  context: BuiltinContext,
): Promise<Omit<Output, 'path' | 'type'>> {
  const { files, limits } = context
  if (stat.size > limits.textFileBytes) {
    const head = await files.readRange(path, { start: 0, end: HEAD_BYTES, tag: stat.tag })
    return { ...facts(classifyContent(classification, head.bytes)), sha256: await hashFile(context, path, stat) }
  }
  const { bytes } = await files.read(path, limits.textFileBytes)
  const refined = classifyContent(classification, bytes)
  if (refined.kind === 'BINARY') return { ...facts(refined), sha256: sha256(bytes) }
  try {
    const document = createDocument(bytes, path)
    const { encoding, bom, eol, totalLines } = document
    return { ...facts(refined), sha256: document.sha256, encoding, bom, eol, totalLines }
  } catch {
    // Not a text that an edit could preserve.
    return {
      ...facts(refined),
      readable: false,
      reason: 'its encoding is not supported',
      sha256: sha256(bytes),
    }
  }
}
