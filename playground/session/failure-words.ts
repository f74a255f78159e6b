import type { Failure } from 'wardspace'
import { joinSentences } from 'wardspace/dialect'
import { errorHints } from '../../src/errors.ts'
import { wordsOf } from '../../src/ui/words/code-words.ts'

/** Describes a failed action for the person. The usual hint of a code is for models, so that of a person takes its place. */
export function failureInWords({ code, message, hint }: Pick<Failure, 'code' | 'message' | 'hint'>): string {
  return joinSentences(message, hint !== undefined && hint === errorHints[code] ? wordsOf({ code, message }).why : hint)
}
