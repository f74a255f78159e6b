import { ToolError } from 'wardspace'
import { samples } from './samples/index.ts'
import type { Sample } from './types.ts'

export { samples }

export function sampleOf(id: string): Sample {
  const found = samples.find((sample) => sample.id === id)
  if (found === undefined) throw new ToolError('NOT_FOUND', `Cannot find the sample "${id}"`)
  return found
}
