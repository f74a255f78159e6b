import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'
import { contentSecurityPolicy, headersFor } from './server/policy.ts'

const top = join(import.meta.dirname, '..')

export default defineConfig({
  root: import.meta.dirname,
  // Any host, below any path.
  base: './',
  resolve: { alias: published() },
  plugins: [policyInPage()],
  worker: { format: 'es' },
  server: { headers: headersFor('/') },
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    target: 'es2022',
    // An inlined file would be a `data:` address, which the policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 3_000,
  },
})

/** `wardspace` and its subpaths, as package.json publishes them. */
function published(): { find: RegExp; replacement: string }[] {
  const { exports } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'))
  return Object.entries(exports as Record<string, string | { default: string }>).map(([name, target]) => {
    const file = typeof target === 'string' ? target : target.default
    const pattern = name
      .slice(1)
      .replaceAll(/[.\\/]/g, String.raw`\$&`)
      .replace('*', '(.+)')
    return { find: new RegExp(`^wardspace${pattern}$`), replacement: join(top, file.replace('*', '$1')) }
  })
}

/** The policy in the page itself, for hosts whose headers nobody sets. */
function policyInPage(): Plugin {
  return {
    name: 'policy-in-page',
    apply: 'build',
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: contentSecurityPolicy() },
        injectTo: 'head-prepend',
      },
    ],
  }
}
