import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MemoryEntry } from '../../src/backends/memory/index.ts'
import { type Encoding, encodeText } from '../../src/files/text/encoding.ts'
import { times } from '../counts.ts'
import { everyBackend } from './backends.ts'
import { bench, snapshot, type Tree } from './setup.ts'

const word = fc.constantFrom('a', 'bb', 'é', '𝒳', '', ' c', '\t', 'foo(bar)')
const format = fc.constantFrom<{ encoding: Encoding; bom: boolean }>(
  { encoding: 'utf-8', bom: false },
  { encoding: 'utf-8', bom: true },
  { encoding: 'utf-16le', bom: true },
  { encoding: 'utf-16be', bom: true },
)
const eol = fc.constantFrom('\n', '\r\n', '\r')
const lines = fc.array(
  fc.array(word, { maxLength: 3 }).map((words) => words.join('')),
  { minLength: 1, maxLength: 8 },
)
const file = fc.record({ format, eol, lines, closed: fc.boolean() })

describe('the format of a file', () => {
  it('is kept by edit_file, replace_range and append_file', async () => {
    await fc.assert(
      fc.asyncProperty(file, lines, fc.nat(), async ({ format, eol, lines, closed }, added, place) => {
        const at = place % lines.length
        const own = [...lines.slice(0, at), 'UNIQUE', ...lines.slice(at)]
        const text = own.join(eol) + (closed ? eol : '')
        const stored = (content: string) => Buffer.from(encodeText(content, format)).toString('latin1')
        const tree = { 'a.txt': encodeText(text, format) }
        const newText = added.join('\n')
        const inFile = added.join(eol)

        const edited = await bench(tree)
        await edited.ok('edit_file', { path: 'a.txt', oldText: 'UNIQUE', newText: `<${newText}>` })
        expect(Buffer.from(await edited.bytes('a.txt')).toString('latin1')).toBe(
          stored(text.replace('UNIQUE', () => `<${inFile}>`)),
        )

        const appended = await bench(tree)
        await appended.ok('append_file', { path: 'a.txt', content: `${newText}\n` })
        // A file without a line end gets the default one.
        const end = own.length > 1 || closed ? eol : '\n'
        expect(Buffer.from(await appended.bytes('a.txt')).toString('latin1')).toBe(stored(text + added.join(end) + end))

        // A lone \r does not end a line.
        if (eol === '\r') return
        const replaced = await bench(tree)
        const [startLine, endLine] = [at + 1, at + 1]
        await replaced.ok('replace_range', {
          path: 'a.txt',
          startLine,
          endLine,
          newText: `<${newText}>`,
          expectedSha256: await replaced.sha('a.txt'),
        })
        const expected =
          [...lines.slice(0, at), `<${added.join(end)}>`, ...lines.slice(at)].join(eol) + (closed ? eol : '')
        expect(Buffer.from(await replaced.bytes('a.txt')).toString('latin1')).toBe(stored(expected))
      }),
      { numRuns: times(25, 300) },
    )
  })
})

const name = fc.constantFrom(
  'a.ts',
  'b.txt',
  '.hidden',
  'dist',
  'node_modules',
  'deep',
  '.env',
  'x.log',
  '.gitignore',
  'id_rsa',
  '[id].tsx',
)
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
const content = fc.constantFrom<MemoryEntry>(
  'needle\nhay\n',
  '*.log\ndeep/\n',
  'hay needle hay NEEDLE\n\nx',
  '',
  'é𝒳 needle\r\nb\r\n',
  new Uint8Array([0x6e, 0, 1]),
)

/** Trees in which no file is the ancestor of another. */
const trees = fc.array(fc.tuple(path, content), { maxLength: 14 }).map((files) => {
  const tree: Record<string, MemoryEntry> = {}
  for (const [path, text] of files) {
    const clashes = Object.keys(tree).some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`))
    if (!clashes) tree[path] = text
  }
  return tree as Tree
})

describe('listing, finding and searching', () => {
  it('agree on existing paths, and a search equals a naive one over the output of read_file', async () => {
    const query = fc.constantFrom(
      { query: 'needle', mode: 'literal', caseSensitive: true },
      { query: 'NEEDLE', mode: 'literal', caseSensitive: false },
      { query: '^hay', mode: 'regex', caseSensitive: true },
      { query: '[a-z]+y\\b', mode: 'regex', caseSensitive: true },
      { query: '^$', mode: 'regex', caseSensitive: true },
      { query: '.(?:needle|b)', mode: 'regex', caseSensitive: false },
    )
    await fc.assert(
      fc.asyncProperty(
        trees,
        fc.boolean(),
        fc.boolean(),
        query,
        async (tree, includeHidden, includeIgnored, requested) => {
          const { ok, call } = await bench(tree)
          const filters = { includeHidden, includeIgnored }
          const listed = await ok('list_directory', { maxDepth: 9, ...filters })
          const files = listed.entries.filter(({ type }: { type: string }) => type === 'file')
          const result = await ok('find_files', { pattern: '**', ...filters })
          expect(result.files).toEqual(files.map(({ path }: { path: string }) => path))

          const expected: unknown[] = []
          const regex = new RegExp(
            requested.mode === 'regex' ? requested.query : requested.query,
            requested.caseSensitive ? 'u' : 'iu',
          )
          for (const { path } of files as { path: string }[]) {
            const read = await call('read_file', { path })
            if (read.ok !== true) continue
            const lines = (read.content as string).split('\n')
            if (lines.at(-1) === '') lines.pop()
            for (const [index, line] of lines.entries()) {
              const hit = regex.exec(line.replace(/\r$/, ''))
              if (hit !== null) expected.push([path, index + 1, hit.index + 1])
            }
          }
          const searched = await ok('search_text', { ...requested, ...filters })
          expect(
            searched.matches.map(({ path, line, column }: Record<string, unknown>) => [path, line, column]),
          ).toEqual(expected)
          const counted = await ok('search_text', { ...requested, ...filters, filesOnly: true })
          const sum = counted.files.reduce((total: number, { count }: { count: number }) => total + count, 0)
          expect(sum).toBe(expected.length)
        },
      ),
      { numRuns: times(22, 250) },
    )
  })
})

const anyPath = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'a.ts',
      'd',
      'd/x.ts',
      '.env',
      'l',
      'node_modules/p.js',
      'package-lock.json',
      'blob',
      'none',
      '.',
      '../x',
      'a.ts/x',
      '.git/config',
      'd/.aws/credentials',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 10 }) },
)
const anyHash = fc.constantFrom<unknown>(undefined, undefined, null, '0'.repeat(64))
const mutation = fc.oneof(
  fc.record({
    name: fc.constant('write_file'),
    input: fc.record({ path: anyPath, content: fc.string({ maxLength: 5 }), expectedSha256: anyHash }),
  }),
  fc.record({
    name: fc.constant('edit_file'),
    input: fc.record({
      path: anyPath,
      oldText: fc.constantFrom('a', 'zz', 'one', 'two'),
      newText: fc.string({ maxLength: 5 }),
      expectedSha256: anyHash,
    }),
  }),
  fc.record({
    name: fc.constant('replace_range'),
    input: fc.record({
      path: anyPath,
      startLine: fc.nat(4),
      endLine: fc.nat(4),
      newText: fc.string({ maxLength: 5 }),
      expectedSha256: anyHash,
    }),
  }),
  fc.record({
    name: fc.constant('append_file'),
    input: fc.record({ path: anyPath, content: fc.string({ maxLength: 5 }), expectedSha256: anyHash }),
  }),
  fc.record({ name: fc.constant('delete_file'), input: fc.record({ path: anyPath, expectedSha256: anyHash }) }),
  fc.record({
    name: fc.constantFrom('move_file', 'copy_file'),
    input: fc.record({ path: anyPath, to: anyPath, expectedSha256: anyHash }),
  }),
  fc.record({ name: fc.constant('create_directory'), input: fc.record({ path: anyPath }) }),
)

describe('a mutation', () => {
  it('that is refused changes nothing, and returns the same error on every backend', async () => {
    const tree = {
      'a.ts': 'one\ntwo one\n',
      'd/x.ts': 'x\r\n',
      'd/.aws/credentials': 'k',
      '.env': 'A=1',
      'node_modules/p.js': 'p',
      'package-lock.json': '{}',
      blob: new Uint8Array([1, 0, 2]),
      l: { link: '.env' },
      '.git/config': '[core]',
    } as const
    const benches = await everyBackend(tree)
    const open = await Promise.all(
      benches.map(async ({ name, backend }) => ({ name, ...(await bench({}, { backend })) })),
    )
    let answered = 0
    let refused = 0
    try {
      await fc.assert(
        fc.asyncProperty(mutation, async ({ name, input }) => {
          const answers: unknown[] = []
          for (const one of open) {
            const before = await snapshot(one.backend)
            const answer = await one.call(name, input)
            if (answer.ok === false) {
              refused += 1
              expect(await snapshot(one.backend), `${name} on ${one.name}`).toEqual(before)
            }
            answered += 1
            answers.push([answer.ok, answer.code])
          }
          expect(answers).toEqual(answers.map(() => answers[0]))
        }),
        { numRuns: times(20, 200) },
      )
      const [first, ...others] = await Promise.all(open.map(async (one) => Object.keys(await one.snapshot()).sort()))
      for (const other of others) expect(other).toEqual(first)
    } finally {
      for (const { dispose } of benches) await dispose()
    }
    expect(refused).toBeGreaterThan(answered / 4)
  })
})
