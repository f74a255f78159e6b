import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type PolicyInput } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

/** An entry, and lines that are the command or continue it with further words, in other spellings too. */
const entries: Readonly<Record<string, readonly string[]>> = {
  rm: ['rm', 'rm docs/a.md', 'ls; rm -rf docs', 'env X=1 rm docs/a.md', 'echo docs/a.md | xargs rm'],
  'rm -rf': ['rm -rf docs', 'rm -f docs --recursive', 'rm docs -fr'],
  'git push': ['git push', 'git push origin main', 'git -C . push origin'],
  'git push --force': ['git push origin -f', 'git push --force origin main'],
  'env rm': ['env -i A=1 rm docs/a.md'],
  './x.sh': ['./x.sh a', 'bash x.sh a', '. ./docs/../x.sh'],
  'cat docs': ['cat docs docs/a.md'],
}

/** Commands that an entry is not about. */
const others: Readonly<Record<string, readonly string[]>> = {
  rm: ['rmdir docs/none', 'echo rm docs'],
  'rm -rf': ['rm docs/a.md', 'rm -r docs'],
  'git push': ['git status', 'git log'],
  './x.sh': ['cat x.sh', './x.sh2'],
}

const cases = (lines: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(lines).flatMap(([entry, texts]) => texts.map((line) => [entry, line] as const))

async function run(policy: PolicyInput, command: string) {
  const backend = memory({ 'docs/a.md': 'a\n', 'x.sh': 'echo x\n', 'x.sh2': 'echo y\n' })
  const workspace = await createWorkspace({ backend, policy, shell: bash({ worker: false }) })
  const result = await workspace.call('run_command', { command })
  const refusals = result.ok ? (result.refused ?? []).map(({ code }) => code) : [result.code]
  await workspace.close()
  return refusals.filter((code) => code === 'COMMAND_DENIED' || code === 'APPROVAL_REQUIRED')
}

describe('an entry of commands', () => {
  it.each(cases(entries))('%s matches %s, in a list and in a rule', async (entry, line) => {
    const rule = (action: 'deny' | 'ask') => ({ name: 'r', action, commands: [entry] })
    expect(await run({ preset: 'autonomous', commands: { deny: [entry] } }, line), 'commands.deny').not.toEqual([])
    expect(await run({ preset: 'autonomous', rules: [rule('deny')] }, line), 'a rule that denies').not.toEqual([])
    expect(await run({ preset: 'autonomous', rules: [rule('ask')] }, line), 'a rule that asks').not.toEqual([])
  })

  it.each(cases(others))('%s does not match %s', async (entry, line) => {
    expect(await run({ preset: 'autonomous', commands: { deny: [entry] } }, line)).toEqual([])
    expect(
      await run({ preset: 'autonomous', rules: [{ name: 'r', action: 'deny', commands: [entry] }] }, line),
    ).toEqual([])
  })

  it('of a rule that allows matches the command as a whole', async () => {
    const policy = { preset: 'supervised' as const, rules: [{ name: 'r', action: 'allow' as const, commands: ['ls'] }] }
    expect(await run(policy, 'ls')).toEqual([])
    expect(await run(policy, 'ls docs')).toEqual(['APPROVAL_REQUIRED'])
    const more = { ...policy, rules: [{ name: 'r', action: 'allow' as const, commands: ['ls', 'ls *'] }] }
    expect(await run(more, 'ls docs')).toEqual([])
  })

  it('of a label matches a command that continues it', async () => {
    const labels = {
      sources: [{ label: 'restricted' as const, commands: ['cat'] }],
      sinks: [{ name: 's', ceiling: 'public' as const, commands: ['ls'], paths: ['site/**'] }],
    }
    const workspace = await createWorkspace({
      backend: memory({ 'docs/a.md': 'a\n' }),
      policy: { preset: 'autonomous', labels },
      shell: bash({ worker: false }),
    })
    expect(await workspace.call('run_command', { command: 'cat docs/a.md' })).toMatchObject({ label: 'restricted' })
    expect(await workspace.call('write_file', { path: 'site/q', content: 'q' })).toMatchObject({ ok: false })
    expect(await workspace.call('run_command', { command: 'ls docs' })).toMatchObject({ ok: false })
    await workspace.close()
  })
})
