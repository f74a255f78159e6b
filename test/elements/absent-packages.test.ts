import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { build as buildByVite } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isLong } from '../counts.ts'

const top = join(import.meta.dirname, '../..')
let project: string

/** A project that has installed this package and none of its optional ones. */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'wardspace-absent-'))
  const installed = join(project, 'node_modules/wardspace')
  mkdirSync(installed, { recursive: true })
  for (const name of ['dist', 'package.json']) symlinkSync(join(top, name), join(installed, name))
  const page = [
    "import 'wardspace/elements'",
    "import { webcontainer } from 'wardspace/shells/webcontainer'",
    'globalThis.shell = webcontainer()',
  ]
  writeFileSync(join(project, 'page.js'), page.join('\n'))
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

it('a page with elements and webcontainer() is bundled by esbuild without their packages', async () => {
  const { errors, outputFiles } = await build({
    absWorkingDir: project,
    entryPoints: ['page.js'],
    ...{ bundle: true, splitting: true, write: false, preserveSymlinks: true, outdir: 'out' },
    ...{ format: 'esm', target: 'es2022', logLevel: 'silent' },
  })
  expect(errors).toEqual([])
  for (const name of ['@xterm/xterm', '@webcontainer/api', '@codemirror/view', '@codemirror/lang-json'])
    expect(outputFiles.some(({ text }) => text.includes(`import("${name}")`))).toBe(true)
})

it.runIf(isLong)('and by Vite, whose bundle names the package when it is imported', async () => {
  const built = await buildByVite({
    ...{ root: project, configFile: false, logLevel: 'silent', resolve: { preserveSymlinks: true } },
    build: { write: false, minify: false, rollupOptions: { input: join(project, 'page.js') } },
  })
  const chunks = 'output' in built ? built.output.map((file) => (file.type === 'chunk' ? file.code : '')) : []
  for (const name of ['@xterm/xterm', '@webcontainer/api', '@codemirror/view', '@codemirror/lang-json'])
    expect(chunks.some((code) => code.includes(`Could not resolve "${name}" imported by "wardspace"`))).toBe(true)
})
