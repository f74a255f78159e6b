import type {} from 'vitest'
import { type ErrorCode, errorHints, ToolError } from '../errors.ts'
import { type Path, parsePath, quote } from '../paths/logical-path.ts'
import type { Backend, EntryState } from '../storage/backend.ts'
import { stateAt } from '../storage/versions.ts'
import { checkArgument, isObjectWith, isOneOf, isText, must } from '../util/check-options.ts'

/** The parts of vitest, or of a compatible runner, that the matchers use. */
export interface MatcherContext {
  readonly isNot: boolean
  /** Whether two values are equal by the rules of the runner. */
  equals(a: unknown, b: unknown, customTesters?: unknown[]): boolean
  readonly utils: {
    /** The difference of two values as text. */
    diff(a: unknown, b: unknown): string | null | undefined
    /** A value as text, in the colour of received values. */
    printReceived(value: unknown): string
    /** A value as text, in the colour of expected values. */
    printExpected(value: unknown): string
    readonly subsetEquality: unknown
    readonly iterableEquality: unknown
  }
}

/** The result of a matcher. */
export interface MatcherResult {
  readonly pass: boolean
  /** Returns the message of a failure. */
  message(): string
}

/** A workspace of `testWorkspace`, or a backend. */
export type HasFiles = Backend | { readonly backend: Backend }

interface WardspaceMatchers<T> {
  /** Expects a file in a workspace of `testWorkspace` or in a backend, optionally with this text or a text that matches. */
  toHaveFile(path: string, content?: string | RegExp): Promise<void>
  /** Compares the diff of a workspace of `testWorkspace` since it was opened. `''` means no change. */
  toHaveDiff(expected: string | RegExp): Promise<void>
  /** Expects a refusal, as a result or a promise of one, with this code and at least these details. */
  toRefuse(
    code?: ErrorCode,
    details?: Readonly<Record<string, unknown>>,
  ): T extends PromiseLike<unknown> ? Promise<void> : void
}

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: merged declarations must have the type parameters of the one in vitest
  interface Matchers<T = any> extends WardspaceMatchers<T> {}
}

/**
 * Matchers for vitest.
 *
 * @throws TypeError for a value that is not a workspace or a result, so that `.not` never passes by mistake
 * @example
 * expect.extend(matchers)
 *
 * const workspace = await testWorkspace({ 'a.txt': 'one\n' })
 * await expect(workspace.call('delete_file', { path: '../a.txt' })).toRefuse('PATH_REJECTED')
 * await expect(workspace).toHaveFile('a.txt', /^one/)
 * await expect(workspace).toHaveDiff('')
 */
export const matchers = {
  /** Expects a file, optionally with this text or a text that matches. */
  toHaveFile,
  /** Compares the diff since the workspace was opened. */
  toHaveDiff,
  /** Expects a refusal, as a result or a promise of one. */
  toRefuse,
}

const isCode = isOneOf(...Object.keys(errorHints))
const isExpectedText = must(
  'a string, a regular expression or an asymmetric matcher',
  (value) =>
    typeof value === 'string' || value instanceof RegExp || typeof Object(value).asymmetricMatch === 'function',
)

async function toHaveFile(
  this: MatcherContext,
  received: HasFiles,
  path: string,
  content?: string | RegExp,
): Promise<MatcherResult> {
  checkArgument('toHaveFile()', 'path', path, isText)
  if (content !== undefined) checkArgument('toHaveFile()', 'content', content, isExpectedText)
  const backend = backendOf(received)
  const entry = await entryAt(backend, path)
  if (entry.type !== 'file') {
    const names = await firstPaths(backend)
    const listing = names.length === 0 ? 'There are no files.' : `There are ${names.map(quote).join(', ')}`
    return { pass: false, message: () => `Expected a file ${quote(path)}, but there is ${entry.type}.\n${listing}` }
  }
  const { text } = entry
  if (content === undefined) {
    const description = text === undefined ? 'bytes that are not text' : this.utils.printReceived(text)
    return { pass: true, message: () => `Expected no file ${quote(path)}, but it is there: ${description}` }
  }
  if (text === undefined) return { pass: false, message: () => `The file ${quote(path)} is not text` }
  return compare(this, text, content, `file ${quote(path)}`)
}

async function toHaveDiff(
  this: MatcherContext,
  received: { diff(): Promise<string> },
  expected: string | RegExp,
): Promise<MatcherResult> {
  if (typeof received?.diff !== 'function') throw new TypeError('toHaveDiff() needs a workspace of testWorkspace()')
  checkArgument('toHaveDiff()', 'expected', expected, isExpectedText)
  return compare(this, await received.diff(), expected, 'workspace')
}

function toRefuse(
  this: MatcherContext,
  received: unknown,
  code?: ErrorCode,
  details?: Readonly<Record<string, unknown>>,
): MatcherResult | Promise<MatcherResult> {
  if (code !== undefined) checkArgument('toRefuse()', 'code', code, isCode)
  if (details !== undefined) checkArgument('toRefuse()', 'details', details, isObjectWith('an object'))
  if (!isThenable(received)) return checkRefusal(this, received, code, details)
  // A ToolError of a backend is a refusal too. Any other error is rethrown.
  return received.then(
    (result) => checkRefusal(this, result, code, details),
    (error: unknown) => {
      // The name also matches errors of another copy of the package.
      const { name, code: errorCode, message, details: fields } = (error ?? {}) as Partial<ToolError>
      if (name === 'ToolError')
        return checkRefusal(this, { ...fields, ok: false, code: errorCode, message }, code, details)
      throw error
    },
  )
}

function checkRefusal(
  { equals, utils }: MatcherContext,
  result: unknown,
  code: ErrorCode | undefined,
  details: Readonly<Record<string, unknown>> = {},
): MatcherResult {
  const { ok, ...refusal } = (result ?? {}) as { readonly ok?: unknown; readonly [field: string]: unknown }
  if (typeof ok !== 'boolean') {
    throw new TypeError(
      `toRefuse() needs the result of a call, or a promise of one, not ${utils.printReceived(result)}`,
    )
  }
  const expected = { ...details, ...(code === undefined ? {} : { code }) }
  const codeText = code ?? 'any code'
  if (ok) {
    return {
      pass: false,
      message: () => `Expected a refusal with ${codeText}, but the call went through: ${refusal.summary}`,
    }
  }
  const pass = equals(refusal, expected, [utils.iterableEquality, utils.subsetEquality])
  const received = `${refusal.code}: ${refusal.message}`
  if (pass) return { pass, message: () => `Expected no refusal with ${codeText}, but it was refused with ${received}` }
  const actual = Object.fromEntries(Object.keys(expected).map((field) => [field, refusal[field]]))
  return {
    pass,
    message: () =>
      `Expected a refusal with ${codeText}, but it was refused with ${received}\n${utils.diff(expected, actual)}`,
  }
}

function compare(
  { equals, utils }: MatcherContext,
  text: string,
  expected: string | RegExp,
  subject: string,
): MatcherResult {
  if (expected instanceof RegExp) {
    const pass = text.search(expected) !== -1
    const not = pass ? ' not' : ''
    return {
      pass,
      message: () =>
        `Expected the ${subject}${not} to match ${utils.printExpected(expected)}:\n${utils.printReceived(text)}`,
    }
  }
  const pass = equals(text, expected)
  return {
    pass,
    message: () =>
      pass
        ? `Expected the ${subject} to differ from ${utils.printExpected(expected)}`
        : `The ${subject} is not as expected\n${utils.diff(expected, text)}`,
  }
}

function backendOf(received: HasFiles): Backend {
  const backend = (received as { readonly backend?: Backend } | null)?.backend ?? received
  if (typeof (backend as Backend | null)?.canonical === 'function') return backend as Backend
  throw new TypeError('toHaveFile() needs a workspace of testWorkspace(), or a backend')
}

/** The entry at a path, as messages describe it. */
interface FoundEntry {
  readonly type: string
  /** The content of a text file. */
  readonly text?: string
}

/** Reads a path through links, as a call does. Errors of the storage are thrown. */
async function entryAt(backend: Backend, path: string): Promise<FoundEntry> {
  let state: EntryState
  try {
    state = await stateAt(backend, await backend.canonical(parsePath(path)))
  } catch (error) {
    if (error instanceof ToolError && error.code === 'NOT_A_DIRECTORY') return { type: 'a file in the way' }
    throw error
  }
  if (state?.type !== 'file') return { type: state === null ? 'nothing' : `a ${state.type}` }
  const text = textOf(state.bytes)
  return { type: 'file', ...(text === undefined ? {} : { text }) }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Returns the first paths of the tree, to show in a message. */
async function firstPaths(backend: Backend): Promise<readonly string[]> {
  const names: string[] = []
  const waiting = ['' as Path]
  for (const directory of waiting) {
    for (const { name, type } of await backend.list(directory)) {
      const path = (directory === '' ? name : `${directory}/${name}`) as Path
      if (type === 'directory') waiting.push(path)
      else if (names.length < MAX_NAMES) names.push(path)
    }
    if (names.length === MAX_NAMES) return [...names, '…']
  }
  return names
}

const MAX_NAMES = 20

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof (value as PromiseLike<unknown> | null)?.then === 'function'
}
