import type { Artifacts } from '../audit/artifacts.ts'
import type { BuiltinDraft } from '../tools/builtin-tool.ts'

/** Stores the complete text of a cut result and returns its address. Adds a warning with the address, or that there was no room. */
export function storeFullOutput(
  output: BuiltinDraft<unknown>['fullOutput'],
  artifacts: Artifacts,
  warnings: string[],
): string | undefined {
  if (output === undefined) return undefined
  try {
    const uri = artifacts.put(`whole.${output.extension}`, output.text())
    warnings.push(`Read the complete output with read_file at ${uri}`)
    return uri
  } catch {
    warnings.push('The complete output was not kept: the artifacts of this run have reached their size limit')
    return undefined
  }
}
