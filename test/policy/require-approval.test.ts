import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { type ApprovalRequest, createWorkspace, type PolicyInput } from '../../src/index.ts'

const files = {
  'package.json': '{"name":"a"}\n',
  'src/app.ts': 'export const answer: number = 41\n',
  'src/app.test.ts': "it('adds', () => { expect(1 + 1).toBe(2) })\n",
  'src/auth.ts': 'export const isOpen = false\n',
  'notes.md': 'notes\n',
  'clients/list.csv': 'a,b\n',
}

async function open(policy: PolicyInput, answer: 'allow' | 'allow-run' = 'allow') {
  const requests: ApprovalRequest[] = []
  const workspace = await createWorkspace({
    backend: memory(files),
    policy,
    approve(request) {
      requests.push(request)
      return answer
    },
  })
  return { workspace, requests }
}

const edit = (path: string, oldText: string, newText: string) => ({ path, oldText, newText })

describe('requireReason', () => {
  it('refuses changes without a reason', async () => {
    const { workspace } = await open({ preset: 'autonomous', requireReason: true })
    const input = edit('src/app.ts', '41', '42')
    for (const reason of [undefined, '', ' \n']) {
      const refused = await workspace.call('edit_file', reason === undefined ? input : { ...input, reason })
      expect(refused).toMatchObject({ code: 'INVALID_INPUT', field: 'reason', hint: expect.stringContaining('why') })
    }
    expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({ ok: true })
    expect(await workspace.call('edit_file', { ...input, reason: 'It was off by one' })).toMatchObject({ ok: true })
    expect((await workspace.report()).written[0]?.changes[0]?.reason).toBe('It was off by one')
  })

  it('adds the field to every tool that changes something', async () => {
    const { workspace } = await open({ preset: 'autonomous', requireReason: true })
    for (const { name, mutates, inputSchema } of workspace.tools) {
      if (mutates) expect(Object.keys(inputSchema.shape), name).toContain('reason')
    }
  })
})

describe('requireApprovalIf', () => {
  it.each([
    ['touchesBuildFile', 'edit_file', edit('package.json', '"a"', '"b"')],
    ['touchesSecuritySensitivePath', 'edit_file', edit('src/auth.ts', 'false', 'true')],
    ['deletesFile', 'delete_file', { path: 'notes.md' }],
    ['changesPublicApi', 'edit_file', edit('src/app.ts', 'answer', 'result')],
    ['deletesOrSkipsTests', 'edit_file', edit('src/app.test.ts', 'it(', 'it.skip(')],
  ] as const)('%s asks about that change only', async (flag, tool, input) => {
    const { workspace, requests } = await open({ preset: 'autonomous', requireApprovalIf: [flag] })
    expect(await workspace.call('edit_file', edit('notes.md', 'notes', 'words'))).toMatchObject({ ok: true })
    expect(await workspace.call('edit_file', edit('src/app.ts', '41', '42'))).toMatchObject({ ok: true })
    expect(requests).toEqual([])
    expect(await workspace.callTool(tool, input)).toMatchObject({ ok: true })
    expect(requests).toMatchObject([
      {
        risks: expect.arrayContaining([{ flag, path: input.path }]),
        verdict: {
          decision: 'ask',
          reason: expect.stringContaining(flag),
          rules: expect.arrayContaining([
            { name: `requireApprovalIf ${flag}`, action: 'ask', source: 'risk', path: input.path },
          ]),
        },
        diff: expect.stringContaining(input.path),
      },
    ])
  })

  it('asks about a path with a sensitive label', async () => {
    const { workspace, requests } = await open({
      preset: 'autonomous',
      labels: {
        sources: [
          { label: 'confidential', paths: ['clients'] },
          { label: 'internal', paths: ['notes.md'] },
        ],
      },
      requireApprovalIf: ['touchesSecuritySensitivePath'],
    })
    await workspace.call('edit_file', edit('notes.md', 'notes', 'words'))
    expect(requests).toEqual([])
    await workspace.call('edit_file', edit('clients/list.csv', 'a', 'c'))
    expect(requests).toMatchObject([{ risks: [{ flag: 'touchesSecuritySensitivePath', path: 'clients/list.csv' }] }])
  })

  it('asks once about a patch, with all of its risks', async () => {
    const { workspace, requests } = await open({ preset: 'autonomous', requireApprovalIf: ['deletesFile'] })
    const patch = `*** Begin Patch
*** Delete File: notes.md
*** Update File: package.json
@@
-{"name":"a"}
+{"name":"b"}
*** End Patch
`
    expect(await workspace.call('apply_patch', { patch })).toMatchObject({ ok: true })
    expect(requests).toMatchObject([
      {
        risks: [
          { flag: 'touchesBuildFile', path: 'package.json' },
          { flag: 'deletesFile', path: 'notes.md' },
        ],
      },
    ])
  })

  it('does not lift a denial, and cannot be answered by an allow rule', async () => {
    const { workspace, requests } = await open({
      preset: 'autonomous',
      deniedPaths: ['src'],
      rules: [{ name: 'all', action: 'allow', paths: ['**'] }],
      requireApprovalIf: ['changesPublicApi', 'deletesFile'],
    })
    expect(await workspace.call('delete_file', { path: 'src/app.ts' })).toMatchObject({ code: 'POLICY_DENIED' })
    expect(requests).toEqual([])
    await workspace.call('delete_file', { path: 'notes.md' })
    expect(requests).toHaveLength(1)
  })

  it('asks again for another risk or another path after allow-run', async () => {
    const policy = { preset: 'autonomous', requireApprovalIf: ['touchesBuildFile', 'deletesFile'] } as const
    const { workspace, requests } = await open(policy, 'allow-run')
    await workspace.call('edit_file', edit('package.json', '"a"', '"b"'))
    await workspace.call('edit_file', edit('package.json', '"b"', '"c"'))
    expect(requests).toHaveLength(1)
    await workspace.call('delete_file', { path: 'notes.md' })
    await workspace.call('delete_file', { path: 'package.json' })
    expect(requests).toHaveLength(3)
  })

  it('lists the risks in every approval request', async () => {
    const { workspace, requests } = await open('supervised')
    await workspace.call('delete_file', { path: 'package.json' })
    expect(requests[0]?.risks.map(({ flag }) => flag)).toEqual(['touchesBuildFile', 'deletesFile'])
  })

  it('refuses an unknown risk', async () => {
    const wrong = { preset: 'autonomous', requireApprovalIf: ['touchesEverything'] }
    await expect(open(wrong as unknown as PolicyInput)).rejects.toThrow(
      'Policy field "requireApprovalIf[0]" must be "touchesBuildFile" or',
    )
  })
})
