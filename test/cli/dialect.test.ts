import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { call as callCommand } from '../../src/cli/call.ts'
import { replay } from '../../src/cli/replay.ts'
import { tools } from '../../src/cli/tools.ts'
import { dialects } from '../../src/dialects/index.ts'
import { isLong } from '../counts.ts'
import { main, runCli } from './run-cli.ts'
import { autonomous, withPolicy } from './with-policy.ts'

const call = (words: string[]) => callCommand(autonomous(words))

const temporaries: string[] = []

afterEach(() => {
  vi.restoreAllMocks()
  for (const directory of temporaries.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'wardspace-dialect-'))
  temporaries.push(path)
  return path
}

/** Runs a command; returns its output and exit code. */
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
  it.runIf(isLong)('lists the tools of a dialect, as a table and as JSON Schema', async () => {
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

  it('calls a tool of a dialect, and prints its own form or the complete result as JSON', async () => {
    const root = directory()
    writeFileSync(join(root, 'a.txt'), 'one\n')
    const requests = ['read_text_file', '{"path":"/workspace/a.txt"}', '--root', root, '--dialect', 'mcp-filesystem']
    expect(await printed(call, ...requests)).toEqual({ code: 0, text: 'one\n\n' })
    const whole = await printed(call, ...requests, '--json')
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
    await expect(call(['read_file', '{'])).rejects.toThrow('The input is not valid JSON')
  })

  it('repeats a recording in its dialect', async () => {
    const root = directory()
    const file = join(directory(), 'recording.jsonl')
    writeFileSync(join(root, 'a.txt'), 'one\n')
    const questions = ['read_text_file', '{"path":"a.txt"}', '--root', root, '--dialect', 'mcp-filesystem']
    await printed(call, ...questions, '--record', file)
    expect(readFileSync(file, 'utf8')).toContain('"dialect":"mcp-filesystem"')
    expect(await printed(replay, file, '--root', root)).toMatchObject({ code: 0 })
  })

  it('lists the dialects for an unknown name', async () => {
    await expect(tools(['--dialect', 'constructor'])).rejects.toThrow(
      `There is no dialect "constructor"; the dialects are ${Object.keys(dialects).join(', ')}`,
    )
  })

  it('suggests the nearest dialect', async () => {
    await expect(tools(['--dialect', 'codx'])).rejects.toThrow(
      'There is no dialect "codx"; did you mean "codex"? A dialect',
    )
  })

  it('accepts the name of every dialect', () => {
    for (const [name, open] of Object.entries(dialects)) expect(open().name).toBe(name)
  })
})

const top = join(import.meta.dirname, '../..')

/** Creates a directory outside of the package, like that of a user who installed `wardspace` and `zod`. */
function project(): string {
  const path = directory()
  mkdirSync(join(path, 'node_modules'))
  symlinkSync(top, join(path, 'node_modules/wardspace'), 'dir')
  symlinkSync(join(top, 'node_modules/zod'), join(path, 'node_modules/zod'), 'dir')
  writeFileSync(join(path, 'package.json'), '{ "type": "module" }')
  mkdirSync(join(path, 'root'))
  return path
}

/** Runs the built command line in a directory. */
const run = (cwd: string, ...words: string[]) => runCli(withPolicy(words), { cwd })

describe('--dialect FILE', () => {
  const module = readFileSync(join(import.meta.dirname, 'fixtures/six-tools.js'), 'utf8')
  const options = ['--dialect', './mine.js', '--root', 'root', '--shell', 'bash']

  function withModule(source = module): string {
    const cwd = project()
    writeFileSync(join(cwd, 'mine.js'), source)
    writeFileSync(join(cwd, 'root/a.txt'), 'one\ntwo\n')
    return cwd
  }

  it('is on the page of its guide, word for word', () => {
    const page = readFileSync(join(top, 'docs/guide/write-a-dialect.md'), 'utf8')
    const blocks = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
    expect(blocks).toEqual([module])
  })

  it.runIf(isLong)('lists the tools of the module, without those that need a shell if there is none', async () => {
    const cwd = withModule()
    const { stdout } = await run(cwd, 'tools', ...options)
    expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual([
      ...['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash', ''],
    ])
    expect((await run(cwd, 'tools', '--dialect', join(cwd, 'mine.js'))).stdout).not.toContain('Bash')
  })

  it(`calls ${isLong ? 'each tool' : 'tools'}, with results and errors in the form of the module`, async () => {
    const cwd = withModule()
    const call = async (name: string, input: object) => {
      const { code, stdout } = await run(cwd, 'call', name, JSON.stringify(input), ...options)
      return [code, stdout.trimEnd()]
    }
    const file_path = '/work/a.txt'
    expect(await call('Read', { file_path })).toEqual([0, '     1\tone\n     2\ttwo'])
    expect(await call('Read', { file_path: '/etc/passwd' })).toEqual([1, expect.stringMatching(/^PATH_REJECTED: /)])
    // In `npm test`, these are called in a session only.
    if (isLong) {
      expect(await call('Write', { file_path: '/work/b.js', content: 'let b\n' })).toEqual([0, 'Created /work/b.js'])
      expect(await call('Edit', { file_path, old_string: 'one', new_string: '1' })).toEqual([
        1,
        'WRITE_CONFLICT: /work/a.txt has not been read yet\nUse Read on the whole file first.',
      ])
      expect(await call('Glob', { pattern: '*.js' })).toEqual([0, '/work/b.js'])
      expect(await call('Grep', { pattern: 'let', glob: '*.js' })).toEqual([0, '/work/b.js'])
    }
    expect(await call('Bash', { command: 'cat a.txt; exit 3' })).toEqual([1, 'Exit code 3\none\ntwo'])
    expect(await call('Nothing', {})).toEqual([1, expect.stringContaining('Use one of: Read, Write, Edit, Glob')])
  }, 120_000)

  it('serves the module over MCP, with one state for the session', async () => {
    const cwd = withModule()
    const client = new Client({ name: 'test', version: '1' })
    const words = [main, ...withPolicy(['mcp', ...options])]
    await client.connect(new StdioClientTransport({ command: process.execPath, args: words, cwd, stderr: 'ignore' }))
    const call = async (name: string, input: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: input })
      return [isError === true, (content as { text: string }[])[0]?.text]
    }
    const file_path = '/work/a.txt'
    const edit = { file_path, old_string: 'one', new_string: '1' }
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      ...['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash'],
    ])
    expect(await call('Edit', edit)).toEqual([true, expect.stringContaining('has not been read yet')])
    expect(await call('Write', { file_path, content: 'new\n' })).toEqual([
      true,
      expect.stringMatching(/^WRITE_CONFLICT: .*\/work\/a\.txt.*\nUse Read on the whole file first\.$/),
    ])
    expect(await call('Write', { file_path: '/work/b.js', content: 'let b\n' })).toEqual([false, 'Created /work/b.js'])
    expect(await call('Glob', { pattern: '*.js' })).toEqual([false, '/work/b.js'])
    expect(await call('Grep', { pattern: 'let', glob: '*.js' })).toEqual([false, '/work/b.js'])
    expect(await call('Glob', { pattern: 7 })).toEqual([true, expect.stringMatching(/^INVALID_INPUT: .*pattern/)])
    expect(await call('Grep', { pattern: 'T.O', '-i': true, output_mode: 'content' })).toEqual([
      false,
      '/work/a.txt:2:two',
    ])
    expect(await call('Grep', { pattern: '(?=a)' })).toEqual([true, expect.stringMatching(/^INVALID_PATTERN: /)])
    expect(await call('Read', { file_path })).toEqual([false, '     1\tone\n     2\ttwo'])
    expect(await call('Edit', edit)).toEqual([false, 'Replaced 1 in /work/a.txt'])
    expect(await call('Edit', edit)).toEqual([true, expect.stringMatching(/^EDIT_NO_MATCH: /)])
    expect(await call('Bash', { command: 'cat a.txt' })).toEqual([false, '1\ntwo\n'])
    await client.close()
  }, 60_000)

  it.runIf(isLong)('accepts a function, as default export or by the name dialect', async () => {
    for (const source of [
      module.replace('export const dialect = {', 'export default () => ({').replace(/\}\n$/, '})\n'),
      module.replace('export const dialect = {', 'export const dialect = async () => ({').replace(/\}\n$/, '})\n'),
    ]) {
      expect((await run(withModule(source), 'tools', ...options)).stdout).toContain('Grep')
    }
  })

  it.runIf(isLong)(
    'ends with code 2 and describes the expected export if the module exports no dialect',
    async () => {
      const expected = 'Export a Dialect, or a function that returns one, as default or as "dialect"'
      const cases = {
        'export const other = 1': `Cannot use the dialect "./mine.js": the module exports no dialect. ${expected}`,
        'export default {}': `its "name" must be a text. ${expected}`,
        'export default { name: "x", description: "" }': `its "pathMapping" must come from createPathMapping. ${expected}`,
        [module.replace('  formatError:', '  refusal:')]: `its "formatError" must be a function. ${expected}`,
        [module.replace('[Read, ', '[Read, {}, ')]: `"name" is missing; it must be a string`,
        'export default': 'Cannot load the dialect "./mine.js": ',
      }
      // `npm test` tries a module with a wrong field, and one that is missing.
      const few = ['export default {}']
      for (const [source, message] of Object.entries(cases)) {
        if (!isLong && !few.includes(source)) continue
        const { code, stderr } = await run(withModule(source), 'tools', ...options)
        expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
      }
      const missing = await run(project(), 'tools', ...options)
      expect([missing.code, missing.stderr]).toEqual([
        2,
        expect.stringContaining('Cannot load the dialect "./mine.js": '),
      ])
    },
    60_000,
  )

  it.runIf(isLong)('keeps a module inside the root read-only for the agent', async () => {
    const cwd = withModule()
    const inside = ['--dialect', './mine.js', '--root', '.']
    const input = JSON.stringify({ file_path: '/work/mine.js', content: '' })
    const { code, stdout } = await run(cwd, 'call', 'Write', input, ...inside)
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^READ_ONLY: /)])
    expect(readFileSync(join(cwd, 'mine.js'), 'utf8')).toBe(module)
  })

  it.runIf(isLong)(
    'loads no module that a configuration or a recording names',
    async () => {
      const cwd = project()
      copyFileSync(join(import.meta.dirname, 'fixtures/six-tools.js'), join(cwd, 'mine.js'))
      writeFileSync(join(cwd, 'root/wardspace.config.json'), '{ "preset": "autonomous", "dialect": "./mine.js" }')
      const configured = await run(cwd, 'tools', '--root', 'root', '--policy', 'root/wardspace.config.json')
      expect([configured.code, configured.stderr]).toEqual([2, expect.stringContaining('dialect')])
      const result = await run(
        cwd,
        'call',
        'Read',
        '{"file_path":"/work/a"}',
        ...['--root', 'root', '--policy', 'root/wardspace.config.json'],
      )
      expect([result.code, result.stderr]).toEqual([2, expect.stringContaining('dialect')])
      rmSync(join(cwd, 'root/wardspace.config.json'))

      const words = ['call', 'Glob', '{"pattern":"*"}', '--dialect', './mine.js', '--root', 'root']
      await run(cwd, ...words, '--record', 'made.jsonl')
      const recording = readFileSync(join(cwd, 'made.jsonl'), 'utf8')
      writeFileSync(join(cwd, 'named.jsonl'), recording.replaceAll('"six-tools"', '"./mine.js"'))
      const entry = await run(cwd, 'replay', 'named.jsonl', '--root', 'root')
      expect([entry.code, entry.stderr]).toEqual([2, expect.stringContaining('There is no dialect "./mine.js"')])
      const replayed = await run(cwd, 'replay', 'made.jsonl', '--root', 'root', '--dialect', './mine.js')
      expect(replayed).toMatchObject({ code: 0 })
    },
    60_000,
  )
})
