import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { call } from '../../src/cli/call.ts'
import { replay } from '../../src/cli/replay.ts'
import { tools } from '../../src/cli/tools.ts'
import { dialects } from '../../src/dialects/index.ts'

const made: string[] = []

afterEach(() => {
  vi.restoreAllMocks()
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'wardspace-dialect-'))
  made.push(path)
  return path
}

/** What a command prints, and its exit code. */
async function printed(command: (words: string[]) => Promise<number>, ...words: string[]) {
  let text = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    text += String(part)
    return true
  })
  const code = await command(words)
  vi.restoreAllMocks()
  return { code, text }
}

describe('--dialect', () => {
  it('lists the tools of a dialect, as a table and as JSON Schema', async () => {
    expect((await printed(tools)).text).toContain('replace_range')
    expect((await printed(tools)).text).not.toContain('run_command')
    const root = directory()
    for (const shell of ['bash', 'node']) {
      expect((await printed(tools, '--shell', shell, '--root', root)).text).toMatch(/^run_command /m)
    }
    expect((await printed(tools, '--shell', 'none')).text).not.toContain('run_command')
    await expect(tools(['--shell', 'zsh'])).rejects.toThrow('There is no shell "zsh"')
    expect((await printed(tools, '--dialect', 'mcp-filesystem')).text).toContain('read_text_file')
    const { text } = await printed(tools, '--dialect', 'mcp-filesystem', '--read-only', '--json')
    const listed = JSON.parse(text) as { name: string; outputSchema?: object }[]
    expect(listed.map(({ name }) => name)).not.toContain('write_file')
    expect(listed.find(({ name }) => name === 'read_text_file')?.outputSchema).toMatchObject({ required: ['content'] })
  })

  it('calls a tool of a dialect: its own form, or all of the result as JSON', async () => {
    const root = directory()
    writeFileSync(join(root, 'a.txt'), 'one\n')
    const asked = ['read_text_file', '{"path":"/workspace/a.txt"}', '--root', root, '--dialect', 'mcp-filesystem']
    expect(await printed(call, ...asked)).toEqual({ code: 0, text: 'one\n\n' })
    const whole = await printed(call, ...asked, '--json')
    expect(JSON.parse(whole.text)).toMatchObject({ isError: false, structuredContent: { content: 'one\n' } })
    const media = ['read_media_file', '{"path":"a.txt"}', '--root', root, '--dialect', 'mcp-filesystem']
    expect(JSON.parse((await printed(call, ...media)).text)).toMatchObject({ type: 'resource' })
    const refused = ['read_text_file', '{"path":"/etc/passwd"}', '--root', root, '--dialect', 'mcp-filesystem']
    const { code, text } = await printed(call, ...refused)
    expect([code, text]).toEqual([1, expect.stringContaining('PATH_REJECTED')])
    expect((await printed(call, 'read_file', '{"path":"a.txt"}', '--root', root)).text).toContain('"ok": true')
    const asking = ['read_file', '{"path":"none"}', '--root', root, '--ask', '--json']
    expect(await printed(call, ...asking)).toMatchObject({ code: 1, text: expect.stringContaining('"ok":false') })
    await expect(call([])).rejects.toThrow('Which tool?')
    await expect(call(['read_file', '{'])).rejects.toThrow('The input is no JSON')
  })

  it('repeats a recording in its dialect', async () => {
    const root = directory()
    const file = join(directory(), 'recording.jsonl')
    writeFileSync(join(root, 'a.txt'), 'one\n')
    const asked = ['read_text_file', '{"path":"a.txt"}', '--root', root, '--dialect', 'mcp-filesystem']
    await printed(call, ...asked, '--record', file)
    expect(readFileSync(file, 'utf8')).toContain('"dialect":"mcp-filesystem"')
    expect(await printed(replay, file, '--root', root)).toMatchObject({ code: 0 })
  })

  it('names the dialects where there is none of a name', async () => {
    await expect(tools(['--dialect', 'constructor'])).rejects.toThrow(
      `There is no dialect "constructor"; the dialects are ${Object.keys(dialects).join(', ')}`,
    )
  })

  it('every dialect has the name by which it is known', () => {
    for (const [name, open] of Object.entries(dialects)) expect(open().name).toBe(name)
  })
})
