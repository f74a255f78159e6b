import * as z from 'zod/mini'
import { labelNames } from './labels.ts'

const label = z.enum(labelNames)
const texts = z.array(z.string().check(z.minLength(1))).check(z.minLength(1), z.maxLength(10_000))

const source = z.strictObject({ label, paths: z.optional(texts), commands: z.optional(texts) })
const sink = z.strictObject({
  name: z.string().check(z.maxLength(200), z.regex(/^(?=.*\S)[^\p{Cc}\p{Cf}\p{Cs}]*$/u)),
  ceiling: label,
  paths: z.optional(texts),
  commands: z.optional(texts),
  hosts: z.optional(texts),
  above: z.optional(z.enum(['deny', 'ask'])),
})

/** The shape of `LabelPolicy`. A source or sink that matches nothing is refused, because it would look like protection. */
export const labelSchema = z
  .strictObject({
    sources: z.optional(z.array(source).check(z.maxLength(10_000))),
    sinks: z.optional(z.array(sink).check(z.maxLength(10_000))),
  })
  .check(
    z.superRefine(({ sources = [], sinks = [] }, context) => {
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
    }),
  )

/** Returns the field names of a section below `labels`, for error messages. */
export function labelFields(section: PropertyKey | undefined): readonly string[] {
  if (section === 'sources') return Object.keys(source.shape)
  return section === 'sinks' ? Object.keys(sink.shape) : ['sources', 'sinks']
}
