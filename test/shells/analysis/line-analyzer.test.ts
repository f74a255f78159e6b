import { expect, it } from 'vitest'
import { ROOT } from '../../../src/paths/logical-path.ts'
import { compilePolicy } from '../../../src/policy/policy.ts'
import { createLineAnalyzer } from '../../../src/shells/shared/line-judge.ts'

it('createLineAnalyzer(): matches restricting rules against every spelling of a command, and allowing rules only as written', () => {
  const decisionOf = (line: string, action: 'allow' | 'ask' | 'deny', preset?: 'autonomous') => {
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
    expect(decisionOf(line, 'deny', 'autonomous')).toBe('deny')
    expect(decisionOf(line, 'ask', 'autonomous')).toBe('ask')
  }
  expect(decisionOf('git status', 'deny', 'autonomous')).toBe('allow')
  expect(decisionOf('git push origin main', 'allow')).toBe('allow')
  expect(decisionOf('git -C a push', 'allow')).toBe('deny')
  expect(decisionOf('git push && git status', 'allow')).toBe('deny')
})
