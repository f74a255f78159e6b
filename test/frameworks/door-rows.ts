import type { ScriptedCall } from './model-server.ts'
import type { Row } from './rows.ts'

/** A framework whose own tools work on a workspace, with the versions that are tested. */
export interface DoorRow extends Omit<Row, 'kind' | 'present'> {
  /** What the model calls: tools of the framework. `write` changes `n.txt` to 42, and asks; `run` shows the file. */
  readonly calls: Readonly<Record<'list' | 'read' | 'refuse' | 'write', ScriptedCall>> & { readonly run?: ScriptedCall }
  /** Lines after those of the page that change `n.txt` again, with `stop.signal`, which aborts when the call asks. */
  readonly cancel: string
}

/** The frameworks of `docs/guide/sandboxes.md`. */
export const doorRows: readonly DoorRow[] = [
  {
    name: 'deepagents',
    block: 'deepagents',
    packages: {
      deepagents: '1.14.1',
      langchain: '1.5.14',
      '@langchain/core': '1.4.0',
      '@langchain/anthropic': '1.5.11',
    },
    runsInNode20: true,
    calls: {
      list: { name: 'ls', input: { path: '/' } },
      read: { name: 'read_file', input: { file_path: '/n.txt' } },
      refuse: { name: 'read_file', input: { file_path: '/.env' } },
      write: { name: 'edit_file', input: { file_path: '/n.txt', old_string: '41', new_string: '42' } },
      run: { name: 'execute', input: { command: 'cat n.txt' } },
    },
    cancel: `
      const backend = deepagentsSandbox(workspace, { signal: stop.signal })
      const other = createDeepAgent({ model: 'anthropic:claude-sonnet-5-5', backend })
      await other.invoke({ messages: [{ role: 'user', content: 'Again.' }] })`,
  },
]
