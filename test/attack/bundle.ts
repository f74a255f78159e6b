import { join } from 'node:path'
import { build } from 'vite'

/** Bundles a script with its imports, so that child processes start fast. Returns its path. */
export async function bundle(entry: string, directory: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      outDir: directory,
      emptyOutDir: false,
      minify: false,
      target: 'es2022',
      rollupOptions: { output: { entryFileNames: '[name].mjs', format: 'es' } },
    },
  })
  const name = entry.slice(entry.lastIndexOf('/') + 1).replace(/\.ts$/, '.mjs')
  return join(directory, name)
}
