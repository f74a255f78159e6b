import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onPage } from '../runtimes/host-chromium.ts'
import { packedTarball } from '../runtimes/packed.ts'
import { useExample } from './use-example.ts'

const top = join(import.meta.dirname, '../..')
const home = mkdtempSync(join(tmpdir(), 'wardspace-examples-'))
const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
let tarball: string

beforeAll(() => {
  tarball = packedTarball()
}, 300_000)
// The installed packages are many files.
afterAll(() => rmSync(home, { recursive: true, force: true }), 300_000)

/** Copies an example, and installs the packed package in it. */
function install(name: string) {
  const directory = join(home, name)
  cpSync(join(top, 'examples', name), directory, { recursive: true })
  const npm = (...words: string[]) =>
    spawnSync('npm', [...words, '--silent', '--no-audit', '--no-fund'], { cwd: directory, encoding: 'utf8' })
  expect(npm('install', tarball)).toMatchObject({ status: 0 })
  return { directory, build: () => npm('run', 'build') }
}

it.each(['react', 'svelte', 'vue'])(
  'the example in %s is built with the packed package, and its page works',
  async (name) => {
    const { directory, build } = install(name)
    expect(build()).toMatchObject({ status: 0 })
    const find = (path: string) => {
      const file = join(directory, 'dist', path === '/' ? 'index.html' : path)
      return existsSync(file) ? ([types[extname(file)] ?? 'text/plain', readFileSync(file)] as const) : undefined
    }
    await onPage(find, (page, origin) => useExample(page, origin))
  },
)

it('the types of JSX refuse a controller of another element', () => {
  const { directory, build } = install('react')
  const lines = [
    "import './app.tsx'",
    "import { approvals } from './agent.js'",
    'export const wrong = <wardspace-files controller={approvals} />',
  ]
  writeFileSync(join(directory, 'src/wrong.tsx'), lines.join('\n'))
  expect(build().stdout).toMatch(/^src\/wrong\.tsx\(3,\d+\): error/)
})
