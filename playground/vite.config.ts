import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type HtmlTagDescriptor, type Plugin } from 'vite'
import { cssTarget } from '../build/chunks.ts'
import { contentSecurityPolicy, headersFor, isPreview } from './server/policy.ts'

const top = join(import.meta.dirname, '..')

/** What is loaded with `import()` whenever the page opens: the storage, the first project and the first views. */
const opening =
  /\/(?:backends\/opfs\/index|chunks\/(?:background-processes|explain-call)|samples\/price-list|scenarios\/index|(?:files|chat)-view)\.[jt]sx?$/

export default defineConfig({
  root: import.meta.dirname,
  // Works on any host and below any path.
  base: './',
  resolve: { alias: published() },
  plugins: [keepNoEval(), publishedEngine(), policyInPage(), filesInServiceWorker()],
  worker: { format: 'es' },
  server: { headers: headersFor('/') },
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    target: 'es2022',
    cssTarget,
    // An inlined file would be a `data:` address, which the policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 3_000,
    rollupOptions: {
      input: ['index.html', 'preview.html', 'offline/service-worker.ts'].map((name) => join(import.meta.dirname, name)),
      output: {
        // A service worker is identified by its URL.
        entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js'),
        // A chunk runs as a whole before those that import it, so that zod is configured before any schema exists.
        // What only the AI SDK needs of zod is not part of the first load.
        codeSplitting: {
          groups: [
            { name: 'zod', test: /\/node_modules\/zod\/|\/playground\/no-eval\.ts$/, tags: ['$initial'], priority: 1 },
            // A request costs more than its bytes: a browser sends six at a time, and a phone waits 60 ms for each.
            { name: 'opening', test: opening },
            { name: 'page', test: /^(?!.*\/(?:offline\/service-worker|server\/policy))/, tags: ['$initial'] },
          ],
        },
      },
    },
  },
})

/**
 * Resolves `wardspace` and its subpaths as package.json publishes them. The controllers and the elements are built from their
 * source: the page shares Preact and the parts of the views with them.
 */
function published(): { find: RegExp; replacement: string }[] {
  const { exports } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'))
  return Object.entries(exports as Record<string, string | { default: string }>).map(([name, target]) => {
    const built = typeof target === 'string' ? target : target.default
    const file = name === './ui' || name === './elements' ? `src/${name}/index.ts` : built
    const pattern = name
      .slice(1)
      .replaceAll(/[.\\/]/g, String.raw`\$&`)
      .replace('*', '(.+)')
    return { find: new RegExp(`^wardspace${pattern}$`), replacement: join(top, file.replace('*', '$1')) }
  })
}

/** package.json declares that no module has side effects, which is true of the library but not of this file. */
function keepNoEval(): Plugin {
  return {
    name: 'keep-no-eval',
    transform: (code, id) => (id.endsWith('/playground/no-eval.ts') ? { code, moduleSideEffects: true } : undefined),
  }
}

/** The modules of the engine that the controllers and elements need, by the published one that has them. */
const engine = {
  'dist/policy/index.js': /^(?:\.\.\/)+policy\/(?:labels|lint|presets)\.ts$/,
  'dist/storage/kit.js': /^(?:\.\.\/)+files\/hash\/sha256\.ts$/,
  'dist/tools/author.js': /^(?:\.\.\/)+patch\/line-diff\.ts$/,
}

/** Gives the controllers and elements that need a part of the engine the published one. */
function publishedEngine(): Plugin {
  return {
    name: 'published-engine',
    enforce: 'pre',
    resolveId: (source, importer) =>
      importer?.startsWith(join(top, 'src/'))
        ? Object.entries(engine).flatMap(([file, pattern]) => (pattern.test(source) ? [join(top, file)] : []))[0]
        : undefined,
  }
}

/**
 * Puts the policy into the pages, for hosts that send no headers. The script of the preview is put into its page, so that
 * the policy need not allow any other; the code of the page, which the build adds to every page, is taken out of it.
 */
function policyInPage(): Plugin {
  return {
    name: 'policy-in-page',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { filename }) => {
        const target = isPreview(filename) ? 'preview' : 'page'
        const content = contentSecurityPolicy(target)
        const script = readFileSync(join(import.meta.dirname, 'preview/frame.js'), 'utf8')
        const tags: HtmlTagDescriptor[] = [
          { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content }, injectTo: 'head-prepend' },
          ...(target === 'preview' ? [{ tag: 'script', children: script, injectTo: 'body' as const }] : []),
        ]
        const links = /^[ \t]*<(?:script|link)\b[^>]* (?:src|href)=[^>]*>(?:<\/script>)?\n/gm
        return { html: target === 'preview' ? html.replace(links, '') : html, tags }
      },
    },
  }
}

/** Inserts the list of built files into the service worker. */
function filesInServiceWorker(): Plugin {
  return {
    name: 'files-in-service-worker',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const worker = bundle['service-worker.js']
      if (worker?.type !== 'chunk') return
      if (worker.imports.length > 0) throw new Error('The service worker must be one file')
      const built = Object.keys(bundle).filter((name) => name !== 'service-worker.js' && !name.endsWith('.map'))
      const files = ['./', 'index.html', ...readdirSync(join(import.meta.dirname, 'public')), ...built]
      const version = createHash('sha256')
      for (const output of Object.values(bundle)) version.update(output.type === 'chunk' ? output.code : output.source)
      const manifest = JSON.stringify({
        version: version.digest('hex').slice(0, 16),
        files: [...new Set(files)].sort(),
      })
      worker.code = worker.code.replace('__BUILD__', manifest)
    },
  }
}
