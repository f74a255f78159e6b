/** Node's assert, for the guest. Text, without a backtick. */
export const assertSource = String.raw`
(function () {
'use strict';
var W = globalThis.__ward;
W.define('assert', function () {
  class AssertionError extends Error {
    constructor(of) {
      super(of.message);
      this.name = 'AssertionError';
      this.code = 'ERR_ASSERTION';
      this.actual = of.actual;
      this.expected = of.expected;
      this.operator = of.operator;
      this.generatedMessage = of.generated === true;
    }
    get [Symbol.toStringTag]() { return 'AssertionError'; }
  }
  function fail(given, actual, expected, operator, text) {
    if (given instanceof Error) throw given;
    throw new AssertionError({ message: given === undefined ? text() : String(given), generated: given === undefined, actual: actual, expected: expected, operator: operator });
  }
  var has = Object.prototype.hasOwnProperty;
  function same(a, b, strict, seen) {
    if (strict ? Object.is(a, b) : a == b || (a !== a && b !== b)) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    seen = seen || [];
    if (seen.some(function (pair) { return pair[0] === a && pair[1] === b; })) return true;
    seen.push([a, b]);
    try {
      if (a instanceof Date || b instanceof Date) { if (!(a instanceof Date && b instanceof Date) || a.getTime() !== b.getTime()) return false; }
      if (a instanceof RegExp || b instanceof RegExp) { if (String(a) !== String(b)) return false; }
      if (a instanceof Error || b instanceof Error) { if (!(a instanceof Error && b instanceof Error) || a.message !== b.message || a.name !== b.name) return false; }
      if (a instanceof Number || a instanceof String || a instanceof Boolean) { if (!Object.is(a.valueOf(), b.valueOf())) return false; }
      if (ArrayBuffer.isView(a)) {
        if (!ArrayBuffer.isView(b) || a.byteLength !== b.byteLength) return false;
        for (var i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
        return true;
      }
      if (a instanceof Map || b instanceof Map) {
        if (!(a instanceof Map && b instanceof Map) || a.size !== b.size) return false;
        for (var entry of a) {
          if (b.has(entry[0])) { if (!same(entry[1], b.get(entry[0]), strict, seen)) return false; }
          else if (!Array.from(b).some(function (other) { return same(entry[0], other[0], strict, seen) && same(entry[1], other[1], strict, seen); })) return false;
        }
      }
      if (a instanceof Set || b instanceof Set) {
        if (!(a instanceof Set && b instanceof Set) || a.size !== b.size) return false;
        for (var one of a) if (!b.has(one) && !Array.from(b).some(function (other) { return same(one, other, strict, seen); })) return false;
      }
      if (Array.isArray(a) && a.length !== b.length) return false;
      var keys = Object.keys(a), others = Object.keys(b);
      if (strict) {
        var visible = function (v) { return Object.getOwnPropertySymbols(v).filter(function (s) { return Object.prototype.propertyIsEnumerable.call(v, s); }); };
        keys = keys.concat(visible(a)); others = others.concat(visible(b));
      }
      if (keys.length !== others.length) return false;
      return keys.every(function (key) { return has.call(b, key) && same(a[key], b[key], strict, seen); });
    } finally { seen.pop(); }
  }
  function lines(value) { return W.inspect(value, { depth: 8 }).split('\n'); }
  function difference(title, actual, expected) {
    return function () {
      var a = lines(actual), b = lines(expected);
      if (a.length === 1 && b.length === 1) {
        if (typeof actual !== 'object' && typeof expected !== 'object') return title + ':\n\n' + a[0] + ' !== ' + b[0] + '\n';
      }
      var out = [], i = 0, k = 0;
      while (i < a.length || k < b.length) {
        if (i < a.length && k < b.length && a[i] === b[k]) { out.push('  ' + a[i]); i++; k++; continue; }
        var ahead = b.indexOf(a[i], k), behind = a.indexOf(b[k], i);
        if (i < a.length && (behind !== -1 && (ahead === -1 || behind - i <= ahead - k) || k >= b.length || (ahead === -1 && behind === -1))) { out.push('+ ' + a[i]); i++; if (ahead === -1 && behind === -1 && k < b.length) { out.push('- ' + b[k]); k++; } }
        else { out.push('- ' + b[k]); k++; }
      }
      return title + ':\n+ actual - expected\n\n' + out.join('\n') + '\n';
    };
  }
  function matches(error, expected, message, name) {
    if (expected === undefined) return;
    if (typeof expected === 'function') {
      if (expected.prototype !== undefined && error instanceof expected) return;
      if (Error.isPrototypeOf(expected) || expected === Error) throw error;
      if (expected.call({}, error) !== true) fail(message, error, expected, name, function () { return 'The validation function is expected to return "true". Received ' + W.inspect(expected.call({}, error)); });
      return;
    }
    if (expected instanceof RegExp) {
      if (!expected.test(String(error))) fail(message, error, expected, name, function () { return 'The input did not match the regular expression ' + expected + '. Input:\n\n' + W.inspect(String(error)) + '\n'; });
      return;
    }
    Object.keys(expected).concat(expected instanceof Error ? ['name', 'message'] : []).forEach(function (key) {
      var wanted = expected[key], found = error === null || error === undefined ? undefined : error[key];
      var isSame = wanted instanceof RegExp && typeof found === 'string' ? wanted.test(found) : same(found, wanted, true);
      if (!isSame) fail(message, error, expected, name, difference('Expected values to be strictly deep-equal', found, wanted));
    });
  }
  function assert(value, message) { if (!value) fail(arguments.length === 0 ? 'No value argument passed to assert.ok()' : message, value, true, '==', function () { return 'The expression evaluated to a falsy value:\n\n  assert(' + W.inspect(value) + ')\n'; }); }
  var own = {
    ok: function (value, message) { if (!value) fail(arguments.length === 0 ? 'No value argument passed to assert.ok()' : message, value, true, '==', function () { return 'The expression evaluated to a falsy value:\n\n  assert.ok(' + W.inspect(value) + ')\n'; }); },
    equal: function (a, b, m) { if (!(a == b || (a !== a && b !== b))) fail(m, a, b, '==', function () { return W.inspect(a) + ' == ' + W.inspect(b); }); },
    notEqual: function (a, b, m) { if (a == b) fail(m, a, b, '!=', function () { return W.inspect(a) + ' != ' + W.inspect(b); }); },
    strictEqual: function (a, b, m) { if (!Object.is(a, b)) fail(m, a, b, 'strictEqual', difference('Expected values to be strictly equal', a, b)); },
    notStrictEqual: function (a, b, m) { if (Object.is(a, b)) fail(m, a, b, 'notStrictEqual', function () { return 'Expected "actual" to be strictly unequal to: ' + W.inspect(b); }); },
    deepEqual: function (a, b, m) { if (!same(a, b, false)) fail(m, a, b, 'deepEqual', difference('Expected values to be loosely deep-equal', a, b)); },
    notDeepEqual: function (a, b, m) { if (same(a, b, false)) fail(m, a, b, 'notDeepEqual', function () { return 'Expected "actual" not to be loosely deep-equal to: ' + W.inspect(b); }); },
    deepStrictEqual: function (a, b, m) { if (!same(a, b, true)) fail(m, a, b, 'deepStrictEqual', difference('Expected values to be strictly deep-equal', a, b)); },
    notDeepStrictEqual: function (a, b, m) { if (same(a, b, true)) fail(m, a, b, 'notDeepStrictEqual', function () { return 'Expected "actual" not to be strictly deep-equal to: ' + W.inspect(b); }); },
    match: function (text, pattern, m) { if (typeof text !== 'string' || !pattern.test(text)) fail(m, text, pattern, 'match', function () { return 'The input did not match the regular expression ' + pattern + '. Input:\n\n' + W.inspect(text) + '\n'; }); },
    doesNotMatch: function (text, pattern, m) { if (typeof text === 'string' && pattern.test(text)) fail(m, text, pattern, 'doesNotMatch', function () { return 'The input was expected to not match the regular expression ' + pattern + '. Input:\n\n' + W.inspect(text) + '\n'; }); },
    fail: function (m) { fail(m, undefined, undefined, 'fail', function () { return 'Failed'; }); },
    ifError: function (error) { if (error !== null && error !== undefined) throw error instanceof Error ? error : new AssertionError({ message: 'ifError got unwanted exception: ' + W.inspect(error), actual: error, expected: null, operator: 'ifError' }); },
    throws: function (run, expected, m) {
      if (typeof expected === 'string') { m = expected; expected = undefined; }
      var error, isThrown = false;
      try { run(); } catch (e) { error = e; isThrown = true; }
      if (!isThrown) fail(m, undefined, expected, 'throws', function () { return 'Missing expected exception' + (expected && expected.name ? ' (' + expected.name + ').' : '.'); });
      matches(error, expected, m, 'throws');
    },
    doesNotThrow: function (run, m) { try { run(); } catch (error) { fail(typeof m === 'string' ? m : undefined, error, undefined, 'doesNotThrow', function () { return 'Got unwanted exception.\nActual message: "' + (error && error.message) + '"'; }); } },
    rejects: async function (what, expected, m) {
      if (typeof expected === 'string') { m = expected; expected = undefined; }
      var error, isThrown = false;
      try { await (typeof what === 'function' ? what() : what); } catch (e) { error = e; isThrown = true; }
      if (!isThrown) fail(m, undefined, expected, 'rejects', function () { return 'Missing expected rejection' + (expected && expected.name ? ' (' + expected.name + ').' : '.'); });
      matches(error, expected, m, 'rejects');
    },
    doesNotReject: async function (what, m) { try { await (typeof what === 'function' ? what() : what); } catch (error) { fail(typeof m === 'string' ? m : undefined, error, undefined, 'doesNotReject', function () { return 'Got unwanted rejection.\nActual message: "' + (error && error.message) + '"'; }); } }
  };
  Object.assign(assert, own, { AssertionError: AssertionError, same_: same });
  var strict = function (value, message) { own.ok(value, message); };
  Object.assign(strict, own, { equal: own.strictEqual, notEqual: own.notStrictEqual, deepEqual: own.deepStrictEqual, notDeepEqual: own.notDeepStrictEqual, AssertionError: AssertionError });
  assert.strict = strict;
  strict.strict = strict;
  return assert;
});
W.define('assert/strict', function () { return W.get('assert').strict; });
})();
`
