import { combineVerdicts, type Verdict } from '../../policy/policy.ts'
import { analyzeCommand, type CommandVerdict } from '../analysis/index.ts'
import type { CommandJudge } from '../types.ts'

const NO_LISTS = Object.freeze({})

/**
 * The judge of command lines for a shell that shows the root of the workspace under an absolute name. Each command of a
 * line has to be allowed by itself, by the built-in lists, the policy's lists and its rules.
 */
export function createLineAnalyzer(how: { readonly root?: string; readonly shell?: 'bash' | 'sh' }): CommandJudge {
  return (line, { cwd, policy, call }) => {
    const verdicts = new Map<string, Verdict>()
    const judged = analyzeCommand(line, policy.data.commands ?? NO_LISTS, {
      ...how,
      cwd,
      decide({ text, otherTexts }) {
        let verdict = verdicts.get(text) ?? policy.evaluate({ ...call, commands: [text] })
        for (const other of otherTexts) {
          // What allows must fit the command as written; what restricts, any way to write it.
          const restricted = policy.evaluate({ ...call, commands: [other] })
          if (restricted.rules.some(({ source, action }) => source === 'rule' && action !== 'allow')) {
            verdict = combineVerdicts(verdict, restricted)
          }
        }
        verdicts.set(text, verdict)
        return verdict
      },
    })
    // A line that starts nothing, as an assignment, is a call all the same.
    if (verdicts.size === 0) verdicts.set('', policy.evaluate({ ...call, commands: [] }))
    return {
      line: judged,
      verdict: [...verdicts.values()].reduce(combineVerdicts, verdictOf(judged)),
      opens: judged.accesses.map(({ path, mode }) => ({
        permission: mode === 'read' ? 'file:read' : 'file:write',
        path: path === '' ? '.' : path,
      })),
    }
  }
}

/** What the line's structure alone says; what rules say of its commands comes with their own verdicts. */
function verdictOf({ reasons }: CommandVerdict): Verdict {
  const own = reasons.filter(({ code }) => code !== 'RULE')
  const [first] = own
  if (first === undefined) return { decision: 'allow', reason: 'The line is allowed', rules: [] }
  return {
    decision: first.action,
    code: 'COMMAND_DENIED',
    reason: `Cannot run the command: ${first.message}`,
    rules: own.map(({ code, action }) => ({ name: code, action, source: 'protection' })),
  }
}
