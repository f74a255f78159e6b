import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { counted } from '../../coverage/counted.ts'

/** Servers of the page under test and of the stand-in's frame, on different sites. */
export interface Sites {
  /** URL of the cross-origin isolated page, with its frame at the stand-in. */
  readonly page: string
  /** The same page without the headers that isolate it. */
  readonly plain: string
  /** An isolated page without the package. */
  readonly bare: string
  close(): void
}

export async function serveSites(): Promise<Sites> {
  const directory = mkdtempSync(join(tmpdir(), 'webcontainer-'))
  const here = 'test/shells/webcontainer'
  const common = {
    outdir: directory,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
    platform: 'browser',
    define: { 'process.env': '{}' },
    plugins: [withoutCompression, ...counted],
  } satisfies BuildOptions
  const entries = { page: `${here}/page.ts`, frame: `${here}/stand-in/frame.ts`, thread: 'src/shells/bash/thread.ts' }
  await build({ ...common, entryPoints: entries, external: ['quickjs-emscripten'] })
  const lacks = ['quickjs-emscripten', '@webcontainer/api']
  await build({ ...common, entryPoints: { without: `${here}/without.ts` }, external: lacks })
  const isolated = {
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
  }
  const framed = { 'cross-origin-embedder-policy': 'require-corp', 'cross-origin-resource-policy': 'cross-origin' }
  const servers = [
    serve(directory, '/', 'page', isolated),
    serve(directory, '/', 'page', {}),
    serve(directory, '/headless', 'frame', framed),
    serve(directory, '/', 'without', isolated),
  ] as const
  const [page, plain, frame, bare] = await Promise.all(servers.map(portOf))
  // Two sites, and not only two origins, so that the frame runs in another process than the page.
  return {
    page: `http://localhost:${page}/?frame=http://127.0.0.1:${frame}`,
    plain: `http://localhost:${plain}/?frame=http://127.0.0.1:${frame}`,
    bare: `http://localhost:${bare}/`,
    close() {
      for (const server of servers) server.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function serve(directory: string, path: string, entry: string, headers: Record<string, string>): Server {
  return createServer(({ url }, response) => {
    const { pathname } = new URL(url ?? '/', 'http://localhost')
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    const script = /^\/([\w-]+\.js)$/.exec(pathname)?.[1]
    if (pathname === path) {
      response.setHeader('content-type', 'text/html')
      response.end(`<!doctype html><body><script type="module" src="/${entry}.js"></script>`)
    } else if (script === undefined) {
      response.writeHead(404).end()
    } else {
      response.setHeader('content-type', 'text/javascript')
      response.end(readFileSync(join(directory, script)))
    }
  }).listen(0, '127.0.0.1')
}

function portOf(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.on('listening', () => resolve((server.address() as AddressInfo).port))
  })
}

/** just-bash imports it for commands that are not used here. */
const withoutCompression: Plugin = {
  name: 'without-compression',
  setup(to) {
    to.onResolve({ filter: /^node:zlib$/ }, ({ path }) => ({ path, namespace: 'empty' }))
    to.onLoad({ filter: /./, namespace: 'empty' }, () => ({ contents: 'module.exports = {}' }))
  },
}
