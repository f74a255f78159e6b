import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

/** As in tests with jsdom: the global classes of bytes are not those of the bytes that Node makes. */
const program = `
import { runInNewContext } from 'node:vm'
Object.assign(globalThis, runInNewContext('({ Uint8Array, ArrayBuffer })'))
const { createWorkspace } = await import('wardspace')
const { memory } = await import('wardspace/backends/memory')
const { bash } = await import('wardspace/shells/bash')
const workspace = await createWorkspace({
  backend: memory({ 'a.txt': 'one\\n' }), policy: 'autonomous', shell: bash({ worker: false }),
})
const results = []
for (const [tool, input] of [
  ['read_file', { path: 'a.txt' }],
  ['edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' }],
  ['append_file', { path: 'a.txt', content: 'three\\n' }],
  ['search_text', { query: 'three' }],
  ['run_command', { command: 'gzip -c a.txt | gunzip > b.txt; node -e "console.log(1)"' }],
  ['diff_workspace', {}],
  ['delete_file', { path: 'b.txt' }],
]) results.push(await workspace.callTool(tool, input))
results.push(await workspace.undo(results.at(-1).callId))
const bytes = await workspace.files.readBytes('b.txt')
await workspace.files.write('c.bin', bytes)
results.push(await workspace.call('file_info', { path: 'c.bin' }))
console.log(JSON.stringify(results.map(({ ok, message }) => message ?? ok)))
await workspace.close()
`

it('a workspace works where the global Uint8Array is not the one of Node', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  })
  expect(stderr.trim().split('\n').slice(-8).join('\n')).toBe('')
  expect(JSON.parse(stdout)).toEqual(Array(9).fill(true))
})
