import type { Command } from 'unbash'
import { rangeOf, type Scope, type WalkContext } from './analysis.ts'
import { type CwdAfter, resolve } from './cwd.ts'
import { builtInDenial } from './denylist.ts'
import { judgeAssignment, judgeExpansions } from './expansions.ts'
import { inspectorOf } from './inspectors.ts'
import { nameVariants } from './name-variants.ts'
import { judgeRedirections } from './redirections.ts'
import type { TextRange } from './verdict.ts'
import { type Argument, argumentsOf } from './words.ts'

/** A simple command: its assignments, redirections and words. */
export function judgeCommandNode(walk: WalkContext, node: Command, scope: Scope): CwdAfter {
  const name = node.name?.value
  for (const part of node.prefix) if (part.type === 'Assignment') judgeAssignment(walk, part, scope, name)
  const stdin = judgeRedirections(walk, node.redirects, scope)
  if (node.name === undefined) return { ok: scope.places, failed: scope.places }
  judgeExpansions(walk, node.name, scope)
  for (const part of node.args) {
    if (part.type === 'Assignment') judgeAssignment(walk, part, scope, name)
    else judgeExpansions(walk, part, scope)
  }
  const at = rangeOf(node, scope)
  const words = [node.name, ...node.args].flatMap((word) => argumentsOf(word, scope.at))
  return runWords(walk, words, { ...scope, stdin }, at)
}

/** How many commands may stand one inside the other. */
export const MAX_DEPTH = 8

/** The words of a command after all expansions that are known: judged by name, lists, and what the command starts. */
export function runWords(walk: WalkContext, words: readonly Argument[], scope: Scope, at: TextRange): CwdAfter {
  const { judge } = walk
  const stay: CwdAfter = { ok: scope.places, failed: scope.places }
  if (scope.via.length > MAX_DEPTH) {
    judge.deny('TOO_COMPLEX', 'A command is started through too many others', at)
    return stay
  }
  const [first, ...args] = words
  if (first?.literal === undefined || first.braces) {
    judge.deny(
      'COMMAND_NOT_LITERAL',
      `Which command ${JSON.stringify(first?.raw ?? '')} is, only the run can tell`,
      first?.at ?? at,
    )
    return stay
  }
  const name = first.literal
  if (!/^[\w.+:@,/[-]+$/.test(name) || /^[-+@,]/.test(name)) {
    judge.deny('ODD_COMMAND_NAME', `${JSON.stringify(name)} is no plain name of a command`, first.at)
    return stay
  }
  const plain = plainName(walk, name, scope, first.at)
  const literals = args.map(({ literal }) => literal ?? null)
  const text = [name, ...args.map(({ literal, raw }) => literal ?? raw)].join(' ')
  const [place, ...others] = scope.places ?? []
  const forms = nameVariants(name, plain, literals, text)
  judge.command({
    name,
    args: literals,
    text,
    otherTexts: [...new Set(forms.denied)].filter((other) => other !== text),
    ...(place !== undefined && others.length === 0 ? { cwd: place } : {}),
    via: scope.via,
    at,
  })
  const denied = judge.lists.deniedBy(forms.denied)
  if (denied !== undefined) judge.deny('POLICY_DENIED', `Policy denies ${JSON.stringify(denied)}`, at)
  if (
    scope.within.includes(name) ||
    (scope.within.length > 0 && walk.facts.functions.has(name) && !walk.defined.has(name))
  ) {
    judge.deny('FORK_BOMB', `The function ${JSON.stringify(name)} calls itself`, at)
  }
  const builtIn = builtInDenial(plain, args)
  if (builtIn !== undefined) judge.deny('BUILT_IN_DENIED', builtIn, at)
  const inspector = inspectorOf(plain)
  if (
    scope.vouched !== true &&
    inspector?.transparent !== true &&
    !neutral.has(name) &&
    !judge.lists.isAllowed(forms.allowed)
  ) {
    judge.deny('NOT_ALLOWED', `${JSON.stringify(forms.allowed[0])} is not on the list of allowed commands`, at)
  }
  return inspector?.inspect({ walk, name, plain, args, scope, at }) ?? stay
}

/** Words of the shell's own that start nothing and touch nothing: no allowlist has to name them. */
const neutral = new Set([
  ':',
  'true',
  'false',
  'test',
  '[',
  'exit',
  'return',
  'break',
  'continue',
  'shift',
  'cd',
  'wait',
])

const SYSTEM = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/

/** The name by which a command is known: without directory, case and a suffix that some systems add. */
function plainName(walk: WalkContext, name: string, scope: Scope, at: TextRange): string {
  if (name.includes('/')) {
    if (!SYSTEM.test(name)) {
      if (resolve(name, scope.places, walk.judge.root) === 'outside') {
        walk.judge.deny('OUTSIDE_WORKSPACE', `The program ${JSON.stringify(name)} is not inside the workspace`, at)
      }
      walk.judge.runs(name, scope, at)
    }
  }
  return name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.(exe|cmd|bat|com)$/, '')
}
