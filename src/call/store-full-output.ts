import type { Artifacts } from '../audit/artifacts.ts'
import type { BuiltinDraft } from '../tools/builtin-tool.ts'

/** Keeps what a result shows cut, and says where it can be read; where there is no room, that it was not kept. */
export function storeFullOutput(
  whole: BuiltinDraft<unknown>['fullOutput'],
  artifacts: Artifacts,
  warnings: string[],
): string | undefined {
  if (whole === undefined) return undefined
  try {
    const uri = artifacts.put(`whole.${whole.extension}`, whole.text())
    warnings.push(`The whole of it can be read with read_file at ${uri}`)
    return uri
  } catch {
    warnings.push('The whole of it was not kept: the artifacts of this run take all the room they may')
    return undefined
  }
}
