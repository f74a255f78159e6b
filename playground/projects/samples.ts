import { ToolError } from 'wardspace'
import { samples } from './samples/index.ts'
import type { Sample } from './types.ts'

export { samples }

export function sampleOf(id: string): Sample {
  const sample = samples.find((entry) => entry.id === id)
  if (sample === undefined) throw new ToolError('NOT_FOUND', `Cannot find the sample "${id}"`)
  return sample
}
