import { expect } from 'vitest'

/** A patch of one file with the expected result. A string is encoded as UTF-8; an array contains bytes. */
export interface ApplyRow {
  readonly what: string
  readonly old: string | readonly number[] | null
  readonly patch: string
  readonly result: string | readonly number[]
  /** The largest text file, in bytes. */
  readonly limit?: number
}

/** A refused patch, with the expected fields of the refusal. */
export interface RefusedRow extends Omit<ApplyRow, 'result'> {
  readonly error: object
}

/** A section of hunks, without git's headers. */
function unified(...hunks: readonly string[]): string {
  return `--- a/a.txt\n+++ b/a.txt\n${hunks.join('')}`
}

/** A V4A patch that updates a file. */
function update(...chunks: readonly string[]): string {
  return `*** Begin Patch\n*** Update File: a.txt\n${chunks.join('')}*** End Patch\n`
}

const latin1 = (text: string): number[] => [...Buffer.from(text, 'latin1')]
const utf16 = (text: string): number[] => [...Buffer.from(`\ufeff${text}`, 'utf16le')]
const utf16be = (text: string): number[] => [...Buffer.from(`\ufeff${text}`, 'utf16le').swap16()]

/** A `diff --git` section with these header lines. */
export const git = (...header: readonly string[]) =>
  `diff --git a/a.txt b/a.txt\n${header.map((row) => `${row}\n`).join('')}`
const tenLines = '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n'

/** Patches with the same result in `git apply`, if git can read them. */
export const applied: readonly ApplyRow[] = [
  {
    what: 'may shrink a file that stays over the limit',
    old: '1\n2\n3\n',
    patch: unified('@@ -1,3 +1,2 @@\n 1\n-2\n 3\n'),
    result: '1\n3\n',
    limit: 3,
  },
  {
    what: 'has other line ends than the file, which is not UTF-8',
    old: latin1('a\r\n\xe9\r\nc\r\n'),
    patch: unified('@@ -3 +3,2 @@\n c\n+d\n'),
    result: latin1('a\r\n\xe9\r\nc\r\nd\r\n'),
  },
  {
    what: 'has other line ends than the file, whose last line has none',
    old: 'a\r\nb',
    patch: unified('@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n'),
    result: 'a\r\nc',
  },
  {
    what: 'changes UTF-16 by its decoded text',
    old: utf16('a\nb\n'),
    patch: unified('@@ -1,2 +1,2 @@\n a\n-b\n+\u00e9\n'),
    result: utf16('a\n\u00e9\n'),
  },
  {
    what: 'changes UTF-16 in the other byte order',
    old: utf16be('a\nb\n'),
    patch: unified('@@ -1,2 +1,2 @@\n a\n-b\n+c\n'),
    result: utf16be('a\nc\n'),
  },
  {
    what: 'has hunks in another order than the file',
    old: tenLines,
    patch: unified('@@ -7,3 +7,4 @@\n 7\n 8\n+8b\n 9\n', '@@ -3,3 +3,3 @@\n 3\n-4\n+four\n 5\n'),
    result: '1\n2\n3\nfour\n5\n6\n7\n8\n8b\n9\n10\n',
  },
  {
    what: 'has three hunks, with the first at the end',
    old: tenLines,
    patch: unified(
      '@@ -5,3 +5,4 @@\n 5\n+5b\n 6\n 7\n',
      '@@ -9,2 +10,2 @@\n 9\n-10\n+ten\n',
      '@@ -2,3 +2,2 @@\n 2\n-3\n 4\n',
    ),
    result: '1\n2\n4\n5\n5b\n6\n7\n8\n9\nten\n',
  },
  {
    what: 'has four unordered hunks',
    old: tenLines,
    patch: unified(
      '@@ -1,2 +1,3 @@\n 1\n+1b\n 2\n',
      '@@ -9,2 +10,2 @@\n 9\n-10\n+ten\n',
      '@@ -3,2 +4,2 @@\n-3\n+three\n 4\n',
      '@@ -6,3 +7,2 @@\n 6\n-7\n 8\n',
    ),
    result: '1\n1b\n2\nthree\n4\n5\n6\n8\n9\nten\n',
  },
  {
    what: 'has a hunk whose lines occur where another hunk has changed them, and again later',
    old: 'x\na\nx\nx\nb\nx\nx\nc\nx\n',
    patch: unified('@@ -2,3 +2,3 @@\n a\n-x\n+y\n x\n', '@@ -3,2 +3,3 @@\n x\n+z\n x\n').replace(' x\n+z', ' x\n+z'),
    result: 'x\na\ny\nx\nb\nx\nz\nx\nc\nx\n',
  },
  {
    what: 'adds lines after others that were added at the end',
    old: '1\n2\n3\n',
    patch: unified('@@ -2,2 +2,3 @@\n 2\n 3\n+4\n', '@@ -4,0 +5 @@\n+5\n'),
    result: '1\n2\n3\n4\n5\n',
  },
  {
    what: 'has quoted names',
    old: 'a\n',
    patch: '--- "a/a\\303\\251.txt"\n+++ "b/a\\303\\251.txt"\n@@ -1 +1 @@\n-a\n+b\n',
    result: 'b\n',
  },
  {
    what: 'lacks the final line end, and the space of an empty line',
    old: 'a\n\nb\n',
    patch: '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c',
    result: 'a\n\nc\n',
  },
  {
    what: 'is followed by a mail signature',
    old: 'a\n',
    patch: unified('@@ -1 +1 @@\n-a\n+b\n', '-- \n2.39.5\n'),
    result: 'b\n',
  },
  { what: 'creates an empty file', old: null, patch: `${git('new file mode 100644')}`, result: '' },
  { what: 'may reach the limit', old: 'a\n', patch: unified('@@ -1 +1,2 @@\n a\n+b\n'), result: 'a\nb\n', limit: 4 },
  {
    what: 'may keep the size of a file that is over the limit',
    old: 'a\nb\n',
    patch: unified('@@ -1,2 +1,2 @@\n a\n-b\n+c\n'),
    result: 'a\nc\n',
    limit: 3,
  },
  {
    what: 'adds non-ASCII text at two positions of an ASCII file',
    old: tenLines,
    patch: unified('@@ -2,3 +2,5 @@\n 2\n+\u00e9\u00e9\n 3\n+\ud83d\ude00x\n 4\n'),
    result: '1\n2\n\u00e9\u00e9\n3\n\ud83d\ude00x\n4\n5\n6\n7\n8\n9\n10\n',
  },
  {
    what: 'changes the only line of a file with a byte order mark, which stays',
    old: '\ufeffa',
    patch: unified('@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n'),
    result: '\ufeffb\nc',
  },
  {
    what: 'is applied literally if that matches, also in UTF-16',
    old: utf16('a\r\nb\r\n'),
    patch: unified('@@ -2,0 +3 @@\n+c\n'),
    result: utf16('a\r\nb\r\nc\n'),
  },
  {
    what: 'has adjacent hunks',
    old: tenLines,
    patch: unified('@@ -2,2 +2,3 @@\n 2\n+2b\n 3\n', '@@ -4,2 +5,3 @@\n 4\n+4b\n 5\n'),
    result: '1\n2\n2b\n3\n4\n4b\n5\n6\n7\n8\n9\n10\n',
  },
  {
    what: 'adds lines after others that were removed at the end',
    old: 'a\nb\nc\n',
    patch: unified('@@ -3 +2,0 @@\n-c\n', '@@ -2,0 +3 @@\n+d\n'),
    result: 'a\nb\nd\n',
  },
  {
    what: 'removes lines before others that were removed at the end',
    old: 'a\nb\nc\n',
    patch: unified('@@ -3 +2,0 @@\n-c\n', '@@ -2 +1,0 @@\n-b\n'),
    result: 'a\n',
  },
  { what: 'removes a first line', old: 'a\nb\n', patch: unified('@@ -1,2 +1 @@\n-a\n b\n'), result: 'b\n' },
  {
    what: 'follows text that looks like the start of a patch',
    old: 'a\n',
    patch: `x\n--- a/x\n--- a/a.txt\n+++ b/a.txt\ntext\n@@ -x @@\nsee *** Begin Patch\ndiff --git a/a.txt b/b.txt\nand so on\n${unified('@@ -1 +1 @@\n-a\n+b\n')}`,
    result: 'b\n',
  },
  {
    what: 'follows text that names the other format',
    old: 'a\n',
    patch: `see *** Begin Patch\n${unified('@@ -1 +1 @@\n-a\n+b\n')}`,
    result: 'b\n',
  },
  {
    what: 'states in other words that a line has no newline',
    old: 'a',
    patch: unified('@@ -1 +1 @@\n-a\n\\ Kein Ende\n+b\n\\ Kein Ende\n'),
    result: 'b',
  },
  { what: 'is followed by an empty signature', old: 'a\n', patch: unified('@@ -1 +1 @@\n-a\n+b\n--\n'), result: 'b\n' },
  {
    what: 'is followed by a signature with a carriage return',
    old: 'a\n',
    patch: unified('@@ -1 +1 @@\n-a\n+b\n-- \r\n'),
    result: 'b\n',
  },
]

/** The header of a patch, and its old and new path. */
export const headerNames: readonly (readonly [header: string, oldPath: string | null, newPath: string | null])[] = [
  // Times of GNU diff, after a tab or spaces.
  [
    '--- a/x y.txt\t2020-01-02 03:04:05.000000000 +0100\n+++ b/x y.txt\t2020-01-02 03:04:06 +0100',
    'x y.txt',
    'x y.txt',
  ],
  ['--- a/x y.txt  2020-01-02 03:04:05 -0700\n+++ b/x y.txt   20-01-02 03:04:05', 'x y.txt', 'x y.txt'],
  // If one name extends the other, the shorter one counts.
  ['--- a/a.c\n+++ b/a.c.new', 'a.c', 'a.c'],
  ['--- a/a.c.orig\n+++ b/a.c', 'a.c', 'a.c'],
  ['--- a/a.c\n+++ b/other.c', 'other.c', 'other.c'],
  ['--- old.c\n+++ new.c', 'new.c', 'new.c'],
  // Missing files.
  ['--- /dev/null\t1970-01-01\n+++ b/a', null, 'a'],
  ['--- a/a\n+++ /dev/null ', 'a', null],
  ['--- a/a\t1970-01-01 00:00:00.000000000 +0000\n+++ b/a', null, 'a'],
  ['--- a/a\t1969-12-31 19:00:00 -0500\n+++ b/a', null, 'a'],
  ['--- a/a\t1970-01-01 05:30:00.0 +05:30\n+++ b/a', null, 'a'],
  ['--- a/a\t1970-01-01 01:00:00 +0000\n+++ b/a', 'a', 'a'],
  ['--- a/a\t1970-01-02 00:00:00 +0000\n+++ b/a', 'a', 'a'],
  [`--- a/a\t1970-01-01 00:00:00 +0000${' '.repeat(100)}\n+++ b/a`, 'a', 'a'],
  // Quoted names, and names that only start with a quote.
  ['--- "a/\\303\\251\\"\\a"\n+++ "b/\\303\\251\\"\\a"', 'é"\u0007', 'é"\u0007'],
  ['--- "a/\\303\\251\\""\n+++ "b/\\303\\251\\""', 'é"', 'é"'],
  ['--- "a/x\n+++ "b/x', 'x', 'x'],
  ['--- "a/\\9"\n+++ "b/\\9"', '\\9"', '\\9"'],
  ['--- "a"\n+++ b/y', 'y', 'y'],
  ['diff --git "a/\\303\\251" "b/\\303\\251"\nold mode 100644\nnew mode 100755', 'é', 'é'],
  ['diff --git "a/\\170 y" b/x y\nold mode 100644\nnew mode 100755', 'x y', 'x y'],
  ['diff --git a/x y "b/\\170 y"\nold mode 100644\nnew mode 100755', 'x y', 'x y'],
  ['diff --git a/x y b/x y\r\nold mode 100644\nnew mode 100755', 'x y', 'x y'],
  ['diff --git a/x\tb/x\nold mode 100644\nnew mode 100755', 'x', 'x'],
  // Renames, also with the former headers `rename old` and `rename new`.
  ['diff --git a/x b/y\nrename old a\tb\nrename new c', 'a\tb', 'c'],
  ['diff --git a/x b/y\nindex nothing\nrename from x\nrename to "y', 'x', '"y'],
  ['--- a/x//y\n+++ b/x//y', 'x/y', 'x/y'],
  ['--- a/x\r\n+++ b/x\r', 'x', 'x'],
  ['--- a/x\u0001y\n+++ b/x\u0001y', 'x\u0001y', 'x\u0001y'],
  ['--- a/y\n+++ "b"', 'y', 'y'],
  ['diff --git a/x b/y\nrename from x"y"z\nrename to z', 'x"y"z', 'z'],
  ['diff --git a/x b/y\nrename from "\\170"\nrename to "\\171"', 'x', 'y'],
  ['diff --git a/x b/y\r\nrename from x\r\nrename to y\r', 'x', 'y'],
  ['diff --git "a/\\170 y" b/x y \nold mode 100644\nnew mode 100755', 'x y', 'x y'],
  ['diff --git a/y x y b/y x y\nold mode 100644\nnew mode 100755', 'y x y', 'y x y'],
  [
    '--- "a/\\a\\b\\t\\n\\v\\f\\r\\"\\\\"\n+++ "b/\\a\\b\\t\\n\\v\\f\\r\\"\\\\"',
    '\x07\b\t\n\v\f\r"\\',
    '\x07\b\t\n\v\f\r"\\',
  ],
  ['--- "a/\\357\\273\\277x"\n+++ "b/\\357\\273\\277x"', '\ufeffx', '\ufeffx'],
  ['--- "a/\\9zz"\n+++ "b/\\9zz"', '\\9zz"', '\\9zz"'],
  [
    `diff --git a/${'n'.repeat(9997)} b/${'n'.repeat(9997)}\r\nold mode 100644\nnew mode 100755`,
    'n'.repeat(9997),
    'n'.repeat(9997),
  ],
  // Times in every format, of both sides, and texts that are not times.
  ...[
    '20-01-02 03:04:05',
    '2020-01-02 03:04:05',
    '2020-01-02 03:04:05.123456789',
    '2020-01-02 03:04:05 +0100',
    '2020-01-02 03:04:05.1 -07:30',
  ].map((time) => [`--- a/x y ${time}\n+++ b/x y  ${time}`, 'x y', 'x y'] as const),
  ...['2020-01-02 03:04:05x', '2020-01-02 03:04', `2020-01-02 03:04:05.${'0'.repeat(60)}`].map(
    (time) => [`--- a/x ${time}\n+++ b/x ${time}`, `x ${time}`, `x ${time}`] as const,
  ),
  ['--- a/x \t2020-01-02 03:04:05\n+++ b/x \t2020-01-02 03:04:05', 'x ', 'x '],
  // Only the epoch directly after a tab means a missing file.
  ['--- 1970-01-01 00:00:00 +0000\n+++ new.c', 'new.c', 'new.c'],
  ['--- a/a\tx1970-01-01 00:00:00 +0000\n+++ b/a', 'a', 'a'],
  ['--- a/a\t1970-01-01 00:00:00 +0000x\n+++ b/a', 'a', 'a'],
  [`--- a/a\t1970-01-01 00:00:00.${'0'.repeat(73)} +0000\n+++ b/a`, null, 'a'],
  [`--- a/a\t1970-01-01 00:00:00.${'0'.repeat(74)} +0000\n+++ b/a`, 'a', 'a'],
  ['diff --git a/x b/y\ncopy from a\tb\ncopy to c\td', 'a\tb', 'c\td'],
  ['diff --git a/x b/y\nrename from a\tb\nrename to c\td', 'a\tb', 'c\td'],
  ['diff --git a/x b/x\r\nold mode 100644\r\nnew mode 100755\r', 'x', 'x'],
  // The mode is read only from a valid index line.
  ['diff --git a/x b/x\nindex x1..2 120000\nold mode 100644\nnew mode 100755', 'x', 'x'],
  ['diff --git a/x b/x\nindex 1..2 120000 x\nold mode 100644\nnew mode 100755', 'x', 'x'],
  ['--- a/undefined.txt\n+++ b/undefined.txt', 'undefined.txt', 'undefined.txt'],
  ['diff --git a/x b/y\nrename from "\\357\\273\\277x"\nrename to y', '\ufeffx', 'y'],
]

/** V4A patches, which `git apply` cannot read. */
export const chunked: readonly ApplyRow[] = [
  {
    what: 'adds lines after an anchor',
    old: 'class A\n  x\nclass B\n  x\n',
    patch: update('@@ class B\n+  y\n'),
    result: 'class A\n  x\nclass B\n  y\n  x\n',
  },
  {
    what: 'adds lines at the end, with and without an anchor',
    old: 'a\nb\n',
    patch: update('@@ a\n+c\n*** End of File\n'),
    result: 'a\nb\nc\n',
  },
  { what: 'adds lines without a position', old: 'a\n', patch: update('+b\n'), result: 'a\nb\n' },
  {
    what: 'adds a line that ends like a line with a mark',
    old: 'a\n',
    patch: update('+b *** End of File\n+c *** End Patch\n'),
    result: 'a\nb *** End of File\nc *** End Patch\n',
  },
  { what: 'adds lines after a line without a newline', old: 'a', patch: update('+b\n'), result: 'a\nb' },
  { what: 'adds lines to an empty file', old: '', patch: update('+b\n'), result: 'b\n' },
  {
    what: 'changes the last line, which has no newline',
    old: 'a\r\nb',
    patch: update('-b\n+c\n+d\n'),
    result: 'a\r\nc\r\nd',
  },
  { what: 'changes the only line, which has no newline', old: 'b', patch: update('-b\n+c\n+d\n'), result: 'c\nd' },
  {
    what: 'has carriage returns, and empty lines at its end',
    old: 'a\nb\n',
    patch: '*** Begin Patch\r\n*** Update File: a.txt\r\n@@\r\n a\r\n-b\r\n+c\r\n\r\n\r\n*** End Patch\r\n',
    result: 'a\nc\n',
  },
  {
    what: 'has empty lines between its files',
    old: null,
    patch: '*** Begin Patch\n\n*** Add File: a.txt\n+a\n+\n+b\n\n\n*** Delete File: b.txt\n\n*** End Patch\n',
    result: 'a\n\nb\n',
  },
  {
    what: 'changes a file that is not UTF-8',
    old: latin1('\xe9\nb\n'),
    patch: update('-b\n+\u00e9\n'),
    result: [...latin1('\xe9\n'), 0xc3, 0xa9, 10],
  },
  {
    what: 'keeps each line end in a file with mixed line ends',
    old: 'a\r\nb\nc\r\n',
    patch: update(' a\n b\n-c\n+d\n'),
    result: 'a\r\nb\nd\r\n',
  },
  {
    what: 'changes a first line together with its byte order mark',
    old: '\ufeffa\nb\n',
    patch: update('-\ufeffa\n+\ufeffc\n'),
    result: '\ufeffc\nb\n',
  },
  {
    what: 'adds lines twice after a line without a newline',
    old: 'a',
    patch: update('@@\n+b\n@@\n+c\n'),
    result: 'a\nb\nc',
  },
  {
    what: 'adds lines after a last line without a newline that it changes or removes',
    old: 'a\r\nb\r\nc',
    patch: update('-c\n+d\n@@\n+e\n'),
    result: 'a\r\nb\r\nd\r\ne',
  },
  { what: 'replaces the last line', old: 'a\nb', patch: update('-b\n@@\n+c\n'), result: 'a\nc' },
  {
    what: 'adds lines with the line end of the previous line, in a file with mixed line ends',
    old: 'a\r\nb\n',
    patch: update('+c\n'),
    result: 'a\r\nb\nc\n',
  },
  {
    what: 'changes a line and keeps its line end, in a file with mixed line ends',
    old: 'a\r\nb\n',
    patch: update('-b\n+c\n'),
    result: 'a\r\nc\n',
  },
  {
    what: 'applies at the first match after an anchor, which may be surrounded by spaces',
    old: 'class A\n  x\n  class B \n  x\n  x\n',
    patch: update('@@ class B\n-  x\n+  y\n'),
    result: 'class A\n  x\n  class B \n  y\n  x\n',
  },
  {
    what: 'applies after the previous chunk',
    old: 'x\ny\nx\n',
    patch: update('@@\n x\n-y\n+z\n@@\n-x\n+w\n'),
    result: 'x\nz\nw\n',
  },
  {
    what: 'has blank lines between its files, and after a deleted file',
    old: 'a\n',
    patch: '*** Begin Patch\n  \n*** Update File: a.txt\n-a\n+b\n\n*** Delete File: b.txt\n  \n*** End Patch\n',
    result: 'b\n',
  },
  {
    what: 'is surrounded by other text',
    old: 'a\n',
    patch: `Here it is:\n${update('-a\n+b\n').trimEnd()} of it\nand that is all\n`,
    result: 'b\n',
  },
]

const CONTEXT = expect.stringContaining('add up to three lines of the file')
const needsContext = { code: 'PATCH_CONFLICT', details: { hint: CONTEXT } }
const unfit = (why: string) => ({ code: 'PATCH_CONFLICT', details: { why } })

export const refused: readonly RefusedRow[] = [
  {
    what: 'a file that becomes too large',
    old: 'a\n',
    patch: unified('@@ -1 +1,2 @@\n a\n+b\n'),
    limit: 3,
    error: {
      code: 'FILE_TOO_LARGE',
      message: 'Cannot patch "a.txt": it would have 4 bytes, over the limit of 3',
      details: { path: 'a.txt', limit: 3 },
    },
  },
  {
    what: 'other line ends in invalid UTF-16',
    old: [0xff, 0xfe, 0x61, 0, 10, 0, 0, 0xd8],
    patch: unified('@@ -1 +1 @@\n-a\n+b\n'),
    error: { code: 'PATCH_CONFLICT' },
  },
  {
    what: 'a mark in a file without secrets',
    old: 'a\n',
    patch: unified('@@ -1 +1 @@\n-[REDACTED:github-token:1]\n+b\n'),
    error: { code: 'PATCH_CONFLICT' },
  },
  {
    what: 'lines without context after a line without a newline',
    old: 'a\nb',
    patch: unified('@@ -2,0 +3 @@\n+c\n'),
    error: unfit('the last line of the file has no newline'),
  },
  {
    what: 'lines without context after a line that lost its newline',
    old: 'a\nb\n',
    patch: unified('@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n', '@@ -2,0 +3 @@\n+d\n'),
    error: { code: 'PATCH_CONFLICT', details: { hunk: 2, why: 'the last line of the file has no newline' } },
  },
  {
    what: 'a newline removed before lines that another hunk removed',
    old: 'a\nb\nc\n',
    patch: unified('@@ -3 +2,0 @@\n-c\n', '@@ -2 +2 @@\n-b\n+B\n\\ No newline at end of file\n'),
    error: { code: 'PATCH_CONFLICT', details: { hunk: 2, why: 'it removes a newline before other lines' } },
  },
  {
    what: 'a hunk inside of lines that another hunk added',
    old: tenLines,
    patch: unified(
      '@@ -4,3 +4,4 @@\n 4\n+x\n 5\n 6\n',
      '@@ -8,3 +9,3 @@\n 8\n-9\n+nine\n 10\n',
      '@@ -4,2 +5,2 @@\n x\n-5\n+five\n',
    ),
    error: { code: 'PATCH_CONFLICT', details: { hunk: 3 } },
  },
  {
    what: 'a missing anchor',
    old: 'a\nb\n',
    patch: update('@@ class A\n-b\n+c\n'),
    error: unfit('no line "class A" follows'),
  },
  {
    what: 'an anchor that occurs only earlier',
    old: 'a\nb\nc\n',
    patch: update('@@ b\n-c\n+d\n@@ a\n+x\n'),
    error: { code: 'PATCH_CONFLICT', details: { hunk: 2, why: 'no line "a" follows' } },
  },
  {
    what: 'lines that occur only before the end',
    old: 'a\nb\n',
    patch: update('-a\n+b\n*** End of File\n'),
    error: unfit('it must match the end of the file'),
  },
  {
    what: 'marks of which some hide no secret',
    old: `a\nkey = "ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}"\n`,
    patch: update(' [REDACTED:github-token:9]\n-a\n+b\n'),
    error: unfit('its lines are not in the file'),
  },
  {
    what: 'lines without carriage returns in a file with mixed line ends',
    old: '\nb\r\nc\r\n',
    patch: unified('@@ -2,2 +2,2 @@\n b\n-c\n+d\n'),
    error: { code: 'PATCH_CONFLICT' },
  },
  {
    what: 'lines without carriage returns, except for one new line, in a file with them',
    old: 'a\r\nb\r\n',
    patch: unified('@@ -1,2 +1,3 @@\n a\n-b\n+c\r\n+d\n'),
    error: { code: 'PATCH_CONFLICT' },
  },
  {
    what: 'carriage returns that the file does not have',
    old: 'a\nb\nc',
    patch: unified('@@ -1,3 +1,3 @@\n a\r\n-b\r\n+B\r\n c\n\\ No newline at end of file\n'),
    error: { code: 'PATCH_CONFLICT', details: { hint: expect.stringContaining('with LF line ends') } },
  },
  {
    what: 'carriage returns in all its lines, which the file does not have',
    old: 'a\nb\nc\n',
    patch: unified('@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n').replaceAll('\n', '\r\n'),
    error: { code: 'PATCH_CONFLICT', details: { hint: expect.stringContaining('with LF line ends') } },
  },
  {
    what: 'lines with carriage returns, except for one, in a file without them',
    old: 'a\nb\n',
    patch: unified('@@ -1,2 +1,2 @@\n a\r\n-b\n+c\n'),
    error: { code: 'PATCH_CONFLICT' },
  },
  {
    what: 'hunks with carriage returns, except for one, in a file without them',
    old: tenLines,
    patch: unified('@@ -1,2 +1,2 @@\n-1\r\n+one\r\n 2\r\n', '@@ -9,2 +9,2 @@\n-9\n+nine\n 10\n'),
    error: { code: 'PATCH_CONFLICT', details: { hunk: 1 } },
  },
  {
    what: 'a first line that occurs further down',
    old: 'x\na\nb\nc\n',
    patch: unified('@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n'),
    error: {
      code: 'PATCH_CONFLICT',
      message: 'Cannot patch "a.txt": hunk 1 does not fit: it must match the beginning of the file',
    },
  },
  {
    what: 'a last line that occurs before the end',
    old: tenLines,
    patch: unified('@@ -2,2 +2,2 @@\n 2\n-3\n+x\n'),
    error: { code: 'PATCH_CONFLICT', details: { why: 'it must match the end of the file', hint: CONTEXT } },
  },
  {
    what: 'a hunk without context at the first line',
    old: tenLines,
    patch: unified('@@ -1 +1 @@\n-1\n+x\n'),
    error: needsContext,
  },
  {
    what: 'new lines without context at the first line',
    old: tenLines,
    patch: unified('@@ -0,0 +1 @@\n+x\n'),
    error: needsContext,
  },
  {
    what: 'a last line with a newline that the file does not have',
    old: 'a\nend',
    patch: unified('@@ -1,2 +1,2 @@\n a\n-end\n+fin\n'),
    error: { code: 'PATCH_CONFLICT', details: { hint: expect.stringContaining('The file does not end in a newline') } },
  },
  {
    what: 'a last line without the newline of the file',
    old: 'a\nend\n',
    patch: unified('@@ -1,2 +1,2 @@\n a\n-end\n\\ No newline at end of file\n+fin\n'),
    error: { code: 'PATCH_CONFLICT', details: { hint: expect.stringContaining('The file ends in a newline') } },
  },
  {
    what: 'lines without context in the middle',
    old: tenLines,
    patch: unified('@@ -5 +5 @@\n-5\n+x\n'),
    error: { code: 'PATCH_CONFLICT', details: { why: 'it must match the end of the file', hint: CONTEXT } },
  },
  {
    what: 'more last lines than the file has',
    old: 'a\nb\n',
    patch: unified('@@ -2,3 +2,2 @@\n a\n b\n-c\n'),
    error: unfit('it must match the end of the file'),
  },
  {
    what: 'missing lines',
    old: tenLines,
    patch: unified('@@ -2,3 +2,3 @@\n 2\n-x\n+y\n 4\n'),
    error: unfit('its lines are not in the file'),
  },
  {
    what: 'all lines of a file that has more',
    old: 'a\nb\n',
    patch: unified('@@ -1 +1 @@\n-a\n+c\n'),
    error: unfit('without lines around its change, it must match the whole file, which has more or fewer lines'),
  },
  {
    what: 'first lines without context in a file that has lines',
    old: 'a\n',
    patch: unified('@@ -0,0 +1 @@\n+b\n'),
    error: unfit('it has no context, so the file must be empty'),
  },
  {
    what: 'lines without context before the end',
    old: tenLines,
    patch: unified('@@ -2,0 +3 @@\n+b\n'),
    error: unfit('it has no context, and it is not at the end of the file'),
  },
  {
    what: 'lines without context after a last line without a newline that another hunk changed',
    old: '1\n2\n3\n4\n5',
    patch: unified('@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n', '@@ -5,0 +6 @@\n+6\n'),
    error: { code: 'PATCH_CONFLICT', details: { hunk: 2, why: 'the last line of the file has no newline' } },
  },
  {
    what: 'a chunk that matches at many positions',
    old: 'x\n'.repeat(12),
    patch: update('-x\n+y\n'),
    error: {
      code: 'PATCH_CONFLICT',
      message:
        'Cannot patch "a.txt": chunk 1 does not fit: its lines occur in 12 places (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10): add lines, or an @@ line',
    },
  },
  {
    what: 'a missing anchor that is too long to be shown',
    old: 'a\n',
    patch: update(`@@ ${'x'.repeat(250)}\n-a\n+b\n`),
    error: {
      details: {
        why: `no line "${'x'.repeat(200)}" follows`,
        expected: [{ line: 1, text: 'x'.repeat(250) }],
        actual: [{ line: 1, text: 'a' }],
      },
    },
  },
  {
    what: 'a hunk of many lines, of which some are shown',
    old: `${'z\r\n'.repeat(60)}a\rb`,
    patch: unified(`@@ -12,50 +12,49 @@\n${' y\n'.repeat(49)}-y\n`),
    error: {
      details: {
        expected: Array.from({ length: 40 }, (_, i) => ({ line: i + 12, text: 'y' })),
        actual: Array.from({ length: 40 }, (_, i) => ({ line: i + 12, text: 'z' })),
        totalLines: 61,
      },
    },
  },
  {
    what: 'a hunk of some lines, all shown, with the lines of the file up to its end',
    old: '1\n2\n3\n4\n5\r6',
    patch: unified('@@ -2,4 +2,3 @@\n 2\n 3\n 4\n-five\n'),
    error: {
      details: {
        expected: ['2', '3', '4', 'five'].map((text, i) => ({ line: i + 2, text })),
        actual: ['2', '3', '4', '5\r6'].map((text, i) => ({ line: i + 2, text })),
        totalLines: 5,
      },
    },
  },
]

const names = '--- a/a.txt\n+++ b/a.txt\n'
const hunk = '@@ -1 +1 @@\n-a\n+b\n'
const modes = 'old mode 100644\nnew mode 100755\n'
const fullIndex = `index ${'a'.repeat(40)}..${'b'.repeat(40)}`
const row = 'Azzzzz'

/** The defect, the patch, the reported line, and a part of the message. */
export const unreadable: readonly (readonly [what: string, patch: string, line: number, message: string])[] = [
  ['a lone surrogate', `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ud83d\n`, 5, 'it contains a lone surrogate'],
  [
    'a lone surrogate in a V4A patch',
    '*** Begin Patch\n*** Add File: a\n+\udc00\n*** End Patch\n',
    3,
    'it contains a lone surrogate',
  ],
  ['the root as a name', `--- a/.\n+++ b/.\n${hunk}`, 1, 'is the root'],
  ['an ambiguous name', `diff --git a b\n${hunk}`, 1, 'the header does not state the name'],
  ['names that differ', `diff --git a/a b/b\nold mode 100644\nnew mode 100755\n`, 1, 'does not state the name'],
  ['only one name', `diff --git a/a b/b\nrename from a\n`, 1, 'states only one of the two names'],
  [
    'an existing file with /dev/null as a name',
    `${git()}--- a/a.txt\n+++ /dev/null\n${hunk}`,
    3,
    'this line is /dev/null',
  ],
  ['a name without a directory', `${git()}--- a.txt\n+++ b/a.txt\n${hunk}`, 2, 'no directory to strip'],
  ['an invalid mode', git('old mode rw-r--r--'), 2, 'the mode is not an octal number'],
  ['the mode of a directory', git('new file mode 040000'), 2, 'the mode 040000 is not a file mode'],
  ['a hunk without a file', hunk, 1, 'a hunk without a file header'],
  ['empty names before a tab', `--- \t\n+++ \t\n${hunk}`, 1, 'does not state the name of the file'],
  [
    'a new file with old lines',
    `${git('new file mode 100644')}--- /dev/null\n+++ b/a.txt\n${hunk}`,
    1,
    'has old lines',
  ],
  [
    'a deleted file with new lines',
    `${git('deleted file mode 100644')}--- a/a.txt\n+++ /dev/null\n${hunk}`,
    1,
    'has new lines',
  ],
  ['more old lines than counted', `${names}@@ -1 +1,2 @@\n-a\n-b\n`, 5, 'more old lines'],
  ['more new lines than counted', `${names}@@ -1,2 +1 @@\n+a\n+b\n`, 5, 'more new lines'],
  ['a context line too many, of old ones', `${names}@@ -1 +1,2 @@\n-a\n b\n`, 5, 'more old lines'],
  ['a marker that is too short', `${names}@@ -1 +1,2 @@\n-a\n\\ No\n+b\n+c\n`, 5, 'ends before the number of lines'],
  [
    'a line after the last one',
    `${names}@@ -1 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n+c\n`,
    7,
    'a line after the one without a newline',
  ],
  [
    'a binary patch with another method',
    git(fullIndex, 'GIT binary patch', 'nothing 1', row, ''),
    4,
    'literal SIZE or delta SIZE',
  ],
  ['a binary patch without ids', git('GIT binary patch', 'literal 1', row), 1, 'needs an index line'],
  [
    'a binary patch with short ids',
    git('index aaa..bbb', 'GIT binary patch', 'literal 1', `${row}\r`, '', ''),
    1,
    'needs an index line',
  ],
  [
    'a binary patch with one full id',
    git(`index ${'a'.repeat(64)}..bbb`, 'GIT binary patch', 'literal 1', row, '\r', 'literal 0'),
    1,
    'needs an index line',
  ],
  ['a binary row of no length', git(fullIndex, 'GIT binary patch', 'literal 1', '!zzzzz'), 5, 'is corrupt'],
  ['a binary row that is too long', git(fullIndex, 'GIT binary patch', 'literal 1', 'Azzzzzzzzzz'), 5, 'is corrupt'],
  ['a binary row that is too short', git(fullIndex, 'GIT binary patch', 'literal 1', 'zzzzzz'), 5, 'is corrupt'],
  ['a binary row with other letters', git(fullIndex, 'GIT binary patch', 'literal 1', 'Azz"zz'), 5, 'is corrupt'],
  ['a binary row beyond ASCII', git(fullIndex, 'GIT binary patch', 'literal 1', 'Azz\u00e9zz'), 5, 'is corrupt'],
  ['a binary row beyond four bytes', git(fullIndex, 'GIT binary patch', 'literal 1', 'A~~~~~'), 5, 'is corrupt'],
  ['a name in quotes that is no UTF-8', `diff --git "a/\\377" "b/\\377"\n`, 1, 'the quoted name is not UTF-8'],
  [
    'a name with an unterminated quote',
    `diff --git "a/x b/x\nold mode 100644\nnew mode 100755\n`,
    1,
    'does not state the name',
  ],
  [
    'a second name with an unterminated quote',
    `diff --git a/x "b/x\nold mode 100644\nnew mode 100755\n`,
    1,
    'does not state the name',
  ],
  [
    'two quoted names, one of them unterminated',
    `diff --git "a/x" "b/x\nold mode 100644\nnew mode 100755\n`,
    1,
    'does not state the name',
  ],
  [
    'two quoted names that differ',
    `diff --git "a/x" "b/y"\nold mode 100644\nnew mode 100755\n`,
    1,
    'does not state the name',
  ],
  [
    'a quoted name with an invalid escape',
    `diff --git "a/\\9" "b/\\9"\nold mode 100644\nnew mode 100755\n`,
    1,
    'does not state the name',
  ],
  [
    'a quoted name without a directory',
    `diff --git "x" "x"\nold mode 100644\nnew mode 100755\n`,
    1,
    'does not state the name',
  ],
  [
    'a V4A patch without a name',
    '*** Begin Patch\n*** Add File: \n+x\n*** End Patch\n',
    2,
    'the name of the file is missing',
  ],
  [
    'a V4A patch with an empty line in an added file',
    '*** Begin Patch\n*** Add File: a\n+x\n\n+y\n*** End Patch\n',
    5,
    'must start with +',
  ],
  [
    'a V4A patch with a line without + in an added file',
    '*** Begin Patch\n*** Add File: a\n+x\ny\n*** End Patch\n',
    4,
    'every line of an added file must start with +',
  ],
  [
    'a V4A patch with lines after a deleted file',
    '*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch\n',
    3,
    'nothing may follow',
  ],
  ['a V4A patch with something between files', '*** Begin Patch\n*** Delete File: a\n*** End Patc', 3, '*** Add File:'],
  ['a V4A patch that does not end', '*** Begin Patch\n*** Delete File: a', 2, 'does not end'],
  [
    'a chunk with an invalid line',
    '*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch\n',
    4,
    'a line of a chunk must start with',
  ],
  [
    'a chunk that changes nothing',
    '*** Begin Patch\n*** Update File: a\n@@\n x\n*** End Patch\n',
    3,
    'the chunk changes nothing',
  ],
  [
    'a chunk that consists of an anchor',
    '*** Begin Patch\n*** Update File: a\n@@ x\n*** End Patch\n',
    3,
    'the chunk changes nothing',
  ],
  [
    'a chunk that consists of an end marker',
    '*** Begin Patch\n*** Update File: a\n*** End of File\n*** End Patch\n',
    3,
    'the chunk changes nothing',
  ],
  [
    'a chunk that consists of an end marker with a trailing space',
    '*** Begin Patch\n*** Update File: a\n*** End of File \n*** End Patch\n',
    3,
    'the chunk changes nothing',
  ],
  ['a V4A patch that ends in an anchor', '*** Begin Patch\n*** Update File: a\n@@ x', 3, 'the chunk changes nothing'],
  ['a V4A patch that ends in a chunk', '*** Begin Patch\n*** Update File: a\n-x', 3, 'does not end'],
  ['chunks of nothing', '*** Begin Patch\n*** Update File: a\n@@\n\n*** End Patch\n', 2, 'the update changes nothing'],
  [
    'a name that is too long',
    `diff --git a/${'n'.repeat(9998)} b/${'n'.repeat(9998)}\n${modes}`,
    1,
    'does not state the name',
  ],
  ['names without a blank between them', `diff --git a/x_b/x\n${modes}`, 1, 'does not state the name'],
  ['the name of a directory', `diff --git a/x/ b/x/\n${modes}`, 1, 'names a directory'],
  ['a second name at the root', `diff --git a/x /x\n${modes}`, 1, 'does not state the name'],
  ['empty names', `diff --git a/ b/\n${modes}`, 1, 'does not state the name'],
  ['names that consist of a directory', `--- a/\n+++ b/\n${hunk}`, 1, 'does not state the name of the file'],
  ['a quoted name, and another without quotes', `diff --git a/x "b/\\171"\n${modes}`, 1, 'does not state the name'],
  ['a name with ..', `--- a/d/../x\n+++ b/d/../x\n${hunk}`, 1, 'contains ..'],
  ['a hunk after only a new name', `text\n+++ b/x\n${hunk}`, 3, 'a hunk without a file header'],
  ['a hunk after only an old name', `--- a/x\ntext\n${hunk}`, 3, 'a hunk without a file header'],
  [
    'an incomplete hunk',
    `${names}@@ -1,2 +1,2 @@\n-a\n+b\n`,
    6,
    'the patch ends before the number of lines in the header (line 3)',
  ],
  ['an invalid hunk header', `${names}@@ -x +1 @@\n-a\n`, 3, 'the header of the hunk is malformed'],
  ['more new lines than declared, because of a context line', `${names}@@ -1,2 +1 @@\n+a\n b\n`, 5, 'more new lines'],
  [
    'an invalid marker',
    `${names}@@ -1 +1 @@\n-a\n\\No newline at end of file\n+b\n`,
    5,
    'ends before the number of lines',
  ],
  ['a hunk of context', `${names}@@ -1 +1 @@\n a\n`, 3, 'the hunk changes nothing'],
  ...[' c', '+c', '-c', '-- c', '--          c', '-c--'].map(
    (more) =>
      [
        `an extra line: ${more}`,
        `${names}${hunk}${more}\n`,
        6,
        'the hunk has more lines than its header counts',
      ] as const,
  ),
  ...['deleted file mode 100644', 'rename from a.txt', 'rename to a.txt', 'copy from a.txt', 'copy to a.txt'].map(
    (other) =>
      [
        `a new file, and ${other}`,
        git('new file mode 100644', other),
        3,
        'the header is contradictory, such as both new and renamed',
      ] as const,
  ),
  ['only the second name', 'diff --git a/a b/b\nrename to b\n', 1, 'states only one of the two names'],
  ['the same mode twice', git('old mode 100644', 'new mode 100644'), 1, 'the section changes nothing'],
  ['only an old mode', git('old mode 100644'), 1, 'the section changes nothing'],
  ['only a new mode', git('new mode 100755'), 1, 'the section changes nothing'],
  ['a mode with a prefix', git('old mode x100644'), 2, 'the mode is not an octal number'],
  ['a mode with a suffix', git('old mode 100644x'), 2, 'the mode is not an octal number'],
  ['a link', git('new file mode 120000'), 2, 'line 2 creates or changes a symbolic link'],
  ['a submodule', git('index 1..2 160000\r'), 2, 'line 2 creates or changes a submodule'],
  [
    'a new file with an old path',
    `${git('new file mode 100644')}${names}`,
    3,
    'the file does not exist: /dev/null is expected',
  ],
  [
    'a name that is not in the header',
    `${git()}--- a/a.txt\n+++ b/a.txt\n+++ b/b.txt\n`,
    4,
    'differs from the one in the header',
  ],
  ['no name at all', '--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n', 1, 'both names are /dev/null'],
  ['an empty name', `--- \t\n+++ x\n${hunk}`, 1, 'does not state the name of the file'],
  ['a second name that is not UTF-8', `--- a/x\n+++ "b/\\377"\n${hunk}`, 2, 'is not UTF-8'],
  ['a second name without a directory that is not UTF-8', `--- x\n+++ "\\377"\n${hunk}`, 2, 'is not UTF-8'],
  ...['Binary files a/a.txt and b/a.txt differ', 'Files a/a.txt and b/a.txt differ\r'].map(
    (notice) =>
      [
        notice,
        git('index 1..2', notice),
        3,
        'Cannot apply the patch: line 3 mentions a binary file without its content',
      ] as const,
  ),
  ['other text about a difference', git('index 1..2', 'they differ'), 1, 'the section changes nothing'],
  ['other text about binary files', git('index 1..2', 'Binary files are these'), 1, 'the section changes nothing'],
  [
    'a corrupt second part of a binary patch',
    git(fullIndex, 'GIT binary patch', 'literal 1', row, '', 'literal 1', '!'),
    8,
    'is corrupt',
  ],
  ['a V4A patch that ends after a name', '*** Begin Patch\n*** Update File: a', 2, 'the update changes nothing'],
  ...['xliteral 1', 'literal 1x', 'literal x', 'delta'].map(
    (start) =>
      [
        `a binary patch that starts with ${start}`,
        git(fullIndex, 'GIT binary patch', start, row, ''),
        4,
        'literal SIZE or delta SIZE is expected',
      ] as const,
  ),
  [
    'an extra line before a header',
    `${names}${hunk} c\n+++ b/x\n${hunk}`,
    6,
    'the hunk has more lines than its header counts',
  ],
]

/** A patch and the change that it declares. */
export const kinds: readonly (readonly [patch: string, change: object])[] = [
  [`${names}${hunk}`, { kind: 'modify', mayCreate: false, insertions: 1, deletions: 1 }],
  [`${names}@@ -0,0 +1 @@\n+b\n`, { kind: 'modify', mayCreate: true, insertions: 1, deletions: 0 }],
  [`${names}@@ -0,0 +1 @@\n+b\n@@ -0,0 +1 @@\n+c\n`, { kind: 'modify', mayCreate: false }],
  ['--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+b\n', { kind: 'create', mayCreate: false }],
  ['--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n', { kind: 'delete', mayCreate: false, deletions: 1 }],
  [`${git('index 1..2')}${names}@@ -0,0 +1 @@\n+b\n`, { kind: 'modify', mayCreate: false }],
  ['diff --git a/x b/y\ncopy from x\ncopy to y\n', { kind: 'copy' }],
  ['diff --git a/x b/y\nrename from x\nrename to y\n', { kind: 'rename' }],
  ['diff --git a/x b/x\nrename from x\nrename to x\n', { kind: 'rename' }],
  [`diff --git a/x b/y\n--- a/x\n+++ b/y\n${hunk}`, { kind: 'rename', oldPath: 'x', newPath: 'y' }],
  [git('old mode 100755', 'new mode 100644'), { kind: 'modify', oldMode: 0o755, newMode: 0o644 }],
  [git('new file mode 100755'), { kind: 'create', oldPath: null, newMode: 0o755 }],
  [git('deleted file mode 100644'), { kind: 'delete', newPath: null, oldMode: 0o644 }],
  ...['a', 'b'].map(
    (digit) =>
      [
        git(
          `index ${digit.repeat(digit === 'a' ? 40 : 64)}..${digit.repeat(40)}`,
          'GIT binary patch\r',
          'literal 1',
          row,
          '',
          'literal 1',
          row,
          '',
        ),
        {
          kind: 'modify',
          body: { type: 'binary', method: 'literal', size: 1, newId: digit.repeat(40) },
          insertions: 0,
          deletions: 0,
        },
      ] as const,
  ),
  ...(
    [
      ['literal 12', 'literal', 12],
      ['delta 3 \r', 'delta', 3],
    ] as const
  ).map(
    ([start, method, size]) =>
      [
        git(fullIndex, 'GIT binary patch', start, 'D00001', 'B0~000\r', '\r', 'literal 0', '', ''),
        { body: { method, size, data: Uint8Array.of(0, 0, 0, 1, 3, 0x13) } },
      ] as const,
  ),
]
