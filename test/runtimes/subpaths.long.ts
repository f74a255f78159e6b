import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onPage } from './host-chromium.ts'
import { runInWorkerd } from './host-workerd.ts'
import { nodeOf } from './node-versions.ts'
import { packedTarball } from './packed.ts'
import { bundleForWeb, bundleWorker, expected, fitting, subpathsOf, useInProcess } from './subpaths.ts'

const top = join(import.meta.dirname, '../..')
const { peerDependencies, devDependencies } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'))
/** The version of Vitest that runs this test. */
const peers = Object.keys(peerDependencies).filter((name) => name !== 'vitest')
const home = mkdtempSync(join(tmpdir(), 'wardspace-installed-'))
let tarball: string

beforeAll(() => {
  tarball = packedTarball()
}, 300_000)
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** An empty folder in which npm installs the packed file, run by that Node. */
function emptyProject(node: string, name: string) {
  const directory = join(home, name)
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }')
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
  const run = (...command: string[]) =>
    execFileSync(command[0] ?? '', command.slice(1), { cwd: directory, env, encoding: 'utf8' })
  const install = (...packages: string[]) => run('npm', 'install', '--silent', '--no-audit', '--no-fund', ...packages)
  return { directory, run, install, subpaths: () => subpathsOf(join(directory, 'node_modules/wardspace')) }
}

const installPeers = (install: (...packages: string[]) => string) =>
  install(...peers.map((name) => `${name}@${devDependencies[name]}`))

describe.each([20, 22, 24])('npm install of the packed file in Node %i', (version) => {
  it('contains all that its subpaths and command line need, and errors name missing optional packages', async () => {
    const node = nodeOf(version)
    const { directory, run, install, subpaths } = emptyProject(node, `node-${version}`)
    expect(run(node, '--version')).toMatch(new RegExp(`^v${version}\\.`))
    install(tarball)
    expect(run('npx', '--no-install', 'wardspace', 'demo')).toMatch(/\S/)
    const fit = fitting(subpaths(), 'Node')
    const bare = (await useInProcess(directory, 'Node', fit, [node])).found
    const missed = Object.entries(bare).filter(
      ([name, gave]) => JSON.stringify(gave) !== JSON.stringify(expected([name])[name]),
    )
    expect(missed.map(([name]) => name)).toContain('./git')
    for (const [name, message] of missed)
      expect(
        peers.some((peer) => String(message).includes(peer)),
        `${name}: ${message}`,
      ).toBe(true)
    installPeers(install)
    expect((await useInProcess(directory, 'Node', fit, [node])).found).toEqual(expected(fit))
  })
})

const ownTool = (zod: string) => `
import { createWorkspace, defineTool } from 'wardspace'
import { toJsonSchema } from 'wardspace/json-schema'
import { memory } from 'wardspace/backends/memory'
import { defineDialectTool } from 'wardspace/dialect'
import type { ObjectSchema } from 'wardspace/tool'
import * as z from '${zod}'

const place = z.object({ name: z.string(), tags: z.array(z.string()) })
const count = defineTool({
  name: 'count_words',
  title: 'Count words',
  description: 'Counts.',
  input: z.object({ path: ${zod === 'zod' ? "z.string().describe('The file')" : 'z.string()'}, least: z._default(z.number(), 2), place: z.optional(place) }),
  output: z.object({ words: z.number() }),
  permission: 'file:read',
  mutates: false,
  idempotent: true,
  plan: ({ path }) => [{ permission: 'file:read', path }],
  async draft({ least, place }) {
    const limit: number = least
    const tags: string[] | undefined = place?.tags
    // @ts-expect-error: the input has no such field
    void place?.other
    return { summary: 'Counted', result: () => ({ words: limit + (tags?.length ?? 0) }) }
  },
})
// @ts-expect-error: the result does not have the type of the output
const wrong: (typeof count)['draft'] = async () => ({ summary: '', result: () => ({ words: '' }) })
// @ts-expect-error: the schema of a string is no object schema
const text: ObjectSchema = z.string()
const dialectTool = defineDialectTool({
  name: 'Count',
  description: 'Counts.',
  input: z.object({ path: z.string() }),
  uses: ['read_file'],
  *steps({ path }) {
    const file: string = path
    return { output: file }
  },
})
const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a' }), policy: { preset: 'autonomous' }, extraTools: [count] })
const results = [
  await workspace.call('count_words', { path: 'a.txt', place: { name: 'x', tags: ['y'] } }),
  await workspace.call('count_words', JSON.parse('{ "path": "a.txt", "place": { "nam": "x", "tags": ["y"] } }')),
]
const schema = toJsonSchema(workspace.tools).find(({ name }) => name === 'count_words')
console.log(JSON.stringify({ results, schema }))
export { dialectTool, text, wrong }
`

describe.each(['4.0.0', '4.0.17', 'latest'])('an own tool with the zod %s of its project', (release) => {
  let project: ReturnType<typeof emptyProject>
  beforeAll(() => {
    project = emptyProject(process.execPath, `zod-${release}`)
    project.install(tarball, `zod@${release}`, ...['@types/node'].map((name) => `${name}@${devDependencies[name]}`))
  }, 300_000)

  it.each(['zod', 'zod/mini'])('has the types of %s and runs', (zod) => {
    writeFileSync(join(project.directory, 'tool.ts'), ownTool(zod))
    const options = '--strict --skipLibCheck false --module nodenext --target es2023 --types node'.split(' ')
    project.run(join(top, 'node_modules/.bin/tsc'), ...options, 'tool.ts')
    const { results, schema } = JSON.parse(project.run('node', 'tool.js'))
    expect(results).toMatchObject([
      { ok: true, words: 3 },
      { ok: false, code: 'INVALID_INPUT', issues: expect.anything() },
    ])
    expect(schema.inputSchema).toMatchObject({ additionalProperties: false, required: ['path'] })
    // The registry of descriptions of zod/mini 4.0 is not accessible.
    if (zod === 'zod') expect(schema.inputSchema.properties.path.description).toBe('The file')
  })
})

describe('the packed file, installed with its peers', () => {
  let project: ReturnType<typeof emptyProject>
  beforeAll(() => {
    project = emptyProject(process.execPath, 'web')
    project.install(tarball)
    installPeers(project.install)
  }, 600_000)

  it.each(['Deno', 'Bun'] as const)('runs every supported subpath in %s', async (runtime) => {
    const fit = fitting(project.subpaths(), runtime)
    expect((await useInProcess(project.directory, runtime, fit)).found).toEqual(expected(fit))
  })

  it('runs every supported subpath in workerd', async () => {
    const fit = fitting(project.subpaths(), 'workerd')
    expect(await runInWorkerd(await bundleForWeb(project.directory, fit))).toEqual(expected(fit))
  })

  it('runs every supported subpath in Chromium', async () => {
    const fit = fitting(project.subpaths(), 'Chromium')
    const script = async (text: Promise<string>) => ['text/javascript', await text] as const
    const files: Readonly<Record<string, readonly [string, string]>> = {
      '/': ['text/html', '<!doctype html><title>uses</title>'],
      '/bundle.mjs': await script(bundleForWeb(project.directory, fit)),
      '/bash-thread.js': await script(bundleWorker(project.directory, './shells/bash-thread')),
      '/opfs-worker.js': await script(bundleWorker(project.directory, './backends/opfs-worker')),
    }
    const match = await onPage(
      (path) => files[path],
      async (page) => page.evaluate(onThePage),
    )
    expect(match).toEqual(expected(fit))
  })
})

const onThePage = `import('/bundle.mjs').then(({ run }) => run({
  worker: (subpath) => new Worker('/' + subpath.split('/').at(-1) + '.js', { type: 'module' }),
}))`
