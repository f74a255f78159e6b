import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8787' },
    data: { type: 'string', default: join(import.meta.dirname, '.data') },
  },
})

const agent = process.env.AGENT_TOKEN ?? randomBytes(16).toString('hex')
const approver = process.env.APPROVER_TOKEN ?? randomBytes(16).toString('hex')

const { outputFiles } = await build({
  entryPoints: [join(import.meta.dirname, 'worker.ts')],
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  conditions: ['workerd', 'worker', 'browser'],
  logLevel: 'error',
})

// Real workerd, as in production, without Node's APIs. The storage is in the directory.
const miniflare = new Miniflare({
  modules: true,
  script: outputFiles[0]?.text ?? '',
  compatibilityDate: '2026-04-01',
  host: '127.0.0.1',
  port: Number(values.port),
  bindings: { AGENT_TOKEN: agent, APPROVER_TOKEN: approver },
  durableObjects: { WORKSPACES: { className: 'WorkspaceObject', useSQLite: true } },
  durableObjectsPersist: values.data,
})
const address = (await miniflare.ready).origin

console.log(`A workspace for each name, in workerd: ${address}
Files are kept in ${values.data}

Call a tool, as an agent:
  curl -s ${address}/workspaces/demo/tools/write_file -H 'authorization: Bearer ${agent}' \\
    -d '{"path":"notes/today.md","content":"# Today\\n"}'
  curl -s ${address}/workspaces/demo/tools/list_directory -H 'authorization: Bearer ${agent}' -d '{"maxDepth":3}'
  curl -s ${address}/tools -H 'authorization: Bearer ${agent}'

What lies in published/ needs a person. This answers with an approvalId and waits, over a restart too:
  curl -s ${address}/workspaces/demo/tools/write_file -H 'authorization: Bearer ${agent}' \\
    -d '{"path":"published/index.md","content":"# Hello\\n"}'

See what waits, answer it ("allow", "allow-run" or {"deny":"reason"}), and read the audit, as that person:
  curl -s ${address}/workspaces/demo/approvals -H 'authorization: Bearer ${approver}'
  curl -s ${address}/workspaces/demo/approvals/ID -H 'authorization: Bearer ${approver}' -d '{"answer":"allow"}'
  curl -s ${address}/workspaces/demo/audit -H 'authorization: Bearer ${approver}'

Stop with Ctrl+C.`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void miniflare.dispose().then(() => process.exit(0)))
}
