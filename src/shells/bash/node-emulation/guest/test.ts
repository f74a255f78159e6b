/** Node's test runner, for the guest: what a file registers runs when its code has run. Text, without a backtick. */
export const testSource = String.raw`
(function () {
'use strict';
var W = globalThis.__ward, facts = JSON.parse(globalThis.__facts);
var root = suite('', undefined), current = root, isBegun = false, isUsed = false;
var totals = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 }, failures = [];

function suite(name, parent) {
  return { name: name, parent: parent, items: [], before: [], after: [], beforeEach: [], afterEach: [], depth: parent ? parent.depth + 1 : -1 };
}
function parse(args, extra) {
  var list = Array.prototype.slice.call(args), name = typeof list[0] === 'string' ? list.shift() : undefined;
  var how = typeof list[0] === 'object' && list[0] !== null ? list.shift() : {}, run = typeof list[0] === 'function' ? list.shift() : undefined;
  return { name: name || (run && run.name) || '<anonymous>', how: Object.assign({}, how, extra), run: run };
}
function settle(node, value) { node.done = new Promise(function (resolve) { node.settle = resolve; }); return node; }
function test(extra) {
  return function () {
    isUsed = true;
    var node = settle(Object.assign(parse(arguments, extra), { kind: 'test', suite: current }));
    current.items.push(node);
    return node.done;
  };
}
function describe(extra) {
  return function () {
    isUsed = true;
    var of = parse(arguments, extra), node = settle(Object.assign(of, { kind: 'suite', inner: suite(of.name, current) }));
    current.items.push(node);
    var outer = current;
    current = node.inner;
    try {
      if (of.run && !of.how.skip) { var built = of.run.call({}, { name: of.name }); if (built && typeof built.then === 'function') node.building = built; }
    } catch (error) { node.failure = error; } finally { current = outer; }
    return node.done;
  };
}
function hook(name) { return function (run) { isUsed = true; current[name].push(run); }; }

function call(run, context) {
  if (run.length < 2) return run.call(context, context);
  return new Promise(function (resolve, reject) { run.call(context, context, function (error) { if (error) reject(error); else resolve(); }); });
}
async function limited(run, ms) {
  if (ms === undefined || ms === Infinity) return run();
  var timer;
  try {
    return await Promise.race([run(), new Promise(function (_, reject) { timer = setTimeout(function () { reject(W.coded(Error, 'ERR_TEST_FAILURE', 'test timed out after ' + ms + 'ms')); }, ms); })]);
  } finally { clearTimeout(timer); }
}
function pad(depth) { return '  '.repeat(Math.max(0, depth)); }
function say(text) { W.out(1, text + '\n'); }
function told(node, depth, outcome, error, ms) {
  var mark = outcome === 'fail' ? '✖' : outcome === 'skip' ? '﹣' : '✔', note = node.how.skip ? ' # SKIP' : node.how.todo ? ' # TODO' : '';
  if (node.inner && node.inner.items.length > 0) say(pad(depth) + mark + ' ' + node.name + ' (' + ms + 'ms)' + note);
  else say(pad(depth) + mark + ' ' + node.name + ' (' + ms + 'ms)' + note);
  if (error !== undefined && outcome === 'fail' && node.kind === 'test') failures.push({ name: node.name, error: error, file: facts.argv[1] });
}
function named(node) { return facts.namePattern === undefined || new RegExp(facts.namePattern).test(node.name); }
function wanted(node) {
  if (node.kind === 'test') return named(node);
  return named(node) || node.inner.items.some(wanted);
}
async function hooks(list, context) { for (var run of list) await call(run, context); }
function chain(inner, name, outerFirst) {
  var list = [];
  for (var s = inner; s; s = s.parent) list = outerFirst ? s[name].concat(list) : list.concat(s[name]);
  return list;
}

async function runTest(node, depth, inner) {
  totals.tests++;
  var begun = Date.now(), failure, subtests = suite(node.name, inner), isSkipped = Boolean(node.how.skip) || node.run === undefined && !node.how.todo, isTodo = Boolean(node.how.todo);
  var afters = [], bad = 0;
  var context = {
    name: node.name, fullName: node.name, signal: { aborted: false },
    diagnostic: function (text) { say(pad(depth) + 'ℹ ' + text); },
    skip: function () { isSkipped = true; node.how.skip = true; }, todo: function () { isTodo = true; node.how.todo = true; },
    plan: function () {}, runOnly: function () {},
    before: function (run) { subtests.before.push(run); }, after: function (run) { afters.push(run); },
    beforeEach: function (run) { subtests.beforeEach.push(run); }, afterEach: function (run) { subtests.afterEach.push(run); },
    assert: W.get('assert'), mock: mocks(),
    test: async function () {
      var sub = settle(Object.assign(parse(arguments), { kind: 'test' }));
      if (!(await runTest(sub, depth + 1, subtests))) bad++;
    }
  };
  if (!isSkipped && node.run) {
    try {
      await hooks(chain(inner, 'beforeEach', true), context);
      await limited(function () { return call(node.run, context); }, node.how.timeout);
      if (bad > 0) failure = W.coded(Error, 'ERR_TEST_FAILURE', bad + ' subtest' + (bad > 1 ? 's' : '') + ' failed');
    } catch (error) { failure = error === undefined ? new Error('undefined was thrown') : error; }
    try { await hooks(afters, context); await hooks(chain(inner, 'afterEach', false), context); } catch (error) { if (failure === undefined) failure = error; }
    context.mock.restoreAll();
  }
  var ms = Date.now() - begun;
  if (isSkipped) totals.skipped++;
  else if (isTodo) totals.todo++;
  else if (failure !== undefined) totals.fail++;
  else totals.pass++;
  var isBad = failure !== undefined && !isTodo && !isSkipped;
  told(node, depth, isSkipped ? 'skip' : isBad ? 'fail' : 'pass', failure, ms);
  node.settle();
  return !isBad;
}
async function runSuite(node, depth) {
  totals.suites++;
  var inner = node.inner, isGood = true, begun = Date.now(), failure = node.failure;
  say(pad(depth) + '▶ ' + node.name);
  if (node.building) await node.building.catch(function (error) { failure = error; });
  if (failure === undefined && !node.how.skip) {
    try { await hooks(inner.before, {}); } catch (error) { failure = error; }
    if (failure === undefined) isGood = await runAll(inner, depth + 1);
    try { await hooks(inner.after, {}); } catch (error) { if (failure === undefined) failure = error; }
  }
  if (failure !== undefined) { isGood = false; totals.fail++; failures.push({ name: node.name, error: failure, file: facts.argv[1] }); }
  told(node, depth, node.how.skip ? 'skip' : isGood ? 'pass' : 'fail', undefined, Date.now() - begun);
  node.settle();
  return isGood;
}
async function runAll(inner, depth) {
  var isGood = true, onlys = inner.items.some(function (one) { return one.how.only; });
  for (var i = 0; i < inner.items.length; i++) {
    var node = inner.items[i];
    if ((onlys && !node.how.only) || !wanted(node)) { node.settle(); continue; }
    var ok = node.kind === 'suite' ? await runSuite(node, depth) : await runTest(node, depth, inner);
    if (!ok) isGood = false;
  }
  return isGood;
}
/** Runs what was registered, once. */
W.startTests = function () {
  if (isBegun || !isUsed) return;
  isBegun = true;
  (async function () {
    try {
      await hooks(root.before, {});
      await runAll(root, 0);
      await hooks(root.after, {});
    } catch (error) { totals.fail++; failures.push({ name: facts.argv[1], error: error, file: facts.argv[1] }); }
    if (totals.fail > 0) process.exitCode = 1;
    globalThis.__tests(JSON.stringify({ totals: totals, failures: failures.map(function (one) { return { name: one.name, file: one.file, text: W.inspect(one.error) }; }) }));
  })();
};

function mocks() {
  var all = [];
  function fn(original, implementation) {
    if (typeof original !== 'function') { implementation = undefined; original = function () {}; }
    var state = { calls: [], run: implementation || original };
    var mocked = function () {
      var call = { arguments: Array.prototype.slice.call(arguments), this: this, result: undefined, error: undefined };
      state.calls.push(call);
      try { return (call.result = state.run.apply(this, arguments)); } catch (error) { call.error = error; throw error; }
    };
    mocked.mock = { calls: state.calls, callCount: function () { return state.calls.length; }, resetCalls: function () { state.calls.length = 0; }, mockImplementation: function (run) { state.run = run; }, restore: function () { state.run = original; } };
    return mocked;
  }
  return {
    fn: fn,
    method: function (object, name, implementation) {
      var before = object[name], mocked = fn(before, implementation);
      object[name] = mocked;
      mocked.mock.restore = function () { object[name] = before; };
      all.push(mocked);
      return mocked;
    },
    restoreAll: function () { all.forEach(function (one) { one.mock.restore(); }); all = []; },
    reset: function () { this.restoreAll(); }
  };
}
W.define('test', function () {
  var api = test();
  Object.assign(api, { test: api, it: api, describe: describe(), suite: describe(), before: hook('before'), after: hook('after'), beforeEach: hook('beforeEach'), afterEach: hook('afterEach'), mock: mocks(), skip: test({ skip: true }), todo: test({ todo: true }), only: test({ only: true }) });
  [['skip', { skip: true }], ['todo', { todo: true }], ['only', { only: true }]].forEach(function (pair) { api.describe[pair[0]] = describe(pair[1]); });
  return api;
});
})();
`
