import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { type ConfigFormat, parseConfig } from '../../src/cli/parse-config.ts'
import { parsePolicyData } from '../../src/policy/schema.ts'
import { blocksOf, readPages } from './blocks.ts'
import { commandsOf, ownWords, wrongIn } from './commands.ts'
import { subpaths, undocumented } from './exports.ts'
import { deadLinks } from './links.ts'
import { typeErrors } from './type-check.ts'

const top = join(import.meta.dirname, '../..')
/** Inside the package, so that the blocks import it by its own name, as built. */
const made = join(top, 'dist/examples/pages')
let directory = ''
let cwd = ''

const pages = readPages()
const blocks = [...pages].flatMap(([path, text]) => blocksOf(path, text))
const inLanguage = (...languages: readonly string[]) => blocks.filter(({ language }) => languages.includes(language))
const programs = inLanguage('ts', 'js')
/** Commands of ours that change nothing and end at once. */
const cheap = inLanguage('sh')
  .flatMap(({ code }) => commandsOf(code).map(ownWords))
  .filter((words) => /^(tools|call read_file|policy explain)\b/.test(words?.join(' ') ?? '')) as string[][]
const settings = inLanguage('json', 'toml', 'yaml')

describe('the pages', () => {
  beforeAll(() => {
    mkdirSync(made, { recursive: true })
    directory = mkdtempSync(join(tmpdir(), 'wardspace-pages-'))
    mkdirSync(join(directory, 'project/src'), { recursive: true })
    writeFileSync(join(directory, 'project/src/app.ts'), 'export const answer = 41\n')
    writeFileSync(join(directory, 'project/README.md'), '# Project\n')
    cwd = process.cwd()
    // Paths such as `./project` are beside the reader's program.
    process.chdir(directory)
  })
  afterAll(() => {
    process.chdir(cwd)
    for (const each of [made, directory]) rmSync(each, { recursive: true, force: true })
  })

  it('have blocks of every kind that is checked here, and of no other', () => {
    expect(programs.length).toBeGreaterThan(20)
    expect(settings.length).toBeGreaterThan(3)
    const known = new Set(['ts', 'js', 'json', 'toml', 'yaml', 'sh', 'text', 'http', 'html', 'jsonc'])
    expect(blocks.filter(({ language }) => !known.has(language)).map(({ name }) => name)).toEqual([])
  })

  it('say of each block that is not run why', () => {
    const notRun = blocks.filter((block) => block.notRun !== undefined)
    for (const { name, notRun: reason } of notRun) console.log(`not run: ${name}: ${reason}`)
    // More of them want a second look: what can run shall run.
    expect(notRun.length).toBeLessThanOrEqual(12)
  })

  it.each([...pages.keys()])('%s has no dead link', (path) => {
    expect(deadLinks(path, pages)).toEqual([])
  })

  it.each([...pages.keys()])('%s names only files of the repository that exist', (path) => {
    const named = (pages.get(path) ?? '').matchAll(/`((?:src|test|playground|bench|examples)\/[\w./-]+)`/g)
    const missing = [...named].map(([, file = '']) => file).filter((file) => !existsSync(join(top, file)))
    expect(missing.filter((file) => !file.includes('NAME'))).toEqual([])
  })

  it('list every subpath in docs/runtimes.md', () => {
    const text = pages.get('docs/runtimes.md') ?? ''
    expect(subpaths().filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })

  it('would be found out', () => {
    const text = '# Title\n[a](nowhere.md) [b](#nothing) [c](#title) [d](README.md#nothing)\n'
    expect(deadLinks('x.md', new Map([['x.md', text]]))).toEqual(['nowhere.md', '#nothing', 'README.md#nothing'])
    const commands =
      "npx wardspace nope\nnpx wardspace mcp --nope # why\nnpm ci && npm run nope\nnpx wardspace call read_file '{}'"
    expect(commandsOf(commands).map(wrongIn)).toEqual([
      'There is no command "nope"',
      '"wardspace help" tells of no option --nope',
      undefined,
      'package.json has no script "nope"',
      undefined,
    ])
    expect(() =>
      checkSetting('json', '{ "mcpServers": { "a": { "command": "npx", "args": ["-y", "wardspace"] } } }'),
    ).toThrow()
    expect(() => checkSetting('yaml', 'preset: none')).toThrow('preset')
    expect(blocksOf('x.md', '<!-- goes on -->\n\n```ts\none\n```\n')[0]).toEqual({
      name: 'x.md:4',
      language: 'ts',
      code: 'one\n',
    })
  })

  it('are joined by a reference in which every export has words', () => {
    expect(undocumented()).toEqual([])
  })

  it('show no call that does not compile', () => {
    const wrong = { name: 'wrong', language: 'ts', code: "import 'wardspace/nowhere'\nconst one: string = 1\n" }
    const errors = typeErrors([...programs, wrong], join(made, 'types'))
    expect(errors.filter((line) => !line.startsWith('wrong line'))).toEqual([])
    expect(errors).toHaveLength(2)
  })

  it.each(programs.filter(({ notRun }) => notRun === undefined))(
    '$name runs on the package as built',
    async (block) => {
      const { code } = await transform(block.code, { loader: 'ts', format: 'esm', target: 'es2022' })
      const file = join(made, `${block.name.replace(/\W+/g, '-')}.mjs`)
      writeFileSync(file, code)
      await import(/* @vite-ignore */ pathToFileURL(file).href)
    },
  )

  it.each(settings)('$name is what it shows', ({ language, code }) => {
    checkSetting(language as ConfigFormat, code)
  })

  it.each(cheap)('npx wardspace %s %s runs', async (...words) => {
    process.chdir(join(directory, 'project'))
    const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    try {
      const [command = '', ...rest] = words
      const commands = await import(/* @vite-ignore */ pathToFileURL(join(top, `dist/cli/${command}.js`)).href)
      expect(await commands[command](rest)).toBeLessThan(2)
      expect(printed).toHaveBeenCalled()
    } finally {
      printed.mockRestore()
      process.chdir(directory)
    }
  })

  it.each(inLanguage('sh'))('$name names what is there', ({ code }) => {
    expect(commandsOf(code).map(wrongIn).filter(Boolean)).toEqual([])
  })
})

const started = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.literal('npx'),
  args: z.tuple([z.literal('-y'), z.literal('wardspace'), z.literal('mcp')], z.string()),
  env: z.record(z.string(), z.string()).optional(),
})
const running = z.strictObject({
  type: z.literal('http'),
  url: z.url().endsWith('/mcp'),
  headers: z.record(z.string(), z.string()).optional(),
})
const servers = z.record(z.string(), z.union([started, running]))
/** The settings of MCP clients: of Claude Desktop and Cursor, and of VS Code. */
const clientSettings = z.union([z.strictObject({ mcpServers: servers }), z.strictObject({ servers })])

/** Settings of an MCP client start a server that there is; anything else is a policy, perhaps with its audit. */
function checkSetting(language: ConfigFormat, code: string): void {
  const { data } = parseConfig(code, language, 'the block')
  const isOfClient = /^\s*"(mcpServers|servers)"/m.test(code) || code.includes('"mcpServers"')
  if (!isOfClient) {
    const { audit: _, ...policy } = data as Record<string, unknown>
    parsePolicyData(policy)
    return
  }
  const settings = clientSettings.parse(data)
  for (const server of Object.values('servers' in settings ? settings.servers : settings.mcpServers)) {
    if ('url' in server) continue
    const { args } = server
    const words = ownWords(['npx', ...args.slice(1)])
    expect(words).toBeDefined()
    expect(wrongIn(['npx', 'wardspace', ...(words ?? [])])).toBeUndefined()
  }
}
