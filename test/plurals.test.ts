import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../src/backends/memory/index.ts'
import { createWorkspace } from '../src/index.ts'
import { counted } from '../src/util/counted.ts'

const top = join(import.meta.dirname, '..')
const sources = execFileSync('git', ['ls-files', 'src', 'playground'], { cwd: top, encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(?:tsx?|js)$/.test(file) && !file.endsWith('guest-source.ts'))
  .map((file) => ({ file, text: readFileSync(join(top, file), 'utf8') }))

/** The plurals that some message counts, and those of other messages. */
const plurals = new Set([
  ...sources.flatMap(({ text }) =>
    [...text.matchAll(/\bcounted\([^\n]*?, '(?:(?:more|unchanged) )?([a-z]+)'(?:, '([a-z]+)')?\)/g)].map(
      ([, singular, plural]) => plural ?? `${singular}s`,
    ),
  ),
  ...'lines seconds hits commits branches directories versions tokens characters insertions deletions rows'.split(' '),
])

/** A number in a template before a plural. Constants in capitals are more than one. */
const number = /\$\{(?![A-Z_]+\})[^{}]*\} (?:(?:more|other|further|new|changed|hidden|total) )?([a-z]+)\b/g

/** Numbers that are never one, and texts of other systems. */
const exempt: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...['playground/agent/compaction.ts: characters', 'playground/views/agent/usage-line.tsx: tokens'],
      ...['src/audit/artifacts.ts: bytes', 'src/backends/node/read-content.ts: bytes', 'src/git/http.ts: bytes'],
      ...['src/dialects/runtime/list-tree.ts: entries'],
      ...['src/elements/diff/file-without-lines.tsx: bytes', 'src/guard/guarded-files.ts: bytes'],
      ...[
        'src/patch/apply-file.ts: bytes',
        'src/patch/binary-apply.ts: bytes',
        'src/shells/node/apply-overlayfs.ts: bytes',
      ],
      'src/shells/bash/refusal-texts.ts: bytes',
      ...['src/shells/shared/command-gate.ts: bytes', 'src/tools/shared/read-media.ts: bytes'],
      ...['src/testing/assert.ts: bytes', 'src/testing/backend/large.ts: files', 'src/workspace/file-ranges.ts: bytes'],
    ].map((place) => [place, 'over a limit, so more than one, or a limit of many']),
  ),
  ...Object.fromEntries(
    [
      ...['src/tools/find-files.ts: paths', 'src/tools/list-directory.ts: entries'],
      'src/tools/shared/read-cells.ts: characters',
    ].map((place) => [place, 'one of many']),
  ),
  ...Object.fromEntries(
    [
      ...['src/patch/unified.ts: lines', 'src/policy/lint.ts: changes', 'src/shells/analysis/command.ts: calls'],
      'src/workspace/create-state.ts: changes',
      'src/dialects/runtime/steps.ts: bytes',
    ].map((place) => [place, 'no number, or an example']),
  ),
  'src/dialects/codex/index.ts: seconds': 'the text of the original',
  'src/dialects/deepagents/tools.ts: bytes': 'the text of the original',
  'src/dialects/gemini/files.ts: bytes': 'the text of the original',
  'src/dialects/gemini/files.ts: lines': 'the text of the original',
  'src/dialects/mastra/files.ts: bytes': 'the text of the original',
  'src/dialects/python-harness/files.ts: lines': 'the text of the original',
  'src/dialects/runtime/mcp-text.ts: files': 'the text of the original',
  'src/dialects/runtime/mcp-text.ts: directories': 'the text of the original',
}

describe('the messages', () => {
  it('count with the singular where the number may be one', () => {
    const found = sources.flatMap(({ file, text }) =>
      text
        .split('\n')
        .flatMap((line) =>
          [...line.matchAll(number)]
            .filter(([whole, noun = '']) => plurals.has(noun) && !isGuarded(line, whole))
            .map(([, noun]) => `${file}: ${noun}`),
        ),
    )
    expect(plurals.size).toBeGreaterThan(20)
    expect([...new Set(found)].filter((one) => !Object.hasOwn(exempt, one))).toEqual([])
    expect(Object.keys(exempt).filter((one) => !found.includes(one))).toEqual([])
  })

  it('have one byte, one file and one call', async () => {
    const workspace = await createWorkspace({ backend: memory({ 'one.txt': 'a' }), policy: 'autonomous' })
    const summaries = []
    for (const [name, input] of [
      ['write_file', { path: 'b.txt', content: 'b' }],
      ['append_file', { path: 'b.txt', content: 'c' }],
      ['file_info', { path: 'one.txt' }],
      ['find_files', { pattern: 'one.txt' }],
      ['list_directory', { path: '.' }],
      ['search_text', { query: 'bc' }],
    ] as const) {
      const result = await workspace.callTool(name, input)
      summaries.push((result as { readonly summary?: string }).summary)
    }
    expect(summaries).toEqual([
      'Created b.txt (1 byte)',
      'Appended to b.txt (1 byte added)',
      'one.txt: file, TEXT_DOC, 1 byte',
      'Found 1 file for "one.txt" in .',
      'Listed .: 2 entries',
      '1 line matches in 2 files searched',
    ])
    expect([counted(0, 'byte'), counted(1, 'entry', 'entries'), counted(2, 'entry', 'entries')]).toEqual([
      ...['0 bytes', '1 entry', '2 entries'],
    ])
    await workspace.close()
  })
})

/** Whether a line has another text for one. */
function isGuarded(line: string, template: string): boolean {
  return /=== 1 \?|> 1 \?/.test(line.slice(0, line.indexOf(template)))
}
