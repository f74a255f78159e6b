import { expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { git } from '../../src/git/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { type Permission, permissionGroups } from '../../src/policy/permissions.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { builtinTools } from '../../src/tools/index.ts'

const FILE = 'private/plan.md'
const WORD = 'zanzibar'

/** Calls that show content of exactly one file. */
const views: readonly (readonly [tool: string, input: object])[] = [
  ['read_file', { path: FILE }],
  ['read_file', { path: 'link.md' }],
  ['search_text', { query: 'the word', path: FILE }],
  ['search_text', { query: 'the word', path: 'link.md' }],
  ['search_text', { query: 'z[a-z]{7}', mode: 'regex', path: FILE, contextLines: 1 }],
  ['diff_workspace', { paths: [FILE] }],
  ['run_command', { command: `cat ${FILE}` }],
  ['run_command', { command: `rg word ${FILE}` }],
  ['run_command', { command: `grep -r word ${FILE}` }],
  ['run_command', { command: 'cd private; cat *.md plan.md' }],
  ['run_command', { command: `node -e "console.log(require('fs').readFileSync('${FILE}', 'utf8'))"` }],
  ['edit_file', { path: FILE, oldText: 'the word', newText: 'a word' }],
]
const reading = views.filter(([tool]) => tool !== 'run_command')

/** Calls that name files and show no content of them, by the names and metadata that they show. */
const named = ['list_directory', 'find_files', 'file_info']

const shell = bash({ worker: false })

/** Calls a tool under a rule about the file. Returns the result and the number of questions. */
async function tryView(tool: string, input: object, rule: object, reply: 'allow' | { readonly deny: string }) {
  let questions = 0
  const workspace = await createWorkspace({
    backend: memory({ [FILE]: `the word is ${WORD}\n`, 'link.md': { link: FILE } }),
    git: git(),
    shell: { ...shell, async close() {} },
    policy: { preset: 'autonomous', rules: [{ name: 'private', paths: [FILE], risk: ['guarded'], ...rule } as never] },
    approve() {
      questions += 1
      return reply
    },
  })
  const command = `git init -q; git add -A; git commit -qm one; echo more ${WORD} >> ${FILE}`
  await workspace.call('run_command', { command })
  const run = workspace.run({ id: 'guarded', task: { text: 'x', risk: 'guarded' } })
  const result = await run.callTool(tool, input)
  await workspace.close()
  return { questions, result, shown: JSON.stringify(result).includes(WORD) }
}

it('every tool that shows one file is tried', () => {
  // Notes have rules of their own.
  const group = permissionGroups['file:view'].filter((permission) => permission !== 'memory:read')
  const isView = ({ permission }: { permission: Permission }) => group.some((one) => one === permission)
  const showing = builtinTools.filter((tool) => isView(tool) && !named.includes(tool.name)).map(({ name }) => name)
  expect(showing.filter((name) => !views.some(([tool]) => tool === name))).toEqual([])
})

it.each(
  views.flatMap(([tool, input]) => (['file:view', 'file:read'] as const).map((group) => [group, tool, input] as const)),
)('a rule that asks about %s of one file asks %s %j', async (group, tool, input) => {
  const rule = { action: 'ask', permissions: [group] }
  const allowed = await tryView(tool, input, rule, 'allow')
  expect(allowed).toMatchObject({ result: { ok: true }, shown: true })
  expect(allowed.questions).toBeGreaterThan(0)
  const denied = await tryView(tool, input, rule, { deny: 'no' })
  expect(denied).toMatchObject({ questions: 1, result: { ok: false, code: 'APPROVAL_DENIED' }, shown: false })
})

it.each(reading)('a rule that denies reading one file refuses %s %j', async (tool, input) => {
  const denied = await tryView(tool, input, { action: 'deny', permissions: ['file:read'] }, 'allow')
  expect(denied).toMatchObject({ questions: 0, result: { ok: false, code: 'POLICY_DENIED' }, shown: false })
})
