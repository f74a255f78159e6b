import { join } from 'node:path'
import { build } from 'esbuild'
import { requireBanner } from '../runtimes/bundle.ts'

/** Bundles a script with its imports, so that child processes start fast. Returns its path. */
export async function bundle(entry: string, directory: string): Promise<string> {
  await build({
    ...{ entryPoints: [entry], outdir: directory, outExtension: { '.js': '.mjs' } },
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'es2022', logLevel: 'error' },
    banner: { js: requireBanner },
  })
  const name = entry.slice(entry.lastIndexOf('/') + 1).replace(/\.ts$/, '.mjs')
  return join(directory, name)
}
