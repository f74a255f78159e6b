import { ToolError } from '../errors.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import { deniedError } from '../policy/evaluation.ts'
import { counted } from '../util/counted.ts'

/** Returns the error for a change of a tree with entries that policy hides. It does not name them. */
export function hiddenInside(path: Path): ToolError {
  return deniedError({
    decision: 'deny',
    code: 'POLICY_DENIED',
    reason: `Cannot change ${quote(path)}: it contains files that are not visible here`,
    hint: 'Change the listed entries one by one.',
    path,
    rules: [{ name: 'hidden files', action: 'deny', source: 'protection', path }],
  })
}

/** Returns the error for a tree with more entries than a call may move or copy. */
export function tooManyEntries(path: Path, maxEntries: number): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `${quote(path)} holds more than ${counted(maxEntries, 'entry', 'entries')}`, {
    path,
    value: maxEntries,
  })
}
