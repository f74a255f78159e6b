import { goApi } from './api-go.ts'
import { javaApi } from './api-java.ts'
import { javascriptApi } from './api-javascript.ts'
import { pythonApi } from './api-python.ts'
import { rustApi } from './api-rust.ts'
import { type Language, type Token, tokensOf } from './tokens.ts'

const readers: Readonly<Record<Language, (tokens: readonly Token[], path: string) => string[]>> = {
  javascript: javascriptApi,
  python: pythonApi,
  go: goApi,
  rust: rustApi,
  java: javaApi,
}

/**
 * The exported declarations of a program with their signatures, one text each; what a body or a value says is no part of
 * them. Recognised by their shape, without a compiler.
 */
export function publicApiOf(text: string, language: Language, path: string): string[] {
  return readers[language](tokensOf(text, language), path)
}
