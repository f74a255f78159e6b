import type { ErrorCode } from '../../src/errors.ts'
import type { ToolInput, ToolName } from '../../src/tools/index.ts'
import type { Operation } from '../attack/link-race.ts'
import { A_SHA256, OLD_SHA256, WORD, wayTree } from '../policy/ways/tree.ts'
import type { Tree } from './setup.ts'

/**
 * One row per built-in tool. The rows feed these tests:
 *
 * - `wrong-inputs.test.ts`: `input`, `wrong`, `paths`, `codes`, `mayTellNames`
 * - `memory.test.ts`, `../guard/visibility.test.ts`: `hidden`
 * - `../attack/tool-race.test.ts`: `race`
 * - `../adapters/result-text.test.ts`: `modelText`
 * - `../policy/every-change.test.ts`: `changes`
 * - `../policy/every-view.test.ts`: `views`
 *
 * A tool without a row does not compile.
 */
export interface ToolRow<N extends ToolName = ToolName> {
  /** A valid input on {@link tree}. */
  readonly input: ToolInput<N>
  /** Values that make the input invalid, as `[field, value]`. The error names the field. */
  readonly wrong: readonly (readonly [field: string, value: unknown])[]
  /** Input fields that hold a path. */
  readonly paths: readonly string[]
  /** Codes for a `path` that the tool refuses. Without a code, the tool accepts such a path. */
  readonly codes: Readonly<Partial<Record<PathCase, ErrorCode>>>
  /** Whether the tool may report that a secret file exists. */
  readonly mayTellNames: boolean
  /** Inputs that try to see files that policy hides, or why the tool cannot. */
  readonly hidden: HiddenInputs<N> | NotTried
  /** Operations on the attacked tree, or why the tool does not take part. */
  readonly race: ((attacked: AttackedTree) => RaceOperations) | NotTried
  /** Inputs on {@link wayTree} that change something below `docs`, or why the tool cannot. */
  readonly changes: readonly ToolInput<N>[] | NotTried
  /** Inputs on {@link wayTree} that show content below `private`, or why the tool cannot. */
  readonly views: readonly ToolInput<N>[] | NotTried
  /** A call on {@link tree} and the text that a model gets for its result. */
  readonly modelText: { readonly input: ToolInput<N>; readonly text: RegExp }
}

/** Why an attack does not apply to a tool. */
export interface NotTried {
  readonly reason: string
}

/** `none/at/all.ts`, `d`, `to-nothing`, `blob.dat`, `latin.txt` and `a.ts` of {@link tree}. */
export type PathCase = 'missing' | 'directory' | 'danglingLink' | 'binary' | 'latin1' | 'file'

export interface HiddenInputs<N extends ToolName> {
  /** Inputs that do not depend on the hidden path, on the tree of `visibility.test.ts`. */
  readonly anywhere?: readonly ToolInput<N>[]
  /** Inputs that name a hidden path. */
  readonly at: (path: string) => readonly ToolInput<N>[]
}

export interface RaceOperations {
  readonly reads?: readonly Operation[]
  readonly writes?: readonly Operation[]
}

/** The operations of a row on the tree of `link-race.ts`, whose directory `dir` and file `top.txt` are swapped for links. */
export interface AttackedTree {
  /** The content of its files. */
  readonly content: string
  /** Calls a tool. Throws a `ToolError` for a refusal. */
  call<N extends ToolName>(name: N, input: ToolInput<N>): Promise<Record<string, unknown>>
  /** An operation that repeats one call. */
  repeat<N extends ToolName>(label: string, name: N, input: ToolInput<N>): Operation
  /** A new path below `dir`. */
  newPath(prefix: string): string
  /** Passes a new path to `create` and remembers it for {@link takeCreated}. */
  create(prefix: string, create: (path: string) => Promise<Record<string, unknown>>): Promise<Record<string, unknown>>
  /** Removes and returns the path created last, or `dir/file.txt`. */
  takeCreated(): string
  /** A different number for each call. */
  nextNumber(): number
}

/** Inside the directory that is swapped. */
const FILE = 'dir/file.txt'
/** A file that is swapped itself. */
const TOP = 'top.txt'
/** Exists only outside of the attacked tree. No operation with `outside only` in its name may succeed. */
const VICTIM = 'dir/victim.txt'

export const hash = 'a'.repeat(64)

export const tree: Tree = {
  'a.ts': 'one\ntwo\n',
  'b.ts': 'b\n',
  'd/x.ts': 'x\n',
  '.env': 'PASSWORD=hunter2\n',
  '.git/config': '[core]\n',
  'node_modules/p/i.js': 'i\n',
  'package-lock.json': '{}\n',
  'blob.dat': new Uint8Array([1, 0, 2]),
  'latin.txt': new Uint8Array([0xe9, 0x0a]),
  'to-secret': { link: '.env' },
  'to-nothing': { link: 'gone' },
}

const patch = '--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n-one\n+x\n two\n'
const patchAdd = (path: string) => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n`
const patchUpdate = (path: string) => `*** Begin Patch\n*** Update File: ${path}\n@@\n-zanzibar\n+x\n*** End Patch\n`

const textFileCodes = {
  missing: 'NOT_FOUND',
  directory: 'IS_DIRECTORY',
  danglingLink: 'NOT_FOUND',
  binary: 'UNSUPPORTED_BINARY',
  latin1: 'UNSUPPORTED_ENCODING',
} as const

const changesNothing = { reason: 'changes no file' } as const
const showsNoContent = { reason: 'shows no content of a file' } as const
const v4a = (body: string) => `*** Begin Patch\n${body}\n*** End Patch\n`

const byId = { reason: 'takes no path; a test of background commands covers it' }
const notes = { reason: 'addresses notes by id; memory.test.ts covers their visibility' }
const noPath = { paths: [], codes: {}, mayTellNames: false } as const

export const toolTable: { readonly [N in ToolName]: ToolRow<N> } = {
  list_directory: {
    input: { path: '.' },
    wrong: [
      ['maxDepth', 0],
      ['maxEntries', 0],
      ['includeHidden', 'yes'],
    ],
    paths: ['path'],
    codes: { missing: 'NOT_FOUND', danglingLink: 'NOT_FOUND', file: 'NOT_A_DIRECTORY' },
    mayTellNames: true,
    hidden: {
      anywhere: [
        { maxDepth: 9, includeHidden: true, includeIgnored: true },
        { path: 'src', maxDepth: 3 },
        { path: 'docs' },
      ],
      at: (path) => [{ path }],
    },
    race: ({ repeat }) => ({
      reads: [repeat('list_directory', 'list_directory', { path: '.', maxDepth: 3, includeHidden: true })],
    }),
    changes: changesNothing,
    views: showsNoContent,
    modelText: { input: { path: 'd' }, text: /^Listed d: 1 entry\n\nd\/x\.ts 2$/ },
  },
  find_files: {
    input: { pattern: '**', path: '.' },
    wrong: [
      ['pattern', undefined],
      ['maxResults', 0],
      ['includeIgnored', 1],
    ],
    paths: ['path'],
    codes: { missing: 'NOT_FOUND', danglingLink: 'NOT_FOUND', file: 'NOT_A_DIRECTORY' },
    mayTellNames: true,
    hidden: {
      anywhere: [{ pattern: '**' }, { pattern: '**/*.md', path: 'docs' }],
      at: (path) => [{ pattern: '*', path }],
    },
    race: ({ repeat }) => ({
      reads: [repeat('find_files', 'find_files', { pattern: '**', includeHidden: true })],
    }),
    changes: changesNothing,
    views: showsNoContent,
    modelText: { input: { pattern: '*.ts' }, text: /^Found 2 files for "\*\.ts" in \.\n\na\.ts\nb\.ts$/ },
  },
  search_text: {
    input: { query: 'one', path: '.' },
    wrong: [
      ['query', ''],
      ['mode', 'glob'],
      ['contextLines', -1],
      ['maxMatches', 0],
      ['timeoutMs', 0],
    ],
    paths: ['path'],
    codes: { missing: 'NOT_FOUND', danglingLink: 'NOT_FOUND' },
    mayTellNames: false,
    hidden: {
      anywhere: [
        { query: 'zanzibar' },
        { query: 'zan+', mode: 'regex', filesOnly: true, includeIgnored: true, includeHidden: true },
        { query: 'zanzibar', includeGlob: 'src/helper.ts' },
      ],
      at: (path) => [{ query: 'z', path }],
    },
    race: ({ repeat }) => ({
      reads: [
        repeat('search_text', 'search_text', { query: 'inside|OUTSIDE', mode: 'regex', includeHidden: true }),
        repeat('search_text below the directory', 'search_text', { query: 'I', path: 'dir' }),
      ],
    }),
    changes: changesNothing,
    views: [
      { query: WORD },
      { query: 'the word', path: 'private', contextLines: 1 },
      { query: 'z[a-z]{7}', mode: 'regex', includeGlob: 'private/**' },
    ],
    modelText: { input: { query: 'two' }, text: /^1 line matches in \d+ files searched\n\na\.ts\n2: two$/ },
  },
  read_file: {
    input: { path: 'a.ts' },
    wrong: [
      ['path', undefined],
      ['startLine', 0],
      ['startColumn', 0],
      ['maxLines', 0],
      ['ifChanged', 'yes'],
      ['cells', 'yes'],
    ],
    paths: ['path'],
    codes: textFileCodes,
    mayTellNames: false,
    hidden: {
      anywhere: [{ path: 'src/helpr.ts' }, { path: 'docs/guidess.md' }, { path: 'README.md/x' }],
      at: (path) => [{ path }, { path: `${path}/below` }, { path, cells: true }],
    },
    race: ({ repeat }) => ({
      reads: [
        repeat('read_file below the directory', 'read_file', { path: FILE }),
        repeat('read_file', 'read_file', { path: TOP }),
      ],
    }),
    changes: changesNothing,
    views: [
      { path: 'private/plan.md' },
      { path: 'private/d/deep.md', lineNumbers: true },
      { path: 'private/plan.md', startLine: 1, maxLines: 1 },
      { path: 'private/d/deep.md', startColumn: 1 },
    ],
    modelText: {
      input: { path: 'a.ts' },
      text: /^Read lines 1-2 of 2 of a\.ts\nsha256: \w{8}\n\none\ntwo\n$/,
    },
  },
  file_info: {
    input: { path: 'a.ts' },
    wrong: [['path', undefined]],
    paths: ['path'],
    codes: { missing: 'NOT_FOUND' },
    mayTellNames: true,
    hidden: { at: (path) => [{ path }] },
    race: ({ repeat }) => ({ reads: [repeat('file_info', 'file_info', { path: FILE })] }),
    changes: changesNothing,
    views: showsNoContent,
    modelText: { input: { path: 'a.ts' }, text: /^a\.ts: file, TEXT_SOURCE, 8 bytes\nsha256: \w{8}\n/ },
  },
  diff_workspace: {
    input: {},
    wrong: [
      ['paths', []],
      ['contextLines', -1],
      ['maxBytes', 0],
    ],
    ...noPath,
    hidden: { anywhere: [{}], at: (path) => [{ paths: [path] }] },
    race: ({ repeat }) => ({ reads: [repeat('diff_workspace', 'diff_workspace', {})] }),
    changes: changesNothing,
    views: { reason: 'shows what has changed; every-view.test.ts changes it first' },
    modelText: { input: {}, text: /^0 files changed since the workspace was opened/ },
  },
  edit_file: {
    input: { path: 'a.ts', oldText: 'one', newText: 'x' },
    wrong: [
      ['oldText', ''],
      ['newText', 1],
      ['edits', []],
      ['expectedSha256', 'abc'],
    ],
    paths: ['path'],
    codes: textFileCodes,
    mayTellNames: false,
    hidden: { at: (path) => [{ path, oldText: 'zanzibar', newText: 'x' }] },
    race: ({ call }) => ({
      writes: [
        {
          name: 'edit_file',
          async run() {
            const { content } = await call('read_file', { path: FILE })
            const isInside = String(content).includes('inside')
            const [oldText, newText] = isInside ? ['inside', 'within'] : ['within', 'inside']
            return call('edit_file', { path: FILE, oldText: oldText as string, newText: newText as string })
          },
        },
      ],
    }),
    changes: [
      { path: 'docs/a.md', oldText: 'one', newText: '1' },
      { path: 'docs/b/../a.md', edits: [{ oldText: 'two\n', newText: '' }] },
    ],
    views: [{ path: 'private/plan.md', oldText: 'the word', newText: 'a word' }],
    modelText: {
      input: { path: 'a.ts', oldText: 'one', newText: 'x' },
      text: /^Edited a\.ts \(\+1 -1\)\nsha256: \w{8}$/,
    },
  },
  replace_range: {
    input: { path: 'a.ts', startLine: 1, endLine: 1, newText: 'x', expectedSha256: hash },
    wrong: [
      ['startLine', 0],
      ['endLine', '1'],
      ['newText', undefined],
      ['expectedSha256', undefined],
    ],
    paths: ['path'],
    codes: textFileCodes,
    mayTellNames: false,
    hidden: { at: (path) => [{ path, startLine: 1, endLine: 1, newText: 'x', expectedSha256: hash }] },
    race: ({ call, nextNumber }) => ({
      writes: [
        {
          name: 'replace_range',
          async run() {
            const { sha256 } = await call('read_file', { path: TOP })
            const newText = `inside ${nextNumber()}\n`
            const expectedSha256 = sha256 as string
            return call('replace_range', { path: TOP, startLine: 1, endLine: 1, newText, expectedSha256 })
          },
        },
      ],
    }),
    changes: [{ path: 'docs/a.md', startLine: 1, endLine: 1, newText: '1\n', expectedSha256: A_SHA256 }],
    views: showsNoContent,
    modelText: {
      input: {
        path: 'a.ts',
        startLine: 1,
        endLine: 1,
        newText: 'x\n',
        expectedSha256: 'c3f9c8c283a2b1f2f1896f27a01cbe3cddc0c9d93f752e4639035a0f5b36f6e8',
      },
      text: /^Replaced lines .*\nsha256: \w{8}\ntotalLines: 2\n\ndiff --git/,
    },
  },
  apply_patch: {
    input: { patch },
    wrong: [
      ['patch', undefined],
      ['expectedSha256s', { 'a.ts': 'abc' }],
      ['expectedBaseCommit', 'HEAD'],
    ],
    ...noPath,
    hidden: {
      at: (path) => [
        { patch: patchAdd(path), dryRun: true },
        { patch: patchUpdate(path), dryRun: true },
      ],
    },
    race: ({ call, create }) => ({
      writes: [
        {
          name: 'apply_patch',
          run: () => create('patched', (path) => call('apply_patch', { patch: patchAdd(path) })),
        },
        {
          name: 'apply_patch, outside only',
          run: () => call('apply_patch', { patch: `*** Begin Patch\n*** Delete File: ${VICTIM}\n*** End Patch\n` }),
        },
      ],
    }),
    changes: [
      { patch: wayTree['change.patch'] },
      { patch: '--- /dev/null\n+++ b/docs/new.md\n@@ -0,0 +1 @@\n+n\n' },
      { patch: '--- a/docs/a.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n' },
      {
        patch: 'diff --git a/src/x.md b/docs/x.md\nsimilarity index 100%\nrename from src/x.md\nrename to docs/x.md\n',
      },
      {
        patch: 'diff --git a/docs/a.md b/src/a.md\nsimilarity index 100%\nrename from docs/a.md\nrename to src/a.md\n',
      },
      { patch: 'diff --git a/src/x.md b/docs/x.md\nsimilarity index 100%\ncopy from src/x.md\ncopy to docs/x.md\n' },
      { patch: v4a('*** Update File: docs/a.md\n@@\n-one\n+1') },
      { patch: v4a('*** Add File: docs/new.md\n+n') },
      { patch: v4a('*** Delete File: docs/a.md') },
      { patch: v4a('*** Update File: docs/a.md\n*** Move to: src/a.md\n@@\n-one\n+1') },
      { patch: v4a('*** Update File: src/x.md\n*** Move to: docs/x.md\n@@\n-x\n+1') },
      { patch: v4a('*** Update File: src/x.md\n@@\n-x\n+1\n*** Update File: docs/a.md\n@@\n-one\n+1') },
    ],
    views: [{ patch: v4a(`*** Update File: private/d/deep.md\n@@\n-${WORD}\n+x`) }],
    modelText: { input: { patch }, text: /^Patched a\.ts \(\+1 -1\)\nsha256: \{"a\.ts":"\w{8}"\}$/ },
  },
  write_file: {
    input: { path: 'new.ts', content: 'x' },
    wrong: [
      ['content', undefined],
      ['mode', 'APPEND'],
      ['expectedSha256', hash.toUpperCase()],
    ],
    paths: ['path'],
    codes: { directory: 'IS_DIRECTORY' },
    mayTellNames: false,
    hidden: {
      at: (path) => [
        { path, content: 'x' },
        { path, content: 'x', expectedSha256: null },
        { path, content: 'x', mode: 'CREATE_NEW' },
        { path: `${path}/below`, content: 'x' },
      ],
    },
    race: ({ repeat, content }) => ({
      writes: [
        repeat('write_file below the directory', 'write_file', { path: FILE, content }),
        repeat('write_file', 'write_file', { path: TOP, content }),
        repeat('write_file, outside only', 'write_file', { path: VICTIM, content, expectedSha256: null }),
      ],
    }),
    changes: [
      { path: 'docs/new.md', content: 'n' },
      { path: 'docs/deep/er/new.md', content: 'n' },
      { path: 'docs/a.md', content: 'n', expectedSha256: A_SHA256 },
      { path: './docs//a.md', content: 'n', mode: 'REPLACE_EXISTING', expectedSha256: A_SHA256 },
    ],
    views: showsNoContent,
    modelText: {
      input: { path: 'new.ts', content: 'x' },
      text: /^Created new\.ts \(1 byte\)\nsha256: \w{8}$/,
    },
  },
  append_file: {
    input: { path: 'a.ts', content: 'x' },
    wrong: [
      ['content', ''],
      ['createParents', 'yes'],
    ],
    paths: ['path'],
    codes: { directory: 'IS_DIRECTORY', binary: 'UNSUPPORTED_BINARY', latin1: 'UNSUPPORTED_ENCODING' },
    mayTellNames: false,
    hidden: { at: (path) => [{ path, content: 'x' }] },
    race: ({ call, create, content }) => ({
      writes: [
        {
          name: 'append_file',
          run: () => create('appended', (path) => call('append_file', { path, content })),
        },
      ],
    }),
    changes: [
      { path: 'docs/a.md', content: 'n' },
      { path: 'docs/new.md', content: 'n' },
    ],
    views: showsNoContent,
    modelText: {
      input: { path: 'a.ts', content: 'x' },
      text: /^Appended to a\.ts \(1 byte added\)\nsha256: \w{8}\nsizeBytes: 9$/,
    },
  },
  create_directory: {
    input: { path: 'new' },
    wrong: [['path', undefined]],
    paths: ['path'],
    codes: {},
    mayTellNames: false,
    hidden: { at: (path) => [{ path }] },
    race: ({ call, newPath }) => ({
      writes: [{ name: 'create_directory', run: () => call('create_directory', { path: `${newPath('sub')}/deep` }) }],
    }),
    changes: [{ path: 'docs/new' }, { path: 'docs/new/deep' }],
    views: showsNoContent,
    modelText: { input: { path: 'new' }, text: /^Created directory new$/ },
  },
  copy_file: {
    input: { path: 'a.ts', to: 'new.ts' },
    wrong: [
      ['to', undefined],
      ['createParents', 1],
    ],
    paths: ['path', 'to'],
    codes: { missing: 'NOT_FOUND' },
    mayTellNames: false,
    hidden: {
      at: (path) => [
        { path, to: 'new/a' },
        { path: 'README.md', to: path },
      ],
    },
    race: ({ call, create }) => ({
      writes: [{ name: 'copy_file', run: () => create('copied', (to) => call('copy_file', { path: FILE, to })) }],
    }),
    changes: [
      { path: 'src/x.md', to: 'docs/x.md' },
      { path: 'src', to: 'docs/src' },
      { path: 'docs/a.md', to: 'docs/z.md' },
    ],
    views: { reason: 'shows no content; every-view.test.ts reads the copy' },
    modelText: {
      input: { path: 'a.ts', to: 'new.ts' },
      text: /^Copied a\.ts to new\.ts\nsha256: \w{8}$/,
    },
  },
  move_file: {
    input: { path: 'a.ts', to: 'new.ts' },
    wrong: [
      ['to', undefined],
      ['expectedSha256', ''],
    ],
    paths: ['path', 'to'],
    codes: { missing: 'NOT_FOUND' },
    mayTellNames: false,
    hidden: {
      at: (path) => [
        { path, to: 'new/a' },
        { path: 'README.md', to: path },
      ],
    },
    race: ({ call, create, takeCreated }) => ({
      writes: [
        {
          name: 'move_file',
          run: () => create('moved', (to) => call('move_file', { path: takeCreated(), to })),
        },
      ],
    }),
    changes: [
      { path: 'docs/a.md', to: 'src/a.md' },
      { path: 'docs/b', to: 'src/b' },
      { path: 'docs', to: 'src/docs' },
      { path: 'src/x.md', to: 'docs/x.md' },
      { path: 'src/d', to: 'docs/d' },
      { path: 'docs/a.md', to: 'docs/z.md' },
    ],
    views: { reason: 'shows no content; every-view.test.ts reads the moved file' },
    modelText: {
      input: { path: 'a.ts', to: 'new.ts' },
      text: /^Moved a\.ts to new\.ts\nsha256: \w{8}$/,
    },
  },
  delete_file: {
    input: { path: 'a.ts' },
    wrong: [
      ['path', undefined],
      ['expectedSha256', `${hash}0`],
    ],
    paths: ['path'],
    codes: { missing: 'NOT_FOUND', directory: 'IS_DIRECTORY' },
    mayTellNames: false,
    hidden: { at: (path) => [{ path }] },
    race: ({ call, repeat, takeCreated }) => ({
      writes: [
        { name: 'delete_file', run: () => call('delete_file', { path: takeCreated() }) },
        repeat('delete_file, outside only', 'delete_file', { path: VICTIM }),
      ],
    }),
    changes: [{ path: 'docs/a.md' }, { path: 'docs/a.md', expectedSha256: A_SHA256 }],
    views: showsNoContent,
    modelText: { input: { path: 'a.ts' }, text: /^Deleted a\.ts$/ },
  },
  run_command: {
    input: { command: 'true' },
    wrong: [
      ['command', ''],
      ['timeoutMs', 0],
    ],
    ...noPath,
    hidden: {
      anywhere: [
        { command: 'ls -R; ls -a src docs; echo * src/* docs/*; find . | sort' },
        { command: 'cat src/helper.ts; cat docs/guides.md; cat private/notes.md; wc -c src/*' },
        {
          command:
            'test -e src/helper.ts && echo there; test -d private && echo there; [ -s docs/guides.md ] && echo there',
        },
        {
          command:
            'cat src/helper.ts/x; ls private/notes.md/x; test -e docs/guides.md/x || echo no; echo x > src/helper.ts/y',
        },
        { command: 'grep -r zanzibar .; grep -rl zanzibar src; rg zanzibar' },
        { command: 'cd src/private; cd ../private; echo x > src/helper.ts; mkdir private; touch docs/guides.md' },
      ],
      at: (path) => [{ command: `cat ${path}; ls -la ${path}; echo x > ${path}` }],
    },
    race: { reason: 'needs a shell; test/shells attacks their files' },
    changes: { reason: 'runs lines; the lists of ways have them' },
    views: { reason: 'runs lines; the lists of ways have them' },
    modelText: { input: { command: 'echo one' }, text: /^Command succeeded\n\nstdout:\none\n$/ },
  },
  start_command: {
    input: { command: 'true' },
    wrong: [
      ['command', ''],
      ['timeoutMs', 1.5],
    ],
    ...noPath,
    hidden: { reason: 'shows no output; check_command and run_command do' },
    race: { reason: 'needs a shell; test/shells attacks their files' },
    changes: { reason: 'runs lines; the lists of ways have them' },
    views: { reason: 'runs lines; the lists of ways have them' },
    modelText: { input: { command: 'true' }, text: /^Started \S+$/ },
  },
  check_command: {
    input: { id: 'process-1' },
    wrong: [['id', '']],
    ...noPath,
    hidden: byId,
    race: byId,
    changes: changesNothing,
    views: { reason: 'needs a command; every-view.test.ts starts one' },
    modelText: { input: { id: 'process-1' }, text: /^NOT_FOUND: / },
  },
  stop_command: {
    input: { id: 'process-1' },
    wrong: [['id', '']],
    ...noPath,
    hidden: byId,
    race: byId,
    changes: changesNothing,
    views: { reason: 'needs a command; every-view.test.ts starts one' },
    modelText: { input: { id: 'process-1' }, text: /^NOT_FOUND: / },
  },
  memory_search: {
    input: { query: 'x' },
    wrong: [
      ['query', ' '],
      ['maxResults', 0],
    ],
    ...noPath,
    hidden: notes,
    race: notes,
    changes: changesNothing,
    views: [{ query: WORD }],
    modelText: { input: { query: 'x' }, text: /^0 notes$/ },
  },
  memory_get: {
    input: { id: 'x' },
    wrong: [['id', '../x']],
    ...noPath,
    hidden: notes,
    race: notes,
    changes: changesNothing,
    views: [{ id: 'plan' }],
    modelText: { input: { id: 'x' }, text: /^NOT_FOUND: / },
  },
  memory_recall: {
    input: {},
    wrong: [['maxNotes', 0]],
    ...noPath,
    hidden: notes,
    race: notes,
    changes: changesNothing,
    views: [{}],
    modelText: { input: {}, text: /^Recalled 0 notes$/ },
  },
  memory_store: {
    input: { id: 'x', content: 'x' },
    wrong: [
      ['id', ''],
      ['title', 'a\nb'],
      ['labels', ['not a name']],
    ],
    ...noPath,
    hidden: notes,
    race: notes,
    changes: [
      { id: 'new', content: 'n' },
      { id: 'old', content: 'n', expectedSha256: OLD_SHA256 },
    ],
    views: showsNoContent,
    modelText: { input: { id: 'x', content: 'x' }, text: /^Stored the note x\nsha256: \w{8}$/ },
  },
  submit_plan: {
    input: { plan: 'x' },
    wrong: [
      ['plan', ' '],
      ['paths', []],
    ],
    ...noPath,
    hidden: { reason: 'reads no file' },
    race: { reason: 'reads no file' },
    changes: changesNothing,
    views: showsNoContent,
    modelText: { input: { plan: 'x', paths: ['**'] }, text: /^The plan is approved: go on by it\npaths: \["\*\*"\]/ },
  },
}

/** The rows in the order of the table. */
export const toolRows = Object.entries(toolTable) as readonly (readonly [ToolName, ToolRow])[]

/** The calls of all rows that try to see a hidden path. */
export function hiddenCallsAt(path: string): (readonly [ToolName, Readonly<Record<string, unknown>>])[] {
  return toolRows.flatMap(([name, { hidden }]) =>
    'reason' in hidden ? [] : hidden.at(path).map((input) => [name, input] as const),
  )
}

/** The calls of all rows that look around without naming a hidden path. */
export function hiddenCallsAnywhere(): (readonly [ToolName, Readonly<Record<string, unknown>>])[] {
  return toolRows.flatMap(([name, { hidden }]) =>
    'reason' in hidden ? [] : (hidden.anywhere ?? []).map((input) => [name, input] as const),
  )
}
