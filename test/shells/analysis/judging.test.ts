import { expect, it } from 'vitest'
import { ROOT } from '../../../src/paths/logical-path.ts'
import { compilePolicy } from '../../../src/policy/policy.ts'
import { createLineAnalyzer } from '../../../src/shells/shared/line-judge.ts'

it('holds rules that restrict against every way to write a command, and rules that allow against the one in the line', () => {
  const judged = (line: string, action: 'allow' | 'ask' | 'deny', preset?: 'autonomous') => {
    const rules = [{ name: 'pushes', action, commands: ['git push*'] }]
    const policy = compilePolicy(preset === undefined ? { rules } : { preset, rules })
    const call = { tool: 'run_command', input: { command: line }, accesses: [] }
    return createLineAnalyzer({})(line, { cwd: ROOT, policy, call }).verdict.decision
  }
  for (const line of [
    'git push',
    'git -C a push',
    '/usr/bin/git push -f',
    'git --no-pager push',
    "sh -c 'git -C a push'",
    'bash git push',
    'sh - bin/git push',
  ]) {
    expect(judged(line, 'deny', 'autonomous')).toBe('deny')
    expect(judged(line, 'ask', 'autonomous')).toBe('ask')
  }
  expect(judged('git status', 'deny', 'autonomous')).toBe('allow')
  expect(judged('git push origin main', 'allow')).toBe('allow')
  expect(judged('git -C a push', 'allow')).toBe('deny')
  expect(judged('git push && git status', 'allow')).toBe('deny')
})
