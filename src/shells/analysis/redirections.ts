import type { Redirection, Word } from 'unbash'
import { rangeOf, type Scope, type WalkContext } from './analysis.ts'
import { judgeVariable } from './assignments.ts'
import { hidesExpansion, judgeExpansions } from './expansions.ts'
import type { TextRange } from './verdict.ts'
import { literalOf } from './words.ts'

/** What a command's redirections open. Returns the text that they give to its standard input, if it is known. */
export function judgeRedirections(
  walk: WalkContext,
  redirections: readonly Redirection[],
  scope: Scope,
): string | undefined {
  let stdin: string | undefined
  for (const redirection of redirections) {
    const at = rangeOf(redirection, scope)
    const { descriptor } = redirection
    const input = descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0)
    if (descriptor?.type === 'FileDescriptorVariable') judgeVariable(walk, descriptor.name, undefined, scope, at)
    if (redirection.type === 'HereDoc') {
      walk.judge.operator('<<', at)
      judgeExpansions(walk, redirection.body, scope)
      const { body, delimiter } = redirection
      /* v8 ignore if -- @preserve: a net under the parser, which reports it first */
      if (delimiter?.quoted !== true && body.parts === undefined && hidesExpansion(body.text)) {
        walk.judge.deny('SYNTAX_ERROR', 'An expansion does not parse', at)
      }
      if (redirection.closing === undefined) walk.judge.deny('SYNTAX_ERROR', 'A here-document does not end', at)
      if (input) stdin = hereDocText(redirection)
      continue
    }
    const { target } = redirection
    /* v8 ignore if -- @preserve: a net under the parser, which reports it first */
    if (target === undefined) {
      walk.judge.deny('SYNTAX_ERROR', 'A redirection does not parse', at)
      continue
    }
    judgeExpansions(walk, target, scope)
    if (redirection.type === 'HereString') {
      walk.judge.operator('<<<', at)
      if (input) stdin = literalOf(target)
    } else {
      // `0>&3` is another way to put something else there.
      if (input && (descriptor !== undefined || redirection.operator.startsWith('<'))) stdin = undefined
      judgeFile(walk, redirection.operator, target, scope, at)
    }
  }
  return stdin
}

function hereDocText({ body, delimiter, operator }: Extract<Redirection, { type: 'HereDoc' }>): string | undefined {
  // Without quotes around its delimiter the shell takes backslashes away before anybody reads the text.
  if (delimiter?.quoted !== true && body.text.includes('\\')) return undefined
  // It has parts where something in it is expanded.
  const text = body.parts === undefined ? body.text : undefined
  return operator === '<<-' ? text?.replace(/^\t+/gm, '') : text
}

function judgeFile(walk: WalkContext, operator: string, target: Word, scope: Scope, at: TextRange): void {
  const { judge } = walk
  if (scope.dialect === 'sh' && operator.startsWith('&>')) {
    judge.deny('SYNTAX_ERROR', '&> means something else in sh', at)
  }
  const path = literalOf(target)
  if (operator.endsWith('&') && path !== undefined && /^(\d+-?|-)$/.test(path)) return
  judge.operator(
    operator === '<' || operator === '<&' ? '<' : operator === '<>' ? '<>' : operator.endsWith('>>') ? '>>' : '>',
    at,
  )
  if (path === undefined || path === '') {
    judge.deny('TARGET_NOT_LITERAL', `The target ${JSON.stringify(target.text)} is only known when the line runs`, at)
    return
  }
  if (operator.startsWith('<')) judge.access(path, 'read', scope, at)
  if (operator.includes('>')) judge.access(path, 'write', scope, at)
}
