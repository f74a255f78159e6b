import { ToolError } from '../../src/errors.ts'
import type { Workspace } from '../../src/index.ts'
import { type AttackedTree, toolRows } from '../tools/table.ts'
import { INSIDE, type Operation } from './link-race.ts'

/** The race operations of every tool on the attacked tree, through the whole pipeline. Refusals are thrown. */
export function toolOperations(workspace: Workspace): { reads: Operation[]; writes: Operation[] } {
  let count = 0
  /** Created paths that `takeCreated` has not returned yet. */
  const created: string[] = []
  const newPath = (prefix: string) => `dir/${prefix}-${nextNumber()}`

  function nextNumber(): number {
    count += 1
    return count
  }

  const call: AttackedTree['call'] = async (name, input) => {
    const result = await workspace.callTool(name, input)
    if (result.ok) return result as unknown as Record<string, unknown>
    // A refusal must not contain anything from outside either.
    if (/OUTSIDE-MARKER|7777/.test(JSON.stringify(result))) return { ...result }
    throw new ToolError(result.code, result.message)
  }

  const attacked: AttackedTree = {
    content: INSIDE,
    call,
    newPath,
    nextNumber,
    repeat: (label, name, input) => ({ name: label, run: () => call(name, input) }),
    async create(prefix, create) {
      const path = newPath(prefix)
      const result = await create(path)
      created.push(path)
      return result
    },
    takeCreated: () => created.pop() ?? 'dir/file.txt',
  }
  const operations = toolRows.flatMap(([, { race }]) => ('reason' in race ? [] : [race(attacked)]))
  return {
    reads: operations.flatMap(({ reads }) => reads ?? []),
    writes: operations.flatMap(({ writes }) => writes ?? []),
  }
}
