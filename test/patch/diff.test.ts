import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { binaryDiff, diffLines, type FileVersion, type LineHunk, unifiedDiff } from '../../src/patch/diff.ts'
import { internLines } from '../../src/patch/intern-lines.ts'
import { quoteName } from '../../src/patch/quoted-name.ts'
import { markChanges } from '../../src/patch/sequence-diff.ts'
import type { LogicalPath } from '../../src/paths/logical-path.ts'
import { times } from '../counts.ts'
import { ownTime } from '../own-time.ts'
import { outputOf } from '../run-program.ts'

let scratch = ''
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'wardspace-diff-'))
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Runs git without the configuration of the user. */
function git(directory: string, args: readonly string[], input = ''): string {
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CEILING_DIRECTORIES: dirname(directory),
  }
  return outputOf('git', args, { cwd: directory, env, input }).toString()
}

/** `git diff --no-index` exits with 1 if there is a difference. */
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

/** Lines from a small set, so that they repeat, with every kind of line end. */
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

/** The old text after applying the hunks. */
function applyHunks(oldText: string, newText: string, hunks: readonly LineHunk[]): string {
  const oldLines = linesOf(oldText)
  const newLines = linesOf(newText)
  const result: string[] = []
  let at = 0
  for (const hunk of hunks) {
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1
    const newStart = hunk.newLines === 0 ? hunk.newStart : hunk.newStart - 1
    expect(start).toBeGreaterThanOrEqual(at)
    append(result, oldLines, at, start)
    expect(result.length).toBe(newStart)
    append(result, newLines, newStart, newStart + hunk.newLines)
    at = start + hunk.oldLines
  }
  return append(result, oldLines, at, oldLines.length).join('')
}

function append(result: string[], lines: readonly string[], from: number, to: number): string[] {
  for (let i = from; i < to; i++) result.push(lines[i] as string)
  return result
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** The minimal number of changed lines, by dynamic programming. */
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
  it('returns the fewest lines that turn the old text into the new one', () => {
    fc.assert(
      fc.property(pair, ([oldText, newText]) => {
        const hunks = diffLines(oldText, newText)
        expect(applyHunks(oldText, newText, hunks)).toBe(newText)
        const changes = hunks.reduce((sum, hunk) => sum + hunk.oldLines + hunk.newLines, 0)
        expect(changes).toBe(fewestChanges(oldText, newText))
        expect(hunks.length === 0).toBe(oldText === newText)
      }),
      { numRuns: times(50, 3000) },
    )
  })

  it.each([
    // The common start and end must not overlap or split a line.
    ['a\na\n', 'a\na\na\n', [[2, 0, 3, 1]]],
    ['a\na\na\n', 'a\na\n', [[3, 1, 2, 0]]],
    ['a\nb\n', 'xa\nb\n', [[1, 1, 1, 1]]],
    ['xa\nb\n', 'a\nb\n', [[1, 1, 1, 1]]],
    ['xa\nb\n', 'ya\nb\n', [[1, 1, 1, 1]]],
    ['a\nbx', 'a\nby', [[2, 1, 2, 1]]],
    // One line between added or removed lines.
    [
      'b\n',
      'a\nb\nc\n',
      [
        [0, 0, 1, 1],
        [1, 0, 3, 1],
      ],
    ],
    [
      'a\nb\nc\n',
      'b\n',
      [
        [1, 1, 0, 0],
        [3, 1, 1, 0],
      ],
    ],
    ['a\n', 'b\n', [[1, 1, 1, 1]]],
    ['', 'a\nb', [[0, 0, 1, 2]]],
    ['a\nb', '', [[1, 2, 0, 0]]],
  ] as const)('of %j and %j are %j', (oldText, newText, expected) => {
    const hunks = diffLines(oldText, newText)
    expect(hunks.map(({ oldStart, oldLines, newStart, newLines }) => [oldStart, oldLines, newStart, newLines])).toEqual(
      expected,
    )
  })

  it('finds one change in texts with long common ends', () => {
    const block = (units: number, unit: string) => `${unit.repeat(units)}\n`
    for (const before of [0, 8, 15, 17, 510, 513, 1535, 5000]) {
      for (const behind of [0, 9, 16, 511, 514, 4000]) {
        const [head, tail] = [before === 0 ? '' : block(before, 'h'), behind === 0 ? '' : block(behind, 't')]
        for (const [old, fresh] of [
          ['', 'x\n'],
          ['x\n', 'y\n'],
          ['hx\n', 'hy\n'],
          ['xt\n', 'yt\n'],
          ['hhx\n', ''],
        ]) {
          expect(diffLines(head + old + tail, head + fresh + tail)).toMatchObject([
            { oldLines: old === '' ? 0 : 1, newLines: fresh === '' ? 0 : 1 },
          ])
        }
      }
    }
  })
})

describe('changes that only add or only remove lines', () => {
  /** Defects of the diff, such as a hunk that could move further down, or up to join the previous one. */
  function complaints(oldText: string, newText: string): string[] {
    const hunks = diffLines(oldText, newText)
    if (applyHunks(oldText, newText, hunks) !== newText) return ['other text']
    const wrong: string[] = []
    const changes = hunks.reduce((sum, hunk) => sum + hunk.oldLines + hunk.newLines, 0)
    if (changes !== fewestChanges(oldText, newText)) wrong.push('too many lines')
    // The hunks with offsets that start at 0.
    const places = hunks.map(({ oldStart, oldLines, newStart, newLines }) => ({
      oldFrom: oldLines === 0 ? oldStart : oldStart - 1,
      oldLines,
      newFrom: newLines === 0 ? newStart : newStart - 1,
      newLines,
    }))
    places.forEach(({ oldFrom, oldLines, newFrom, newLines }, i) => {
      if (oldLines > 0 && newLines > 0) return
      const removed = newLines === 0
      const lines = linesOf(removed ? oldText : newText)
      const [from, to] = removed ? [oldFrom, oldFrom + oldLines] : [newFrom, newFrom + newLines]
      const before = places[i - 1]
      const after = places[i + 1]
      const next = after === undefined ? lines.length : removed ? after.oldFrom : after.newFrom
      if (to < next && lines[from] === lines[to]) wrong.push(`place ${i} could stand further down`)
      if (before === undefined) return
      const end = removed ? before.oldFrom + before.oldLines : before.newFrom + before.newLines
      let up = from
      while (up > end && lines[up - 1] === lines[up - 1 + to - from]) up -= 1
      if (up === end) wrong.push(`place ${i} could join the one before it`)
    })
    return wrong
  }

  it('move down as far as possible, or join a neighbour', () => {
    const random = generator(9)
    const drawn = (kinds: number) =>
      Array.from(
        { length: Math.floor(random() * 11) },
        () => `${['a', 'ba', ''][Math.floor(random() * kinds)]}\n`,
      ).join('')
    for (let round = 0; round < 400; round++) {
      const kinds = round % 2 === 0 ? 2 : 3
      // Sometimes the last line has no newline.
      const text = () => drawn(kinds).slice(0, random() < 0.3 ? -1 : undefined)
      const [oldText, newText] = [text(), text()]
      const wrong = complaints(oldText, newText)
      if (wrong.length > 0) expect({ oldText, newText, wrong }).toBe('in its place')
    }
  })
})

describe('internLines', () => {
  const lines = (count: number, kinds: number) => Array.from({ length: count }, (_, i) => `line ${(i * 7) % kinds}\n`)
  const cut = (text: string, from: number, to: number) => linesOf(text.slice(from, to))

  it.each<readonly [what: string, oldText: string, newText: string, from: number, fewer: number]>([
    ['no lines', '', '', 0, 0],
    ['one side', '', 'a\n\nb', 0, 0],
    ['lines of both sides', 'a\nb\na\n\n', 'c\nb\n\na', 0, 0],
    ['the text after an offset', 'a\nb\nc\na\n', 'a\nb\na\n', 4, 0],
    ['the text before an offset, inside of a line or at its end', 'a\nb\nab\n', 'a\nab\nb\n', 0, 1],
    ['lines that differ in their last unit or their length', 'ab\nac\nab', 'abc\nab\nac\na\n', 0, 0],
    ['a line that exists only on the other side', 'a\nb\n', 'c\na\nc\nd\nc\nd\n', 0, 0],
    ['a last line that collides with a longer one', 'ab\u0520\u40ff\n', 'ab', 0, 0],
    [
      'lines that follow each other in both texts',
      `a\n${lines(40, 40).join('')}a`,
      `b\n${lines(50, 50).join('')}ab`,
      0,
      0,
    ],
    ['a last line that goes on in the other text', 'x\na long line\nb', 'y\na long line\nbc\n', 0, 0],
    ['hundreds of lines', lines(700, 600).join(''), lines(900, 650).reverse().join(''), 7, 7],
    ['few lines that collide', colliding(30, 1) + colliding(20, 1), colliding(10, 2) + colliding(30, 1), 0, 0],
    ['many lines that collide', colliding(200, 1), colliding(150, 2) + colliding(250, 1), 0, 0],
    ['lines that collide on one side', 'a\n', `a\n${colliding(400, 1)}a\n`, 0, 0],
  ])('numbers %s in the order of occurrence', (_, oldText, newText, from, fewer) => {
    const [oldEnd, newEnd] = [oldText.length - fewer, newText.length - fewer]
    const previous = new Map<string, number>()
    const target = [cut(oldText, from, oldEnd), cut(newText, from, newEnd)].map((lines) => {
      const starts = [from]
      for (const line of lines) starts.push((starts.at(-1) as number) + line.length)
      for (const line of lines) if (!previous.has(line)) previous.set(line, previous.size)
      return { starts, ids: lines.map((line) => previous.get(line)) }
    })
    const { old, new: fresh, symbols } = internLines(oldText, oldEnd, newText, newEnd, from)
    const sides = [old, fresh].map(({ starts, ids }) => ({ starts: [...starts], ids: [...ids] }))
    expect({ sides, symbols }).toEqual({ sides: target, symbols: previous.size })
  })

  it.each([
    ['never for lines of a source file', lines(900, 900).join(''), 0],
    ['once for many lines that collide', colliding(200, 1), 1],
  ])('uses a random hash %s', (_, text, times) => {
    const random = Math.random
    let drawn = 0
    Math.random = () => {
      drawn += 1
      return random()
    }
    try {
      internLines(text, text.length, 'a\n', 2, 0)
    } finally {
      Math.random = random
    }
    expect(drawn).toBe(times)
  })
})

describe('markChanges', () => {
  /** The number of removed and added elements. Checks that the remaining elements are equal on both sides. */
  function changesOf(a: readonly number[], b: readonly number[]): number {
    const [changedA, changedB] = [new Uint8Array(a.length), new Uint8Array(b.length)]
    const symbols = Math.max(0, ...a, ...b) + 1
    markChanges(Int32Array.from(a), Int32Array.from(b), symbols, changedA, changedB)
    const commonLines = a.filter((_, i) => changedA[i] === 0)
    const keptOther = b.filter((_, j) => changedB[j] === 0)
    if (commonLines.join() !== keptOther.join()) expect(keptOther).toEqual(commonLines)
    return a.length + b.length - 2 * commonLines.length
  }

  /** The minimal number, by dynamic programming. */
  function fewest(a: readonly number[], b: readonly number[]): number {
    let row = new Uint16Array(b.length + 1)
    for (const symbol of a) {
      const next = new Uint16Array(b.length + 1)
      for (let j = 0; j < b.length; j++) {
        next[j + 1] = symbol === b[j] ? (row[j] as number) + 1 : Math.max(row[j + 1] as number, next[j] as number)
      }
      row = next
    }
    return a.length + b.length - 2 * (row[b.length] as number)
  }

  const drawn = (random: () => number, length: number, kinds: number) =>
    Array.from({ length }, () => Math.floor(random() * kinds))

  it('marks the fewest elements in all pairs of short sequences of three symbols', () => {
    const all: number[][] = [[]]
    for (let i = 0; all.length < 121; i++) for (const kind of [0, 1, 2]) all.push([...(all[i] as number[]), kind])
    // Without loss of generality, the symbols of one side are numbered in the order of occurrence.
    const ordered = all.filter((a) => a.every((kind, i) => kind <= Math.max(-1, ...a.slice(0, i)) + 1))
    for (const a of ordered) {
      for (const b of all) if (changesOf(a, b) !== fewest(a, b)) expect(b).toBe(`changed to ${a} in fewer steps`)
    }
  })

  it.each([
    [12, 12, 3, 200],
    [2, 14, 2, 50],
    [14, 2, 2, 50],
    [3, 40, 6, 40],
    [40, 3, 6, 40],
    [30, 30, 8, 40],
    [90, 90, 60, 4],
  ])('changes as few elements as there can be of %i and %i, of %i kinds', (maximum, mostOther, kinds, rounds) => {
    const random = generator(maximum + mostOther)
    for (let round = 0; round < rounds; round++) {
      const a = drawn(random, Math.ceil(maximum * (0.5 + random() / 2)), kinds)
      const b = drawn(random, Math.ceil(mostOther * (0.5 + random() / 2)), kinds)
      expect(changesOf(a, b)).toBe(fewest(a, b))
    }
  })

  it('marks the fewest elements if each occurs once, in any order', () => {
    const random = generator(5)
    // With 300 elements, more have to move than the limit of one search.
    for (const count of [250, 300]) {
      const a = Array.from({ length: count }, (_, i) => i)
      const b = a
        .map((value) => [random(), value] as const)
        .sort(([x], [y]) => x - y)
        .map(([, value]) => value)
      const least = fewest(a, b)
      expect(changesOf(a, b)).toBe(least)
      // Elements of only one side are not anchors, however often they occur.
      for (const often of [2, 5]) {
        expect(changesOf([...new Array<number>(often).fill(count), ...a], b)).toBe(often + least)
        expect(changesOf(b, [...new Array<number>(often).fill(count), ...a])).toBe(often + least)
      }
      // The same applies if both sides have a common end.
      const last = b.at(-1) as number
      expect(changesOf([...a, last], [...b, last])).toBe(least)
      expect(changesOf([...a, count, count], [...b, count])).toBe(least + 1)
      expect(changesOf(a, a.toReversed())).toBe(2 * (count - 1))
    }
  })

  it.each([
    [400, 350, 1.01],
    [800, 90, 1.05],
    [800, 30, 1.05],
  ])('is close to the minimum for %i and %i elements of few kinds with little in common', (count, other, limit) => {
    const random = generator(6)
    const head = drawn(random, 900, 60)
    const [a, b] = [drawn(random, count, 60), drawn(random, other, 60)]
    const least = fewest(a, b)
    expect(least).toBeGreaterThan(512)
    expect(changesOf([...head, ...a], [...head, ...b]) / least).toBeLessThan(limit)
    expect(changesOf([...head, ...b], [...head, ...a]) / least).toBeLessThan(limit)
  })
})

/** Names that need quoting or a trailing tab in a patch. The lexical guard allows all of them. */
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
  it('writes patches that git apply and git apply -R accept', () => {
    const changes = fc.sample(change, { numRuns: times(1000, 3000), seed: 20261121 })
    for (let batch = 0; batch < times(1, 3); batch++) {
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

  it('equals the output of git diff on unambiguous edits', () => {
    const source = Array.from({ length: 40 }, (_, i) => (i % 8 === 0 ? `function part${i}() {  ` : `  step(${i})`))
    const edits: readonly (readonly [string, string])[] = [
      [`${source.join('\n')}\n`, `${source.map((line, i) => (i === 20 ? '  changed()' : line)).join('\n')}\n`],
      [source.join('\n'), `${source.filter((_, i) => i !== 3 && i !== 12 && i !== 37).join('\n')}\n`],
      [`${source.join('\n')}\n`, `new first line\n${source.join('\n')}\nnew last line`],
      ['a\r\nb\r\nc\r\n', 'a\r\nb\nc\r\n'],
      [
        `ä${'é'.repeat(60)} long heading\n${' x\n'.repeat(10)}`,
        `ä${'é'.repeat(60)} long heading\n${' x\n'.repeat(9)} y\n`,
      ],
      [
        `_${'é'.repeat(60)} long heading\n${' x\n'.repeat(10)}`,
        `_${'é'.repeat(60)} long heading\n${' x\n'.repeat(9)} y\n`,
      ],
      [`$${'日'.repeat(26)}${' x\n'.repeat(10)}`, `$${'日'.repeat(26)}${' x\n'.repeat(9)} y\n`],
      [`$ é日𝕏${'日'.repeat(26)}${' x\n'.repeat(10)}`, `$ é日𝕏${'日'.repeat(26)}${' x\n'.repeat(9)} y\n`],
      ['one\n', ''],
      ['', 'one'],
    ]
    edits.forEach(([oldText, newText], index) => {
      for (const path of ['plain', 'a b', 'quo"te é'] as LogicalPath[]) {
        const directory = join(scratch, `equal${index}`)
        writeTree(directory, {
          [`a/${path}`]: { text: oldText, mode: 0o644 },
          [`b/${path}`]: { text: newText, mode: 0o755 },
        })
        const theirs = gitDiff(directory, ['--no-prefix', `a/${path}`, `b/${path}`])
        const ours = unifiedDiff({ path, text: oldText, mode: 0o644 }, { path, text: newText, mode: 0o755 })
        // git may cut a heading inside of a character; ours does not.
        expect(ours.text).toBe(theirs.replace(/^index .*\n/m, '').replace(/\ufffd$/gm, ''))
      }
    })
  })

  it('writes binary files like git', () => {
    const directory = join(scratch, 'binary')
    mkdirSync(join(directory, 'a'), { recursive: true })
    mkdirSync(join(directory, 'b'), { recursive: true })
    const [one, two] = [Uint8Array.of(0, 1), Uint8Array.of(0, 2)]
    for (const path of ['x', 'é y'] as LogicalPath[]) {
      writeFileSync(join(directory, 'a', path), one)
      writeFileSync(join(directory, 'b', path), two)
      const theirs = gitDiff(directory, ['--no-prefix', `a/${path}`, `b/${path}`]).replace(/^index .*\n/m, '')
      expect(binaryDiff({ path, bytes: one }, { path, bytes: two }).text).toBe(theirs)
    }
    const path = 'x' as LogicalPath
    expect(binaryDiff({ path, bytes: one }, { path, bytes: one.slice() }).text).toBe('')
    expect(binaryDiff(null, { path, bytes: one }).text).toBe(
      'diff --git a/x b/x\nnew file mode 100644\nBinary files /dev/null and b/x differ\n',
    )
    const renamed = { path: 'y' as LogicalPath, bytes: two }
    expect(binaryDiff({ path, bytes: one }, renamed).text).toBe(
      'diff --git a/x b/y\nsimilarity index 50%\nrename from x\nrename to y\nBinary files a/x and b/y differ\n',
    )
    expect(binaryDiff({ path, bytes: one }, null).text).toBe(
      'diff --git a/x b/x\ndeleted file mode 100644\nBinary files a/x and /dev/null differ\n',
    )
  })

  it('is empty for an unchanged pair, and shows only what changed', () => {
    const path = 'x' as LogicalPath
    const version: FileVersion = { path, text: 'a\n', mode: 0o644 }
    expect(unifiedDiff(null, null)).toEqual({ text: '', insertions: 0, deletions: 0 })
    expect(unifiedDiff(version, { ...version })).toEqual({ text: '', insertions: 0, deletions: 0 })
    expect(unifiedDiff(version, { path, text: 'a\n' }).text).toBe('')
    expect(unifiedDiff(version, { ...version, mode: 0o700 }).text).toBe(
      'diff --git a/x b/x\nold mode 100644\nnew mode 100700\n',
    )
    expect(unifiedDiff(null, { path, text: '' }).text).toBe('diff --git a/x b/x\nnew file mode 100644\n')
    expect(unifiedDiff(version, null)).toEqual({
      text: 'diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n',
      insertions: 0,
      deletions: 1,
    })
  })

  /** `count` lines without a heading. */
  const numbered = (count: number) => Array.from({ length: count }, (_, i) => ` ${i + 1}\n`).join('')
  const at = (path: string, text: string, mode?: number): FileVersion => ({
    path: path as LogicalPath,
    text,
    ...(mode === undefined ? {} : { mode }),
  })
  const gitLine = 'diff --git a/x b/x\n'
  const names = '--- a/x\n+++ b/x\n'

  it.each([
    [3, '@@ -2,7 +2,7 @@\n  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n  8\n'],
    [1, '@@ -4,3 +4,3 @@\n  4\n- 5\n+ five\n  6\n'],
    [0, '@@ -5 +5 @@\n- 5\n+ five\n'],
    [20, `@@ -1,10 +1,10 @@\n${numbered(10).replace(/^/gm, ' ').replace('  5\n', '- 5\n+ five\n').trimEnd()}\n`],
  ])('shows %i lines of context', (context, hunk) => {
    const diff = unifiedDiff(at('x', numbered(10)), at('x', numbered(10).replace('5', 'five')), { context })
    expect(diff.text).toBe(gitLine + names + hunk)
  })

  it.each([
    // Changes with adjacent context are in one hunk, others in two.
    [numbered(9).replace(' 3\n', '').replace('6', 'six'), '@@ -2,6 +2,5 @@\n  2\n- 3\n  4\n  5\n- 6\n+ six\n  7\n'],
    [
      numbered(9).replace(' 3\n', '').replace(' 7\n', ' 7\n+\n'),
      '@@ -2,3 +2,2 @@\n  2\n- 3\n  4\n@@ -7,2 +6,3 @@\n  7\n++\n  8\n',
    ],
    ['', '@@ -1,9 +0,0 @@\n- 1\n- 2\n- 3\n- 4\n- 5\n- 6\n- 7\n- 8\n- 9\n'],
    [numbered(8).trimEnd(), '@@ -7,3 +7,2 @@\n  7\n- 8\n- 9\n+ 8\n\\ No newline at end of file\n'],
  ])('joins adjacent hunks, and counts their lines: %j', (text, hunks) => {
    expect(unifiedDiff(at('x', numbered(9)), at('x', text), { context: 1 }).text).toBe(gitLine + names + hunks)
  })

  it('joins hunks with adjacent context by default too, and counts all lines', () => {
    const changed = (...lines: readonly number[]) =>
      lines.reduce((text, line) => text.replace(` ${line}\n`, ` ${line}.\n+\n`), numbered(20))
    const headers = (text: string) => {
      const diff = unifiedDiff(at('x', numbered(20)), at('x', text))
      return [...(diff.text.match(/^@@.*@@/gm) ?? []), diff.insertions, diff.deletions]
    }
    expect(headers(changed(2, 9))).toEqual(['@@ -1,12 +1,14 @@', 4, 2])
    expect(headers(changed(2, 10))).toEqual(['@@ -1,5 +1,6 @@', '@@ -7,7 +8,8 @@', 4, 2])
  })

  it.each<readonly [title: string, heading: string]>([
    ...['A', 'Z', 'a', 'z', '_', '$'].map((letter) => [`${letter} \t\v\f\r`, ` ${letter}`] as const),
    ...['@', '[', '`', '{', '#', '%', '^', ' ', '0'].map((letter) => [letter, ''] as const),
    ['f (x)  y ', ' f (x)  y'],
    [`f${'x'.repeat(100)}`, ` f${'x'.repeat(79)}`],
    [`f${'\u007f'.repeat(100)}`, ` f${'\u007f'.repeat(79)}`],
    [`f${'\u0080'.repeat(100)}`, ` f${'\u0080'.repeat(39)}`],
    [`f${'\u07ff'.repeat(100)}`, ` f${'\u07ff'.repeat(39)}`],
    [`f${'\u0800'.repeat(100)}`, ` f${'\u0800'.repeat(26)}`],
    [`f${'\uffff'.repeat(100)}`, ` f${'\uffff'.repeat(26)}`],
    [`f${'\u{10000}'.repeat(100)}`, ` f${'\u{10000}'.repeat(19)}`],
  ])('heads every hunk with the last line of the text before it that looks like a title: %j', (title, heading) => {
    const text = `T\n${title}\n${numbered(12)}`
    const changed = text.replace(' 4\n', '').replace(' 11\n', '')
    const headingText = heading === '' ? ' T' : heading
    expect(unifiedDiff(at('x', text), at('x', changed), { context: 1 }).text).toBe(
      `${gitLine}${names}@@ -5,3 +5,2 @@${headingText}\n  3\n- 4\n  5\n@@ -12,3 +11,2 @@${headingText}\n  10\n- 11\n  12\n`,
    )
  })

  it.each([
    [
      null,
      at('x', 'a\nb', 0o755),
      `${gitLine}new file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n`,
    ],
    [
      at('x', 'a\nb'),
      at('x', 'a\nb\n'),
      `${gitLine}${names}@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n`,
    ],
    [at('x', 'a\n', 0o755), null, `${gitLine}deleted file mode 100755\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n`],
    [
      at('x', 'a\n', 0o755),
      at('x', 'b\n', 0o644),
      `${gitLine}old mode 100755\nnew mode 100644\n${names}@@ -1 +1 @@\n-a\n+b\n`,
    ],
    [at('x', '\na\n'), at('x', '\nb\n'), `${gitLine}${names}@@ -1,2 +1,2 @@\n \n-a\n+b\n`],
    [at('x', '\n\na\n'), at('x', '\n\nb\n'), `${gitLine}${names}@@ -1,3 +1,3 @@\n \n \n-a\n+b\n`],
    // A mode that only one side has is not a change.
    [at('x', 'a\n', 0o755), at('x', 'a\n'), ''],
    [at('x', 'a\n'), at('x', 'a\n', 0o755), ''],
    // Ambiguous names.
    [
      at('d /e f', 'a\n'),
      at('d /e f', 'b\n'),
      'diff --git "a/d /e f" "b/d /e f"\n--- a/d /e f\t\n+++ b/d /e f\t\n@@ -1 +1 @@\n-a\n+b\n',
    ],
    [
      at('\u00e9 /\u0001', 'a\n'),
      at('\u00e9 /\u0001', 'b\n'),
      'diff --git "a/\\303\\251 /\\001" "b/\\303\\251 /\\001"\n--- "a/\\303\\251 /\\001"\t\n+++ "b/\\303\\251 /\\001"\t\n@@ -1 +1 @@\n-a\n+b\n',
    ],
    // The similarity of a rename is the unchanged share of the larger text, and 100% only for equal texts.
    [
      at('x', numbered(4)),
      at('y', numbered(3)),
      'diff --git a/x b/y\nsimilarity index 75%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1,4 +1,3 @@\n  1\n  2\n  3\n- 4\n',
    ],
    [
      at('x', numbered(3)),
      at('y', numbered(4)),
      'diff --git a/x b/y\nsimilarity index 75%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1,3 +1,4 @@\n  1\n  2\n  3\n+ 4\n',
    ],
    [
      at('x', numbered(3)),
      at('y', numbered(3)),
      'diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n',
    ],
    [
      at('x', numbered(400)),
      at('y', numbered(400).replace(' 1\n', ' .\n')),
      'diff --git a/x b/y\nsimilarity index 99%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1,4 +1,4 @@\n- 1\n+ .\n  2\n  3\n  4\n',
    ],
  ])('writes one file as git does: %j to %j', (old, fresh, text) => {
    expect(unifiedDiff(old, fresh).text).toBe(text)
  })

  it.each([
    ['plain !#~', 'plain !#~'],
    ['a\u001fb', '"a\\037b"'],
    ['a\u007fb', '"a\\177b"'],
    ['\u0007\b\t\n\v\f\r"\\', '"\\a\\b\\t\\n\\v\\f\\r\\"\\\\"'],
    ['\u00e9', '"\\303\\251"'],
    [' \u00e9 !~', '" \\303\\251 !~"'],
  ])('quotes the name %j if it is ambiguous', (name, quoted) => {
    expect(quoteName(name)).toBe(quoted)
  })

  it('states that bytes differ, also if only their length differs', () => {
    const bytes = (path: string, ...bytes: number[]) => ({ path: path as LogicalPath, bytes: Uint8Array.from(bytes) })
    expect(binaryDiff(bytes('x', 1), bytes('x', 1, 2))).toEqual({
      text: `${gitLine}Binary files a/x and b/x differ\n`,
      insertions: 0,
      deletions: 0,
    })
    expect(binaryDiff(bytes('x', 1), bytes('y', 1)).text).toBe(
      'diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n',
    )
    expect(binaryDiff(bytes('x', 1, 3), bytes('y', 1, 2)).text).toBe(
      'diff --git a/x b/y\nsimilarity index 50%\nrename from x\nrename to y\nBinary files a/x and b/y differ\n',
    )
    expect(binaryDiff(null, null).text).toBe('')
  })

  it('changes no more lines than git diff on generated edits of a source file', () => {
    const random = generator(7)
    const source = Array.from({ length: 1500 }, (_, i) =>
      i % 7 === 0 ? '' : i % 7 === 6 ? '}' : i % 5 === 0 ? '  return' : `  const value${i} = compute(${i * 7})`,
    )
    let ours = 0
    let theirs = 0
    for (const share of [0.002, 0.01, 0.05, 0.2, 0.6]) {
      for (let round = 0; round < 4; round++) {
        const oldText = `${source.join('\n')}\n`
        const newText = `${edit(source, share, random).join('\n')}\n`
        const directory = join(scratch, 'size')
        writeTree(directory, { a: { text: oldText, mode: 0o644 }, b: { text: newText, mode: 0o644 } })
        const counts = gitDiff(directory, ['--numstat', 'a', 'b']).split('\t')
        const path = 'x' as LogicalPath
        const diff = unifiedDiff({ path, text: oldText }, { path, text: newText })
        ours += diff.insertions + diff.deletions
        theirs += Number(counts[0]) + Number(counts[1])
      }
    }
    expect(theirs).toBeGreaterThan(1000)
    expect(ours).toBeLessThanOrEqual(theirs * 1.01)
  })
})

/** A seeded linear generator, so that every run has the same edits. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) / 0x1000000
  }
}

function edit(lines: readonly string[], share: number, random: () => number): string[] {
  const edited: string[] = []
  for (const line of lines) {
    const drawn = random()
    if (drawn < share / 4) continue
    if (drawn < share / 2) edited.push(lines[Math.floor(random() * lines.length)] as string)
    else if (drawn < share) edited.push(`${line} // ${Math.floor(random() * 1e6)}`)
    if (drawn >= share / 4 && !(drawn >= share / 2 && drawn < share)) edited.push(line)
  }
  return edited
}

describe('hostile texts', () => {
  const repeat = (line: string, times: number) => line.repeat(times)
  const random = generator(3)
  const drawn = (kinds: number, lines: number) => {
    const all: string[] = []
    for (let i = 0; i < lines; i++) all.push(`${Math.floor(random() * kinds)}\n`)
    return all.join('')
  }
  const lines = times(40_000, 100_000)
  const texts: Record<string, () => readonly [string, string]> = {
    'two lines alternating': () => [repeat('a\nb\n', lines / 2), `b\n${repeat('a\nb\n', lines / 2 - 500)}x\n`],
    'equal lines, different counts': () => [repeat('a\n', lines), `x\n${repeat('a\n', lines / 2)}y\n`],
    'only newlines': () => [repeat('\n', lines), `x${repeat('\n', lines / 2)}y`],
    'two halves swapped': () => [
      repeat('a\n', lines) + repeat('b\n', lines),
      repeat('b\n', lines) + repeat('a\n', lines),
    ],
    'two kinds, random': () => [drawn(2, lines), drawn(2, lines)],
    'many kinds, random': () => [drawn(400, lines), drawn(400, lines)],
    'one line': () => [repeat('a', 4_000_000), repeat('a', 3_999_999)],
    'lines with the same hash': () => [colliding(60_000, 1), colliding(60_000, 2)],
    'long lines that differ at their end': () => [
      Array.from({ length: 200 }, (_, i) => `${repeat('a', 20_000)}${i}\n`).join(''),
      Array.from({ length: 200 }, (_, i) => `${repeat('a', 20_000)}${i * 2}\n`).join(''),
    ],
  }
  for (const [name, make] of Object.entries(texts)) {
    it(`are compared correctly and fast: ${name}`, () => {
      const [oldText, newText] = make()
      const start = ownTime()
      const hunks = diffLines(oldText, newText)
      const took = ownTime() - start
      expect(applyHunks(oldText, newText, hunks)).toBe(newText)
      expect(took).toBeLessThan(5000)
    })
  }

  it('are compared in under 200 ms if all of 5,000 lines changed', () => {
    const oldText = Array.from({ length: 5000 }, (_, i) => `  const value${i} = compute(${i * 7})\n`).join('')
    const newText = oldText.replaceAll('value', 'other')
    let best = Number.POSITIVE_INFINITY
    for (let i = 0; i < 10; i++) {
      const start = ownTime()
      diffLines(oldText, newText)
      best = Math.min(best, ownTime() - start)
    }
    expect(best).toBeLessThan(200)
  })
})

/** Different lines of four units with the same quick hash: the second half cancels the first. */
function colliding(count: number, first: number): string {
  const lines: string[] = []
  for (let i = 0; lines.length < count; i++) {
    const start = String.fromCharCode(0x100 + first + 3 * (i & 0x3fff), 0x100 + (i >> 14))
    const block = start.charCodeAt(0) | (start.charCodeAt(1) << 16)
    let hash = Math.imul(5 ^ block, 0x01000193)
    hash ^= hash >>> 15
    const undo = hash ^ 0x12345678
    const line = start + String.fromCharCode(undo & 0xffff, undo >>> 16)
    if (!line.includes('\n')) lines.push(`${line}\n`)
  }
  return lines.join('')
}
