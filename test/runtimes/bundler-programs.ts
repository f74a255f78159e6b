/** Code of a user that uses a workspace over a backend. Returns what each feature gave. */
const use = `
import { createWorkspace } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { git } from 'wardspace/git'
import { bash } from 'wardspace/shells/bash'

async function use(backend) {
  const workspace = await createWorkspace({ backend, policy: 'autonomous', git: git(), shell: bash() })
  const run = async (command, timeoutMs = 60_000) => {
    const result = await workspace.call('run_command', { command, timeoutMs })
    return result.ok ? result.stdout + result.stderr : result.code
  }
  await workspace.call('write_file', { path: 'a.txt', content: 'one\\ntwo\\n' })
  await workspace.git.init()
  await workspace.git.add('.')
  await workspace.git.commit({ message: 'first', author: { name: 'A', email: 'a@example.com' } })
  const results = {
    files: (await workspace.call('read_file', { path: 'a.txt' })).content,
    git: (await workspace.git.log()).map(({ message }) => message).join(),
    bash: await run('sort -r a.txt | tee b.txt'),
    programs: await run('echo "a: 1" | yq .a && tar -czf x.tgz a.txt && tar -tf x.tgz && gzip -c a.txt | zcat && printf %03d 7'),
    node: await run(\`node -e "console.log(require('node:fs').readFileSync('b.txt', 'utf8').length)"\`),
    stop: await run('node -e "while (true);"', 2000),
    sqlite3: await run('sqlite3 :memory: "select 6 * 7"'),
  }
  await workspace.close()
  return results
}
`

/** What a program says that is not there. */
export const MISSING = 'sqlite3: command not found: it needs Node and the files of the installed package\n'

/** The results of one use on a platform without Node. */
const used = {
  files: 'one\ntwo\n',
  git: 'first\n',
  bash: 'two\none\n',
  programs: '1\na.txt\none\ntwo\n007',
  node: '8\n',
  stop: 'COMMAND_TIMEOUT',
  sqlite3: MISSING,
}

/** The module of a page, without the line that calls `start`. */
const ofPage = `${use}
import { opfs } from 'wardspace/backends/opfs'

async function main() {
  const store = await opfs({ name: 'bundlers', persist: false })
  const { access, warnings } = await store.info()
  return { ...(await use(memory())), OPFS: JSON.stringify([access, warnings, await use(store)]) }
}
const start = async () => {
  globalThis.result = await main().catch((error) => String(error?.stack ?? error))
}
`

export const pageModule = `${ofPage}\nstart()\n`

/** A client component that starts the program when it is shown. */
export const clientComponent = `'use client'
import { useEffect } from 'react'
${ofPage}
export default function Client() {
  useEffect(() => void start(), [])
  return <p>client</p>
}
`

export const expectedOfPage = { ...used, OPFS: JSON.stringify(['sync', [], used]) }

/** A handler of requests. */
const GET = `${use}
const GET = async () => {
  try {
    return Response.json(await use(memory()))
  } catch (error) {
    return Response.json(String(error?.stack ?? error), { status: 500 })
  }
}
`

export const workerModule = `${GET}\nexport default { fetch: GET }\n`

/** A route of a server. */
export const routeModule = `${GET}\nexport { GET }\nexport const dynamic = 'force-dynamic'\n`

/** A route that runs at the edge. */
export const edgeRouteModule = `${routeModule}export const runtime = 'edge'\n`

/** A component that a server renders. It shows the results in base64, so that no character is escaped. */
export const serverComponent = `${use}
export const dynamic = 'force-dynamic'
export default async function Page() {
  const results = await use(memory()).catch((error) => String(error?.stack ?? error))
  return <pre>{btoa(JSON.stringify(results))}</pre>
}
`

/** Returns the results on the page of that component, as JSON. */
export function resultOfComponent(html: string): string {
  const [, encoded] = /<pre>([^<]*)<\/pre>/.exec(html) ?? []
  return encoded === undefined ? JSON.stringify(html) : atob(encoded)
}

export const expectedOfWorker = used
export const expectedOfServer = { ...used, sqlite3: '42\n' }
