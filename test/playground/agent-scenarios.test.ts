import { describe, expect, it } from 'vitest'
import { changed, setUp } from './agent-setup.ts'

describe('mend a failing test', () => {
  it('follows the failing test to its cause, and ends with tests that pass', async () => {
    const { agent, scenario, workspace, said, results, text } = await setUp('mend-a-test')
    expect(await agent.send(scenario.prompt)).toBe('finished')
    expect(await text('src/price.js')).toContain('return Math.round((cents * (100 - percent)) / 100)')
    expect(results().map(({ tool, ok }) => [tool, ok])).toEqual([
      ['run_command', true],
      ['read_file', true],
      ['read_file', true],
      ['read_file', true],
      ['edit_file', true],
      ['run_command', true],
    ])
    expect(results().at(-1)?.seen).toMatchObject({ exitCode: 0 })
    expect(said()).toContain('`1695 !== 1696`')
    expect(said()).toContain('All tests pass. The cause was line 4 of src/price.js')

    const edit = results().find(({ tool }) => tool === 'edit_file')
    expect(await workspace.undo(edit?.callId ?? '')).toMatchObject({ ok: true })
    expect(await text('src/price.js')).toContain('return Math.floor((cents * (100 - percent)) / 100)')
    await workspace.close()
  })

  it('ends otherwise on a project whose tests pass', async () => {
    const { agent, scenario, workspace, said, results } = await setUp(
      'mend-a-test',
      changed('src/price.js', 'Math.floor', 'Math.round'),
    )
    expect(await agent.send(scenario.prompt)).toBe('finished')
    expect(results().map(({ tool }) => tool)).toEqual(['run_command'])
    expect(said()).toContain('nothing to mend')
    await workspace.close()
  })
})
