import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { ROOT } from '../../../src/paths/logical-path.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'

describe('rm and mv of bash(), where links are among the operands', () => {
  it.each([
    ['mv link new -v', ['new'], ['link']],
    ['mv -v link -- new', ['new'], ['link']],
    ['mv a.txt known -f', ['known'], ['a.txt']],
    ['mv a.txt -f link d', ['d/a.txt', 'd/link'], ['a.txt', 'link']],
    ['mv -- link -x', ['-x'], ['link']],
    ['rm link -v a.txt', [], ['link', 'a.txt']],
    ['rm -rf link d --', [], ['link', 'd/x']],
    ['rm -- -q link', [], ['-q', 'link']],
  ])('%s', async (command, present, absent) => {
    const backend = memory({ 'a.txt': '1', 'd/x': '2', '-q': 'q', link: { link: 'none' }, known: { link: 'd/x' } })
    const { callTool, close } = await createWorkspace({ backend, policy: 'autonomous', shell: bash({ worker: false }) })
    expect(await callTool('run_command', { command })).toMatchObject({ exitCode: 0, stderr: '' })
    const exists = async (path: string) => (await backend.stat(path as never)) !== undefined
    for (const path of present) expect(await exists(path), path).toBe(true)
    for (const path of absent) expect(await exists(path), path).toBe(false)
    await close()
  })

  it.each(['mv -r link z', 'mv link', 'rm -i link', 'mv a.txt link known'])('%s changes nothing', async (command) => {
    const backend = memory({ 'a.txt': '1', link: { link: 'none' }, known: { link: 'a.txt' } })
    const { callTool, close } = await createWorkspace({ backend, policy: 'autonomous', shell: bash({ worker: false }) })
    const names = async () => (await backend.list(ROOT)).map(({ name }) => name)
    const before = await names()
    expect(await callTool('run_command', { command })).toMatchObject({ exitCode: 1 })
    expect(await names()).toEqual(before)
    await close()
  })
})
