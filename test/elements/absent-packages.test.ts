import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'

const top = join(import.meta.dirname, '../..')
let project: string

/** A project that has installed this package and none of its optional ones. */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'wardspace-absent-'))
  const installed = join(project, 'node_modules/wardspace')
  mkdirSync(installed, { recursive: true })
  for (const name of ['dist', 'package.json']) symlinkSync(join(top, name), join(installed, name))
  writeFileSync(join(project, 'page.js'), "import 'wardspace/elements'\n")
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

it('a page with elements is bundled without the packages that only the terminal needs', async () => {
  const { errors, outputFiles } = await build({
    absWorkingDir: project,
    entryPoints: ['page.js'],
    ...{ bundle: true, splitting: true, write: false, preserveSymlinks: true, outdir: 'out' },
    ...{ format: 'esm', target: 'es2022', logLevel: 'silent' },
  })
  expect(errors).toEqual([])
  expect(outputFiles.some(({ text }) => text.includes('import("@xterm/xterm")'))).toBe(true)
})
