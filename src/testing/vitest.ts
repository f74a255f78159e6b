import type {} from 'vitest'
import { type ErrorCode, ToolError } from '../errors.ts'
import { type Path, parsePath, quote } from '../paths/logical-path.ts'
import type { Backend, EntryState } from '../storage/backend.ts'
import { stateAt } from '../storage/versions.ts'

/** The parts of vitest, or of a compatible runner, that the matchers use. */
export interface MatcherContext {
  readonly isNot: boolean
  /** Whether two values are equal, as the runner sees it. */
  equals(a: unknown, b: unknown, customTesters?: unknown[]): boolean
  readonly utils: {
    /** What differs, as text. */
    diff(a: unknown, b: unknown): string | null | undefined
    /** A value as text, in the colour of what came. */
    printReceived(value: unknown): string
    /** A value as text, in the colour of what was expected. */
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
  /** A file is there, with this text or one that matches; a workspace of `testWorkspace`, or a backend, is looked at. */
  toHaveFile(path: string, content?: string | RegExp): Promise<void>
  /** What changed in a workspace of `testWorkspace` since it was opened, as a diff; `''` for nothing. */
  toHaveDiff(expected: string | RegExp): Promise<void>
  /** A result, or a promise of one, is a refusal, with this code and these details among its own. */
  toRefuse(
    code?: ErrorCode,
    details?: Readonly<Record<string, unknown>>,
  ): T extends PromiseLike<unknown> ? Promise<void> : void
}

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: it must be declared as vitest has it.
  interface Matchers<T = any> extends WardspaceMatchers<T> {}
}

/**
 * Matchers for vitest. Any other value than a workspace or a result is a TypeError, so that `.not` never passes by mistake.
 *
 * @example
 * ```ts
 * expect.extend(matchers)
 *
 * const workspace = await testWorkspace({ 'a.txt': 'one\n' })
 * await expect(workspace.call('delete_file', { path: '../a.txt' })).toRefuse('PATH_REJECTED')
 * await expect(workspace).toHaveFile('a.txt', /^one/)
 * await expect(workspace).toHaveDiff('')
 * ```
 */
export const matchers = {
  /** A file is there, with this text or one that matches. */
  toHaveFile,
  /** What changed since the workspace was opened, as a diff. */
  toHaveDiff,
  /** A result, or a promise of one, is a refusal. */
  toRefuse,
}

async function toHaveFile(
  this: MatcherContext,
  received: HasFiles,
  path: string,
  content?: string | RegExp,
): Promise<MatcherResult> {
  const backend = backendOf(received)
  const found = await lookAt(backend, path)
  if (found.type !== 'file') {
    const names = await someNames(backend)
    const told = names.length === 0 ? 'There are no files.' : `There are ${names.map(quote).join(', ')}`
    return { pass: false, message: () => `Expected a file ${quote(path)}, but there is ${found.type}.\n${told}` }
  }
  const { text } = found
  if (content === undefined) {
    const held = text === undefined ? 'bytes that are no text' : this.utils.printReceived(text)
    return { pass: true, message: () => `Expected no file ${quote(path)}, but it is there: ${held}` }
  }
  if (text === undefined) return { pass: false, message: () => `The file ${quote(path)} is no text` }
  return compare(this, text, content, `file ${quote(path)}`)
}

async function toHaveDiff(
  this: MatcherContext,
  received: { diff(): Promise<string> },
  expected: string | RegExp,
): Promise<MatcherResult> {
  if (typeof received?.diff !== 'function') throw new TypeError('toHaveDiff() needs a workspace of testWorkspace()')
  return compare(this, await received.diff(), expected, 'workspace')
}

function toRefuse(
  this: MatcherContext,
  received: unknown,
  code?: ErrorCode,
  details?: Readonly<Record<string, unknown>>,
): MatcherResult | Promise<MatcherResult> {
  if (!isThenable(received)) return judged(this, received, code, details)
  // A ToolError of a backend is a refusal too. Any other error is rethrown.
  return received.then(
    (result) => judged(this, result, code, details),
    (error: unknown) => {
      // The name also matches errors of another copy of the package.
      const { name, code: given, message, details: own } = (error ?? {}) as Partial<ToolError>
      if (name === 'ToolError') return judged(this, { ...own, ok: false, code: given, message }, code, details)
      throw error
    },
  )
}

function judged(
  { equals, utils }: MatcherContext,
  result: unknown,
  code: ErrorCode | undefined,
  details: Readonly<Record<string, unknown>> = {},
): MatcherResult {
  const { ok, ...rest } = (result ?? {}) as { readonly ok?: unknown; readonly [field: string]: unknown }
  if (typeof ok !== 'boolean') {
    throw new TypeError(
      `toRefuse() needs the result of a call, or a promise of one, not ${utils.printReceived(result)}`,
    )
  }
  const wanted = { ...details, ...(code === undefined ? {} : { code }) }
  const named = code ?? 'any code'
  if (ok) {
    return {
      pass: false,
      message: () => `Expected a refusal with ${named}, but the call went through: ${rest.summary}`,
    }
  }
  const pass = equals(rest, wanted, [utils.iterableEquality, utils.subsetEquality])
  const told = `${rest.code}: ${rest.message}`
  if (pass) return { pass, message: () => `Expected no refusal with ${named}, but it was refused with ${told}` }
  const there = Object.fromEntries(Object.keys(wanted).map((field) => [field, rest[field]]))
  return {
    pass,
    message: () => `Expected a refusal with ${named}, but it was refused with ${told}\n${utils.diff(wanted, there)}`,
  }
}

function compare(
  { equals, utils }: MatcherContext,
  text: string,
  expected: string | RegExp,
  what: string,
): MatcherResult {
  if (expected instanceof RegExp) {
    const pass = text.search(expected) !== -1
    const not = pass ? ' not' : ''
    return {
      pass,
      message: () =>
        `Expected the ${what}${not} to match ${utils.printExpected(expected)}:\n${utils.printReceived(text)}`,
    }
  }
  const pass = equals(text, expected)
  return {
    pass,
    message: () =>
      pass
        ? `Expected the ${what} to be another than ${utils.printExpected(expected)}`
        : `The ${what} is not as expected\n${utils.diff(expected, text)}`,
  }
}

function backendOf(received: HasFiles): Backend {
  const backend = (received as { readonly backend?: Backend } | null)?.backend ?? received
  if (typeof (backend as Backend | null)?.canonical === 'function') return backend as Backend
  throw new TypeError('toHaveFile() needs a workspace of testWorkspace(), or a backend')
}

interface Found {
  readonly type: string
  /** Of a file that is text. */
  readonly text?: string
}

/** Reads a path through links, as a call does. Errors of the storage are thrown. */
async function lookAt(backend: Backend, path: string): Promise<Found> {
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

/** Returns the first paths of the tree, for a message. */
async function someNames(backend: Backend): Promise<readonly string[]> {
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
