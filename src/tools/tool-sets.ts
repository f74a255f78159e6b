/** A named set of tools, or their names. */
export type ToolSet = 'minimal' | 'files' | 'full' | readonly string[]

/** What each named set holds; `full` is everything there is. */
const sets = {
  minimal: ['read_file', 'list_directory', 'search_text', 'write_file', 'apply_patch', 'diff_workspace'],
  files: [
    'read_file',
    'write_file',
    'edit_file',
    'replace_range',
    'append_file',
    'delete_file',
    'move_file',
    'copy_file',
    'create_directory',
    'list_directory',
    'find_files',
    'search_text',
    'file_info',
    'apply_patch',
    'diff_workspace',
  ],
} as const satisfies Record<string, readonly string[]>

/**
 * The tools of a set among those that there are, in the order of the registry. A named set leaves out what this build
 * does not have.
 *
 * @throws TypeError for an unknown set, an unknown or repeated name, or an empty list
 */
export function resolveToolSet(set: ToolSet, registry: Iterable<string>): readonly string[] {
  const known = [...registry]
  if (set === 'full') return known
  if (typeof set === 'string') {
    if (!Object.hasOwn(sets, set)) {
      throw new TypeError(
        `Unknown tool set ${JSON.stringify(set)}; the sets are "minimal", "files", "full", or a list of names`,
      )
    }
    const wanted: readonly string[] = sets[set]
    return known.filter((name) => wanted.includes(name))
  }
  if (!Array.isArray(set)) throw new TypeError('A tool set must be "minimal", "files", "full", or a list of tool names')
  if (set.length === 0) throw new TypeError('A tool set must not be empty')
  const wanted = new Set<string>()
  for (const [index, name] of set.entries()) {
    if (!known.includes(name)) {
      throw new TypeError(`Unknown tool ${JSON.stringify(name)} at tools[${index}]; the tools are ${known.join(', ')}`)
    }
    if (wanted.has(name)) throw new TypeError(`Tool "${name}" is listed twice, again at tools[${index}]`)
    wanted.add(name)
  }
  return known.filter((name) => wanted.has(name))
}
