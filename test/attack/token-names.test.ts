import { describe, expect, it } from 'vitest'
import { memorySink } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'
import { redact } from '../../src/files/secrets/index.ts'
import { git } from '../../src/git/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/workspace/create-workspace.ts'
import { times } from '../counts.ts'
import { cases, files } from '../dialects/safety-calls.ts'
import { shortest } from '../files/secrets/tokens.ts'
import { unjudged } from '../shells/setup.ts'

/** A token of each format, in a name that no rule of names protects. */
const tokens = shortest
  .flatMap(([, prefixes, body]) => prefixes.split(' ').map((prefix) => prefix + body))
  .filter((token) => !token.includes('/') && token.length <= 200 && redact(`${token}.txt`).marks.length > 0)

/** Some of them, with `npm test`. */
const sample = tokens.filter((_, index) => index % times(97, 1) === 0)

/** Whether any piece of 12 characters of a token shows. */
function shows(answer: unknown, token: string): boolean {
  const text = JSON.stringify(answer)
  for (let start = 0; start + 12 <= token.length; start++)
    if (text.includes(token.slice(start, start + 12))) return true
  return false
}

const text = 'one\ntwo\nthree\nfour\n'

async function open(tree: Readonly<Record<string, string>>, options: Partial<WorkspaceOptions> = {}) {
  const audit = memorySink()
  const backend = memory(tree)
  const workspace = await createWorkspace({
    ...{ backend, policy: { preset: 'autonomous', memory: {} }, shell: unjudged(bash()), audit: [audit], ...options },
  } as WorkspaceOptions)
  return { workspace, audit, backend }
}

type Input = Readonly<Record<string, unknown>>

/** Calls that show names, over a file `NAME.txt`, a directory `NAME` with `f.txt`, and a link to the file. */
const calls = (name: string): readonly (readonly [tool: string, input: Input])[] => [
  ['list_directory', { maxDepth: 4 }],
  ['list_directory', { path: name }],
  ['find_files', { pattern: '**' }],
  ['search_text', { query: 'two' }],
  ['search_text', { query: 'two', filesOnly: true }],
  ['file_info', { path: `${name}.txt` }],
  ['file_info', { path: 'link' }],
  ['read_file', { path: `${name}.txt` }],
  ['read_file', { path: name }],
  ['read_file', { path: `${name}.tx` }],
  ['read_file', { path: 'link', lineNumbers: true }],
  ['write_file', { path: `${name}.txt`, content: 'new\n' }],
  ['write_file', { path: `${name}.txt`, content: 'new\n', mode: 'CREATE_NEW' }],
  ['edit_file', { path: `${name}.txt`, oldText: 'one', newText: 'ONE' }],
  ['edit_file', { path: `${name}.txt`, oldText: 'o', newText: 'ONE' }],
  ['edit_file', { path: `${name}.txt`, oldText: 'absent', newText: 'ONE' }],
  ['append_file', { path: `${name}.txt`, content: 'five\n' }],
  ['replace_range', { path: `${name}.txt`, startLine: 1, endLine: 1, newText: 'ONE', expectedSha256: '0'.repeat(64) }],
  ['apply_patch', { patch: `--- a/${name}.txt\n+++ b/${name}.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n` }],
  ['apply_patch', { patch: `--- a/${name}.txt\n+++ b/${name}.txt\n@@ -1,2 +1,2 @@\n-ten\n+ONE\n two\n` }],
  ['diff_workspace', {}],
  ['diff_workspace', { statOnly: true }],
  ['copy_file', { path: `${name}.txt`, to: 'copy.txt' }],
  ['copy_file', { path: 'copy.txt', to: `${name}.txt` }],
  ['create_directory', { path: name }],
  ['run_command', { command: 'ls -R; find .; echo *; readlink link; grep -rl two .; git status' }],
  ['run_command', { command: `cat ${name}.tx; rm -r ${name}` }],
  ['run_command', { command: `echo x >> ${name}.txt; git diff` }],
  ['move_file', { path: `${name}.txt`, to: 'moved.txt' }],
  ['delete_file', { path: 'moved.txt' }],
  ['delete_file', { path: `${name}.txt` }],
]

/** Calls that would create a path with the name. */
const creations = (name: string): readonly (readonly [tool: string, input: Input])[] => [
  ['write_file', { path: `${name}.txt`, content: 'x' }],
  ['write_file', { path: `${name}/f.txt`, content: 'x' }],
  ['append_file', { path: `d/${name}`, content: 'x' }],
  ['create_directory', { path: `d/${name}/e` }],
  ['copy_file', { path: 'a.txt', to: `${name}.txt` }],
  ['move_file', { path: 'a.txt', to: `${name}.txt` }],
  ['apply_patch', { patch: `--- /dev/null\n+++ b/${name}.txt\n@@ -0,0 +1 @@\n+x\n` }],
  ['apply_patch', { patch: `*** Begin Patch\n*** Add File: ${name}\n+x\n*** End Patch\n` }],
  ['memory_store', { id: name.slice(0, 64), content: 'x' }],
  ['run_command', { command: `touch ${name}` }],
  ['run_command', { command: `mkdir -p d/${name}/e` }],
  ['run_command', { command: `ln -s ${name} l` }],
  ['run_command', { command: `cp a.txt ${name}; mv a.txt ${name}` }],
  ['run_command', { command: `node -e "require('fs').writeFileSync('${name}', 'x')"` }],
]

describe('a token in the name of a file', () => {
  it.each(sample)('shows in no tool: %s', async (token) => {
    const tree = { [`${token}.txt`]: text, [`${token}/f.txt`]: text, 'g.txt': text, link: { link: `${token}.txt` } }
    const { workspace, audit } = await open(tree as never)
    for (const [tool, input] of calls(token)) {
      expect(shows(await workspace.callTool(tool, input), token), `${tool} ${JSON.stringify(input)}`).toBe(false)
    }
    expect(shows(audit.records(), token)).toBe(false)
    expect(shows(await workspace.report(), token)).toBe(false)
  })

  it('leaves the other names and the functions for programs as they are', async () => {
    const [token] = tokens
    const { workspace } = await open({ [`${token}.txt`]: text, 'b.txt': text })
    const { entries } = (await workspace.call('list_directory', {})) as unknown as { entries: { path: string }[] }
    expect(entries.map(({ path }) => path).sort()).toEqual(['[REDACTED:aws-access-key-id:1].txt', 'b.txt'])
    expect((await workspace.files.list()).map(({ path }) => path).sort()).toEqual([`${token}.txt`, 'b.txt'])
  })

  it.each(sample)('is refused where it is new: %s', async (token) => {
    for (const [tool, input] of creations(token)) {
      if (tool === 'memory_store' && redact(token.slice(0, 64)).marks.length === 0) continue
      const { workspace, backend } = await open({ 'a.txt': text, 'd/b.txt': text })
      const answer = await workspace.callTool(tool, input)
      expect(shows(answer, token), `${tool} ${JSON.stringify(input)}`).toBe(false)
      const names: string[] = []
      for (const directory of ['', 'd', 'memories'])
        names.push(...(await backend.list(directory as never).catch(() => [])).map(({ name }) => name))
      expect(names.join('\n'), `${tool} ${JSON.stringify(input)}`).not.toContain(token.slice(0, 20))
    }
  })

  it('stays where an undo brings it back, and may move with its directory', async () => {
    const [token] = tokens
    const { workspace, backend } = await open({ [`d/${token}`]: text })
    const removed = (await workspace.callTool('delete_file', { path: `d/${token}` })) as { callId: string }
    expect(await workspace.undo(removed.callId)).toMatchObject({ ok: true })
    expect((await backend.list('d' as never)).map(({ name }) => name)).toEqual([token])
    for (const command of ['mv d e', `mkdir f; mv e/${token} f/`]) {
      expect(await workspace.callTool('run_command', { command })).toMatchObject({ exitCode: 0 })
    }
    expect((await backend.list('f' as never)).map(({ name }) => name)).toEqual([token])
  })
})

describe('a token in the name of a file, in a dialect', () => {
  const rows = Object.entries(cases).flatMap(([name, ofDialect]) =>
    ofDialect.map((one, index) => ({ name, index, ...one })),
  )

  it.each(rows)('shows in no answer: $name $tool $index', async ({ name, tool, input, mode, before = [], index }) => {
    const token = tokens[(index * 7) % tokens.length] as string
    const named = <T>(value: T): T =>
      JSON.parse(
        JSON.stringify(value)
          .replaceAll(/(?<![\w.])a\.txt/g, `${token}.txt`)
          .replaceAll(/(?<![\w.])src\b/g, token),
      ) as T
    const create = dialects[name as keyof typeof dialects] as () => Dialect
    const { workspace } = await open(named(files), { dialect: create(), git: git(), ...(mode && { mode }) } as never)
    for (const step of before) await workspace.callTool(step.tool, named(step.input))
    expect(shows(await workspace.callTool(tool, named(input)), token)).toBe(false)
    expect(shows(await workspace.callTool(tool, {}), token)).toBe(false)
  })
})
