import { describe, expect, it } from 'vitest'
import { loadPart } from '../../src/util/load-part.ts'
import { optionalPackage } from '../../src/util/optional-package.ts'

/** Loads the package `parts` by an import that fails. */
const load = (message: string) => optionalPackage('parts', 'The tool', () => Promise.reject(new Error(message)))

describe('optionalPackage', () => {
  it.each([
    ['Node', "Cannot find package 'parts' imported from /app/main.mjs"],
    ['Node, with a file of the package', "Cannot find package 'parts/index.js' imported from /app/main.mjs"],
    ['CommonJS and webpack', "Cannot find module 'parts'\nRequire stack:\n- /app/main.js"],
    ['Bun', 'Cannot find package "parts" from "/app/main.ts"'],
    ['Deno', 'Import "parts" not a dependency\n    at file:///app/main.mjs:1:18'],
    ['Chromium', "Failed to resolve module specifier 'parts'"],
    ['Vite', 'Could not resolve "parts" imported by "wardspace". Is it installed?'],
  ])('says that a package is missing in the words of %s', async (_, message) => {
    await expect(load(message)).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
      message: 'The tool needs the package parts, which is not installed',
      details: { hint: 'Ask the user to install it: npm install parts' },
      cause: { message },
    })
  })

  it.each([
    ['fails', 'sprintf is not a function'],
    ['lacks a package of its own', "Cannot find package 'other' imported from /app/node_modules/parts/index.js"],
    [
      'lacks a package with a longer name',
      "Cannot find package 'parts-of-parts' imported from /app/node_modules/parts/a.js",
    ],
    ['lacks an export', "The requested module '/deps/parts.js' does not provide an export named 'sprintf'"],
    ['is not delivered', 'Failed to fetch dynamically imported module: http://localhost/parts.js'],
  ])('says why an installed package that %s does not load', async (_, message) => {
    await expect(load(message)).rejects.toMatchObject({
      message: `The tool needs the package parts, which failed to load: ${message}`,
      details: { hint: 'Report this to the user.' },
      cause: { message },
    })
  })
})

describe('loadPart', () => {
  it('names the part and the reason', async () => {
    const failure = loadPart('node', () => Promise.reject(new Error('Wasm code generation\n disallowed')))
    await expect(failure).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
      message: 'Cannot load node: Wasm code generation disallowed',
      cause: { message: 'Wasm code generation\n disallowed' },
    })
  })
})
