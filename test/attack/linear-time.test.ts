import { expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { commitAll, entriesOf, git, newRepository } from '../git/repositories.ts'
import { ownTime } from '../own-time.ts'

type Call = readonly [tool: string, input: Readonly<Record<string, unknown>>]

/** Long enough that a second is too short for an expression that is not linear, and short enough that it ends. */
const calls: readonly Call[] = [
  ...['vite', 'requirements', 'jest.config', 'tsconfig', 'compose'].flatMap((name) =>
    ['-', '.a', '-a', '_'].map(
      (part): Call => ['write_file', { path: `${name}${part.repeat(44 / part.length)}!`, content: '' }],
    ),
  ),
  ...['x=([PART!]=1)', 'x=([PART@]=1)', 'echo $((PART!))', 'let x=PART!', '[[ PART! -eq 1 ]]', 'x[PART!]=1'].map(
    (line): Call => ['run_command', { command: line.replace('PART', 'a'.repeat(26)) }],
  ),
  ['run_command', { command: `python3 -c "from${'\t'.repeat(60_000)}'x'"` }],
  ...['[', '[[:a', 'a/', '{', '<', '*', '*,.', '\\']
    .map((part) => part.repeat(40_000 / part.length))
    .flatMap((glob): Call[] => [
      ['search_text', { query: 'x', includeGlob: glob }],
      ['search_text', { query: 'x', excludeGlob: glob }],
      ['find_files', { pattern: glob }],
    ]),
]

it('a call takes no more time for a hostile text than for another one of its length', async () => {
  const workspace = await createWorkspace({
    backend: memory({ 'a.txt': 'x\n' }),
    policy: { preset: 'autonomous', requireApprovalIf: ['touchesBuildFile'] },
    shell: bash({ worker: false }),
  })
  for (const [tool, input] of calls) {
    const before = ownTime()
    await workspace.call(tool as 'read_file', input as never)
    expect(ownTime() - before, JSON.stringify(input).slice(0, 100)).toBeLessThan(1_000)
  }
}, 120_000)

it('a message or a configuration of a repository takes no more time with long runs of white space', async () => {
  const root = newRepository()
  commitAll(root)
  git(root, 'commit', '-q', '--allow-empty', '--cleanup=verbatim', '-m', `a${'\n'.repeat(50_000)}x`)
  const blanks = ' '.repeat(50_000)
  const config = `[core]\n\tx = a${blanks}b\n[extensions]\n\ty = a${blanks}b\n`
  const workspace = await createWorkspace({
    backend: memory({ ...entriesOf(root), '.git/config': config }),
    policy: 'autonomous',
    shell: bash({ worker: false }),
  })
  for (const command of ['git log --oneline', 'git status']) {
    const before = ownTime()
    await workspace.call('run_command', { command })
    expect(ownTime() - before, command).toBeLessThan(1_000)
  }
}, 120_000)
