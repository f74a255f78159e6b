import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type PolicyInput, type PolicyRule } from '../../src/index.ts'

const files = { 'a.txt': 'a\n' }
const PATCH = '--- /dev/null\n+++ b/src/helper.d/b.txt\n@@ -0,0 +1 @@\n+b\n'

const ways: readonly [tool: string, input: Record<string, unknown>][] = [
  ['write_file', { path: 'src/helper.d/b.txt', content: 'b\n', mode: 'CREATE_NEW' }],
  ['append_file', { path: 'src/helper.d/b.txt', content: 'b\n' }],
  ['create_directory', { path: 'src/helper.d/deeper' }],
  ['copy_file', { path: 'a.txt', to: 'src/helper.d/b.txt' }],
  ['move_file', { path: 'a.txt', to: 'src/helper.d/b.txt' }],
  ['apply_patch', { patch: PATCH }],
]

function open(policy: PolicyInput) {
  return createWorkspace({ backend: memory(files), policy })
}

describe('a directory created as parent of a granted path', () => {
  it.each(ways)('is denied by a rule on its own name: %s', async (tool, input) => {
    const rules: PolicyRule[] = [
      { name: 'no helpers', action: 'deny', permissions: ['file:*'], paths: ['src/helper.*'] },
    ]
    const workspace = await open({ preset: 'autonomous', rules })
    expect(await workspace.callTool(tool, input)).toMatchObject({
      ok: false,
      code: 'POLICY_DENIED',
      path: 'src/helper.d',
      message: expect.stringContaining('no helpers'),
    })
    expect(await workspace.call('file_info', { path: 'src' })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await workspace.call('file_info', { path: 'a.txt' })).toMatchObject({ ok: true })
  })

  it.each(ways)('needs an approval if a rule asks: %s', async (tool, input) => {
    const rules: PolicyRule[] = [
      { name: 'new helpers', action: 'ask', permissions: ['file:*'], paths: ['src/helper.*'] },
    ]
    const workspace = await open({ preset: 'autonomous', rules })
    const requests: string[][] = []
    const approve = ({ verdict }: { verdict: { rules: readonly { name: string }[] } }) => {
      requests.push(verdict.rules.map(({ name }) => name))
      return { allow: 'once' as const }
    }
    expect(await workspace.callTool(tool, input)).toMatchObject({ ok: false, code: 'APPROVAL_REQUIRED' })
    expect(await workspace.callTool(tool, input, { approve })).toMatchObject({ ok: true })
    expect(requests).toEqual([expect.arrayContaining(['new helpers'])])
  })

  it.each(ways)('names the asking rule even if nothing else allows the directory: %s', async (tool, input) => {
    const rules: PolicyRule[] = [
      { name: 'what is inside', action: 'allow', permissions: ['file:*'], paths: ['src/*/*', 'a.txt'] },
      { name: 'new helpers', action: 'ask', permissions: ['file:*'], paths: ['src/helper.*'] },
    ]
    const refused = await (await open({ rules })).callTool(tool, input)
    expect(refused).toMatchObject({ code: 'APPROVAL_REQUIRED' })
    expect(refused).toHaveProperty(
      'message',
      expect.stringMatching(/asks about .* of "src\/helper\.d": rule "new helpers"/),
    )
  })

  it.each(ways)('needs no allow rule: %s', async (tool, input) => {
    const rules: PolicyRule[] = [
      { name: 'what is inside', action: 'allow', permissions: ['file:*'], paths: ['src/*/*', 'a.txt'] },
    ]
    expect(await (await open({ rules })).callTool(tool, input)).toMatchObject({ ok: true })
    const allowed = await open({ preset: 'autonomous', allowedPaths: ['src/*/*', 'a.txt'] })
    expect(await allowed.callTool(tool, input)).toMatchObject({ ok: true })
  })

  it('is not evaluated if it exists', async () => {
    const rules: PolicyRule[] = [
      { name: 'no helpers', action: 'deny', permissions: ['file:*'], paths: ['src/helper.*'] },
    ]
    const workspace = await createWorkspace({
      backend: memory({ 'src/helper.d/a.txt': 'a\n' }),
      policy: { preset: 'autonomous', rules },
    })
    const [[tool, input]] = ways as [(typeof ways)[0]]
    expect(await workspace.callTool(tool, input)).toMatchObject({ ok: true })
  })
})
