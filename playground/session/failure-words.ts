import type { Failure } from 'wardspace'
import { joinSentences } from 'wardspace/dialect'
import { codeWords } from 'wardspace/ui'
import { errorHints } from '../../src/errors.ts'

/** Describes a failed action for the person. The usual hint of a code is for models, so that of a person takes its place. */
export function failureInWords({ code, message, hint }: Pick<Failure, 'code' | 'message' | 'hint'>): string {
  return joinSentences(message, hint === errorHints[code] ? codeWords[code]?.why : hint)
}
