import type { Artifacts } from '../audit/artifacts.ts'

/** Stores the complete text of a cut result and returns its address. Adds a warning with the address, or that there was no room. */
export function storeFullOutput(
  text: string,
  extension: string,
  artifacts: Artifacts,
  warnings: string[],
): string | undefined {
  try {
    const uri = artifacts.put(`whole.${extension}`, text)
    warnings.push(`Read the complete output with read_file at ${uri}`)
    return uri
  } catch {
    warnings.push('The complete output was not kept: the artifacts of this run are full')
    return undefined
  }
}
