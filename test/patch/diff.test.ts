import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { binaryDiff, diffLines, type FileVersion, type LineHunk, unifiedDiff } from '../../src/patch/diff.ts'
import type { LogicalPath } from '../../src/paths/logical-path.ts'

let scratch = ''
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'wardspace-diff-'))
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** git, deaf to the configuration of whoever runs the test. */
function git(directory: string, args: readonly string[], input = ''): string {
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CEILING_DIRECTORIES: dirname(directory),
  }
  return execFileSync('git', args, { cwd: directory, env, input, maxBuffer: 1 << 28, stdio: 'pipe' }).toString()
}

/** The exit code of `git diff --no-index` is 1 where there is a difference. */
function gitDiff(directory: string, args: readonly string[]): string {
  try {
    return git(directory, ['diff', '--no-index', ...args])
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: Buffer }
    if (status !== 1) throw error
    return stdout.toString()
  }
}

interface Tree {
  [path: string]: { readonly text: string; readonly mode: number }
}

function writeTree(directory: string, tree: Tree): void {
  mkdirSync(directory, { recursive: true })
  for (const [path, { text, mode }] of Object.entries(tree)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
    if (mode !== 0o644) chmodSync(join(directory, path), mode)
  }
}

function readTree(directory: string): Tree {
  const tree: Tree = {}
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    tree[path.slice(directory.length + 1)] = {
      text: readFileSync(path, 'utf8'),
      mode: (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755,
    }
  }
  return tree
}

/** Lines from a small stock, so that they repeat, with every kind of end. */
const lineStock = fc.constantFrom(
  'a',
  'b',
  'c',
  '',
  '}',
  '  x',
  '\tif (x) {',
  'é😀',
  '--- a',
  '+++ b',
  '@@ -1 +1 @@',
  '\\ No',
  'a\r',
  '\r',
  '-',
  '+',
  ' ',
  '\u2028',
  'diff --git a/a b/a',
)
const lastNewline = fc.boolean()
const text = fc
  .tuple(fc.array(lineStock, { maxLength: 30 }), lastNewline)
  .map(([lines, ended]) => lines.join('\n') + (ended && lines.length > 0 ? '\n' : ''))

const editedPair = fc
  .tuple(
    fc.array(lineStock, { maxLength: 60 }),
    fc.array(fc.tuple(fc.nat(60), fc.nat(4), fc.array(lineStock, { maxLength: 4 })), { maxLength: 5 }),
    lastNewline,
    lastNewline,
  )
  .map(([lines, edits, oldEnded, newEnded]) => {
    const edited = [...lines]
    for (const [at, removed, added] of edits) edited.splice(Math.min(at, edited.length), removed, ...added)
    return [ended(lines, oldEnded), ended(edited, newEnded)] as const
  })

function ended(lines: readonly string[], newline: boolean): string {
  return lines.length === 0 ? '' : lines.join('\n') + (newline ? '\n' : '')
}

const pair = fc.oneof({ weight: 1, arbitrary: fc.tuple(text, text) }, { weight: 3, arbitrary: editedPair })

/** What the hunks say, done to the old text. */
function applyHunks(oldText: string, newText: string, hunks: readonly LineHunk[]): string {
  const oldLines = linesOf(oldText)
  const newLines = linesOf(newText)
  const result: string[] = []
  let at = 0
  for (const hunk of hunks) {
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1
    const newStart = hunk.newLines === 0 ? hunk.newStart : hunk.newStart - 1
    expect(start).toBeGreaterThanOrEqual(at)
    result.push(...oldLines.slice(at, start))
    expect(result.length).toBe(newStart)
    result.push(...newLines.slice(newStart, newStart + hunk.newLines))
    at = start + hunk.oldLines
  }
  return [...result, ...oldLines.slice(at)].join('')
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** The fewest lines that any diff can have, by the plain table. */
function fewestChanges(oldText: string, newText: string): number {
  const a = linesOf(oldText)
  const b = linesOf(newText)
  let row = new Array<number>(b.length + 1).fill(0)
  for (const line of a) {
    const next = [0]
    for (let j = 0; j < b.length; j++) {
      next.push(line === b[j] ? (row[j] as number) + 1 : Math.max(row[j + 1] as number, next[j] as number))
    }
    row = next
  }
  return a.length + b.length - 2 * (row[b.length] as number)
}

describe('diffLines', () => {
  it('gives hunks that turn the old text into the new one, with as few lines as there can be', () => {
    fc.assert(
      fc.property(pair, ([oldText, newText]) => {
        const hunks = diffLines(oldText, newText)
        expect(applyHunks(oldText, newText, hunks)).toBe(newText)
        const changes = hunks.reduce((sum, hunk) => sum + hunk.oldLines + hunk.newLines, 0)
        expect(changes).toBe(fewestChanges(oldText, newText))
        expect(hunks.length === 0).toBe(oldText === newText)
      }),
      { numRuns: 3000 },
    )
  })
})

/** Names that a patch has to write with care, all of them allowed by the lexical guard. */
const nameStock = [
  'plain',
  'two words',
  ' lead',
  'trail ',
  'quo"te',
  "apo'strophe",
  'é',
  '日本',
  '😀',
  '-dash',
  'a',
  'b',
  'tab',
  '%41',
  '[id]',
  'x => y',
  '{a,b}',
  'dev',
  '..a',
]
const name = fc.array(fc.constantFrom(...nameStock), { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))

const change = fc.record({
  texts: pair,
  kind: fc.constantFrom('change', 'change', 'change', 'create', 'delete', 'rename', 'move'),
  name,
  oldMode: fc.constantFrom(0o644, 0o644, 0o755),
  newMode: fc.constantFrom(0o644, 0o644, 0o755),
  context: fc.constantFrom(3, 3, 3, 1, 10),
})

describe('unifiedDiff', () => {
  it('writes what git apply turns into the new tree, and git apply -R into the old one', () => {
    const changes = fc.sample(change, { numRuns: 4000, seed: 20261121 })
    for (let batch = 0; batch < 4; batch++) {
      const oldTree: Tree = {}
      const newTree: Tree = {}
      let patch = ''
      changes.slice(batch * 1000, batch * 1000 + 1000).forEach((change, index) => {
        const [oldText, newText] = change.kind === 'rename' ? [change.texts[0], change.texts[0]] : change.texts
        const oldPath = `${index}/${change.name}` as LogicalPath
        const moved = change.kind === 'rename' || change.kind === 'move'
        const newPath = (moved ? `${index}/new ${change.name}.é` : oldPath) as LogicalPath
        const oldVersion = change.kind === 'create' ? null : { path: oldPath, text: oldText, mode: change.oldMode }
        const newVersion = change.kind === 'delete' ? null : { path: newPath, text: newText, mode: change.newMode }
        if (oldVersion) oldTree[oldPath] = { text: oldText, mode: change.oldMode }
        if (newVersion) newTree[newPath] = { text: newText, mode: change.newMode }
        patch += unifiedDiff(oldVersion, newVersion, { context: change.context }).text
      })
      const directory = join(scratch, `apply${batch}`)
      writeTree(directory, oldTree)
      git(directory, ['apply', '--whitespace=nowarn', '-'], patch)
      expect(readTree(directory)).toEqual(newTree)
      git(directory, ['apply', '-R', '--whitespace=nowarn', '-'], patch)
      expect(readTree(directory)).toEqual(oldTree)
    }
  })
})
