import { ToolError } from 'wardspace'
import type { Sample } from './types.ts'

/** The sample projects, in the order in which they are offered. */
export const samples: readonly Sample[] = []

export function sampleOf(id: string): Sample {
  const found = samples.find((sample) => sample.id === id)
  if (found === undefined) throw new ToolError('NOT_FOUND', `Cannot find the sample "${id}"`)
  return found
}
