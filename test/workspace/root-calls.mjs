/** Runs in a thread, which the test ends if a call blocks it. Posts the name of each case before it runs. */
import { parentPort } from 'node:worker_threads'
import { createFs } from '../../dist/adapters/fs/index.js'
import { justBashFs } from '../../dist/adapters/just-bash/index.js'
import { memory } from '../../dist/backends/memory/index.js'
import { createWorkspace } from '../../dist/index.js'

const labels = { sources: [{ label: 'restricted', paths: ['conf/**'] }] }

async function open() {
  const backend = memory({ 'a.txt': 'x', 'src/b.txt': 'y', 'src/d/c.txt': 'z', 'conf/s.txt': 's' })
  const workspace = await createWorkspace({ backend, policy: { preset: 'autonomous', labels } })
  await workspace.files.link('link', 'src')
  return workspace
}

/** What each case does with a workspace, by its name. */
const cases = new Map()

const roots = ['.', '', './', 'src/..', '/', '//']
/** The other arguments of a method. */
const others = {
  write: ['x'],
  append: ['x'],
  setMode: [0o644],
  link: ['a.txt'],
  rename: ['b'],
  copy: ['b'],
  remove: ['a'.repeat(64)],
}
const methods =
  'read readBytes readText stat exists entries walk readLink realPath write append setMode makeDirectory link'
for (const root of roots) {
  for (const method of `${methods} rename copy delete list remove`.split(' ')) {
    cases.set(`files.${method}(${root})`, async ({ files }) => files[method](root, ...(others[method] ?? [])))
    if (method === 'rename' || method === 'copy')
      cases.set(`files.${method}(a.txt, ${root})`, async ({ files }) => files[method]('a.txt', root))
  }
  for (const method of ['rm', 'rmdir', 'unlink'])
    cases.set(`fs.${method}(${root})`, (workspace) => createFs(workspace).promises[method](root))
}
const recursive = { recursive: true }
for (const [from, to] of [
  ['/src', '/src/new'],
  ['/src', '/src/d/e/f'],
  ['/src', '/link/new'],
  ['/link/d', '/src/d/new'],
  ['/src', '/src'],
  ['/', '/src/new'],
  ['/.', '/new'],
  ['/src/', '/src/../src/new'],
]) {
  cases.set(`fs.cp(${from}, ${to})`, (workspace) => createFs(workspace).promises.cp(from, to, recursive))
  cases.set(`just-bash cp(${from}, ${to})`, (workspace) => justBashFs(workspace).cp(from, to, recursive))
}
// A link at the target leads back into what is copied: each directory is copied once.
cases.set('fs.cp through a link at the target', async (workspace) => {
  await workspace.files.makeDirectory('to')
  await workspace.files.link('to/d', '../src/d/deep')
  await workspace.files.makeDirectory('src/d/deep')
  await createFs(workspace).promises.cp('/src', '/to', recursive)
})

for (const [name, act] of cases) {
  parentPort?.postMessage({ name })
  const workspace = await open()
  const error = await act(workspace).then(
    () => undefined,
    (reason) => reason,
  )
  const code = error?.code
  const paths = []
  for await (const { path } of workspace.files.walk('.')) paths.push(path)
  parentPort?.postMessage({ name, ended: true, code, paths })
}
