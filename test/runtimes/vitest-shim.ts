/**
 * The parts of vitest that our portable tests use, for runtimes without vitest: it collects the declarations of a file, then
 * runs them in order. `expect` is vitest's own.
 */
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  customMatchers,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect'
import { type CaseResult, type Group, whyOf } from './report.ts'
import { MEASURED } from './table.ts'

type Body = (...args: readonly unknown[]) => unknown
type Define = (name: string, body: Body) => void

interface Scope {
  readonly name: string
  readonly above: Scope | undefined
  readonly entries: (Scope | { readonly name: string; readonly body: Body; readonly skipped?: string })[]
  readonly hooks: Record<'beforeAll' | 'beforeEach' | 'afterEach' | 'afterAll', Body[]>
}

const TIMEOUT_MS = 60_000
let scope = newScope('', undefined)

export const describe = withVariants((name, body) => {
  const inner = newScope(name, scope)
  scope.entries.push(inner)
  scope = inner
  try {
    const returned = body()
    if (returned instanceof Promise) throw new TypeError(`describe("${name}") must not be asynchronous`)
  } finally {
    scope = inner.above as Scope
  }
})
export const it = withVariants((name, body) => scope.entries.push({ name, body }))
export const beforeAll = (body: Body) => scope.hooks.beforeAll.push(body)
export const beforeEach = (body: Body) => scope.hooks.beforeEach.push(body)
export const afterEach = (body: Body) => scope.hooks.afterEach.push(body)
export const afterAll = (body: Body) => scope.hooks.afterAll.push(body)
export const expect = makeExpect()

/** Selects the declared cases to run, and observes them. */
export interface Watch {
  readonly wants: (name: string) => boolean
  readonly starts: (name: string) => void
  readonly ends: (result: CaseResult) => void
}

const everything: Watch = { wants: () => true, starts: () => {}, ends: () => {} }

/** Loads a file and runs its cases. A file that cannot be loaded counts as one failed case. */
export async function runFile(name: string, load: () => Promise<unknown>, watch = everything): Promise<Group> {
  scope = newScope('', undefined)
  const cases: CaseResult[] = []
  const start = Date.now()
  try {
    await load()
    await runScope(scope, cases, watch)
  } catch (error) {
    const result = { name: 'the file itself', status: 'failed', why: whyOf(error) } as const
    watch.ends(result)
    cases.push(result)
  }
  return { name, cases, ms: Date.now() - start }
}

async function runScope(one: Scope, cases: CaseResult[], watch: Watch): Promise<void> {
  if (!isWanted(one, watch)) return
  for (const hook of one.hooks.beforeAll) await hook()
  for (const entry of one.entries) {
    const name = nameOf(one, entry.name)
    if ('entries' in entry) await runScope(entry, cases, watch)
    else if (!watch.wants(name)) continue
    else if (entry.skipped !== undefined) {
      cases.push({ name, status: 'skipped', why: entry.skipped })
    } else if (/\b(costs?|linear)\b/.test(name)) {
      cases.push({ name, status: 'skipped', why: MEASURED })
    } else {
      watch.starts(name)
      const result = await runCase(one, entry.name, entry.body)
      watch.ends(result)
      cases.push(result)
    }
  }
  for (const hook of one.hooks.afterAll) await hook()
}

function isWanted(one: Scope, watch: Watch): boolean {
  return one.entries.some((entry) =>
    'entries' in entry ? isWanted(entry, watch) : watch.wants(nameOf(one, entry.name)),
  )
}

async function runCase(one: Scope, name: string, body: Body): Promise<CaseResult> {
  const full = nameOf(one, name)
  try {
    for (const hook of hooksOf(one, 'beforeEach')) await hook()
    try {
      await inTime(body)
    } finally {
      for (const hook of hooksOf(one, 'afterEach').reverse()) await hook()
    }
    return { name: full, status: 'passed' }
  } catch (error) {
    return { name: full, status: 'failed', why: whyOf(error) }
  }
}

async function inTime(body: Body): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
  })
  try {
    await Promise.race([body(), late])
  } finally {
    clearTimeout(timer)
  }
}

function newScope(name: string, above: Scope | undefined): Scope {
  return { name, above, entries: [], hooks: { beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] } }
}

function hooksOf(one: Scope, when: 'beforeEach' | 'afterEach'): Body[] {
  return [...(one.above === undefined ? [] : hooksOf(one.above, when)), ...one.hooks[when]]
}

function nameOf(one: Scope | undefined, name: string): string {
  if (one === undefined) return name
  return nameOf(one.above, one.name === '' ? name : `${one.name} > ${name}`)
}

function withVariants(define: Define) {
  const each = (rows: readonly unknown[]) => (template: string, body: Body) => {
    const spread = rows.every(Array.isArray)
    rows.forEach((row, index) => {
      const args: readonly unknown[] = spread ? (row as readonly unknown[]) : [row]
      define(format(template, args, index), () => body(...args))
    })
  }
  /** Cases excluded by a condition are reported as skipped. */
  const when = (condition: unknown): Define =>
    condition
      ? define
      : (name) => void scope.entries.push({ name, body: () => {}, skipped: 'a condition of the test leaves it out' })
  return Object.assign((name: string, body: Body) => define(name, body), {
    each,
    runIf: when,
    skipIf: (condition: unknown) => when(!condition),
  })
}

function format(template: string, args: readonly unknown[], index: number): string {
  const left = [...args]
  return template.replace(/%([sdj#%])/g, (mark, kind: string) => {
    if (kind === '%') return '%'
    if (kind === '#') return `${index}`
    if (left.length === 0) return mark
    const value = left.shift()
    return kind === 'j' || (typeof value === 'object' && value !== null) ? JSON.stringify(value) : String(value)
  })
}

function makeExpect() {
  chai.use(JestExtend)
  chai.use(JestChaiExpect)
  chai.use(JestAsymmetricMatchers)
  const own = (value: unknown, message?: string) => chai.expect(value, message)
  Object.assign(own, chai.expect, Reflect.get(globalThis, ASYMMETRIC_MATCHERS_OBJECT))
  Reflect.set(globalThis, GLOBAL_EXPECT, own)
  const made = own as unknown as Parameters<typeof setState>[1]
  setState({ assertionCalls: 0, isExpectingAssertions: false, isExpectingAssertionsError: null }, made)
  const chais = chai.expect as unknown as { extend(to: unknown, matchers: unknown): void }
  chais.extend(made, customMatchers)
  return made
}
