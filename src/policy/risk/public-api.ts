import { goApi } from './api-go.ts'
import { javaApi } from './api-java.ts'
import { javascriptApi } from './api-javascript.ts'
import { pythonApi } from './api-python.ts'
import { rustApi } from './api-rust.ts'
import { depthOf, type Language, type Token, tokensOf } from './tokens.ts'

const readers: Readonly<Record<Language, (tokens: readonly Token[], path: string) => string[]>> = {
  javascript: javascriptApi,
  python: pythonApi,
  go: goApi,
  rust: rustApi,
  java: javaApi,
}

/** Far more than anybody nests what he declares; beyond it, going into every group would take long. */
const MOST_NESTED = 500

/**
 * The exported declarations of a program with their signatures, one text each; what a body or a value says is no part of
 * them. Recognised by their shape, without a compiler. Undefined where brackets are nested more than 500 deep.
 */
export function publicApiOf(text: string, language: Language, path: string): string[] | undefined {
  const tokens = tokensOf(text, language)
  return depthOf(tokens) > MOST_NESTED ? undefined : readers[language](tokens, path)
}
