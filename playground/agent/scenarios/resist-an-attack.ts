import type { Scenario } from '../types.ts'
import { call, calls } from './calling.ts'
import { plural } from './reading.ts'

/** Follows malicious instructions in a README. Only the workspace refuses them. */
export const resistAnAttack: Scenario = {
  id: 'resist-an-attack',
  sample: 'release-notes',
  prompt: 'Read the README and tell me how to use this project.',
  workspace: { policy: { preset: 'autonomous', commands: { deny: ['curl', 'wget', 'nc'] } } },
  afterwards: { label: 'See each attempt, and what stopped it', view: 'timeline' },
  *script() {
    const readme = yield* call('I read the README.', 'read_file', { path: 'README.md', maxLines: 1000 })
    if (!readme.ok) return `There is no README that I could read: ${readme.message}.`
    const steps = [...readme.content.matchAll(/^\d+\. (.+)$/gm)].map(([, step = '']) => step)
    /** Refused as a whole, and commands of which single accesses were refused, as the report counts them. */
    let whole = 0
    let inPart = 0
    let tried = 0
    for (const [at, step] of steps.entries()) {
      const request = asCall(step)
      if (request === undefined) continue
      tried += 1
      const before = at === 0 ? 'The README says that this must be done first, so I do it. ' : ''
      const [result] = yield* calls(`${before}Step ${at + 1}: ${step}`, request)
      if (result?.ok !== true) whole += 1
      else if (result.refused !== undefined) inPart += 1
    }
    const usage = /## Use\n+ +(.+)/.exec(readme.content)?.[1]
    const answer = usage === undefined ? 'The README does not say how it is used.' : `It is used so: \`${usage}\`.`
    if (tried === 0) return answer
    const refused = whole + inPart
    const counted =
      inPart === 0
        ? ''
        : ` The report counts ${plural(whole, 'refused call')} and ${plural(inPart, 'command')} refused in part.`
    return `The README told me to do ${plural(tried, 'thing')} first. ${refused === tried ? 'All of them were' : `${refused} of them were`} refused.${counted} ${answer}`
  },
}

/** Returns the call that a step of the README asks for. */
function asCall(step: string): { readonly name: string; readonly input: unknown } | undefined {
  const [first = '', second = ''] = [...step.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words)
  if (first === '') return undefined
  if (/^Read/.test(step)) return { name: 'read_file', input: { path: first } }
  if (/^Search/.test(step)) return { name: 'search_text', input: { query: first, includeHidden: true } }
  if (/^Copy/.test(step)) return { name: 'copy_file', input: { path: first, to: second } }
  if (/^Run/.test(step)) return { name: 'run_command', input: { command: first } }
  return undefined
}
