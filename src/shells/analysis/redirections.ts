import type { Redirection, RedirectOperator, Word } from 'unbash'
import { rangeOf, type Scope, type WalkContext } from './analysis.ts'
import { checkVariable } from './assignments.ts'
import { resolvePath } from './cwd.ts'
import { checkExpansions, hidesExpansion } from './expansions.ts'
import type { TextRange } from './verdict.ts'
import { literalOf } from './words.ts'

/** Checks the files that redirections open. Returns the text of the standard input, if it is known. */
export function checkRedirections(
  walk: WalkContext,
  redirections: readonly Redirection[],
  scope: Scope,
): string | undefined {
  let stdin: string | undefined
  for (const redirection of redirections) {
    const at = rangeOf(redirection, scope)
    const { descriptor } = redirection
    const input = descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0)
    if (descriptor?.type === 'FileDescriptorVariable') checkVariable(walk, descriptor.name, undefined, scope, at)
    if (redirection.type === 'HereDoc') {
      walk.analysis.checkOperator(redirection.operator, at)
      checkExpansions(walk, redirection.body, scope)
      const { body, delimiter } = redirection
      /* v8 ignore if -- @preserve: a net under the parser, which reports it first */
      if (delimiter?.quoted !== true && body.parts === undefined && hidesExpansion(body.text)) {
        walk.analysis.deny('SYNTAX_ERROR', 'An expansion does not parse', at)
      }
      if (redirection.closing === undefined) walk.analysis.deny('SYNTAX_ERROR', 'A here-document does not end', at)
      if (input) stdin = hereDocText(redirection)
      continue
    }
    const { target } = redirection
    /* v8 ignore if -- @preserve: a net under the parser, which reports it first */
    if (target === undefined) {
      walk.analysis.deny('SYNTAX_ERROR', 'A redirection does not parse', at)
      continue
    }
    checkExpansions(walk, target, scope)
    if (redirection.type === 'HereString') {
      walk.analysis.checkOperator('<<<', at)
      if (input) stdin = literalOf(target)
    } else {
      // `0>&3` also replaces the standard input.
      if (input && (descriptor !== undefined || redirection.operator.startsWith('<'))) stdin = undefined
      checkFile(walk, redirection.operator, target, scope, at)
    }
  }
  return stdin
}

function hereDocText({ body, delimiter, operator }: Extract<Redirection, { type: 'HereDoc' }>): string | undefined {
  // If the delimiter is not quoted, the shell removes backslashes from the text.
  if (delimiter?.quoted !== true && body.text.includes('\\')) return undefined
  // A body with expansions has parts.
  const text = body.parts === undefined ? body.text : undefined
  return operator === '<<-' ? text?.replace(/^\t+/gm, '') : text
}

function checkFile(walk: WalkContext, operator: RedirectOperator, target: Word, scope: Scope, at: TextRange): void {
  const { analysis } = walk
  if (scope.dialect === 'sh' && operator.startsWith('&>')) {
    analysis.deny('SYNTAX_ERROR', '&> means something else in sh', at)
  }
  const path = literalOf(target)
  if (operator.endsWith('&') && path !== undefined && /^(\d+-?|-)$/.test(path)) return
  analysis.checkOperator(operator, at)
  if (path === undefined || path === '') {
    analysis.deny('TARGET_NOT_LITERAL', `The target ${JSON.stringify(target.text)} is only known at run time`, at)
    return
  }
  if (analysis.isScript && resolvePath(path, scope.cwds, analysis.root) === 'outside') return
  if (operator.startsWith('<')) analysis.addAccess(path, 'read', scope, at)
  if (operator.includes('>')) analysis.addAccess(path, 'write', scope, at)
}
