import { expect, expectTypeOf, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type ToolInput, type ToolName } from '../../src/index.ts'

it('a call by a tool’s name knows what the tool takes and gives', async () => {
  const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'readOnly' })
  const file = await workspace.call('read_file', { path: 'a.txt' })
  expect(file.ok && file.content).toBe('a\n')
  if (file.ok) {
    expectTypeOf(file.content).toEqualTypeOf<string>()
    expectTypeOf(file.totalLines).toEqualTypeOf<number>()
  }
  expectTypeOf<ToolInput<'read_file'>>().toHaveProperty('path').toEqualTypeOf<string>()
  expectTypeOf<'no_such_tool'>().not.toExtend<ToolName>()
})

it('an approve handler may answer in a word, at once or later', async () => {
  const answers = [async () => 'allow', () => 'allow-run' as const, async () => ({ deny: 'no' })]
  const said: unknown[] = []
  for (const approve of answers) {
    const workspace = await createWorkspace({ backend: memory(), policy: 'supervised', approve })
    said.push((await workspace.call('write_file', { path: 'a.txt', content: 'a\n' })).ok)
  }
  const inPlace = await createWorkspace({ backend: memory(), policy: 'supervised', approve: async () => 'allow' })
  said.push((await inPlace.call('write_file', { path: 'a.txt', content: 'a\n' })).ok)
  const wrong = await createWorkspace({ backend: memory(), policy: 'supervised', approve: async () => 'yes' })
  expect(await wrong.call('write_file', { path: 'a.txt', content: 'a\n' })).toMatchObject({ code: 'HOOK_FAILED' })
  expect(said).toEqual([true, true, false, true])
})
