import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { createWorkspace } from '../../src/index.ts'

/** How each dialect that reads ranges names a file, its lines, and a new content. */
const shapes: Readonly<Record<string, { read: string; write: string; path: string; from: string; zero?: boolean }>> = {
  'python-harness': { read: 'read_file', write: 'write_file', path: 'path', from: 'offset', zero: true },
  deepagents: { read: 'read_file', write: 'write_file', path: 'file_path', from: 'offset', zero: true },
  gemini: { read: 'read_file', write: 'write_file', path: 'file_path', from: 'start_line' },
  'file-read-write': { read: 'file_read', write: 'file_write', path: 'path', from: 'start_line' },
  'snake-case': { read: 'read_file', write: 'write_file', path: 'path', from: 'start_line' },
  'patch-and-diff': { read: 'read_file', write: 'write_file', path: 'path', from: 'startLine' },
  'named-roots': { read: 'read_file', write: 'write_file', path: 'path', from: 'start_line' },
}
const lines = Array.from({ length: 3000 }, (_, index) => `line ${index + 1} of a file that no single reading shows`)

describe.each(Object.entries(shapes))('hints of the dialect %s', (name, { read, write, path, from, zero }) => {
  const open = async () => {
    const backend = memory({ 'long.txt': `${lines.join('\n')}\n`, 'short.txt': 'a\nb\nc\n' })
    return createWorkspace({ backend, policy: 'autonomous', dialect: dialects[name]?.() ?? expect.unreachable() })
  }
  const textOf = ({ output }: { readonly output: unknown }) =>
    typeof output === 'string' ? output : JSON.stringify(output)

  it('name the lines that are missing, until the whole file was read', async () => {
    const workspace = await open()
    const change = { [path]: 'long.txt', content: 'x\n' }
    let last = 0
    for (let attempt = 0; attempt < 20; attempt++) {
      const written = await workspace.call(write, change)
      if (!written.isError) break
      expect(written.failure?.code).toBe('WRITE_CONFLICT')
      const missing = /Lines (?:from line )?(\d+)/.exec(textOf(written))?.[1]
      if (attempt > 0) expect(textOf(written)).toMatch(/Lines (?:from line )?\d+/)
      const start = missing === undefined ? 1 : Number(missing)
      expect(start).toBeGreaterThan(last)
      last = start
      // A part that fits into one reading.
      const limit =
        zero === true
          ? { limit: 800 }
          : from === 'startLine'
            ? { maxLines: 800 }
            : name === 'named-roots'
              ? { max_lines: 800 }
              : { end_line: start + 799 }
      await workspace.call(read, { [path]: 'long.txt', [from]: start - (zero === true ? 1 : 0), ...limit })
    }
    expect((await workspace.call(read, { [path]: 'long.txt' })).isError).toBe(false)
    expect(textOf(await workspace.call(read, { [path]: 'long.txt' }))).not.toContain('line 2 of')
  })

  it('keep the last line of a file in the answer to a line after it', async () => {
    const answer = textOf(await (await open()).call(read, { [path]: 'short.txt', [from]: 900 }))
    expect(answer).toMatch(/\b3\b/)
    expect(answer).not.toContain('startLine'.replace(from, 'nothing'))
  })
})
