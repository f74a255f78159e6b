import type { ToolName } from './index.ts'

/**
 * The input fields of every built-in tool. A policy may name each of them, also in a workspace whose page does not contain the
 * tool. To add a tool, add a line.
 */
export const toolFields: Readonly<Record<ToolName, string>> = {
  list_directory: 'path maxDepth maxEntries includeHidden includeIgnored',
  find_files: 'pattern path maxResults includeHidden includeIgnored',
  search_text:
    'query mode path includeGlob excludeGlob caseSensitive contextLines maxMatches maxFileBytes timeoutMs hashes filesOnly includeHidden includeIgnored',
  read_file: 'path startLine startColumn maxLines lineNumbers ifChanged cells',
  file_info: 'path',
  diff_workspace: 'statOnly maxBytes paths base',
  edit_file: 'path oldText newText replaceAll edits expectedSha256 dryRun reason',
  replace_range: 'path startLine endLine newText expectedSha256 reason',
  apply_patch: 'patch expectedSha256s expectedBaseCommit dryRun reason',
  write_file: 'path content mode createParents expectedSha256 reason',
  append_file: 'path content createParents expectedSha256 reason',
  create_directory: 'path expectedSha256 reason',
  copy_file: 'path to createParents expectedSha256 reason',
  move_file: 'path to createParents expectedSha256 reason',
  delete_file: 'path expectedSha256 reason',
  run_command: 'command cwd timeoutMs reason',
  start_command: 'command cwd timeoutMs reason',
  check_command: 'id',
  stop_command: 'id reason',
  memory_search: 'query maxResults',
  memory_get: 'id',
  memory_recall: 'query maxNotes',
  memory_store: 'id title content labels scopes expectedSha256 reason',
  submit_plan: 'plan paths reason',
}
