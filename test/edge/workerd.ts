import { join } from 'node:path'
import { build } from 'esbuild'
import { Miniflare, type MiniflareOptions } from 'miniflare'
import { counted } from '../coverage/counted.ts'

/** Bundles a worker like a user's build, for workerd without Node APIs. */
export async function bundleWorker(entry: string): Promise<string> {
  const { outputFiles, warnings } = await build({
    entryPoints: [join(import.meta.dirname, entry)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    logLevel: 'silent',
    plugins: counted,
  })
  if (warnings.length > 0) throw new Error(`The bundle of ${entry} warns: ${JSON.stringify(warnings)}`)
  return outputFiles[0]?.text ?? ''
}

/** Starts a worker in workerd without compatibility flags, so no Node APIs exist. */
export async function startWorker(entry: string, options: Partial<MiniflareOptions> = {}): Promise<Miniflare> {
  const script = await bundleWorker(entry)
  const miniflare = new Miniflare({
    modules: true,
    script,
    compatibilityDate: '2026-04-01',
    ...options,
  } as MiniflareOptions)
  await miniflare.ready
  return miniflare
}

/** The binding names of `worker.ts`. */
export const subjectBindings = {
  durableObjects: { SUBJECT: { className: 'Subject', useSQLite: true } },
}
