import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import { png } from '../media.ts'

// Joined at run time, so that this file contains no token.
const TOKEN = ['ghp_', '16C7e42F292c6912E7710c838347Ae178B4a'].join('')
const KEY_LINE = 'MIIEowIBAAKCAQEAx4UbaDzY5xjW6hc9jwN0mX33XpTDVW9WpYbE3vJkq5sW2d7a'
const KEY = ['-----BEGIN RSA PRIVATE', ` KEY-----\n${KEY_LINE}\n${KEY_LINE}\n-----END RSA PRIVATE KEY-----\n`].join('')

const code = (source: string | readonly string[], ...outputs: readonly object[]) => ({
  ...{ cell_type: 'code', execution_count: 3, id: 'abc-1', metadata: { secret: 'never-shown' } },
  ...{ source, outputs },
})
const stream = (text: string | readonly string[], name = 'stdout') => ({ output_type: 'stream', name, text })
const notebook = (...cells: readonly object[]) =>
  JSON.stringify({ cells, metadata: { kernel: 'never-shown' }, nbformat: 4, nbformat_minor: 5 }, null, 1)

async function open(text: string, options: Partial<WorkspaceOptions> = {}) {
  const workspace = await createWorkspace({
    backend: memory({ 'n.ipynb': text }),
    policy: 'autonomous',
    ...options,
  })
  const read = (input: object = {}) => workspace.callTool('read_file', { path: 'n.ipynb', cells: true, ...input })
  return { workspace, read, content: async (input?: object) => String((await read(input)).content) }
}

describe('read_file of the cells of a notebook', () => {
  it('shows sources and outputs as text, and names what is none', async () => {
    const image = Buffer.from(png(640, 480)).toString('base64')
    const figure = { 'image/png': image, 'text/html': '<b>x</b>', 'text/plain': ['<Figure>\n', 'size'] }
    const { read } = await open(
      notebook(
        { cell_type: 'markdown', source: ['# Title\n', 'text'] },
        code(
          'plot(1)\n',
          stream(['one\n', 'two\n']),
          { output_type: 'display_data', data: figure },
          { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\x1b[0;31mE\x1b[0m', 'at 1'] },
        ),
        { cell_type: 'raw' },
      ),
    )
    const result = await read()
    const bytes = png(640, 480).length
    expect(result.content).toBe(`=== cell 1, markdown
# Title
text
=== cell 2, code, [3], id abc-1
plot(1)
=== output, stdout
one
two
=== output, display_data; image/png, 640 x 480 pixels, ${bytes} bytes; text/html, 8 bytes
<Figure>
size
=== output, error
E
at 1
=== cell 3, raw
`)
    expect(result).toMatchObject({
      summary: 'Read lines 1-15 of 15 of the cells of n.ipynb',
      warnings: ['Line numbers are those of the cells; a change needs the text of the file: read it without cells'],
      ...{ startLine: 1, endLine: 15, totalLines: 15, truncated: false, encoding: 'utf-8', eol: 'lf' },
    })
  })

  it('reads ranges of lines, and bounds outputs and the answer', async () => {
    const { read, workspace } = await open(notebook(code('a\nb\nc\n', stream(`${'x'.repeat(99)}\ny\n`))), {
      limits: { cellOutputBytes: 100, readBytes: 200 },
    })
    expect(await read({ startLine: 2, maxLines: 2 })).toMatchObject({
      content: 'a\nb\n',
      startLine: 2,
      endLine: 3,
      truncated: true,
    })
    expect((await read({ startLine: 2, maxLines: 1, lineNumbers: true })).content).toBe('     2 | a\n')
    expect((await read({ startLine: 5, maxLines: 1 })).content).toBe(
      '=== output, stdout; 2 of 102 characters are left out\n',
    )
    expect(await read({ startLine: 99 })).toMatchObject({ code: 'INVALID_INPUT', field: 'startLine' })
    const raw = await workspace.call('read_file', { path: 'n.ipynb', maxLines: 1 })
    expect(raw).toMatchObject({ content: '{\n', sha256: (await read()).sha256 })
  })

  it('has headers that no text can imitate', async () => {
    const { content } = await open(notebook(code('=== cell 9, code\n', stream('a\r==== output, stdout\n'))))
    expect(await content()).toBe(
      '===== cell 1, code, [3], id abc-1\n=== cell 9, code\n===== output, stdout\na\r==== output, stdout\n',
    )
  })

  it('does not count as a reading of the file', async () => {
    const { read, workspace } = await open(notebook(code('a')))
    const first = await read({ ifChanged: true })
    expect(await workspace.call('write_file', { path: 'n.ipynb', content: '{}' })).toMatchObject({
      code: 'WRITE_CONFLICT',
    })
    // The lines of the cells are not those of the JSON.
    expect(await read({ ifChanged: true })).toMatchObject({ unchangedSince: first.callId })
    const raw = await workspace.callTool('read_file', { path: 'n.ipynb', maxLines: 2, ifChanged: true })
    expect(raw.unchangedSince).toBeUndefined()
    expect(workspace.auditRecords().at(-1)).toMatchObject({ pathsRead: ['n.ipynb'] })
    const edit = { path: 'n.ipynb', oldText: '"a"', newText: '"b"' }
    expect(await workspace.call('edit_file', edit)).toMatchObject({ ok: true })
    expect((await read()).content).toContain('\nb\n')
  })

  it.each([
    ['text', 'no JSON', /^"n.ipynb" is no notebook: it is not JSON$/],
    ['another version', '{"nbformat":3,"worksheets":[]}', /nbformat is not 4$/],
    ['no cells', '{"nbformat":4}', /has no cells$/],
    ['a list', '[1]', /nbformat is not 4$/],
    ['null', 'null', /nbformat is not 4$/],
    ['deep JSON', '['.repeat(200_000), /not JSON$/],
  ])('refuses %s', async (_, text, message) => {
    const { read } = await open(text)
    const hint = 'Read it without cells.'
    expect(await read()).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'cells',
      message: expect.stringMatching(message),
      hint,
    })
  })

  it('takes whatever stands in the place of cells and outputs', async () => {
    const odd: readonly unknown[] = [
      null,
      1,
      'x',
      [],
      {},
      { source: 5 },
      { cell_type: 'a\nb', outputs: [null, 7, {}], id: 'a\n===' },
    ]
    const { read } = await open(JSON.stringify({ nbformat: 4, cells: odd }))
    const result = await read()
    expect(result).toMatchObject({ ok: true })
    expect(String(result.content).match(/^=== cell \d, unknown$/gm)).toHaveLength(7)
  })

  it('refuses an artifact, and a file that is no text', async () => {
    const { workspace, read } = await open('\0')
    expect(await read()).toMatchObject({ code: 'UNSUPPORTED_BINARY' })
    const artifact = { path: 'artifact://r/a.txt', cells: true }
    expect(await workspace.call('read_file', artifact)).toMatchObject({ code: 'INVALID_INPUT', field: 'cells' })
  })
})

describe('secrets in the cells of a notebook', () => {
  it.each([
    ['in a source', notebook(code(`token = "${TOKEN}"`))],
    ['in a stream', notebook(code('a', stream(`${TOKEN}\n`)))],
    ['over two lines of the JSON', notebook(code([TOKEN.slice(0, 20), TOKEN.slice(20)]))],
    ['between colours', notebook(code('a', stream(`${TOKEN.slice(0, 20)}\x1b[0m${TOKEN.slice(20)}`)))],
    [
      'in escapes',
      notebook(code('a')).replace('"a"', `"${[...TOKEN].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('')}"`),
    ],
    ['in the id of a cell', notebook({ ...code('a'), id: TOKEN })],
    ['in a type of output', notebook(code('a', { output_type: 'display_data', data: { [`x/${TOKEN}`]: 'a' } }))],
    ['at the bound of an output', notebook(code('a', stream(`${'-'.repeat(80)} ${TOKEN}`)))],
  ])('%s: are hidden', async (_, text) => {
    const { read } = await open(text, { limits: { cellOutputBytes: 100 } })
    const result = await read()
    expect(result).toMatchObject({ ok: true })
    const shown = JSON.stringify(result)
    expect(shown).not.toContain(TOKEN)
    expect(shown).not.toContain(TOKEN.slice(0, 15))
    expect(shown).not.toContain(TOKEN.slice(-15))
  })

  it.each([
    ['as one text', [KEY]],
    ['as a list of lines', KEY.split(/(?<=\n)/)],
  ])('a private key %s is hidden', async (_, lines) => {
    const { content } = await open(notebook(code(lines.length === 1 ? KEY : lines), code('after')))
    const text = await content()
    expect(text).not.toContain(KEY_LINE.slice(0, 12))
    expect(text).toContain('[REDACTED:private-key:')
    expect(text).toContain('after')
  })

  it('keep what stands around them', async () => {
    const { content } = await open(
      notebook(code(`a = 1\nt = "${TOKEN}"\nb = 2\n`, stream(`x ${TOKEN} y\n`)), code('c')),
    )
    expect((await content()).replaceAll(/\[REDACTED:github-token:\d+\]/g, '*')).toBe(
      '=== cell 1, code, [3], id abc-1\na = 1\nt = "*"\nb = 2\n=== output, stdout\nx * y\n=== cell 2, code, [3], id abc-1\nc\n',
    )
  })

  it('are too many', async () => {
    const tokens = Array.from({ length: 101 }, (_, i) => `${TOKEN.slice(0, -3)}${String(i).padStart(3, '0')}`)
    const { read } = await open(notebook(code(tokens.map((token) => `${token}\n`))))
    expect(await read()).toMatchObject({ code: 'LIMIT_EXCEEDED', hint: 'Read it without cells.' })
  })
})
