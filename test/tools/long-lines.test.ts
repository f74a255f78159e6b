import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'

/** Reads a file to its end by the continuation in each answer, and returns the parts. */
async function readAll(content: string): Promise<{ readonly parts: string[]; readonly warnings: string[] }> {
  const workspace = await createWorkspace({ backend: memory({ 'a.txt': content }), policy: 'autonomous' })
  const parts: string[] = []
  const warnings: string[] = []
  let startLine = 1
  let startColumn = 1
  for (;;) {
    const read = await workspace.call('read_file', { path: 'a.txt', startLine, startColumn, maxLines: 40 })
    if (!read.ok) throw new Error(read.message)
    parts.push(read.content)
    warnings.push(...read.warnings)
    startLine = read.nextColumn === undefined ? read.endLine + 1 : read.endLine
    startColumn = read.nextColumn ?? 1
    if (startLine > Math.min(read.totalLines, 50)) return { parts, warnings }
  }
}

describe('read_file', () => {
  const long = `${'x'.repeat(70_000)}é😀${'y'.repeat(90_000)}`

  it.each([
    ['a file', `first\n${long}\nlast\n`],
    ['a file without a final newline', `first\n${long}`],
    ['a large file', `first\n${long}\n${long}\n${'filler\n'.repeat(700_000)}`],
  ])('continues a long line of %s at its nextColumn', async (_name, content) => {
    const { parts, warnings } = await readAll(content)
    expect(content.startsWith(parts.join(''))).toBe(true)
    expect(parts.join('').length).toBeGreaterThanOrEqual(Math.min(content.length, 2 * long.length))
    expect(warnings[0]).toBe('Line 2 is too long for one reading; continue with startLine 2, startColumn 65537')
  })

  it('refuses a column after the end of the line', async () => {
    const files = { 'a.txt': 'one\ntwo\n', 'b.txt': `one\n${'filler\n'.repeat(700_000)}` }
    const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous' })
    expect(await workspace.call('read_file', { path: 'a.txt', startColumn: 3, maxLines: 1 })).toMatchObject({
      content: 'e\n',
    })
    for (const path of ['a.txt', 'b.txt']) {
      expect(await workspace.call('read_file', { path, startColumn: 5 })).toMatchObject({
        code: 'INVALID_INPUT',
        message: `startColumn 5 is after the end of line 1 of "${path}"`,
      })
    }
  })

  it('does not count a line as shown if it shows only its end', async () => {
    const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'one\n' }), policy: 'autonomous' })
    await workspace.call('read_file', { path: 'a.txt', startColumn: 2 })
    const write = await workspace.call('write_file', { path: 'a.txt', content: 'new\n' })
    expect(write).toMatchObject({ code: 'WRITE_CONFLICT' })
  })
})

describe('search_text', () => {
  it('adds the version of each file with hashes', async () => {
    const workspace = await createWorkspace({
      backend: memory({ 'a.txt': 'one\n', 'b.txt': 'one\n\n' }),
      policy: 'autonomous',
    })
    for (const filesOnly of [false, true]) {
      const result = await workspace.call('search_text', { query: 'one', hashes: true, filesOnly })
      if (!result.ok) throw new Error(result.message)
      for (const { path, sha256 } of filesOnly ? (result.files ?? []) : result.matches) {
        expect(await workspace.call('read_file', { path })).toMatchObject({ sha256 })
      }
    }
    expect(await workspace.call('search_text', { query: 'one' })).not.toMatchObject({
      matches: [{ sha256: expect.anything() }],
    })
  })
})

describe('file_info', () => {
  it('reports whether the content of a file is never shown', async () => {
    const files = { 'a.txt': 'one\n', '.env': 'KEY=value\n', 'a.bin': '\0\0\0' }
    const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous' })
    const redacted = async (path: string) => {
      const info = await workspace.call('file_info', { path })
      return info.ok && info.redacted
    }
    expect([await redacted('a.txt'), await redacted('.env'), await redacted('a.bin'), await redacted('.')]).toEqual([
      false,
      true,
      false,
      false,
    ])
  })
})
