import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'

const lines = (count: number) => `${Array.from({ length: count }, (_, i) => `line ${i + 1}`).join('\n')}\n`
const open = (files: Record<string, string | Uint8Array>) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous' })

describe('the hint of WRITE_CONFLICT', () => {
  it.each([1, 199, 200, 201, 450, 1500, 2500])('leads to a successful change of a file of %i lines', async (count) => {
    const workspace = await open({ 'a.txt': lines(count) })
    await workspace.call('read_file', { path: 'a.txt', startLine: Math.min(count, 150), maxLines: 10 })
    for (let calls = 0; ; calls++) {
      expect(calls).toBeLessThan(20)
      const answer = await workspace.call('write_file', { path: 'a.txt', content: 'new\n' })
      if (answer.ok) break
      expect(answer.code).toBe('WRITE_CONFLICT')
      const startLine = Number(/startLine (\d+)/.exec(answer.hint)?.[1])
      expect(startLine).toBeGreaterThan(0)
      expect(await workspace.call('read_file', { path: 'a.txt', startLine })).toMatchObject({ ok: true })
    }
  })

  it('names the lines between two ranges that were read', async () => {
    const workspace = await open({ 'a.txt': lines(100) })
    await workspace.call('read_file', { path: 'a.txt', maxLines: 10 })
    await workspace.call('read_file', { path: 'a.txt', startLine: 50 })
    expect(await workspace.call('write_file', { path: 'a.txt', content: 'new\n' })).toMatchObject({
      hint: expect.stringContaining('Lines 11-49 were not read'),
    })
  })
})

describe('read_file', () => {
  it('calls the root "." in a refusal', async () => {
    expect(await (await open({})).call('read_file', { path: '.' })).toMatchObject({
      code: 'IS_DIRECTORY',
      path: '.',
      message: '"." is a directory',
    })
  })

  it('refuses a file of NUL bytes as binary', async () => {
    for (const size of [1, 2, 3, 4, 6, 8, 4000]) {
      const workspace = await open({ nul: new Uint8Array(size) })
      expect(await workspace.call('read_file', { path: 'nul' })).toMatchObject({ code: 'UNSUPPORTED_BINARY' })
    }
  })

  it('warns of a line that it cuts', async () => {
    const workspace = await open({ 'a.txt': `a\n${'x'.repeat(100_000)}\n` })
    expect(await workspace.call('read_file', { path: 'a.txt', startLine: 2 })).toMatchObject({
      truncated: true,
      warnings: [expect.stringContaining('Line 2 is too long')],
    })
  })
})
