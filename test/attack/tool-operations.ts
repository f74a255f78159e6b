import { ToolError } from '../../src/errors.ts'
import type { Workspace } from '../../src/index.ts'
import { INSIDE, type Operation } from './link-race.ts'

const FILE = 'dir/file.txt'
const TOP = 'top.txt'

/** Every tool on the attacked tree, through the whole pipeline. A refusal is thrown, as the attack counts it. */
export function toolOperations(workspace: Workspace): { reads: Operation[]; writes: Operation[] } {
  let count = 0

  async function call(name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
    const result = await workspace.call(name, input)
    if (result.ok) return result
    // What a refusal says must not come from outside either.
    if (/OUTSIDE-MARKER|7777/.test(JSON.stringify(result))) return result
    throw new ToolError(result.code, result.message)
  }
  const fresh = (name: string) => {
    count += 1
    return `dir/${name}-${count}`
  }
  /** Files that were made, for what takes one away. */
  const made: string[] = []
  const taken = () => made.pop() ?? FILE
  const making = async (name: string, make: (path: string) => Promise<Record<string, unknown>>) => {
    const path = fresh(name)
    const result = await make(path)
    made.push(path)
    return result
  }
  const one = (name: string, tool: string, input: Record<string, unknown>): Operation => ({
    name,
    run: () => call(tool, input),
  })

  return {
    reads: [
      one('read_file below the directory', 'read_file', { path: FILE }),
      one('read_file', 'read_file', { path: TOP }),
      one('file_info', 'file_info', { path: FILE }),
      one('list_directory', 'list_directory', { path: '.', maxDepth: 3, includeHidden: true }),
      one('find_files', 'find_files', { pattern: '**', includeHidden: true }),
      one('search_text', 'search_text', { query: 'inside|OUTSIDE', mode: 'regex', includeHidden: true }),
      one('search_text below the directory', 'search_text', { query: 'I', path: 'dir' }),
    ],
    writes: [
      one('write_file below the directory', 'write_file', { path: FILE, content: INSIDE }),
      one('write_file', 'write_file', { path: TOP, content: INSIDE }),
      one('write_file, outside only', 'write_file', { path: 'dir/victim.txt', content: INSIDE, expectedSha256: null }),
      {
        name: 'edit_file',
        async run() {
          const { content } = await call('read_file', { path: FILE })
          const words = String(content).includes('inside') ? ['inside', 'within'] : ['within', 'inside']
          return call('edit_file', { path: FILE, oldText: words[0], newText: words[1] })
        },
      },
      {
        name: 'replace_range',
        async run() {
          const { sha256 } = await call('read_file', { path: TOP })
          count += 1
          const newText = `inside ${count}\n`
          return call('replace_range', { path: TOP, startLine: 1, endLine: 1, newText, expectedSha256: sha256 })
        },
      },
      { name: 'append_file', run: () => making('appended', (path) => call('append_file', { path, content: INSIDE })) },
      { name: 'copy_file', run: () => making('copied', (to) => call('copy_file', { path: FILE, to })) },
      { name: 'move_file', run: () => making('moved', (to) => call('move_file', { path: taken(), to })) },
      { name: 'delete_file', run: () => call('delete_file', { path: taken() }) },
      one('delete_file, outside only', 'delete_file', { path: 'dir/victim.txt' }),
      {
        name: 'create_directory',
        run: () => call('create_directory', { path: `${fresh('sub')}/deep` }),
      },
    ],
  }
}
