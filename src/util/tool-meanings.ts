import { wordsOf } from './nearest-name.ts'

/** Names of other systems for the tools of the workspace. */
const otherNames: Readonly<Record<string, string>> = {
  run_command: 'shell bash exec execute terminal command execute_command run_shell_command run',
  read_file: 'read cat view open view_file get_file read_text_file',
  write_file: 'write create save create_file save_file',
  edit_file: 'edit replace str_replace str_replace_editor multi_edit',
  list_directory: 'ls dir list list_dir list_files list_directories directory_tree file_list',
  search_text: 'grep rg search grep_search search_content search_file_content file_search',
  find_files: 'glob find find_file search_files file_glob',
  delete_file: 'delete rm remove unlink remove_file',
  create_directory: 'mkdir make_directory create_dir',
  move_file: 'mv move rename rename_file',
  copy_file: 'cp copy',
  append_file: 'append',
  apply_patch: 'patch diff apply_diff',
  file_info: 'stat get_file_info get_info info',
}

function meaningOf(name: string): string | undefined {
  // Words in any order, so that `file_read` is `read_file`.
  const sorted = (text: string) => [...wordsOf(text)].sort().join()
  const words = sorted(name)
  return Object.keys(otherNames).find((tool) =>
    `${tool} ${otherNames[tool]}`.split(' ').some((one) => sorted(one) === words),
  )
}

/**
 * Returns the tool that a name of another system means: `null` if none of them does what the name says, and `undefined` if the
 * name has no such meaning.
 */
export function meantTool(name: string, names: readonly string[]): string | null | undefined {
  const meaning = meaningOf(name)
  if (meaning === undefined) return undefined
  return names.includes(meaning) ? meaning : (names.find((other) => meaningOf(other) === meaning) ?? null)
}
