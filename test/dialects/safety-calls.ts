import { createHash } from 'node:crypto'

/** Files of every case: several lines, levels, hidden and ignored names. */
export const files: Readonly<Record<string, string>> = {
  'a.txt': 'one\ntwo\nthree\nfour\n',
  'b.txt': 'two\n',
  'src/c.txt': 'two\n',
  'src/deep/d.txt': 'two\n',
  '.hidden.txt': 'two\n',
  '.gitignore': 'ignored.txt\n',
  'ignored.txt': 'two\n',
  'memories/n.md': 'one\ntwo\nthree\n',
  'memories/sub/m.md': 'two\n',
}

/** Calls that must run before a case. */
export interface Case {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly mode?: 'plan'
  readonly before?: undefined | readonly { readonly tool: string; readonly input: unknown }[]
}

const diff = '--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n-one\n+ONE\n two\n three\n four\n'
const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** End Patch\n'
const root = '/workspace'
const note = { tool: 'memory_store', input: { id: 'n', content: 'one\n' } }

/** At least one call of every tool of every dialect, that succeeds over {@link files}. */
export const cases: Readonly<Record<string, readonly Case[]>> = {
  'mcp-filesystem': [
    { tool: 'read_file', input: { path: `${root}/a.txt` } },
    { tool: 'read_text_file', input: { path: `${root}/a.txt` } },
    { tool: 'read_text_file', input: { path: `${root}/a.txt`, tail: 4 } },
    { tool: 'read_media_file', input: { path: `${root}/a.txt` } },
    { tool: 'read_multiple_files', input: { paths: [`${root}/a.txt`, `${root}/b.txt`] } },
    { tool: 'write_file', input: { path: `${root}/new.txt`, content: 'x' } },
    { tool: 'edit_file', input: { path: `${root}/a.txt`, edits: [{ oldText: 'one', newText: 'ONE' }] } },
    { tool: 'create_directory', input: { path: `${root}/new` } },
    { tool: 'list_directory', input: { path: root } },
    { tool: 'list_directory_with_sizes', input: { path: root } },
    { tool: 'directory_tree', input: { path: root } },
    { tool: 'move_file', input: { source: `${root}/a.txt`, destination: `${root}/moved.txt` } },
    { tool: 'search_files', input: { path: root, pattern: '**/*.txt' } },
    { tool: 'get_file_info', input: { path: `${root}/a.txt` } },
    { tool: 'list_allowed_directories', input: {} },
  ],
  'python-harness': [
    { tool: 'read_file', input: { path: 'a.txt' } },
    { tool: 'write_file', input: { path: 'x.txt', content: 'x' } },
    { tool: 'edit_file', input: { path: 'a.txt', old_text: 'one', new_text: 'ONE' } },
    { tool: 'list_directory', input: {} },
    { tool: 'list_directory', input: { recursive: true } },
    { tool: 'search_files', input: { pattern: 'two' } },
    { tool: 'find_files', input: { pattern: '*.txt' } },
    { tool: 'create_directory', input: { path: 'new' } },
    { tool: 'file_info', input: { path: 'a.txt' } },
    { tool: 'run_command', input: { command: 'echo hi' } },
    { tool: 'start_command', input: { command: 'echo hi' } },
    { tool: 'check_command', input: { process_id: 'process-1' }, before: [start('start_command')] },
    { tool: 'stop_command', input: { process_id: 'process-1' }, before: [start('start_command')] },
  ],
  anthropic: [
    ...['str_replace_based_edit_tool', 'memory'].flatMap((tool): Case[] => {
      const at = tool === 'memory' ? '/memories' : root
      const file = tool === 'memory' ? `${at}/n.md` : `${at}/a.txt`
      const view = { tool, input: { command: 'view', path: file } }
      return [
        view,
        { tool, input: { command: 'view', path: at } },
        { tool, input: { command: 'create', path: `${at}/new/x.txt`, file_text: 'x' } },
        { tool, input: { command: 'str_replace', path: file, old_str: 'one', new_str: 'ONE' } },
        { tool, input: { command: 'insert', path: file, insert_line: 1, insert_text: 'x\n' }, before: [view] },
      ]
    }),
    { tool: 'memory', input: { command: 'delete', path: '/memories/n.md' } },
    { tool: 'memory', input: { command: 'rename', old_path: '/memories/n.md', new_path: '/memories/new/o.md' } },
    { tool: 'bash', input: { command: 'echo hi' } },
    { tool: 'bash', input: { command: 'echo hi', restart: true } },
  ],
  codex: [
    { tool: 'apply_patch', input: { input: patch } },
    { tool: 'shell', input: { command: ['echo', 'hi'] } },
    { tool: 'shell', input: { command: ['apply_patch', patch] } },
  ],
  deepagents: [
    { tool: 'ls', input: {} },
    { tool: 'read_file', input: { file_path: '/a.txt' } },
    { tool: 'write_file', input: { file_path: '/new/x.txt', content: 'x' } },
    { tool: 'edit_file', input: { file_path: '/a.txt', old_string: 'one', new_string: 'ONE' } },
    { tool: 'delete', input: { file_path: '/a.txt' } },
    { tool: 'glob', input: { pattern: '**/*.txt' } },
    { tool: 'grep', input: { pattern: 'two' } },
    { tool: 'grep', input: { pattern: 'two', output_mode: 'count' } },
    { tool: 'execute', input: { command: 'echo hi' } },
  ],
  exec: [
    { tool: 'exec.write', input: { path: 'new/x.txt', content: 'x' } },
    { tool: 'exec.read', input: { path: 'a.txt' } },
    { tool: 'exec.run', input: { command: 'echo hi' } },
    { tool: 'exec.ls', input: {} },
  ],
  gemini: [
    { tool: 'list_directory', input: { dir_path: '.' } },
    { tool: 'read_file', input: { file_path: 'a.txt' } },
    { tool: 'read_file', input: { absolute_path: '/workspace/a.txt', offset: 0, limit: 4 } },
    { tool: 'write_file', input: { file_path: 'new/x.txt', content: 'x' } },
    { tool: 'glob', input: { pattern: '**/*.txt' } },
    { tool: 'grep_search', input: { pattern: 'two' } },
    { tool: 'grep_search', input: { pattern: 'two', names_only: true } },
    { tool: 'replace', input: { file_path: 'a.txt', old_string: 'one', new_string: 'ONE' } },
    { tool: 'replace', input: { file_path: 'new/x.txt', old_string: '', new_string: 'x' } },
    {
      tool: 'replace',
      input: { file_path: 'a.txt', old_string: 't', new_string: 'T', expected_replacements: 2 },
    },
    { tool: 'read_many_files', input: { include: ['**/*.txt'] } },
    { tool: 'run_shell_command', input: { command: 'echo hi' } },
    { tool: 'run_shell_command', input: { command: 'echo hi', is_background: true } },
    { tool: 'save_memory', input: { fact: 'It rains.' } },
  ],
  mastra: [
    { tool: 'mastra_workspace_read_file', input: { path: 'a.txt' } },
    { tool: 'mastra_workspace_write_file', input: { path: 'new/x.txt', content: 'x' } },
    { tool: 'mastra_workspace_edit_file', input: { path: 'a.txt', old_string: 'one', new_string: 'ONE' } },
    { tool: 'mastra_workspace_list_files', input: {} },
    { tool: 'mastra_workspace_delete', input: { path: 'a.txt' } },
    { tool: 'mastra_workspace_file_stat', input: { path: 'a.txt' } },
    { tool: 'mastra_workspace_mkdir', input: { path: 'new' } },
    { tool: 'mastra_workspace_grep', input: { pattern: 'two' } },
    { tool: 'mastra_workspace_execute_command', input: { command: 'echo hi' } },
    { tool: 'mastra_workspace_execute_command', input: { command: 'echo hi', background: true } },
    {
      tool: 'mastra_workspace_get_process_output',
      input: { pid: 'process-1' },
      before: [start('mastra_workspace_execute_command', { background: true })],
    },
    {
      tool: 'mastra_workspace_kill_process',
      input: { pid: 'process-1' },
      before: [start('mastra_workspace_execute_command', { background: true })],
    },
  ],
  'file-read-write': [
    { tool: 'file_read', input: { path: 'a.txt' } },
    { tool: 'file_write', input: { path: 'new/x.txt', content: 'x' } },
    { tool: 'file_write', input: { path: 'a.txt', content: 'x', append: true } },
    note,
    { tool: 'memory_get', input: { id: 'n' }, before: [note] },
    { tool: 'memory_search', input: { query: 'one' }, before: [note, { ...note, input: { ...note.input, id: 'o' } }] },
    { tool: 'memory_recall', input: {}, before: [note, { ...note, input: { ...note.input, id: 'o' } }] },
  ],
  'snake-case': [
    { tool: 'read_file', input: { path: 'a.txt' } },
    { tool: 'write_file', input: { path: 'new/x.txt', content: 'x' } },
    { tool: 'edit_file', input: { path: 'a.txt', old_text: 'one', new_text: 'ONE' } },
    { tool: 'list_directory', input: {} },
    { tool: 'search_files', input: { query: 'two' } },
    { tool: 'search_files', input: { path: '.', pattern: '*.txt' } },
    { tool: 'search_files', input: { path: '/workspace', pattern: 't[wx]o', content_search: true } },
    { tool: 'run_command', input: { command: 'echo hi' } },
    { tool: 'submit_plan', input: { plan: 'Write a.txt.' }, mode: 'plan' },
  ],
  'patch-and-diff': [
    { tool: 'list_dir', input: {} },
    { tool: 'read_file', input: { path: 'a.txt' } },
    { tool: 'search_text', input: { query: 'two' } },
    { tool: 'write_file', input: { path: 'new/x.txt', content: 'x' } },
    { tool: 'apply_patch', input: { patch: diff } },
    { tool: 'diff_workspace', input: {}, before: [{ tool: 'write_file', input: { path: 'n.txt', content: 'x\n' } }] },
  ],
  'named-roots': [
    { tool: 'read_file', input: { path: `${root}/a.txt` } },
    { tool: 'write_file', input: { path: `${root}/new/x.txt`, content: 'x' } },
    { tool: 'list_directory', input: { path: root } },
    { tool: 'list_directory', input: { path: root, recursive: true } },
    { tool: 'append_file', input: { path: `${root}/a.txt`, content: 'x' } },
    { tool: 'delete_file', input: { path: `${root}/a.txt` } },
  ],
}

function start(tool: string, more: object = {}): { readonly tool: string; readonly input: unknown } {
  return { tool, input: { command: 'echo hi', ...more } }
}

const wrong = createHash('sha256').update('wrong').digest('hex')

/** A value for every safety field of the workspace's tools whose effect a call can show. */
export const values: Readonly<Record<string, readonly unknown[]>> = {
  dryRun: [true],
  expectedSha256: [wrong],
  expectedSha256s: [{ 'a.txt': wrong }],
  expectedBaseCommit: ['f'.repeat(40)],
  mode: ['REPLACE_EXISTING', 'CREATE_NEW'],
  createParents: [false],
  reason: ['to see it'],
  startLine: [2],
  startColumn: [2],
  maxLines: [1],
  maxDepth: [1, 2],
  maxEntries: [1],
  maxResults: [1],
  maxMatches: [1],
  maxFileBytes: [1],
  maxBytes: [1],
  maxNotes: [1],
  timeoutMs: [1234],
  includeGlob: ['none*'],
  excludeGlob: ['**'],
  includeHidden: [true, false],
  includeIgnored: [true, false],
}

/** The error code of the refusal that a field's value causes. */
export const refusals: Readonly<Record<string, string>> = {
  expectedSha256: 'WRITE_CONFLICT',
  expectedSha256s: 'WRITE_CONFLICT',
}
