import { didYouMean } from '../util/check-options.ts'
import type { ToolName } from './index.ts'

/** The name of a set of tools, or a list of tool names. `Own` are those of own tools. */
export type ToolSet<Own extends string = string> = 'minimal' | 'files' | 'full' | readonly (ToolName | Own)[]

type NamedSet = 'minimal' | 'files'

/** The named sets of each built-in tool. The set `full` contains every tool. To add a tool, add a line. */
const setsOfTool = {
  read_file: ['minimal', 'files'],
  write_file: ['minimal', 'files'],
  edit_file: ['files'],
  replace_range: ['files'],
  append_file: ['files'],
  delete_file: ['files'],
  move_file: ['files'],
  copy_file: ['files'],
  create_directory: ['files'],
  list_directory: ['minimal', 'files'],
  find_files: ['files'],
  search_text: ['minimal', 'files'],
  file_info: ['files'],
  apply_patch: ['minimal', 'files'],
  diff_workspace: ['minimal', 'files'],
  run_command: [],
  start_command: [],
  check_command: [],
  stop_command: [],
  memory_search: [],
  memory_get: [],
  memory_recall: [],
  memory_store: [],
  submit_plan: [],
} as const satisfies Readonly<Record<ToolName, readonly NamedSet[]>>

const sets: ReadonlyMap<string, readonly NamedSet[]> = new Map(Object.entries(setsOfTool))

/**
 * Returns the tools of a set that are in the registry, in the order of the registry. A named set contains only built-in
 * tools.
 *
 * @throws TypeError for an unknown set, an unknown or repeated name, or an empty list
 */
export function resolveToolSet(set: ToolSet, registry: Iterable<string>): readonly string[] {
  const names = [...registry]
  if (set === 'full') return names
  if (set === 'minimal' || set === 'files') return names.filter((name) => sets.get(name)?.includes(set))
  if (typeof set === 'string') {
    throw new TypeError(
      `Unknown tool set ${JSON.stringify(set)}; the sets are "minimal", "files", "full", or a list of names${didYouMean(set, ['minimal', 'files', 'full'])}`,
    )
  }
  if (!Array.isArray(set)) throw new TypeError('A tool set must be "minimal", "files", "full", or a list of tool names')
  if (set.length === 0) throw new TypeError('A tool set must not be empty')
  const selected = new Set<string>()
  for (const [index, name] of set.entries()) {
    if (!names.includes(name)) {
      const help = didYouMean(String(name), names, 'the tools are')
      throw new TypeError(`Unknown tool ${JSON.stringify(name)} at tools[${index}]${help}`)
    }
    if (selected.has(name)) throw new TypeError(`Tool "${name}" is listed twice, again at tools[${index}]`)
    selected.add(name)
  }
  return names.filter((name) => selected.has(name))
}
