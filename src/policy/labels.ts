import * as z from 'zod'

/** How sensitive content is, the least first. */
export const labelNames = ['public', 'internal', 'confidential', 'restricted'] as const

/** How sensitive content is: `public`, `internal`, `confidential`, `restricted`. */
export type Label = (typeof labelNames)[number]

/** Puts a label on what paths hold, or on what commands print. Where several match, the highest counts. */
export interface LabelSource {
  readonly label: Label
  /** Path globs, as in rules. */
  readonly paths?: readonly string[]
  /** Command lines; `*` stands for any characters. */
  readonly commands?: readonly string[]
}

/** What may flow into paths, commands and the network. Where several match, each of them counts. */
export interface LabelSink {
  /** Unique; what refusals, approvals and the audit call it. */
  readonly name: string
  /** The highest label that may flow there. */
  readonly ceiling: Label
  readonly paths?: readonly string[]
  readonly commands?: readonly string[]
  /** Host names; `*` stands for any characters. */
  readonly hosts?: readonly string[]
  /** What becomes of a higher label: it is refused (the default), or somebody is asked, call by call. */
  readonly above?: 'deny' | 'ask'
}

/** The labels of a policy: where they come from, and where they may go. */
export interface LabelPolicy {
  readonly sources?: readonly LabelSource[]
  readonly sinks?: readonly LabelSink[]
}

const label = z.enum(labelNames)
const texts = z.array(z.string().min(1)).min(1).max(10_000)

const source = z.strictObject({ label, paths: texts.optional(), commands: texts.optional() })
const sink = z.strictObject({
  name: z
    .string()
    .max(200)
    .regex(/^(?=.*\S)[^\p{Cc}\p{Cf}\p{Cs}]*$/u),
  ceiling: label,
  paths: texts.optional(),
  commands: texts.optional(),
  hosts: texts.optional(),
  above: z.enum(['deny', 'ask']).optional(),
})

/** The shape of {@link LabelPolicy}. A source or sink that speaks of nothing is refused: it would look like protection. */
export const labelSchema = z
  .strictObject({
    sources: z.array(source).max(10_000).optional(),
    sinks: z.array(sink).max(10_000).optional(),
  })
  .superRefine(({ sources = [], sinks = [] }, context) => {
    for (const [index, { paths, commands }] of sources.entries()) {
      if (paths === undefined && commands === undefined) {
        context.addIssue({ code: 'custom', path: ['sources', index], message: 'needs paths or commands' })
      }
    }
    const names = new Set<string>()
    for (const [index, { name, paths, commands, hosts }] of sinks.entries()) {
      if (paths === undefined && commands === undefined && hosts === undefined) {
        context.addIssue({ code: 'custom', path: ['sinks', index], message: 'needs paths, commands or hosts' })
      }
      if (names.has(name))
        context.addIssue({ code: 'custom', path: ['sinks', index, 'name'], message: 'must be unique' })
      names.add(name)
    }
  })

/** The fields of the part of a policy at a path below `labels`, for error messages. */
export function labelFieldsAt(part: PropertyKey | undefined): readonly string[] {
  if (part === 'sources') return Object.keys(source.shape)
  return part === 'sinks' ? Object.keys(sink.shape) : ['sources', 'sinks']
}
