import { expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { createWorkspace, type Workspace } from '../../src/index.ts'
import { times } from '../counts.ts'

async function show(workspace: Workspace): Promise<string> {
  const listed = await workspace.call('list_directory', { path: '.', maxDepth: 9 })
  if (!listed.ok) throw new Error(listed.message)
  return (listed.entries as { path: string }[]).map(({ path }) => path).join(' ')
}

/**
 * Three forks, each of an earlier workspace. One creates a directory, another writes a file below it, and two of them
 * commit, which may be refused. Only the workspace that receives a commit may show its changes.
 */
it('a commit, even a refused one, is never visible in another fork', async () => {
  let refused = 0
  let position = 0
  for (let shape = 0; shape < 2 * 3 * 3 * 4 * 3 * 3; shape += times(13, 1)) {
    let rest = shape
    const pick = (count: number, from = 0): number => {
      const picked = rest % count
      rest = Math.floor(rest / count)
      return from + picked
    }
    const [second, made, third, written, ...commits] = [pick(2), pick(3), pick(3), pick(4), pick(3, 1), pick(3, 1)]
    const origins = [undefined, 0, second, third]
    const lines = [await createWorkspace({ backend: overlay(memory()), policy: 'autonomous', clock: () => 1 })]
    const line = (index: number | undefined) => lines[index ?? 0] as Workspace
    lines.push(await line(0).fork())
    lines.push(await line(second).fork())
    await line(made).call('create_directory', { path: 'd/b' })
    lines.push(await line(third).fork())
    await line(written).call('write_file', { path: 'd/e/a', content: 'a\n' })
    for (const from of commits) {
      const before = await Promise.all(lines.map(show))
      const { ok } = await line(from).commit()
      if (ok) position += 1
      else refused += 1
      const after = await Promise.all(lines.map(show))
      const unmoved = (_: string, index: number) => !ok || index !== origins[from]
      const label = JSON.stringify({ second, made, third, written, commits, from, ok })
      expect(after.filter(unmoved), label).toEqual(before.filter(unmoved))
    }
    for (const workspace of lines.reverse()) await workspace.close()
  }
  expect(Math.min(refused, position)).toBeGreaterThan(times(8, 20))
})
