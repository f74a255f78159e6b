import { describe, expect, it } from 'vitest'
import { bash } from '../../../src/shells/bash/index.ts'
import type { Shell, ShellCapabilities } from '../../../src/shells/types.ts'
import { shellBench, unjudged } from '../../shells/setup.ts'

const lacking = (...names: (keyof ShellCapabilities)[]) => {
  const good = bash()
  return { ...good, capabilities: { ...good.capabilities, ...Object.fromEntries(names.map((name) => [name, false])) } }
}

describe('a shell without undo or confinement', () => {
  it.each([['undo'], ['confined']] as const)('needs an approval for every command: %s', async (lack) => {
    const { run, workspace } = await shellBench({}, { shell: lacking(lack) })
    expect(await run('echo a')).toMatchObject({ ok: false, code: 'APPROVAL_REQUIRED' })
    const explained = await workspace.explain('run_command', { command: 'echo a' })
    expect(explained).toMatchObject({ verdict: { decision: 'ask', reason: expect.stringContaining('bash') } })
  })

  it('needs no approval if a rule or its tool entry allows every command of the line', async () => {
    const shell = lacking('undo', 'confined')
    const byTool = await shellBench({}, { shell, policy: { preset: 'autonomous', tools: { run_command: 'allow' } } })
    expect(await byTool.run('echo a')).toMatchObject({ ok: true, stdout: 'a\n' })
    const rules = [{ name: 'echo', action: 'allow', permissions: ['command:run'], commands: ['echo *'] }] as const
    const byRule = await shellBench({}, { shell, policy: { preset: 'autonomous', rules } })
    expect(await byRule.run('echo a')).toMatchObject({ ok: true })
    expect(await byRule.run('echo a; ls')).toMatchObject({ code: 'APPROVAL_REQUIRED' })
  })
})

it('ends a command after 100 approvals', async () => {
  const shell = unjudged(bash())
  let runs = 0
  const curious: Shell = {
    ...shell,
    async run({ files, cwd }) {
      await files.read(`${runs++}.txt`)
      return { stdout: '', stderr: '', exitCode: 0, cwd }
    },
  }
  const tree = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`${i}.txt`, '']))
  const rules = [{ name: 'reading', action: 'ask', permissions: ['file:read'], paths: ['**'] }] as const
  const policy = { preset: 'autonomous', rules } as const
  const { run } = await shellBench(tree, { shell: curious, policy, approve: () => 'allow' })
  expect(await run('curious')).toMatchObject({
    code: 'LIMIT_EXCEEDED',
    message: expect.stringContaining('100 approvals'),
  })
  expect(runs).toBe(101)
})
