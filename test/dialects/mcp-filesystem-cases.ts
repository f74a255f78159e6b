/** Files below the allowed directory at the start of every case. */
export const tree: Readonly<Record<string, string>> = {
  'README.md': '# Title\n\nSome text.\n',
  'src/app.ts': 'export const answer = 41\nexport const name = "app"\n',
  'src/crlf.txt': 'one\r\ntwo\r\nthree\r\n',
  'src/twice.txt': 'a\nb\na\n',
  'src/indented.py': 'def f():\n    if True:\n        return 1\n',
  'src/fence.md': 'a\n```ts\nb\n```\nc\n',
  'docs/guide.md': 'Guide\n',
  'docs/deep/a/b/c.md': 'Deep\n',
  'docs/deep/d.txt': 'Deep\n',
  'node_modules/x/index.js': 'exports.x = 1\n',
  'no-final-newline.txt': 'x\ny',
  'empty.txt': '',
  '.hidden': 'hidden\n',
  '.env': 'WORD=plain\n',
  'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
  'long.txt': Array.from({ length: 1500 }, (_, i) => `line ${i + 1}\n`).join(''),
  'large.txt': 'A line of a large file, which is over 64 KiB as a whole\n'.repeat(1500),
}

export interface Call {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** `lines`: in any order. `hunks`: with more lines around each change. Default: identical text. */
  readonly compare?: 'lines' | 'hunks' | 'tree'
  /** Reason for a different answer: its text, and whether it is an error. */
  readonly differs?: { readonly refuses: boolean; readonly says: string }
}

export interface Case {
  readonly name: string
  readonly calls: readonly Call[]
}

const at = (path: string) => `/workspace/${path}`
const read = (path: string, more: object = {}): Call => ({ tool: 'read_text_file', input: { path: at(path), ...more } })
const edit = (path: string, oldText: string, newText: string, more: object = {}): Call => ({
  tool: 'edit_file',
  input: { path: at(path), edits: [{ oldText, newText }], ...more },
  compare: 'hunks',
})
const one = (name: string, ...calls: Call[]): Case => ({ name, calls })

/** Calls for the reference server and for the dialect, each on a fresh tree. */
export const cases: readonly Case[] = [
  one('reads a file', read('README.md'), { tool: 'read_file', input: { path: at('README.md') } }),
  one('reads by a relative path', { tool: 'read_text_file', input: { path: 'src/app.ts' } }),
  one('reads through . and doubled slashes', { tool: 'read_text_file', input: { path: '/workspace//src/./app.ts' } }),
  one('reads CRLF as it is', read('src/crlf.txt')),
  one('reads an empty file', read('empty.txt'), read('empty.txt', { head: 2 }), read('empty.txt', { tail: 2 })),
  one('reads 1,500 lines', read('long.txt')),
  one(
    'reads the first lines',
    read('README.md', { head: 1 }),
    read('README.md', { head: 2 }),
    read('README.md', { head: 99 }),
    read('no-final-newline.txt', { head: 2 }),
    read('src/crlf.txt', { head: 2 }),
    read('long.txt', { head: 1200 }),
    read('large.txt', { head: 3 }),
    read('README.md', { head: 0 }),
  ),
  one(
    'reads the last lines',
    read('README.md', { tail: 1 }),
    read('README.md', { tail: 2 }),
    read('README.md', { tail: 99 }),
    read('no-final-newline.txt', { tail: 1 }),
    read('src/crlf.txt', { tail: 2 }),
    read('long.txt', { tail: 1200 }),
    read('large.txt', { tail: 3 }),
  ),
  one('refuses head with tail', read('README.md', { head: 1, tail: 1 })),
  one('refuses what is missing', read('none.txt'), read('none/none.txt')),
  one('refuses a directory', read('src')),
  one('refuses paths outside', read('../outside.txt'), { tool: 'read_text_file', input: { path: '/etc/passwd' } }),
  one('refuses wrong input', { tool: 'read_text_file', input: {} }, { tool: 'read_text_file', input: { path: 7 } }),
  one('reads a large file', {
    ...read('large.txt'),
    differs: { refuses: true, says: 'FILE_TOO_LARGE: "/workspace/large.txt" is too large to be shown at once' },
  }),
  one('reads a secret', { ...read('.env'), differs: { refuses: true, says: 'POLICY_DENIED_SECRET: ' } }),
  one(
    'reads several files',
    { tool: 'read_multiple_files', input: { paths: [at('README.md'), at('docs/guide.md')] } },
    {
      tool: 'read_multiple_files',
      input: { paths: [at('README.md'), at('none.txt'), at('empty.txt')] },
      differs: { refuses: false, says: '/workspace/none.txt: Error - NOT_FOUND: "/workspace/none.txt" does not exist' },
    },
    { tool: 'read_multiple_files', input: { paths: [] } },
  ),
  one('gives text as media', { tool: 'read_media_file', input: { path: at('logo.svg') } }),
  one('gives another file as a resource', { tool: 'read_media_file', input: { path: at('docs/guide.md') } }),
  one(
    'creates a file',
    { tool: 'write_file', input: { path: at('src/new.ts'), content: 'new\n' } },
    read('src/new.ts'),
    // A run has seen what it wrote.
    { tool: 'write_file', input: { path: at('src/new.ts'), content: 'newer\n' } },
    read('src/new.ts'),
  ),
  one('replaces what was read', read('README.md'), {
    tool: 'write_file',
    input: { path: at('README.md'), content: 'other\n' },
  }),
  one('replaces what nobody read', {
    tool: 'write_file',
    input: { path: at('README.md'), content: 'other\n' },
    differs: { refuses: true, says: 'WRITE_CONFLICT: Cannot change "/workspace/README.md": it was never read' },
  }),
  one('writes where no directory is', { tool: 'write_file', input: { path: at('none/a.txt'), content: 'x' } }),
  one('writes outside', { tool: 'write_file', input: { path: at('../a.txt'), content: 'x' } }),
  one('edits', edit('src/app.ts', '41', '42'), read('src/app.ts')),
  one('edits several times', {
    tool: 'edit_file',
    input: {
      path: at('src/app.ts'),
      edits: [
        { oldText: '41', newText: '42' },
        { oldText: '"app"', newText: '"other"' },
      ],
    },
    compare: 'hunks',
  }),
  one('tries an edit', edit('src/app.ts', '41', '42', { dryRun: true }), read('src/app.ts')),
  one('fences a diff that holds a fence', edit('src/fence.md', 'b', 'B')),
  one('edits nothing that is not there', edit('src/app.ts', '43', '44')),
  one('edits the first of two matches', {
    ...edit('src/twice.txt', 'a\n', 'A\n'),
    differs: { refuses: true, says: 'EDIT_AMBIGUOUS: Cannot edit "/workspace/src/twice.txt": oldText occurs 2 times' },
  }),
  one('edits what is like the text but for white space', {
    ...edit('src/indented.py', 'if True:\n  return 1', 'if True:\n  return 2'),
    differs: { refuses: true, says: 'EDIT_NO_MATCH: ' },
  }),
  one(
    'edits CRLF',
    { ...edit('src/crlf.txt', 'two', 'TWO'), differs: { refuses: false, says: '\n-two\r\n+TWO\r\n' } },
    {
      ...read('src/crlf.txt'),
      differs: { refuses: false, says: 'one\r\nTWO\r\nthree\r\n' },
    },
  ),
  one('edits to the same', {
    ...edit('src/app.ts', '41', '41'),
    differs: { refuses: true, says: 'INVALID_INPUT: ' },
  }),
  one('edits an empty text', {
    ...edit('src/app.ts', '', 'x'),
    differs: { refuses: true, says: 'INVALID_INPUT: Invalid input for edit_file: edits.0.oldText' },
  }),
  one(
    'makes directories',
    { tool: 'create_directory', input: { path: at('made/of/three') } },
    { tool: 'create_directory', input: { path: at('made/of/three') } },
    { tool: 'list_directory', input: { path: at('made/of') } },
    { tool: 'list_directory', input: { path: at('made/of/three') } },
    { tool: 'directory_tree', input: { path: at('made') } },
  ),
  one('makes no directory over a file', { tool: 'create_directory', input: { path: at('README.md') } }),
  one(
    'lists',
    { tool: 'list_directory', input: { path: at('src') }, compare: 'lines' },
    { tool: 'list_directory', input: { path: '/workspace' }, compare: 'lines' },
    { tool: 'list_directory', input: { path: at('none') } },
    { tool: 'list_directory', input: { path: at('README.md') } },
  ),
  one(
    'lists with sizes',
    { tool: 'list_directory_with_sizes', input: { path: at('src') } },
    { tool: 'list_directory_with_sizes', input: { path: at('src'), sortBy: 'size' } },
    { tool: 'list_directory_with_sizes', input: { path: at('docs') } },
    { tool: 'list_directory_with_sizes', input: { path: at('src'), sortBy: 'time' } },
    {
      tool: 'list_directory_with_sizes',
      input: { path: '/workspace' },
      differs: { refuses: false, says: `[FILE] .env${' '.repeat(36)}-\n` },
    },
  ),
  one(
    'shows the tree',
    { tool: 'directory_tree', input: { path: at('docs') }, compare: 'tree' },
    { tool: 'directory_tree', input: { path: '/workspace' }, compare: 'tree' },
    {
      tool: 'directory_tree',
      input: { path: '/workspace', excludePatterns: ['node_modules', 'deep'] },
      compare: 'tree',
    },
    { tool: 'directory_tree', input: { path: '/workspace', excludePatterns: ['docs/**', '*.txt'] }, compare: 'tree' },
    { tool: 'directory_tree', input: { path: '/workspace', excludePatterns: ['**/a'] }, compare: 'tree' },
    { tool: 'directory_tree', input: { path: at('README.md') } },
  ),
  one(
    'searches',
    { tool: 'search_files', input: { path: '/workspace', pattern: '**/*.md' }, compare: 'lines' },
    { tool: 'search_files', input: { path: '/workspace', pattern: '*.md' }, compare: 'lines' },
    { tool: 'search_files', input: { path: at('docs'), pattern: '**' }, compare: 'lines' },
    { tool: 'search_files', input: { path: '/workspace', pattern: '**/d*' }, compare: 'lines' },
    { tool: 'search_files', input: { path: '/workspace', pattern: 'docs/**' }, compare: 'lines' },
    { tool: 'search_files', input: { path: '/workspace', pattern: 'docs' }, compare: 'lines' },
    { tool: 'search_files', input: { path: '/workspace', pattern: '**/none' }, compare: 'lines' },
    {
      tool: 'search_files',
      input: { path: '/workspace', pattern: '**/*', excludePatterns: ['node_modules', 'docs/**', '*.txt'] },
      compare: 'lines',
    },
    { tool: 'search_files', input: { path: at('none'), pattern: '**' } },
  ),
  one(
    'moves',
    { tool: 'move_file', input: { source: at('README.md'), destination: at('docs/README.md') } },
    read('docs/README.md'),
    read('README.md'),
    { tool: 'move_file', input: { source: at('docs'), destination: at('papers') } },
    { tool: 'list_directory', input: { path: at('papers') }, compare: 'lines' },
  ),
  one(
    'moves over nothing',
    { tool: 'move_file', input: { source: at('README.md'), destination: at('src/app.ts') } },
    { tool: 'move_file', input: { source: at('README.md'), destination: at('none/a.md') } },
    { tool: 'move_file', input: { source: at('none'), destination: at('other') } },
    { tool: 'move_file', input: { source: at('README.md'), destination: at('../a.md') } },
    read('src/app.ts'),
    read('README.md'),
  ),
  one(
    'describes a file',
    {
      tool: 'get_file_info',
      input: { path: at('README.md') },
      differs: { refuses: false, says: 'size: 20\nmodified: ' },
    },
    {
      tool: 'get_file_info',
      input: { path: at('src') },
      differs: { refuses: false, says: 'isDirectory: true\nisFile: false' },
    },
    { tool: 'get_file_info', input: { path: at('none') } },
  ),
  one('tells where it may go', { tool: 'list_allowed_directories', input: {} }),
  one('has no other tools', { tool: 'delete_file', input: { path: at('README.md') } }),
]
