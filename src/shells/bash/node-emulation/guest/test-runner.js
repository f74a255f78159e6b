import { assert } from './assert.js'
import { codedError, facts, reportTests, writeOutput } from './host.js'
import { inspect } from './inspect.js'
import { createMocks } from './mocks.js'
import { process } from './process.js'
import { clearTimeout, setTimeout } from './timers.js'

/**
 * @typedef {(...args: unknown[]) => unknown} Body
 * @typedef {{ skip?: unknown, todo?: unknown, only?: unknown, timeout?: number }} Options
 * @typedef {'before' | 'after' | 'beforeEach' | 'afterEach'} HookName
 *
 * @typedef {object} Suite the content of a `describe`, a file, or a test with parts
 * @property {Suite | undefined} parent
 * @property {(Test | Group)[]} items
 * @property {Body[]} before
 * @property {Body[]} after
 * @property {Body[]} beforeEach
 * @property {Body[]} afterEach
 *
 * @typedef {object} Common
 * @property {string} name
 * @property {Options} options
 * @property {Body | undefined} run
 * @property {Promise<void>} done
 * @property {() => void} settle resolves `done`
 *
 * @typedef {Common & { kind: 'test' }} Test
 * @typedef {Common & { kind: 'suite', content: Suite, building?: Promise<unknown>, failure?: unknown }} Group
 */

const root = createSuite(undefined)
let current = root
let isUsed = false
let isStarted = false
const totals = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 }
/** @type {{ name: string, error: unknown }[]} */
const failures = []

/**
 * @param {Suite | undefined} parent
 * @returns {Suite}
 */
function createSuite(parent) {
  return { parent, items: [], before: [], after: [], beforeEach: [], afterEach: [] }
}

/**
 * Reads `name?, options?, run?`.
 *
 * @param {unknown[]} args
 * @param {Options} [more]
 * @returns {Common}
 */
function parse(args, more) {
  const list = [...args]
  const name = typeof list[0] === 'string' ? list.shift() : undefined
  const options = typeof list[0] === 'object' && list[0] !== null ? list.shift() : {}
  const run = /** @type {Body | undefined} */ (typeof list[0] === 'function' ? list.shift() : undefined)
  let settle = () => {}
  /** @type {Promise<void>} */
  const done = new Promise((resolve) => {
    settle = resolve
  })
  const title = String(name || run?.name || '<anonymous>')
  return { name: title, options: Object.assign({}, options, more), run, done, settle }
}

/** @param {Options} [options] */
function testWith(options) {
  return (/** @type {unknown[]} */ ...args) => {
    isUsed = true
    /** @type {Test} */
    const test = { ...parse(args, options), kind: 'test' }
    current.items.push(test)
    return test.done
  }
}

/** @param {Options} [options] */
function describeWith(options) {
  return (/** @type {unknown[]} */ ...args) => {
    isUsed = true
    /** @type {Group} */
    const group = { ...parse(args, options), kind: 'suite', content: createSuite(current) }
    current.items.push(group)
    const outer = current
    current = group.content
    try {
      const result = group.options.skip ? undefined : group.run?.call({}, { name: group.name })
      if (isThenable(result)) group.building = Promise.resolve(result)
    } catch (error) {
      group.failure = error
    } finally {
      current = outer
    }
    return group.done
  }
}

/**
 * @param {unknown} value
 * @returns {value is PromiseLike<unknown>}
 */
function isThenable(value) {
  return typeof (/** @type {{ then?: unknown } | undefined} */ (value)?.then) === 'function'
}

/** @param {HookName} name */
function hook(name) {
  return (/** @type {Body} */ run) => {
    isUsed = true
    current[name].push(run)
  }
}

/**
 * Runs a test or a hook, which may take a callback as its second parameter.
 *
 * @param {Body} run
 * @param {unknown} context
 */
async function call(run, context) {
  if (run.length < 2) return run.call(context, context)
  return new Promise((resolve, reject) => {
    run.call(context, context, (/** @type {unknown} */ error) => (error ? reject(error) : resolve(undefined)))
  })
}

/**
 * @param {readonly Body[]} hooks
 * @param {unknown} context
 */
async function callAll(hooks, context) {
  for (const run of hooks) await call(run, context)
}

/**
 * Fails if a test takes longer than its time limit.
 *
 * @param {() => Promise<unknown>} run
 * @param {number | undefined} ms
 */
async function withTimeLimit(run, ms) {
  if (ms === undefined || ms === Number.POSITIVE_INFINITY) return run()
  let timer
  try {
    const expiry = new Promise((_, reject) => {
      const message = `test timed out after ${ms}ms`
      timer = setTimeout(() => reject(codedError(Error, 'ERR_TEST_FAILURE', message)), ms)
    })
    return await Promise.race([run(), expiry])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Prints a line, indented by depth.
 *
 * @param {number} depth
 * @param {string} text
 */
function print(depth, text) {
  writeOutput(1, `${'  '.repeat(depth)}${text}\n`)
}

/**
 * @param {Test | Group} item
 * @param {number} depth
 * @param {'pass' | 'fail' | 'skip'} outcome
 * @param {number} startTime
 */
function printOutcome({ name, options }, depth, outcome, startTime) {
  const mark = { pass: '✔', fail: '✖', skip: '﹣' }[outcome]
  const note = options.skip ? ' # SKIP' : options.todo ? ' # TODO' : ''
  print(depth, `${mark} ${name} (${Date.now() - startTime}ms)${note}`)
}

/**
 * Whether the name of a test or of anything in a suite matches the pattern of the command line.
 *
 * @param {Test | Group} item
 * @returns {boolean}
 */
function isSelected(item) {
  if (facts.namePattern === undefined || new RegExp(facts.namePattern).test(item.name)) return true
  return item.kind === 'suite' && item.content.items.some(isSelected)
}

/**
 * The hooks around each test of a suite: those of outer suites first, or last.
 *
 * @param {Suite} suite
 * @param {HookName} name
 * @param {boolean} isOuterFirst
 */
function inheritedHooks(suite, name, isOuterFirst) {
  /** @type {Body[]} */
  let hooks = []
  for (let at = /** @type {Suite | undefined} */ (suite); at; at = at.parent) {
    hooks = isOuterFirst ? [...at[name], ...hooks] : [...hooks, ...at[name]]
  }
  return hooks
}

/**
 * The argument of a test: it adds hooks and parts.
 *
 * @param {Test} test
 * @param {number} depth
 * @param {Suite} suite
 */
function createContext(test, depth, suite) {
  const parts = createSuite(suite)
  const state = { afterHooks: /** @type {Body[]} */ ([]), failedParts: 0 }
  const context = {
    name: test.name,
    fullName: test.name,
    signal: { aborted: false },
    diagnostic(/** @type {unknown} */ text) {
      print(depth, `ℹ ${text}`)
    },
    skip() {
      test.options.skip = true
    },
    todo() {
      test.options.todo = true
    },
    plan() {},
    runOnly() {},
    before: (/** @type {Body} */ run) => void parts.before.push(run),
    after: (/** @type {Body} */ run) => void state.afterHooks.push(run),
    beforeEach: (/** @type {Body} */ run) => void parts.beforeEach.push(run),
    afterEach: (/** @type {Body} */ run) => void parts.afterEach.push(run),
    assert,
    mock: createMocks(),
    async test(/** @type {unknown[]} */ ...args) {
      if (!(await runTest({ ...parse(args), kind: 'test' }, depth + 1, parts))) state.failedParts++
    },
  }
  return { context, state }
}

/**
 * Runs a test with its hooks. Returns what it threw, if it failed.
 *
 * @param {Test & { run: Body }} test
 * @param {number} depth
 * @param {Suite} suite
 * @returns {Promise<{ error: unknown } | undefined>}
 */
async function attempt(test, depth, suite) {
  const { context, state } = createContext(test, depth, suite)
  /** @type {{ error: unknown } | undefined} */
  let failure
  try {
    await callAll(inheritedHooks(suite, 'beforeEach', true), context)
    await withTimeLimit(() => call(test.run, context), test.options.timeout)
    if (state.failedParts > 0) {
      const message = `${state.failedParts} subtest${state.failedParts > 1 ? 's' : ''} failed`
      throw codedError(Error, 'ERR_TEST_FAILURE', message)
    }
  } catch (error) {
    failure = { error: error === undefined ? new Error('undefined was thrown') : error }
  }
  try {
    await callAll(state.afterHooks, context)
    await callAll(inheritedHooks(suite, 'afterEach', false), context)
  } catch (error) {
    failure ??= { error }
  }
  context.mock.restoreAll()
  return failure
}

/**
 * Runs, counts and prints a test. Returns whether it is good: passed, skipped or to do.
 *
 * @param {Test} test
 * @param {number} depth
 * @param {Suite} suite
 * @returns {Promise<boolean>}
 */
async function runTest(test, depth, suite) {
  totals.tests++
  const startTime = Date.now()
  const { options, run } = test
  const isOmitted = options.skip || (run === undefined && !options.todo)
  const failure = isOmitted || run === undefined ? undefined : await attempt({ ...test, run }, depth, suite)
  const isSkipped = Boolean(isOmitted || options.skip)
  const isFailed = failure !== undefined && !isSkipped && !options.todo
  totals[isSkipped ? 'skipped' : options.todo ? 'todo' : isFailed ? 'fail' : 'pass']++
  printOutcome(test, depth, isSkipped ? 'skip' : isFailed ? 'fail' : 'pass', startTime)
  if (isFailed) failures.push({ name: test.name, error: failure.error })
  test.settle()
  return !isFailed
}

/**
 * @param {Group} group
 * @param {number} depth
 * @returns {Promise<boolean>}
 */
async function runGroup(group, depth) {
  totals.suites++
  const startTime = Date.now()
  const { content, options } = group
  let { failure } = group
  let isGood = true
  print(depth, `▶ ${group.name}`)
  try {
    await group.building
  } catch (error) {
    failure = error
  }
  if (failure === undefined && !options.skip) {
    try {
      await callAll(content.before, {})
      isGood = await runAll(content, depth + 1)
    } catch (error) {
      failure = error
    }
    try {
      await callAll(content.after, {})
    } catch (error) {
      failure ??= error
    }
  }
  if (failure !== undefined) {
    isGood = false
    totals.fail++
    failures.push({ name: group.name, error: failure })
  }
  printOutcome(group, depth, options.skip ? 'skip' : isGood ? 'pass' : 'fail', startTime)
  group.settle()
  return isGood
}

/**
 * @param {Suite} suite
 * @param {number} depth
 */
async function runAll(suite, depth) {
  let isGood = true
  const hasOnly = suite.items.some(({ options }) => options.only)
  // Not `for of`: a test may add others behind itself.
  for (let i = 0; i < suite.items.length; i++) {
    const item = suite.items[i]
    if ((hasOnly && !item.options.only) || !isSelected(item)) {
      item.settle()
      continue
    }
    const isItemGood = item.kind === 'suite' ? await runGroup(item, depth) : await runTest(item, depth, suite)
    if (!isItemGood) isGood = false
  }
  return isGood
}

/** Runs the registered tests, if there are any, when the script's own code has run. Later calls do nothing. */
export function startTests() {
  if (isStarted || !isUsed) return
  isStarted = true
  runRegistered()
}

async function runRegistered() {
  const [, file] = facts.argv
  try {
    await callAll(root.before, {})
    await runAll(root, 0)
    await callAll(root.after, {})
  } catch (error) {
    totals.fail++
    failures.push({ name: file, error })
  }
  if (totals.fail > 0) process.exitCode = 1
  const texts = failures.map(({ name, error }) => ({ name, file, text: inspect(error) }))
  reportTests(JSON.stringify({ totals, failures: texts }))
}

const test = testWith()
const describe = Object.assign(describeWith(), {
  skip: describeWith({ skip: true }),
  todo: describeWith({ todo: true }),
  only: describeWith({ only: true }),
})

/** The module `test`: a test function that has all the others. */
export const testModule = Object.assign(test, {
  test,
  it: test,
  describe,
  suite: describeWith(),
  before: hook('before'),
  after: hook('after'),
  beforeEach: hook('beforeEach'),
  afterEach: hook('afterEach'),
  mock: createMocks(),
  skip: testWith({ skip: true }),
  todo: testWith({ todo: true }),
  only: testWith({ only: true }),
})
