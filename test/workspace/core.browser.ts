import { describe, expect, it } from 'vitest'
import { memory } from '../../dist/backends/memory/index.js'
import { editFile, findFiles, listDirectory, readFile, searchText } from '../../dist/tools/entry.js'
import { createWorkspace } from '../../dist/workspace/core.js'

describe('wardspace/core in a page', () => {
  it('lists, finds, reads, searches, edits and undoes with the given tools', async () => {
    const workspace = await createWorkspace({
      backend: memory({ 'src/a.ts': 'one\n', '.env': 'TOKEN=1\n' }),
      policy: 'autonomous',
      tools: [listDirectory, findFiles, readFile, searchText, editFile],
    })
    expect(await workspace.call('list_directory', {})).toMatchObject({ ok: true })
    expect(await workspace.call('find_files', { pattern: '**/*.ts' })).toMatchObject({ files: ['src/a.ts'] })
    expect(await workspace.call('search_text', { query: 'one' })).toMatchObject({ matches: [{ path: 'src/a.ts' }] })
    expect(await workspace.call('read_file', { path: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    const edited = await workspace.call('edit_file', { path: 'src/a.ts', oldText: 'one', newText: 'two' })
    if (!edited.ok) throw new Error(edited.message)
    expect(await workspace.undo(edited.callId)).toMatchObject({ ok: true })
    expect(await workspace.call('read_file', { path: 'src/a.ts' })).toMatchObject({ content: 'one\n' })
    expect(workspace.verifyAudit()).toMatchObject({ ok: true })
  })
})
