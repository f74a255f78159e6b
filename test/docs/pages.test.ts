import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { type ConfigFormat, parseConfig } from '../../src/cli/parse-config.ts'
import { takeAuditSection } from '../../src/policy/import-config.ts'
import { parsePolicy } from '../../src/policy/schema.ts'
import { blocksOf, readPages } from './blocks.ts'
import { commandsOf, ownWords, wrongIn } from './commands.ts'
import { subpaths, undocumented } from './exports.ts'
import { deadLinks } from './links.ts'
import { typeErrors } from './type-check.ts'

const top = join(import.meta.dirname, '../..')
/** Inside the package, so that the blocks can import it by its own name, as built. */
const programDirectory = join(top, 'dist/examples/pages')
let directory = ''
let cwd = ''

const pages = readPages()
const blocks = [...pages].flatMap(([path, text]) => blocksOf(path, text))
const inLanguage = (...languages: readonly string[]) => blocks.filter(({ language }) => languages.includes(language))
const programs = inLanguage('ts', 'js').filter((block) => block.partOf === undefined && block.framework === undefined)
/** The lines of frameworks whose packages are installed here. `test/frameworks/` runs them, and compiles the others. */
const frameworkPrograms = inLanguage('ts').filter(
  ({ framework, code }) =>
    // The AI SDK that is installed here is version 6.
    framework !== undefined &&
    framework !== 'ai-sdk-7' &&
    [...code.matchAll(/ from '(.+)'/g)].every(([, name]) => isInstalled(name)),
)
const excerpts = blocks.filter(({ partOf }) => partOf !== undefined)
/** Commands of the package that change nothing and end at once. */
const quickCommands = inLanguage('sh')
  .flatMap(({ code }) => commandsOf(code).map(ownWords))
  .filter((words) => /^(tools|call read_file|policy explain)\b/.test(words?.join(' ') ?? '')) as string[][]
const settings = inLanguage('json', 'toml', 'yaml')

describe('the documentation', () => {
  beforeAll(() => {
    mkdirSync(programDirectory, { recursive: true })
    directory = mkdtempSync(join(tmpdir(), 'wardspace-pages-'))
    mkdirSync(join(directory, 'project/src'), { recursive: true })
    writeFileSync(join(directory, 'project/src/app.ts'), 'export const answer = 41\n')
    mkdirSync(join(directory, 'app'))
    writeFileSync(join(directory, 'app/README.md'), '# App\n')
    cwd = process.cwd()
    // Paths such as `./project` are relative to the reader's program.
    process.chdir(directory)
  })
  afterAll(() => {
    process.chdir(cwd)
    for (const each of [programDirectory, directory]) rmSync(each, { recursive: true, force: true })
  })

  it('has blocks in the checked languages only', () => {
    expect(programs.length).toBeGreaterThan(20)
    expect(settings.length).toBeGreaterThan(3)
    const languages = new Set(['ts', 'js', 'json', 'toml', 'yaml', 'sh', 'text', 'http', 'html', 'jsonc'])
    expect(blocks.filter(({ language }) => !languages.has(language)).map(({ name }) => name)).toEqual([])
  })

  it('names the packages that a page imports in a line that installs them', () => {
    const missing = [...pages].flatMap(([path, text]) => {
      const installs = [...text.matchAll(/\b(?:npm install|pnpm add) ([^\n`]*)/g)].flatMap(([, words = '']) =>
        words.split(/\s+/),
      )
      const installed = new Set(['wardspace', ...installs.map((word) => word.replace(/(?<=.)@.*/, ''))])
      const code = blocksOf(path, text).filter(({ language }) => /^(ts|js|html)$/.test(language))
      const imports = /(?:\bfrom |\bimport |\bimport\()['"]((?:@[^/'"]+\/)?[^./'":][^/'":]*)(?:\/[^'"]*)?['"]/g
      const names = code.flatMap(({ code }) => [...code.matchAll(imports)].map(([, name = '']) => name))
      return [...new Set(names)].filter((name) => !installed.has(name)).map((name) => `${path}: ${name}`)
    })
    expect(missing).toEqual([])
  })

  it('has at most 12 blocks that are not run, each with a reason', () => {
    const notRun = blocks.filter((block) => block.notRun !== undefined)
    for (const { name, notRun: reason } of notRun) console.log(`not run: ${name}: ${reason}`)
    expect(notRun.length).toBeLessThanOrEqual(12)
  })

  it.each([...pages.keys()])('%s has no dead link', (path) => {
    expect(deadLinks(path, pages)).toEqual([])
  })

  it.each([...pages.keys()])('%s mentions only files of the repository that exist', (path) => {
    const text = pages.get(path) ?? ''
    const mentioned = text.matchAll(/`((?:src|test|playground|bench|examples)\/[\w./-]+)`/g)
    const missing = [...mentioned].map(([, file = '']) => file).filter((file) => !existsSync(join(top, file)))
    const isOfReader = (file: string) => new RegExp(`\\b[Ss]ave .* as \`${file}\``).test(text)
    expect(missing.filter((file) => !file.includes('NAME') && !isOfReader(file))).toEqual([])
  })

  it('lists every subpath in docs/runtimes.md', () => {
    const text = pages.get('docs/runtimes.md') ?? ''
    expect(subpaths().filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })

  it('is checked for dead links, wrong commands and wrong settings', () => {
    const text = '# Title\n[a](nowhere.md) [b](#nothing) [c](#title) [d](README.md#nothing)\n'
    expect(deadLinks('x.md', new Map([['x.md', text]]))).toEqual(['nowhere.md', '#nothing', 'README.md#nothing'])
    const commands =
      "npx wardspace nope\nnpx wardspace mcp --nope # why\nnpm ci && npm run nope\nnpx wardspace call read_file '{}'"
    expect(commandsOf(commands).map(wrongIn)).toEqual([
      'There is no command "nope"',
      '"wardspace help" does not list the option --nope',
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

  it('has a doc comment for every export', () => {
    expect(undocumented()).toEqual([])
  })

  it('contains only programs that compile', () => {
    const wrong = { name: 'wrong', language: 'ts', code: "import 'wardspace/nowhere'\nconst one: string = 1\n" }
    expect(frameworkPrograms.length).toBeGreaterThan(2)
    const errors = typeErrors([...programs, ...frameworkPrograms, wrong], join(programDirectory, 'types'))
    expect(errors.filter((line) => !line.startsWith('wrong line'))).toEqual([])
    expect(errors).toHaveLength(2)
  })

  it.each(programs.filter(({ notRun }) => notRun === undefined))('$name runs on the built package', async (block) => {
    const { code } = await transform(block.code, { loader: 'ts', format: 'esm', target: 'es2022' })
    const file = join(programDirectory, `${block.name.replace(/\W+/g, '-')}.mjs`)
    writeFileSync(file, code)
    await import(/* @vite-ignore */ pathToFileURL(file).href)
  })

  it.each(excerpts)('$name is part of $partOf', ({ code, partOf = '' }) => {
    expect(readFileSync(join(top, partOf), 'utf8')).toContain(code.trimEnd())
  })

  it.each(settings)('$name is a valid policy or client configuration', ({ language, code }) => {
    checkSetting(language as ConfigFormat, code)
  })

  it.each(quickCommands)('command runs: npx wardspace %s %s', async (...args) => {
    const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    try {
      const [command = '', ...options] = args
      const commands = await import(`../../src/cli/${command}.ts`)
      expect(await commands[command](options)).toBeLessThan(2)
      expect(printed).toHaveBeenCalled()
    } finally {
      printed.mockRestore()
    }
  })

  it.each(inLanguage('sh'))('$name uses existing commands, options and scripts', ({ code }) => {
    expect(commandsOf(code).map(wrongIn).filter(Boolean)).toEqual([])
  })
})

/** Whether a package can be imported from the root of the project. */
function isInstalled(name = ''): boolean {
  const [scope = '', part = ''] = name.split('/')
  const own = scope.startsWith('@') ? `${scope}/${part}` : scope
  return own === 'wardspace' || existsSync(join(top, 'node_modules', own))
}

const started = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.literal('npx'),
  args: z.union([
    z.tuple([z.literal('-y'), z.literal('wardspace'), z.literal('mcp')], z.string()),
    z.tuple([z.literal('-y'), z.literal('mcp-remote'), z.url().endsWith('/mcp')], z.string()),
  ]),
  env: z.record(z.string(), z.string()).optional(),
})
const running = z.strictObject({
  type: z.literal('http'),
  url: z.url().endsWith('/mcp'),
  headers: z.record(z.string(), z.string()).optional(),
})
const servers = z.record(z.string(), z.union([started, running]))
/** Settings of MCP clients: Claude Desktop and Cursor, or VS Code. */
const clientSettings = z.union([z.strictObject({ mcpServers: servers }), z.strictObject({ servers })])

/** Checks that the settings of an MCP client start an existing server. Any other block must be a policy, optionally with `audit`. */
function checkSetting(language: ConfigFormat, code: string): void {
  const { data } = parseConfig(code, language, 'the block')
  const isOfClient = /^\s*"(mcpServers|servers)"/m.test(code) || code.includes('"mcpServers"')
  if (!isOfClient) {
    const { audit: _, ...policy } = data as Record<string, unknown>
    parsePolicy(takeAuditSection(policy).config)
    return
  }
  const settings = clientSettings.parse(data)
  for (const server of Object.values('servers' in settings ? settings.servers : settings.mcpServers)) {
    if ('url' in server) continue
    const { args } = server
    // `test/frameworks/` runs the command of the other package.
    if (args[1] === 'mcp-remote') continue
    const words = ownWords(['npx', ...args.slice(1)])
    expect(words).toBeDefined()
    expect(wrongIn(['npx', 'wardspace', ...(words ?? [])])).toBeUndefined()
  }
}
