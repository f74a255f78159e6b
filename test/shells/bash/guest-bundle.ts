import { join } from 'node:path'
import { build } from 'esbuild'

const folder = join(import.meta.dirname, '../../../src/shells/bash/node-emulation')

/** The module that holds the bundled guest. */
export const guestSourceFile = join(folder, 'guest-source.ts')

/** Bundles `guest/*.js` to one script and returns the text of the module that holds it as a string. */
export async function guestSourceModule(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'guest/main.js')],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    // Scripts see the names of classes and functions, which bundling and minifying change.
    keepNames: true,
    minify: true,
    write: false,
  })
  const script = outputFiles.map(({ text }) => text).join('')
  return `/** The bundle of \`guest/*.js\`, written by \`npm run build:guest\`. */
export const guestSource: string = \`${script.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\`
`
}
