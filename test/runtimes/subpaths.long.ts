import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onPage } from './host-chromium.ts'
import { runInWorkerd } from './host-workerd.ts'
import { nodeOf } from './node-versions.ts'
import { bundleForWeb, bundleWorker, expected, fitting, subpathsOf, useInProcess } from './subpaths.ts'

const top = join(import.meta.dirname, '../..')
const { peerDependencies, devDependencies } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'))
/** The version of Vitest that runs this test. */
const peers = Object.keys(peerDependencies).filter((name) => name !== 'vitest')
const home = mkdtempSync(join(tmpdir(), 'wardspace-installed-'))
let tarball: string

beforeAll(() => {
  const packing = ['pack', '--silent', '--ignore-scripts', '--pack-destination', home]
  tarball = join(home, execFileSync('npm', packing, { cwd: top, encoding: 'utf8' }).trim())
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
