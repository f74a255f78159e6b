import { isDeepEqual, isEqual } from './deep-equal.js'
import { inspect } from './inspect.js'
import { isLooselyEqual } from './loose-equality.js'

/**
 * @typedef {string | Error | undefined} Message
 * @typedef {object} Failure
 * @property {string} message
 * @property {unknown} actual
 * @property {unknown} expected
 * @property {string} operator
 * @property {boolean} [isGenerated] the message is not the caller's
 */

class AssertionError extends Error {
  /** @param {Failure & { generated?: boolean }} failure */
  constructor({ message, actual, expected, operator, isGenerated = false }) {
    super(message)
    this.name = 'AssertionError'
    this.code = 'ERR_ASSERTION'
    this.actual = actual
    this.expected = expected
    this.operator = operator
    this.generatedMessage = isGenerated
  }

  get [Symbol.toStringTag]() {
    return 'AssertionError'
  }
}

/**
 * @param {Message} message the caller's
 * @param {unknown} actual
 * @param {unknown} expected
 * @param {string} operator
 * @param {() => string} describe makes the message if the caller gave none
 * @returns {never}
 * @throws AssertionError, or the message if it is an error itself
 */
function fail(message, actual, expected, operator, describe) {
  if (message instanceof Error) throw message
  const isGenerated = message === undefined
  throw new AssertionError({
    message: isGenerated ? describe() : String(message),
    isGenerated,
    actual,
    expected,
    operator,
  })
}

/** @param {unknown} value */
const linesOf = (value) => inspect(value, { depth: 8 }).split('\n')

/**
 * Returns a function that describes how two values differ, line by line.
 *
 * @param {string} title
 * @param {unknown} actual
 * @param {unknown} expected
 */
function difference(title, actual, expected) {
  return () => {
    const a = linesOf(actual)
    const b = linesOf(expected)
    if (a.length === 1 && b.length === 1 && typeof actual !== 'object' && typeof expected !== 'object') {
      return `${title}:\n\n${a[0]} !== ${b[0]}\n`
    }
    return `${title}:\n+ actual - expected\n\n${differingLines(a, b).join('\n')}\n`
  }
}

/**
 * Marks the lines of two texts by `+` (actual) and `-` (expected). Not the shortest difference: it takes the nearest line
 * that both texts have.
 *
 * @param {string[]} actual
 * @param {string[]} expected
 */
function differingLines(actual, expected) {
  /** @type {string[]} */
  const lines = []
  let a = 0
  let b = 0
  while (a < actual.length || b < expected.length) {
    if (a < actual.length && b < expected.length && actual[a] === expected[b]) {
      lines.push(`  ${actual[a]}`)
      a++
      b++
      continue
    }
    const ahead = expected.indexOf(actual[a], b)
    const behind = actual.indexOf(expected[b], a)
    const inNeither = ahead === -1 && behind === -1
    const isNearer = behind !== -1 && (ahead === -1 || behind - a <= ahead - b)
    if (a < actual.length && (isNearer || b >= expected.length || inNeither)) {
      lines.push(`+ ${actual[a++]}`)
      if (inNeither && b < expected.length) lines.push(`- ${expected[b++]}`)
    } else lines.push(`- ${expected[b++]}`)
  }
  return lines
}

/**
 * Requires that a thrown value is as expected: by a class, a validation function, a pattern or properties.
 *
 * @param {unknown} error
 * @param {unknown} expected
 * @param {Message} message
 * @param {string} operator
 */
function requireError(error, expected, message, operator) {
  if (expected === undefined) return
  if (typeof expected === 'function') {
    if (expected.prototype !== undefined && error instanceof expected) return
    if (Object.prototype.isPrototypeOf.call(Error, expected) || expected === Error) throw error
    const verdict = expected.call({}, error)
    if (verdict === true) return
    const text = `The validation function is expected to return "true". Received ${inspect(verdict)}`
    fail(message, error, expected, operator, () => text)
  }
  if (expected instanceof RegExp) {
    if (!expected.test(String(error))) fail(message, error, expected, operator, () => mismatch(String(error), expected))
    return
  }
  const properties = /** @type {Record<string, unknown>} */ (expected)
  for (const key of [...Object.keys(properties), ...(expected instanceof Error ? ['name', 'message'] : [])]) {
    const value = properties[key]
    const actual = /** @type {Record<string, unknown> | null | undefined} */ (error)?.[key]
    const isExpected =
      value instanceof RegExp && typeof actual === 'string' ? value.test(actual) : isDeepEqual(actual, value, true)
    if (isExpected) continue
    const describe = difference('Expected values to be strictly deep-equal', actual, value)
    fail(message, error, expected, operator, describe)
  }
}

/**
 * @param {unknown} text
 * @param {RegExp} pattern
 */
function mismatch(text, pattern) {
  return `The input did not match the regular expression ${pattern}. Input:\n\n${inspect(text)}\n`
}

/** @param {unknown} expected */
function nameOf(expected) {
  const { name } = /** @type {{ name?: string }} */ (expected ?? {})
  return name ? ` (${name}).` : '.'
}

/**
 * Makes `assert`, `assert.ok` and `assert.strict`, which differ in the name that their message shows.
 *
 * @param {string} name
 */
function truthyAssertion(name) {
  /** @param {[value?: unknown, message?: Message]} args */
  return function ok(...args) {
    const [value, message] = args
    if (value) return
    fail(args.length === 0 ? 'No value argument passed to assert.ok()' : message, value, true, '==', () => {
      return `The expression evaluated to a falsy value:\n\n  ${name}(${inspect(value)})\n`
    })
  }
}

/**
 * Runs a function, which may return a promise, or waits for a promise.
 *
 * @param {unknown} task
 */
const settle = async (task) => (typeof task === 'function' ? task() : task)

/**
 * `expected` and `message` of `throws` and `rejects`: a string in place of the first is the message.
 *
 * @param {unknown} expected
 * @param {Message} message
 * @returns {[expected: unknown, message: Message]}
 */
const expectation = (expected, message) => (typeof expected === 'string' ? [undefined, expected] : [expected, message])

/**
 * @param {'exception' | 'rejection'} kind
 * @param {unknown} error
 * @param {unknown} message
 * @param {string} operator
 */
function failUnwanted(kind, error, message, operator) {
  const { message: text } = /** @type {{ message?: string }} */ (error ?? {})
  fail(typeof message === 'string' ? message : undefined, error, undefined, operator, () => {
    return `Got unwanted ${kind}.\nActual message: "${text}"`
  })
}

/** @typedef {(actual: unknown, expected: unknown, message?: Message) => void} Comparison */

/** @satisfies {Record<string, Comparison>} */
const comparisons = {
  equal(actual, expected, message) {
    if (isEqual(actual, expected)) return
    fail(message, actual, expected, '==', () => `${inspect(actual)} == ${inspect(expected)}`)
  },
  notEqual(actual, expected, message) {
    if (!isLooselyEqual(actual, expected)) return
    fail(message, actual, expected, '!=', () => `${inspect(actual)} != ${inspect(expected)}`)
  },
  strictEqual(actual, expected, message) {
    if (Object.is(actual, expected)) return
    const describe = difference('Expected values to be strictly equal', actual, expected)
    fail(message, actual, expected, 'strictEqual', describe)
  },
  notStrictEqual(actual, expected, message) {
    if (!Object.is(actual, expected)) return
    fail(message, actual, expected, 'notStrictEqual', () => {
      return `Expected "actual" to be strictly unequal to: ${inspect(expected)}`
    })
  },
  deepEqual(actual, expected, message) {
    if (isDeepEqual(actual, expected, false)) return
    const describe = difference('Expected values to be loosely deep-equal', actual, expected)
    fail(message, actual, expected, 'deepEqual', describe)
  },
  notDeepEqual(actual, expected, message) {
    if (!isDeepEqual(actual, expected, false)) return
    fail(message, actual, expected, 'notDeepEqual', () => {
      return `Expected "actual" not to be loosely deep-equal to: ${inspect(expected)}`
    })
  },
  deepStrictEqual(actual, expected, message) {
    if (isDeepEqual(actual, expected, true)) return
    const describe = difference('Expected values to be strictly deep-equal', actual, expected)
    fail(message, actual, expected, 'deepStrictEqual', describe)
  },
  notDeepStrictEqual(actual, expected, message) {
    if (!isDeepEqual(actual, expected, true)) return
    fail(message, actual, expected, 'notDeepStrictEqual', () => {
      return `Expected "actual" not to be strictly deep-equal to: ${inspect(expected)}`
    })
  },
}

const others = {
  ok: truthyAssertion('assert.ok'),
  /**
   * @param {unknown} text
   * @param {RegExp} pattern
   * @param {Message} [message]
   */
  match(text, pattern, message) {
    if (typeof text === 'string' && pattern.test(text)) return
    fail(message, text, pattern, 'match', () => mismatch(text, pattern))
  },
  /**
   * @param {unknown} text
   * @param {RegExp} pattern
   * @param {Message} [message]
   */
  doesNotMatch(text, pattern, message) {
    if (typeof text !== 'string' || !pattern.test(text)) return
    fail(message, text, pattern, 'doesNotMatch', () => {
      return `The input was expected to not match the regular expression ${pattern}. Input:\n\n${inspect(text)}\n`
    })
  },
  /** @param {Message} [message] */
  fail(message) {
    fail(message, undefined, undefined, 'fail', () => 'Failed')
  },
  /** @param {unknown} error */
  ifError(error) {
    if (error === null || error === undefined) return
    if (error instanceof Error) throw error
    const message = `ifError got unwanted exception: ${inspect(error)}`
    throw new AssertionError({ message, actual: error, expected: null, operator: 'ifError' })
  },
  /**
   * @param {() => unknown} run
   * @param {unknown} [expectedError]
   * @param {Message} [ownMessage]
   */
  throws(run, expectedError, ownMessage) {
    const [expected, message] = expectation(expectedError, ownMessage)
    try {
      run()
    } catch (error) {
      requireError(error, expected, message, 'throws')
      return
    }
    fail(message, undefined, expected, 'throws', () => `Missing expected exception${nameOf(expected)}`)
  },
  /**
   * @param {() => unknown} run
   * @param {unknown} [message]
   */
  doesNotThrow(run, message) {
    try {
      run()
    } catch (error) {
      failUnwanted('exception', error, message, 'doesNotThrow')
    }
  },
  /**
   * @param {unknown} task a promise, or a function that returns one
   * @param {unknown} [expectedError]
   * @param {Message} [ownMessage]
   */
  async rejects(task, expectedError, ownMessage) {
    const [expected, message] = expectation(expectedError, ownMessage)
    try {
      await settle(task)
    } catch (error) {
      requireError(error, expected, message, 'rejects')
      return
    }
    fail(message, undefined, expected, 'rejects', () => `Missing expected rejection${nameOf(expected)}`)
  },
  /**
   * @param {unknown} task a promise, or a function that returns one
   * @param {unknown} [message]
   */
  async doesNotReject(task, message) {
    try {
      await settle(task)
    } catch (error) {
      failUnwanted('rejection', error, message, 'doesNotReject')
    }
  },
}

/** The module `assert/strict`. */
export const strict = Object.assign(truthyAssertion('assert.ok'), others, comparisons, {
  equal: comparisons.strictEqual,
  notEqual: comparisons.notStrictEqual,
  deepEqual: comparisons.deepStrictEqual,
  notDeepEqual: comparisons.notDeepStrictEqual,
  AssertionError,
})
Object.assign(strict, { strict })

/** The module `assert`. */
export const assert = Object.assign(truthyAssertion('assert'), others, comparisons, { AssertionError, strict })
