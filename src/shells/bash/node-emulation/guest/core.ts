/**
 * What runs first in the guest: the registry of modules, Buffer, text coders, inspect and console. Text for the guest's
 * own engine, which knows neither Node nor the web; it must hold no backtick.
 */
export const coreSource = String.raw`
(function () {
'use strict';
var host = globalThis.__host, hostWrite = globalThis.__write;
var outText = globalThis.__out, encodeText = globalThis.__encode, decodeText = globalThis.__decode;
/** Texts travel as those of C, which end at a zero: one that holds any goes as its units. */
function sent(text) {
  if (text.indexOf('\0') === -1) return text;
  var units = new Uint16Array(text.length);
  for (var i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
  return units.buffer;
}
function received(told) {
  if (typeof told === 'string') return told;
  var units = new Uint16Array(told), text = '';
  for (var i = 0; i < units.length; i += 8192) text += String.fromCharCode.apply(null, units.subarray(i, i + 8192));
  return text;
}
function hostOut(fd, text) { outText(fd, sent(text)); }
function hostEncode(text, encoding) { return encodeText(sent(text), encoding); }
function hostDecode(bytes, encoding) { return received(decodeText(bytes, encoding)); }
var makers = Object.create(null), made = Object.create(null);
var W = globalThis.__ward = {
  define: function (name, make) { makers[name] = make; },
  has: function (name) { return name in makers; },
  get: function (name) {
    if (!(name in made)) { made[name] = {}; made[name] = makers[name](); }
    return made[name];
  },
  names: function () { return Object.keys(makers); },
  out: hostOut,
  systemError: function (told) {
    var error = new Error(told.message);
    if (told.code) { error.code = told.code; error.errno = -1; }
    if (told.syscall) error.syscall = told.syscall;
    if (told.path) error.path = told.path;
    return error;
  },
  call: function (op, args) {
    var answer = host(op, JSON.stringify(args === undefined ? [] : args));
    if (typeof answer !== 'string') return answer;
    var told = JSON.parse(answer);
    if (told.error) throw W.systemError(told.error);
    return told.value;
  },
  write: function (path, bytes, append) {
    var told = JSON.parse(hostWrite(path, bytes, append));
    if (told.error) throw W.systemError(told.error);
  },
  coded: function (Kind, code, message) {
    var error = new Kind(message);
    error.code = code;
    return error;
  }
};

function bytesOf(view) {
  return view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
}
W.bytesOf = bytesOf;
function encodingOf(name) {
  var text = String(name === undefined || name === null ? 'utf8' : name).toLowerCase();
  if (text === 'utf-8') return 'utf8';
  if (text === 'binary') return 'latin1';
  if (text === 'ucs2' || text === 'ucs-2' || text === 'utf-16le') return 'utf16le';
  if (['utf8', 'latin1', 'ascii', 'hex', 'base64', 'base64url', 'utf16le'].indexOf(text) === -1) {
    throw W.coded(TypeError, 'ERR_UNKNOWN_ENCODING', 'Unknown encoding: ' + name);
  }
  return text;
}

class Buffer extends Uint8Array {
  static from(value, encoding, length) {
    if (typeof value === 'string') return Buffer.of_(hostEncode(value, encodingOf(encoding)));
    if (value instanceof ArrayBuffer) return new Buffer(value, encoding || 0, length === undefined ? value.byteLength - (encoding || 0) : length);
    if (value && value.type === 'Buffer' && Array.isArray(value.data)) value = value.data;
    var copy = new Buffer(value.length);
    for (var i = 0; i < value.length; i++) copy[i] = value[i];
    return copy;
  }
  static of_(arrayBuffer) { return new Buffer(arrayBuffer, 0, arrayBuffer.byteLength); }
  static alloc(size, fill, encoding) {
    var made = new Buffer(size);
    if (fill !== undefined && fill !== 0) made.fill(fill, 0, size, encoding);
    return made;
  }
  static allocUnsafe(size) { return new Buffer(size); }
  static isBuffer(value) { return value instanceof Buffer; }
  static isEncoding(name) { try { encodingOf(name); return true; } catch (e) { return false; } }
  static byteLength(value, encoding) {
    return typeof value === 'string' ? hostEncode(value, encodingOf(encoding)).byteLength : value.byteLength;
  }
  static concat(list, total) {
    if (total === undefined) total = list.reduce(function (sum, one) { return sum + one.length; }, 0);
    var whole = new Buffer(total), at = 0;
    for (var one of list) { whole.set(one.subarray(0, Math.max(0, total - at)), at); at += one.length; if (at >= total) break; }
    return whole;
  }
  static compare(a, b) {
    var n = Math.min(a.length, b.length);
    for (var i = 0; i < n; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
  }
  toString(encoding, start, end) { return hostDecode(bytesOf(this.subarray(start || 0, end === undefined ? this.length : end)), encodingOf(encoding)); }
  toJSON() { return { type: 'Buffer', data: Array.from(this) }; }
  equals(other) { return Buffer.compare(this, other) === 0; }
  compare(other) { return Buffer.compare(this, other); }
  write(text, offset, length, encoding) {
    if (typeof offset === 'string') { encoding = offset; offset = 0; length = undefined; }
    if (typeof length === 'string') { encoding = length; length = undefined; }
    var bytes = Buffer.from(text, encoding), n = Math.min(bytes.length, this.length - (offset || 0), length === undefined ? Infinity : length);
    this.set(bytes.subarray(0, n), offset || 0);
    return n;
  }
  copy(target, at, start, end) {
    var part = this.subarray(start || 0, end === undefined ? this.length : end).subarray(0, target.length - (at || 0));
    target.set(part, at || 0);
    return part.length;
  }
  slice(start, end) { return this.subarray(start, end); }
  fill(value, start, end, encoding) {
    if (typeof value === 'string') {
      var bytes = Buffer.from(value, encoding);
      if (bytes.length === 0) return super.fill(0, start, end);
      for (var i = start || 0, k = 0; i < (end === undefined ? this.length : end); i++, k++) this[i] = bytes[k % bytes.length];
      return this;
    }
    return super.fill(value, start, end);
  }
  indexOf(value, from, encoding) {
    if (typeof value === 'number') return super.indexOf(value, from);
    var bytes = typeof value === 'string' ? Buffer.from(value, encoding) : value;
    for (var i = from || 0; i + bytes.length <= this.length; i++) {
      var k = 0;
      while (k < bytes.length && this[i + k] === bytes[k]) k++;
      if (k === bytes.length) return i;
    }
    return -1;
  }
  includes(value, from, encoding) { return this.indexOf(value, from, encoding) !== -1; }
}
var view = function (self) { return new DataView(self.buffer, self.byteOffset, self.byteLength); };
[['UInt8', 'Uint8'], ['Int8', 'Int8']].forEach(function (pair) {
  Buffer.prototype['read' + pair[0]] = function (at) { return view(this)['get' + pair[1]](at || 0); };
  Buffer.prototype['write' + pair[0]] = function (value, at) { view(this)['set' + pair[1]](at || 0, value); return (at || 0) + 1; };
});
[['UInt16', 'Uint16', 2], ['Int16', 'Int16', 2], ['UInt32', 'Uint32', 4], ['Int32', 'Int32', 4], ['Float', 'Float32', 4], ['Double', 'Float64', 8], ['BigInt64', 'BigInt64', 8], ['BigUInt64', 'BigUint64', 8]].forEach(function (kind) {
  [['LE', true], ['BE', false]].forEach(function (order) {
    Buffer.prototype['read' + kind[0] + order[0]] = function (at) { return view(this)['get' + kind[1]](at || 0, order[1]); };
    Buffer.prototype['write' + kind[0] + order[0]] = function (value, at) { view(this)['set' + kind[1]](at || 0, value, order[1]); return (at || 0) + kind[2]; };
  });
});
W.define('buffer', function () { return { Buffer: Buffer, constants: { MAX_LENGTH: 2147483647 } }; });

class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(text) { return new Uint8Array(hostEncode(text === undefined ? '' : String(text), 'utf8')); }
}
class TextDecoder {
  constructor(label) { this.encoding = label === undefined ? 'utf-8' : String(label).toLowerCase(); }
  decode(bytes) {
    if (bytes === undefined) return '';
    var ab = bytes instanceof ArrayBuffer ? bytes : bytesOf(bytes);
    var text = hostDecode(ab, this.encoding === 'latin1' ? 'latin1' : this.encoding === 'utf-16le' ? 'utf16le' : 'utf8');
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
}

var custom = Symbol.for('nodejs.util.inspect.custom');
function quoted(text) {
  var mark = text.indexOf("'") === -1 ? "'" : text.indexOf('"') === -1 ? '"' : "'";
  return mark + JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"').replace(mark === "'" ? /'/g : /$^/, "\\'") + mark;
}
function keyText(key) {
  if (typeof key === 'symbol') return '[' + String(key) + ']';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key);
}
function nameOf(value) {
  for (var p = Object.getPrototypeOf(value); p; p = Object.getPrototypeOf(p)) {
    if (Object.prototype.hasOwnProperty.call(p, 'constructor') && typeof p.constructor === 'function') return p.constructor.name;
  }
  return null;
}
function inspect(value, options, legacyDepth) {
  var how = typeof options === 'object' && options !== null ? options : { depth: legacyDepth };
  var most = how.depth === null ? Infinity : how.depth === undefined ? 2 : how.depth;
  var width = how.breakLength === undefined ? 72 : how.breakLength;
  var seen = [];
  function show(v, depth, indent) {
    switch (typeof v) {
      case 'string': return quoted(v);
      case 'number': return Object.is(v, -0) ? '-0' : String(v);
      case 'bigint': return v + 'n';
      case 'symbol': return String(v);
      case 'undefined': return 'undefined';
      case 'boolean': return String(v);
    }
    if (v === null) return 'null';
    if (seen.indexOf(v) !== -1) return '[Circular *1]';
    if (typeof v[custom] === 'function' && v[custom] !== inspect) {
      var shown = v[custom](most - depth, how, inspect);
      return typeof shown === 'string' ? shown : show(shown, depth, indent);
    }
    var keys = Object.keys(v), name = nameOf(v), open = '{', close = '}', prefix = '', items = [], isList = false;
    keys = keys.concat(Object.getOwnPropertySymbols(v).filter(function (s) { return Object.prototype.propertyIsEnumerable.call(v, s); }));
    if (Array.isArray(v)) { open = '['; close = ']'; isList = true; if (name !== 'Array') prefix = name + '(' + v.length + ') '; }
    else if (v instanceof Error) {
      var stack = v.stack ? String(v.stack).split('\n').filter(function (line) { return line !== '' && !/\((<\w+>[:)]|native\))|at <eval> \(\S*<main>/.test(line); }).join('\n') : '';
      var title = (v.name || 'Error') + (v.message ? ': ' + v.message : '');
      prefix = stack ? title + '\n' + stack : '[' + title + ']';
      keys = keys.filter(function (k) { return k !== 'stack' && k !== 'message'; });
      if ('cause' in v && keys.indexOf('cause') === -1 && v.cause !== undefined) keys.push('cause');
      if (keys.length === 0) return prefix;
      prefix += ' ';
    } else if (typeof v === 'function') {
      var isClass = /^class\b/.test(Function.prototype.toString.call(v));
      prefix = isClass ? '[class ' + (v.name || '(anonymous)') + ']' : '[' + (name === 'AsyncFunction' ? 'AsyncFunction' : 'Function') + (v.name ? ': ' + v.name : ' (anonymous)') + ']';
      if (keys.length === 0) return prefix;
      prefix += ' ';
    } else if (v instanceof RegExp) { if (keys.length === 0) return String(v); prefix = String(v) + ' '; }
    else if (v instanceof Date) { var at = isNaN(v) ? 'Invalid Date' : v.toISOString(); if (keys.length === 0) return at; prefix = at + ' '; }
    else if (v instanceof Map) { prefix = 'Map(' + v.size + ') '; }
    else if (v instanceof Set) { prefix = 'Set(' + v.size + ') '; }
    else if (v instanceof Promise) { return 'Promise { <pending> }'; }
    else if (v instanceof Buffer) {
      return '<Buffer' + Array.from(v.subarray(0, 50)).map(function (b) { return ' ' + (b < 16 ? '0' : '') + b.toString(16); }).join('') + (v.length > 50 ? ' ... ' + (v.length - 50) + ' more bytes' : '') + '>';
    } else if (ArrayBuffer.isView(v) && !(v instanceof DataView)) { open = '['; close = ']'; isList = true; prefix = name + '(' + v.length + ') '; }
    else if (v instanceof Number || v instanceof String || v instanceof Boolean) { return '[' + name + ': ' + show(v.valueOf(), depth, indent) + ']'; }
    else if (name === null) prefix = '[Object: null prototype] ';
    else if (name !== 'Object') prefix = name + ' ';
    if (depth > most) return isList ? '[Array]' : '[' + (prefix.replace(/\(\d+\) $/, '').trim() || 'Object') + ']';
    seen.push(v);
    var next = indent + '  ';
    if (isList) {
      for (var i = 0; i < v.length && i < 100; i++) {
        if (i in v) items.push(show(v[i], depth + 1, next));
        else { var holes = 1; while (i + 1 < v.length && !((i + 1) in v)) { i++; holes++; } items.push('<' + holes + ' empty item' + (holes > 1 ? 's' : '') + '>'); }
      }
      if (v.length > 100) items.push('... ' + (v.length - 100) + ' more item' + (v.length > 101 ? 's' : ''));
      keys = keys.filter(function (k) { return typeof k === 'symbol' || !/^\d+$/.test(k); });
    } else if (v instanceof Map) v.forEach(function (val, key) { items.push(show(key, depth + 1, next) + ' => ' + show(val, depth + 1, next)); });
    else if (v instanceof Set) v.forEach(function (val) { items.push(show(val, depth + 1, next)); });
    keys.forEach(function (key) {
      var d = Object.getOwnPropertyDescriptor(v, key);
      var text = d && d.get ? (d.set ? '[Getter/Setter]' : '[Getter]') : d && d.set ? '[Setter]' : show(v[key], depth + 1, next);
      items.push(keyText(key) + ': ' + text);
    });
    seen.pop();
    if (items.length === 0) return prefix + open + close;
    var length = items.reduce(function (sum, one) { return sum + one.length + 2; }, 0);
    var isShort = length + prefix.length <= width && items.every(function (one) { return one.indexOf('\n') === -1; });
    if (isShort && !(isList && items.length > 6)) return prefix + open + ' ' + items.join(', ') + ' ' + close;
    if (isList && items.length > 6 && items.every(function (one) { return one.length <= 6; })) {
      var rows = [], size = Math.max.apply(null, items.map(function (one) { return one.length; })) + 2;
      var per = Math.max(1, Math.min(16, Math.floor(Math.sqrt(2.5 * size * items.length) / size)));
      var isNumber = items.every(function (one) { return /^-?[\d.]+n?$/.test(one); });
      for (var r = 0; r < items.length; r += per) {
        rows.push(items.slice(r, r + per).map(function (one, k, row) {
          var cell = one + (r + k < items.length - 1 ? ',' : '');
          if (k === row.length - 1 && !isNumber) return cell;
          return isNumber ? cell.padStart(size - 1) : cell.padEnd(size - 1);
        }).join(' ').replace(/ +$/, ''));
      }
      return prefix + open + '\n' + next + rows.join('\n' + next) + '\n' + indent + close;
    }
    return prefix + open + '\n' + next + items.join(',\n' + next) + '\n' + indent + close;
  }
  return show(value, 0, '');
}
inspect.custom = custom;
function format(first) {
  var rest = Array.prototype.slice.call(arguments, 1), text;
  if (typeof first === 'string') {
    text = first.replace(/%[sdifjoOc%]/g, function (mark) {
      if (mark === '%%') return '%';
      if (rest.length === 0) return mark;
      var value = rest.shift();
      switch (mark) {
        case '%s': return typeof value === 'object' && value !== null ? inspect(value, { depth: 0 }) : Object.is(value, -0) ? '-0' : String(value) + (typeof value === 'bigint' ? 'n' : '');
        case '%d': return typeof value === 'object' ? 'NaN' : String(Number(value));
        case '%i': return String(parseInt(value, 10));
        case '%f': return String(parseFloat(value));
        case '%j': return JSON.stringify(value);
        case '%c': return '';
        default: return inspect(value);
      }
    });
  } else text = arguments.length === 0 ? '' : inspect(first);
  return [text].concat(rest.map(function (value) { return typeof value === 'string' ? value : inspect(value); })).join(' ');
}
W.inspect = inspect;
W.format = format;

var depth = '', counts = {}, clocks = {};
function say(fd) {
  return function () {
    var text = format.apply(null, arguments);
    hostOut(fd, (depth ? text.replace(/^/gm, depth) : text) + '\n');
  };
}
var log = say(1), error = say(2);
globalThis.console = {
  log: log, info: log, debug: log, error: error, warn: error,
  trace: function () { error('Trace: ' + format.apply(null, arguments) + '\n' + new Error().stack); },
  dir: function (value, how) { log(inspect(value, how)); },
  table: function (value) { log(value); },
  group: function () { if (arguments.length) log.apply(null, arguments); depth += '  '; },
  groupEnd: function () { depth = depth.slice(2); },
  assert: function (ok) { if (!ok) error('Assertion failed' + (arguments.length > 1 ? ': ' + format.apply(null, Array.prototype.slice.call(arguments, 1)) : '')); },
  count: function (label) { label = label === undefined ? 'default' : label; counts[label] = (counts[label] || 0) + 1; log(label + ': ' + counts[label]); },
  countReset: function (label) { counts[label === undefined ? 'default' : label] = 0; },
  time: function (label) { clocks[label === undefined ? 'default' : label] = Date.now(); },
  timeEnd: function (label) { label = label === undefined ? 'default' : label; log(label + ': ' + (Date.now() - clocks[label]) + 'ms'); }
};
console.groupCollapsed = console.group;
W.define('console', function () { return console; });

var timers = [], nextTimer = 1;
class Timeout {
  constructor(id) { this.id = id; }
  ref() { return this; }
  unref() { var id = this.id; timers.forEach(function (one) { if (one.id === id) one.weak = true; }); return this; }
  hasRef() { return true; }
  [Symbol.toPrimitive]() { return this.id; }
}
function start(run, ms, args, every) {
  if (typeof run !== 'function') throw W.coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'The "callback" argument must be of type function. Received ' + inspect(run));
  ms = ms >= 1 && ms <= 2147483647 ? Math.floor(ms) : 1;
  var id = nextTimer++;
  timers.push({ id: id, at: Date.now() + ms, run: run, args: args, every: every ? ms : 0 });
  return new Timeout(id);
}
function clear(timer) {
  if (timer === undefined || timer === null) return;
  var id = typeof timer === 'object' ? timer.id : Number(timer);
  timers = timers.filter(function (one) { return one.id !== id; });
}
globalThis.setTimeout = function (run, ms) { return start(run, ms, Array.prototype.slice.call(arguments, 2), false); };
globalThis.setInterval = function (run, ms) { return start(run, ms, Array.prototype.slice.call(arguments, 2), true); };
globalThis.setImmediate = function (run) { var t = start(run, 1, Array.prototype.slice.call(arguments, 1), false); timers[timers.length - 1].at = 0; return t; };
globalThis.clearTimeout = globalThis.clearInterval = globalThis.clearImmediate = clear;
globalThis.queueMicrotask = function (run) { Promise.resolve().then(run); };
/** Milliseconds until the next timer that keeps the script alive; -1 where there is none. */
W.wait = function () {
  if (!timers.some(function (one) { return !one.weak; })) return -1;
  var next = Math.min.apply(null, timers.map(function (one) { return one.at; }));
  return Math.max(0, next - Date.now());
};
W.fire = function () {
  var now = Date.now(), due = timers.filter(function (one) { return one.at <= now; }).sort(function (a, b) { return a.at - b.at || a.id - b.id; })[0];
  if (due === undefined) return;
  if (due.every) due.at = now + due.every;
  else clear(due.id);
  due.run.apply(undefined, due.args);
};

globalThis.global = globalThis;
globalThis.Buffer = Buffer;
globalThis.TextEncoder = TextEncoder;
globalThis.TextDecoder = TextDecoder;
globalThis.performance = { now: (function (t) { return function () { return Date.now() - t; }; })(Date.now()), timeOrigin: Date.now(), mark: function () {}, measure: function () {} };
globalThis.atob = function (text) { return Buffer.from(String(text), 'base64').toString('latin1'); };
globalThis.btoa = function (text) { return Buffer.from(String(text), 'latin1').toString('base64'); };
globalThis.structuredClone = function clone(value, _, seen) {
  seen = seen || new Map();
  if (typeof value === 'function' || typeof value === 'symbol') throw new Error(inspect(value) + ' could not be cloned.');
  if (typeof value !== 'object' || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  var copy;
  if (Array.isArray(value)) { copy = []; seen.set(value, copy); value.forEach(function (one, i) { copy[i] = clone(one, undefined, seen); }); return copy; }
  if (value instanceof Date) return new Date(value);
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof Map) { copy = new Map(); seen.set(value, copy); value.forEach(function (v, k) { copy.set(clone(k, undefined, seen), clone(v, undefined, seen)); }); return copy; }
  if (value instanceof Set) { copy = new Set(); seen.set(value, copy); value.forEach(function (v) { copy.add(clone(v, undefined, seen)); }); return copy; }
  if (ArrayBuffer.isView(value)) return new value.constructor(bytesOf(value));
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (value instanceof Error) { copy = new value.constructor(value.message); copy.stack = value.stack; return copy; }
  copy = {}; seen.set(value, copy);
  Object.keys(value).forEach(function (key) { copy[key] = clone(value[key], undefined, seen); });
  return copy;
};
})();
`
