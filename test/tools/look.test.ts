import { mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace } from '../../src/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { bench } from './setup.ts'

const tree = {
  'src/a.ts': 'export const answer = 41\n',
  'src/deep/b.ts': 'import { answer } from "../a"\n// ANSWER\n',
  'src/.hidden.ts': 'answer\n',
  '.github/w.yml': 'answer: 1\n',
  '.env': 'answer=secret\n',
  'server.pem': 'answer\n',
  '.gitignore': 'ignored/\n*.log\n',
  'ignored/x.ts': 'answer\n',
  'a.log': 'answer\n',
  'node_modules/p/i.js': 'answer\n',
  '.git/config': 'answer\n',
  'link.ts': { link: 'src/a.ts' },
  'blob.bin': new Uint8Array([0x61, 0, 1]),
} as const

describe('list_directory', () => {
  it('lists visible entries with their kinds', async () => {
    const { ok } = await bench(tree)
    const { entries, totalEntries, truncated } = await ok('list_directory', {})
    expect(entries.map(({ path, type, kind }: Record<string, string>) => [path, type, kind])).toEqual([
      ['blob.bin', 'file', 'BINARY'],
      ['link.ts', 'link', 'TEXT_SOURCE'],
      ['server.pem', 'file', 'SECRET_LIKE'],
      ['src', 'directory', 'DIRECTORY'],
    ])
    expect({ totalEntries, truncated }).toEqual({ totalEntries: 4, truncated: false })
    expect(entries[0]).toMatchObject({ sizeBytes: 3 })
  })

  it('shows only that protected files exist', async () => {
    const { ok } = await bench(tree)
    const { entries } = await ok('list_directory', { includeHidden: true })
    const secret = entries.find(({ path }: { path: string }) => path === '.env')
    expect(Object.keys(secret).sort()).toEqual(['kind', 'path', 'readable', 'reason', 'type'])
    expect(entries.some(({ path }: { path: string }) => path.startsWith('.git/') || path === '.git')).toBe(false)
  })

  it('respects maxDepth and maxEntries, and reports omitted entries', async () => {
    const { ok } = await bench(tree)
    const deep = await ok('list_directory', { path: 'src', maxDepth: 2 })
    expect(deep.entries.map(({ path }: { path: string }) => path)).toEqual(['src/a.ts', 'src/deep', 'src/deep/b.ts'])
    const cut = await ok('list_directory', { path: 'src', maxDepth: 2, maxEntries: 1 })
    expect(cut).toMatchObject({ truncated: true, totalEntries: 3 })
    expect(cut.entries).toHaveLength(1)
    const clamped = await ok('list_directory', { maxEntries: 9999, maxDepth: 9999 })
    expect(clamped.warnings).toHaveLength(2)
  })

  it('refuses files and missing paths', async () => {
    const { code } = await bench(tree)
    expect(await code('list_directory', { path: 'src/a.ts' })).toBe('NOT_A_DIRECTORY')
    expect(await code('list_directory', { path: 'none' })).toBe('NOT_FOUND')
    expect(await code('list_directory', { path: '.git' })).toBe('POLICY_DENIED')
  })

  it('hides paths outside an allowlist', async () => {
    const { ok } = await bench(tree, { policy: { preset: 'autonomous', allowedPaths: ['src/deep/**'] } })
    const { entries } = await ok('list_directory', { maxDepth: 5 })
    expect(entries.map(({ path }: { path: string }) => path)).toEqual(['src', 'src/deep', 'src/deep/b.ts'])
  })
})

describe('find_files', () => {
  it('matches relative to path and returns paths from the root', async () => {
    const { ok } = await bench(tree)
    expect((await ok('find_files', { pattern: '**/*.ts' })).files).toEqual(['link.ts', 'src/a.ts', 'src/deep/b.ts'])
    expect((await ok('find_files', { pattern: '*.ts', path: 'src' })).files).toEqual(['src/a.ts'])
    expect(await ok('find_files', { pattern: '**', maxResults: 1 })).toMatchObject({
      totalFound: 5,
      truncated: true,
      files: ['blob.bin'],
    })
    expect((await ok('find_files', { pattern: 'b.ts' })).warnings.join()).toContain('**/b.ts')
  })

  it('refuses a path that is not a directory and an invalid glob', async () => {
    const { code } = await bench(tree)
    expect(await code('find_files', { pattern: '*', path: 'src/a.ts' })).toBe('NOT_A_DIRECTORY')
    expect(await code('find_files', { pattern: '*', path: 'none' })).toBe('NOT_FOUND')
    expect(await code('find_files', { pattern: '../*' })).toBe('INVALID_PATTERN')
  })
})

describe('search_text', () => {
  it('finds lines with their line and column', async () => {
    const { ok } = await bench(tree)
    const { matches, filesSearched } = await ok('search_text', { query: 'answer' })
    expect(matches.map(({ path, line, column }: Record<string, unknown>) => [path, line, column])).toEqual([
      ['src/a.ts', 1, 14],
      ['src/deep/b.ts', 1, 10],
    ])
    expect(filesSearched).toBe(3)
  })

  it('respects case, globs, mode, context and a single file', async () => {
    const { ok } = await bench(tree)
    expect((await ok('search_text', { query: 'answer', caseSensitive: false })).matches).toHaveLength(3)
    expect((await ok('search_text', { query: 'answer', includeGlob: '**/b.ts' })).matches).toHaveLength(1)
    expect((await ok('search_text', { query: 'answer', excludeGlob: 'src/deep/**' })).matches).toHaveLength(1)
    expect((await ok('search_text', { query: '= \\d+$', mode: 'regex' })).matches).toMatchObject([
      { path: 'src/a.ts', column: 21 },
    ])
    expect((await ok('search_text', { query: 'ANSWER', contextLines: 9 })).matches).toMatchObject([
      { before: ['import { answer } from "../a"'], after: [] },
    ])
    expect((await ok('search_text', { query: 'answer', path: 'src/a.ts' })).matches).toHaveLength(1)
    // A file that the call names is searched even if it is ignored.
    expect((await ok('search_text', { query: 'answer', path: 'a.log' })).matches).toHaveLength(1)
  })

  it('counts lines by file', async () => {
    const { ok } = await bench(tree)
    const answer = await ok('search_text', { query: 'answer', caseSensitive: false, filesOnly: true })
    expect(answer).toMatchObject({
      matches: [],
      files: [
        { path: 'src/a.ts', count: 1 },
        { path: 'src/deep/b.ts', count: 2 },
      ],
    })
    expect(await ok('search_text', { query: 'answer', filesOnly: true, maxMatches: 1 })).toMatchObject({
      truncated: true,
      truncatedReason: 'maxMatches',
    })
  })

  it('stops at its limits and names the limit', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`${i}.txt`, `${'needle '.repeat(40)}\n`.repeat(50)]),
    )
    const { ok } = await bench(many)
    expect(await ok('search_text', { query: 'needle', maxMatches: 3 })).toMatchObject({
      truncated: true,
      truncatedReason: 'maxMatches',
      matches: { length: 3 },
    })
    const bytes = await ok('search_text', { query: 'needle', maxMatches: 1000, contextLines: 3 })
    expect(bytes).toMatchObject({ truncated: true, truncatedReason: 'bytes' })
    expect(Buffer.byteLength(JSON.stringify(bytes))).toBeLessThan(131_072)
    expect(await ok('search_text', { query: 'needle', maxFileBytes: 100 })).toMatchObject({
      filesSkipped: 50,
      filesSearched: 0,
      matches: [],
    })
  })

  it('ends at its deadline with partial results or a timeout', async () => {
    const lots = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`${String(i).padStart(2, '0')}.txt`, 'ab'.repeat(1_000_000)]),
    )
    const { call } = await bench({ ...lots, '0.txt': 'x1y\n' })
    const pattern = { mode: 'regex', query: '[a-z]\\d[a-z]|a(.)*b(.)*c', timeoutMs: 30 }
    const partial = await call('search_text', pattern)
    expect(partial.ok ? partial.truncatedReason : partial.code).toMatch(/timeout|SEARCH_TIMEOUT/)
    expect(
      await call('search_text', { ...pattern, query: '[0-9]z[a-z]', excludeGlob: '0.txt', timeoutMs: 1 }),
    ).toMatchObject({ code: 'SEARCH_TIMEOUT' })
  })

  it.each([{}, { filesOnly: true }])(
    'ends with partial results at every point at which its time can run out: %j',
    async (more) => {
      const { call } = await bench({ 'a.txt': 'x\n', 'b.txt': 'x\ny\n', 'c.txt': 'x\n' })
      const paths: string[] = []
      // A clock that advances only when it is read.
      const clock = vi.spyOn(performance, 'now')
      try {
        for (let timeoutMs = 1; timeoutMs <= 40; timeoutMs++) {
          let looks = 0
          clock.mockImplementation(() => looks++)
          const answer = await call('search_text', { query: 'x', timeoutMs, ...more })
          paths.push(answer.ok ? `${(answer.files ?? answer.matches).length} ${answer.truncatedReason}` : answer.code)
        }
      } finally {
        clock.mockRestore()
      }
      const distinct = [...new Set(paths)]
      expect(distinct.slice(0, 2)).toEqual(['SEARCH_TIMEOUT', '1 timeout'])
      expect(distinct.at(-1)).toBe('3 undefined')
      expect(distinct).toEqual(expect.arrayContaining(['2 timeout']))
    },
  )

  it('names files over maxFileBytes', async () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'large-')))
    try {
      for (const name of ['a.bin', 'b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt', 'g.txt']) {
        writeFileSync(join(directory, name), '')
        truncateSync(join(directory, name), 512 * 2 ** 20)
      }
      writeFileSync(join(directory, 'z.txt'), 'needle\n')
      const { ok } = await bench({}, { backend: nodeBackend(directory, { stateDir: `${directory}-state` }) })
      const answer = await ok('search_text', { query: 'needle' })
      expect(answer).toMatchObject({ filesSkipped: 7, matches: [{ path: 'z.txt' }] })
      expect(answer.warnings).toEqual([
        'Not searched, because over maxFileBytes (4194304): "a.bin", "b.txt", "c.txt", "d.txt", "e.txt" and 2 more',
      ])
    } finally {
      rmSync(directory, { recursive: true })
      rmSync(`${directory}-state`, { recursive: true, force: true })
    }
  })

  it('continues after files that take longer to read than a time slice', async () => {
    const names = Array.from({ length: 5 }, (_, i) => `${i}.txt`)
    const backend = memory(Object.fromEntries(names.map((name) => [name, `${'x'.repeat(300_000)}\nneedle\n`])))
    const visited: string[] = []
    const slow: Backend = {
      ...backend,
      scan: (paths, visit) =>
        backend.scan(paths, (path, bytes, stat) => {
          visited.push(path)
          for (const end = performance.now() + 30; performance.now() < end; );
          return visit(path, bytes, stat)
        }),
    }
    const { ok } = await bench({}, { backend: slow })
    expect(await ok('search_text', { query: 'needle' })).toMatchObject({ filesSearched: 5, matches: { length: 5 } })
    // The last file of a slice is read again as the first one of the next.
    expect(visited.length).toBeLessThanOrEqual(2 * names.length)
  })

  it('can be cancelled before and during the search', async () => {
    const lots = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`${i}.txt`, 'ab'.repeat(500_000)]))
    const { call } = await bench(lots)
    expect(await call('search_text', { query: 'x' }, { signal: AbortSignal.abort() })).toMatchObject({
      code: 'ABORTED',
    })
    const controller = new AbortController()
    const running = call(
      'search_text',
      { query: '[0-9][a-f]|[x-z]\\w*[0-9]', mode: 'regex' },
      { signal: controller.signal },
    )
    setTimeout(() => controller.abort(), 5)
    expect(await running).toMatchObject({ code: 'ABORTED' })
  })

  it('searches only the redacted text', async () => {
    const token = `ghp_${'a1B2'.repeat(10)}`
    const { ok } = await bench({
      'a.txt': `x token=${token} github-token end\n`,
      'b.txt': `${token}\n`,
      'w.txt': new Uint8Array(Buffer.from(`\ufeffé ${token} end\n`, 'utf16le')),
    })
    const pathsMatching = async (query: string, mode = 'literal') =>
      (await ok('search_text', { query, mode })).matches.map(({ path, column }: Record<string, unknown>) => [
        path,
        column,
      ])
    expect(await pathsMatching(token)).toEqual([])
    expect(await pathsMatching('a1B2')).toEqual([])
    expect(await pathsMatching('B2a[0-9]B', 'regex')).toEqual([])
    // There is no match inside the mark, but one after it.
    expect(await pathsMatching('github-token')).toEqual([['a.txt', 35]])
    expect(await pathsMatching('REDACTED')).toEqual([])
    expect(await pathsMatching('[REDACTED:github-token:1]')).toEqual([])
    expect(await pathsMatching('[REDACTED:github-token:1] ')).toEqual([
      ['a.txt', 9],
      ['w.txt', 3],
    ])
    expect(await pathsMatching('=\\[RED', 'regex')).toEqual([['a.txt', 8]])
    expect(await pathsMatching(' end')).toEqual([
      ['a.txt', 47],
      ['w.txt', 28],
    ])
    const { matches } = await ok('search_text', { query: '.', mode: 'regex', contextLines: 2 })
    expect(JSON.stringify(matches)).not.toContain('a1B2')
  })

  it('never searches protected files', async () => {
    const { ok, code } = await bench(tree)
    const all = await ok('search_text', { query: 'answer', includeHidden: true, includeIgnored: true })
    const paths = all.matches.map(({ path }: { path: string }) => path)
    expect(paths).toEqual([
      '.github/w.yml',
      'a.log',
      'ignored/x.ts',
      'node_modules/p/i.js',
      'src/.hidden.ts',
      'src/a.ts',
      'src/deep/b.ts',
    ])
    expect(await code('search_text', { query: 'answer', path: '.env' })).toBe('POLICY_DENIED_SECRET')
    expect(await code('search_text', { query: 'answer', path: 'server.pem' })).toBe('POLICY_DENIED_SECRET')
    expect(await code('search_text', { query: 'answer', path: '.git' })).toBe('POLICY_DENIED')
  })
})

describe('file_info', () => {
  it('describes files, directories and links', async () => {
    const { ok, sha } = await bench(tree)
    expect(await ok('file_info', { path: 'src/a.ts' })).toMatchObject({
      type: 'file',
      kind: 'TEXT_SOURCE',
      readable: true,
      writable: true,
      sizeBytes: 25,
      sha256: await sha('src/a.ts'),
      encoding: 'utf-8',
      eol: 'lf',
      totalLines: 1,
      mode: '0644',
    })
    expect(await ok('file_info', { path: 'blob.bin' })).toMatchObject({ kind: 'BINARY', readable: false, sizeBytes: 3 })
    expect(await ok('file_info', { path: 'src' })).toMatchObject({ type: 'directory', kind: 'DIRECTORY' })
    expect(await ok('file_info', { path: 'link.ts' })).toMatchObject({ type: 'link', target: 'src/a.ts' })
    expect(await ok('file_info', { path: '.' })).toMatchObject({ type: 'directory' })
  })

  it('reports only that protected files exist', async () => {
    const { ok, code } = await bench({ ...tree, l: { link: '.env' } })
    for (const path of ['.env', 'server.pem', 'l']) {
      const answer = await ok('file_info', { path })
      expect(answer).toMatchObject({ kind: 'SECRET_LIKE', readable: false, writable: false })
      for (const field of ['sizeBytes', 'sha256', 'modifiedAt', 'totalLines']) expect(answer).not.toHaveProperty(field)
    }
    expect(await code('file_info', { path: '.git/config' })).toBe('POLICY_DENIED')
    expect(await code('file_info', { path: 'none' })).toBe('NOT_FOUND')
  })
})

describe('search_text in binary, UTF-16 and redacted files', () => {
  const token = `ghp_${'a1B2'.repeat(10)}`
  const odd = [0xff, 0xfe, 0x61, 0, 0x62]
  const stored = {
    'a.ts': `answer ${token}\nanswer\nanswer ${token} answer\n`,
    'binary.txt': new Uint8Array([...Buffer.from('answer\n'), 0, 1, 2]),
    'little.txt': new Uint8Array(Buffer.from('\ufeffanswer\n', 'utf16le')),
    'big.txt': new Uint8Array(Buffer.from('\ufeffanswer\n', 'utf16le').swap16()),
    'odd.txt': new Uint8Array(odd),
    'swapped.txt': new Uint8Array([0xfe, 0xff, ...odd.slice(2)]),
    'not-utf16.txt': new Uint8Array([0xfe, 0x61, 0x0a]),
    'latin.txt': new Uint8Array([...Buffer.from(`answer [x] ${token} `), 0xe9, 0x0a]),
    'no-secret.txt': 'ghp_ answer [x]\n',
  }

  it('counts and finds the same lines, in text files only', async () => {
    const { ok } = await bench(stored)
    const expected = { 'a.ts': 3, 'big.txt': 1, 'latin.txt': 1, 'little.txt': 1, 'no-secret.txt': 1 }
    const { files } = await ok('search_text', { query: 'answer', filesOnly: true })
    const counted = files.map(({ path, count }: { path: string; count: number }) => [path, count])
    expect(Object.fromEntries(counted)).toEqual(expected)
    const { matches } = await ok('search_text', { query: 'answer' })
    const countByPath: Record<string, number> = {}
    for (const { path } of matches) countByPath[path] = (countByPath[path] ?? 0) + 1
    expect(countByPath).toEqual(expected)
    expect(JSON.stringify(matches)).not.toContain(token)
    const counts = await ok('search_text', { query: 'B2a1', filesOnly: true })
    expect(counts.files).toEqual([])
  })

  it('finds in a line with a secret what a search of the redacted line finds, at every edge of a match', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    const texts = [
      `key_${token}`,
      `x ${token}`,
      `${token} x`,
      `-${token}-x`,
      `DB_PASSWORD=hunter2hunter2`,
      `_${token}_x`,
    ]
    // The last line matches as stored, so that each file is searched.
    const lines = [...texts, 'key_ x - _ xy']
    const { ok, call } = await bench({ 'a.txt': lines.join('\n') })
    const redacted: string[] = (await call('read_file', { path: 'a.txt' })).content.split('\n')
    const edges = ['', '\\b', '\\B', '_?\\b', '\\bx?']
    for (const core of ['_', 'x', '\\w+', 'key', '\\w*_', '[ -]', '(?:_|xy)'])
      for (const lead of edges)
        for (const trail of edges) {
          const query = lead + core + trail
          const expected = redacted.flatMap((line, i) => (matchesOutside(line, query) ? [i + 1] : []))
          const { matches } = await ok('search_text', { query, mode: 'regex', caseSensitive: true })
          expect([query, matches.map(({ line }: { line: number }) => line)]).toEqual([query, expected])
        }
  })

  it('finds no match inside a mark, but brackets next to it', async () => {
    const { ok } = await bench(stored)
    expect((await ok('search_text', { query: 'REDACTED', mode: 'regex', filesOnly: true })).files).toEqual([])
    expect((await ok('search_text', { query: 'REDACTED', mode: 'regex' })).matches).toEqual([])
    const { files } = await ok('search_text', { query: '[x]', filesOnly: true })
    expect(files.map(({ path }: { path: string }) => path)).toEqual(['latin.txt', 'no-secret.txt'])
    const { matches } = await ok('search_text', { query: '[r\\]]', mode: 'regex', path: 'a.ts' })
    expect(matches.map(({ line, column }: { line: number; column: number }) => [line, column])).toEqual([
      [1, 6],
      [2, 6],
      [3, 6],
    ])
  })

  it('refuses a file that policy closes to search', async () => {
    const rules = [{ name: 'no reading', action: 'deny', permissions: ['file:read'], paths: ['a.ts'] }] as const
    const { call } = await bench(stored, { policy: { preset: 'autonomous', rules } })
    expect(await call('search_text', { query: 'answer', path: 'a.ts' })).toMatchObject({
      code: 'POLICY_DENIED',
      message: 'Policy denies file:read of "a.ts": rule "no reading"',
    })
  })
})

describe('file_info of a file that must not be read', () => {
  it.each(['deny', 'ask'] as const)(
    'omits fields that are derived from the content, with a rule that says %s',
    async (action) => {
      const backend = memory({ 'a.txt': '0\n', 'b.txt': '0\n', 'c.bin': Uint8Array.of(0, 1) })
      const rule = { name: 'r', action, permissions: ['file:read' as const], paths: ['a.txt', 'c.bin'] }
      const workspace = await createWorkspace({ backend, policy: { preset: 'autonomous', rules: [rule] } })
      for (const path of ['a.txt', 'c.bin']) {
        const info = await workspace.callTool('file_info', { path })
        expect(info).toMatchObject({
          ok: true,
          type: 'file',
          sizeBytes: 2,
          readable: false,
          reason: 'policy restricts reading it',
        })
        for (const field of ['sha256', 'encoding', 'bom', 'eol', 'totalLines']) expect(info).not.toHaveProperty(field)
      }
      expect(await workspace.call('file_info', { path: 'b.txt' })).toMatchObject({
        sha256: expect.any(String),
        totalLines: 1,
      })
    },
  )
})

describe.each<[tool: string, field: string, others: object]>([
  ['find_files', 'pattern', {}],
  ['search_text', 'includeGlob', { query: 'answer' }],
  ['search_text', 'excludeGlob', { query: 'answer' }],
])('%s with %s', (tool, field, others) => {
  it.each([
    ['**.ts', '**/*.txt'],
    ['*.ts ', 'space'],
    ['src/a.ts,src/b.ts', 'several entries'],
    ['src/(a|b).ts', '{a,b}'],
    ['^src/.+', 'regular expression'],
  ])('says why %j does not match what it seems to', async (pattern, help) => {
    const { ok } = await bench(tree)
    expect((await ok(tool, { ...others, [field]: pattern })).warnings.join('\n')).toContain(help)
    expect((await ok(tool, { ...others, [field]: '**/*.ts' })).warnings).toEqual([])
  })
})

describe('file_info of unusual files', () => {
  it('reports kind and version', async () => {
    const backend = memory({
      'odd.txt': new Uint8Array([0xff, 0xfe, 0x61]),
      'large.txt': 'x\n'.repeat(100),
      l: { link: 'gone' },
    })
    const timeless: Backend = {
      ...backend,
      async stat(path) {
        const stat = await backend.stat(path)
        if (stat === undefined) return undefined
        const { modifiedAt: _, ...rest } = stat
        return rest
      },
    }
    const { ok, sha } = await bench({}, { backend: timeless, limits: { textFileBytes: 100 } })
    expect(await ok('file_info', { path: 'odd.txt' })).toMatchObject({
      readable: false,
      reason: 'its encoding is not supported',
      sha256: await sha('odd.txt'),
    })
    const large = await ok('file_info', { path: 'large.txt' })
    expect(large).toMatchObject({ sizeBytes: 200, sha256: await sha('large.txt') })
    expect(large).not.toHaveProperty('modifiedAt')
    expect(await ok('file_info', { path: 'l' })).toMatchObject({ type: 'link', target: 'gone' })
  })
})

/** Whether a line has a match that is not inside a mark. */
function matchesOutside(line: string, query: string): boolean {
  const marks = [...line.matchAll(/\[REDACTED:[^\]]+\]/g)].map(
    ({ index, 0: mark }) => [index, index + mark.length] as const,
  )
  const pattern = new RegExp(query, 'y')
  for (let at = 0; at <= line.length; at++) {
    pattern.lastIndex = at
    const match = pattern.exec(line)
    if (match !== null && !marks.some(([start, end]) => at < end && at + match[0].length > start)) return true
  }
  return false
}
