/** The modules of Node that scripts find in the guest, over the files of their command. Text, without a backtick. */
export const modulesSource = String.raw`
(function () {
'use strict';
var W = globalThis.__ward, facts = JSON.parse(globalThis.__facts), hostOut = W.out;

W.define('events', function () {
  class EventEmitter {
    on(name, run) { (this._of(name)).push({ run: run }); return this; }
    addListener(name, run) { return this.on(name, run); }
    prependListener(name, run) { this._of(name).unshift({ run: run }); return this; }
    once(name, run) { this._of(name).push({ run: run, once: true }); return this; }
    off(name, run) { var list = this._of(name), at = list.findLastIndex(function (one) { return one.run === run; }); if (at !== -1) list.splice(at, 1); return this; }
    removeListener(name, run) { return this.off(name, run); }
    removeAllListeners(name) { if (name === undefined) this._events = undefined; else this._of(name).length = 0; return this; }
    emit(name) {
      var args = Array.prototype.slice.call(arguments, 1), list = this._of(name).slice(), self = this;
      if (list.length === 0) { if (name === 'error') throw args[0] instanceof Error ? args[0] : new Error('Unhandled error. (' + W.inspect(args[0]) + ')'); return false; }
      list.forEach(function (one) { if (one.once) self.off(name, one.run); one.run.apply(self, args); });
      return true;
    }
    listenerCount(name) { return this._of(name).length; }
    listeners(name) { return this._of(name).map(function (one) { return one.run; }); }
    eventNames() { return this._events ? Array.from(this._events.keys()).filter(function (k) { return this._events.get(k).length; }, this) : []; }
    setMaxListeners() { return this; }
    getMaxListeners() { return 10; }
    _of(name) {
      if (!this._events) Object.defineProperty(this, '_events', { value: new Map(), writable: true, configurable: true });
      if (!this._events.has(name)) this._events.set(name, []);
      return this._events.get(name);
    }
  }
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.once = function (emitter, name) {
    return new Promise(function (resolve, reject) {
      emitter.once(name, function () { resolve(Array.prototype.slice.call(arguments)); });
      if (name !== 'error') emitter.once('error', reject);
    });
  };
  return EventEmitter;
});

W.define('path', function () {
  function normalize(path) {
    if (path.length === 0) return '.';
    var isAbsolute = path[0] === '/', isOpen = path[path.length - 1] === '/', out = [];
    path.split('/').forEach(function (name) {
      if (name === '' || name === '.') return;
      if (name === '..' && out.length > 0 && out[out.length - 1] !== '..') out.pop();
      else if (name !== '..' || !isAbsolute) out.push(name);
    });
    var text = out.join('/');
    if (text === '' && !isAbsolute) return isOpen ? './' : '.';
    return (isAbsolute ? '/' : '') + text + (isOpen && text !== '' ? '/' : '');
  }
  function check(path, name) {
    if (typeof path !== 'string') throw W.coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'The "' + (name || 'path') + '" argument must be of type string. Received ' + W.inspect(path));
  }
  var path = {
    sep: '/', delimiter: ':',
    normalize: function (one) { check(one); return normalize(one); },
    isAbsolute: function (one) { check(one); return one[0] === '/'; },
    join: function () {
      var parts = Array.prototype.slice.call(arguments);
      parts.forEach(function (one) { check(one); });
      var text = parts.filter(function (one) { return one !== ''; }).join('/');
      return text === '' ? '.' : normalize(text);
    },
    resolve: function () {
      var whole = '';
      for (var i = arguments.length - 1; i >= 0 && whole[0] !== '/'; i--) { check(arguments[i]); if (arguments[i] !== '') whole = arguments[i] + (whole === '' ? '' : '/' + whole); }
      if (whole[0] !== '/') whole = process.cwd() + (whole === '' ? '' : '/' + whole);
      whole = normalize(whole);
      return whole.length > 1 && whole[whole.length - 1] === '/' ? whole.slice(0, -1) : whole;
    },
    relative: function (from, to) {
      var a = path.resolve(from).split('/').filter(Boolean), b = path.resolve(to).split('/').filter(Boolean), i = 0;
      while (i < a.length && i < b.length && a[i] === b[i]) i++;
      return a.slice(i).map(function () { return '..'; }).concat(b.slice(i)).join('/');
    },
    dirname: function (one) {
      check(one);
      var text = one.replace(/\/+$/, ''), at = text.lastIndexOf('/');
      if (text === '') return one[0] === '/' ? '/' : '.';
      return at === -1 ? '.' : at === 0 ? '/' : text.slice(0, at).replace(/\/+$/, '') || '/';
    },
    basename: function (one, suffix) {
      check(one);
      var name = one.replace(/\/+$/, '').split('/').pop();
      return suffix && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
    },
    extname: function (one) {
      check(one);
      var name = path.basename(one), at = name.lastIndexOf('.');
      return at <= 0 ? '' : name.slice(at);
    },
    parse: function (one) {
      var base = path.basename(one), ext = path.extname(one), dir = one.indexOf('/') === -1 ? '' : path.dirname(one);
      return { root: one[0] === '/' ? '/' : '', dir: dir, base: base, ext: ext, name: ext ? base.slice(0, -ext.length) : base };
    },
    format: function (of) { var base = of.base || (of.name || '') + (of.ext || ''); var dir = of.dir || of.root; return !dir ? base : dir === of.root ? dir + base : dir + '/' + base; },
    toNamespacedPath: function (one) { return one; }
  };
  path.posix = path;
  return path;
});
W.define('path/posix', function () { return W.get('path'); });

W.define('fs', function () {
  function pathOf(path) {
    if (path && typeof path === 'object' && typeof path.href === 'string') path = W.get('url').fileURLToPath(path);
    if (path instanceof Uint8Array) path = Buffer.from(path).toString();
    if (typeof path !== 'string') throw W.coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'The "path" argument must be of type string or an instance of Buffer or URL. Received ' + W.inspect(path));
    return W.get('path').resolve(path);
  }
  function encodingOf(how) { return typeof how === 'string' ? how : how && how.encoding; }
  class Stats {
    constructor(told) {
      this.size = told.size; this.mode = told.mode; this.mtimeMs = told.mtimeMs; this.mtime = new Date(told.mtimeMs);
      this.atimeMs = this.ctimeMs = this.birthtimeMs = told.mtimeMs; this.atime = this.ctime = this.birthtime = this.mtime;
      this.dev = 0; this.ino = 0; this.nlink = 1; this.uid = 0; this.gid = 0;
      Object.defineProperty(this, 'type_', { value: told.type, enumerable: false });
    }
    isFile() { return this.type_ === 'file'; }
    isDirectory() { return this.type_ === 'directory'; }
    isSymbolicLink() { return this.type_ === 'link'; }
    isFIFO() { return false; } isSocket() { return false; } isBlockDevice() { return false; } isCharacterDevice() { return false; }
  }
  class Dirent {
    constructor(name, type, parent) { this.name = name; this.parentPath = parent; this.path = parent; Object.defineProperty(this, 'type_', { value: type, enumerable: false }); }
    isFile() { return this.type_ === 'file'; }
    isDirectory() { return this.type_ === 'directory'; }
    isSymbolicLink() { return this.type_ === 'link'; }
  }
  function bytesToWrite(data, encoding) {
    var bytes = typeof data === 'string' ? Buffer.from(data, encoding) : ArrayBuffer.isView(data) ? data : undefined;
    if (bytes === undefined) throw W.coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ' + W.inspect(data));
    return W.bytesOf(bytes);
  }
  function stat(op) {
    return function (path, how) {
      try { return new Stats(W.call(op, [pathOf(path)])); } catch (error) {
        if (how && how.throwIfNoEntry === false && error.code === 'ENOENT') return undefined;
        throw error;
      }
    };
  }
  var sync = {
    readFile: function (path, how) {
      var bytes = path === 0 || path === '/dev/stdin' ? Buffer.from(facts.stdin, 'latin1') : Buffer.of_(W.call('read', [pathOf(path)]));
      var encoding = encodingOf(how);
      return encoding && encoding !== 'buffer' ? bytes.toString(encoding) : bytes;
    },
    writeFile: function (path, data, how) {
      if (path === 1 || path === 2) { hostOut(path, typeof data === 'string' ? data : Buffer.from(data).toString()); return; }
      var flag = how && how.flag;
      if (flag && flag.indexOf('x') !== -1 && sync.exists(path)) throw W.systemError({ message: "EEXIST: file already exists, open '" + path + "'", code: 'EEXIST', syscall: 'open', path: path });
      W.write(pathOf(path), bytesToWrite(data, encodingOf(how)), flag !== undefined && flag[0] === 'a');
    },
    appendFile: function (path, data, how) { W.write(pathOf(path), bytesToWrite(data, encodingOf(how)), true); },
    exists: function (path) { try { W.call('stat', [pathOf(path)]); return true; } catch (error) { return false; } },
    access: function (path) { W.call('access', [pathOf(path)]); },
    stat: stat('stat'), lstat: stat('lstat'),
    readdir: function (path, how) {
      var at = pathOf(path), entries = W.call('readdir', [at]), out = [];
      function add(list, dir, prefix) {
        list.forEach(function (entry) {
          out.push(how && how.withFileTypes ? new Dirent(entry.name, entry.type, dir) : prefix + entry.name);
          if (how && how.recursive && entry.type === 'directory') add(W.call('readdir', [dir + '/' + entry.name]), dir + '/' + entry.name, prefix + entry.name + '/');
        });
      }
      add(entries, at, '');
      return out;
    },
    mkdir: function (path, how) { var deep = how && typeof how === 'object' && how.recursive === true; return W.call('mkdir', [pathOf(path), deep]) || undefined; },
    mkdtemp: function (prefix) {
      for (;;) { var path = prefix + Math.random().toString(36).slice(2, 8).padEnd(6, 'x'); if (!sync.exists(path)) { sync.mkdir(path, { recursive: true }); return path; } }
    },
    rm: function (path, how) { W.call('rm', [pathOf(path), Boolean(how && how.recursive), Boolean(how && how.force)]); },
    rmdir: function (path, how) { W.call('rmdir', [pathOf(path), Boolean(how && how.recursive)]); },
    unlink: function (path) { W.call('unlink', [pathOf(path)]); },
    rename: function (from, to) { W.call('rename', [pathOf(from), pathOf(to)]); },
    copyFile: function (from, to) { W.call('copy', [pathOf(from), pathOf(to), false]); },
    cp: function (from, to, how) { W.call('copy', [pathOf(from), pathOf(to), Boolean(how && how.recursive)]); },
    symlink: function (target, path) { W.call('symlink', [target, pathOf(path)]); },
    readlink: function (path) { return W.call('readlink', [pathOf(path)]); },
    realpath: function (path) { return W.call('realpath', [pathOf(path)]); },
    chmod: function (path, mode) { W.call('chmod', [pathOf(path), typeof mode === 'string' ? parseInt(mode, 8) : mode]); },
    utimes: function (path) { W.call('stat', [pathOf(path)]); },
    truncate: function (path, length) { var bytes = sync.readFile(path), whole = Buffer.alloc(length || 0); bytes.copy(whole); sync.writeFile(path, whole); }
  };
  var fs = { constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 }, Stats: Stats, Dirent: Dirent, promises: { constants: {} } };
  Object.keys(sync).forEach(function (name) {
    fs[name + 'Sync'] = sync[name];
    if (name !== 'exists') fs.promises[name] = async function () { return sync[name].apply(null, arguments); };
    fs[name] = function () {
      var args = Array.prototype.slice.call(arguments), done = args.pop(), value, failure = null;
      if (typeof done !== 'function') throw W.coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'The "cb" argument must be of type function. Received ' + W.inspect(done));
      try { value = sync[name].apply(null, args); } catch (error) { failure = error; }
      setImmediate(function () { if (name === 'exists') done(value); else if (failure) done(failure); else done(null, value); });
    };
  });
  fs.promises.constants = fs.constants;
  function missing(name) { return function () { throw W.coded(Error, 'ERR_NOT_AVAILABLE', 'fs.' + name + ' is not available in this shell'); }; }
  ['createReadStream', 'createWriteStream', 'watch', 'watchFile', 'openSync', 'open', 'readSync', 'writeSync', 'closeSync', 'opendirSync'].forEach(function (name) { fs[name] = missing(name); });
  return fs;
});
W.define('fs/promises', function () { return W.get('fs').promises; });

W.define('process', function () { return process; });
var EventEmitter = W.get('events'), cwd = facts.cwd;
function stream(fd) {
  var out = new EventEmitter();
  out.fd = fd; out.isTTY = false; out.writable = true; out.columns = 80;
  out.write = function (data, encoding, done) {
    hostOut(fd, typeof data === 'string' ? data : Buffer.from(data).toString());
    var then = typeof encoding === 'function' ? encoding : done;
    if (typeof then === 'function') setImmediate(then);
    return true;
  };
  out.end = function (data) { if (data !== undefined) out.write(data); };
  return out;
}
var process = globalThis.process = Object.assign(new EventEmitter(), {
  argv: facts.argv, argv0: 'node', execArgv: [], execPath: '/usr/bin/node', title: 'node', pid: 1, ppid: 0, arch: 'x64', platform: 'linux',
  version: 'v20.19.0', versions: { node: '20.19.0' }, release: { name: 'node' }, env: facts.env, exitCode: undefined,
  stdout: stream(1), stderr: stream(2),
  cwd: function () { return cwd; },
  chdir: function (path) { var to = W.get('path').resolve(path); if (!W.get('fs').statSync(to).isDirectory()) throw W.systemError({ code: 'ENOTDIR', message: "ENOTDIR: not a directory, chdir '" + path + "'" }); cwd = to; },
  exit: function (code) {
    if (code !== undefined) process.exitCode = code;
    if (!process._exiting) { process._exiting = true; process.emit('exit', process.exitCode || 0); }
    globalThis.__exit(Number(process.exitCode || 0));
    for (;;) {}
  },
  abort: function () { globalThis.__exit(134); for (;;) {} },
  nextTick: function (run) { var args = Array.prototype.slice.call(arguments, 1); Promise.resolve().then(function () { run.apply(undefined, args); }); },
  hrtime: Object.assign(function (since) { var t = Date.now(), now = [Math.floor(t / 1000), (t % 1000) * 1e6]; return since ? [now[0] - since[0] - (now[1] < since[1] ? 1 : 0), (now[1] - since[1] + 1e9) % 1e9] : now; }, { bigint: function () { return BigInt(Date.now()) * 1000000n; } }),
  uptime: function () { return performance.now() / 1000; },
  memoryUsage: function () { return { rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }; },
  umask: function () { return 18; }, getuid: function () { return 1000; }, getgid: function () { return 1000; },
  emitWarning: function (warning) { process.stderr.write('(node) ' + (warning.name || 'Warning') + ': ' + (warning.message || warning) + '\n'); }
});
var stdin = new EventEmitter();
Object.assign(stdin, {
  fd: 0, isTTY: false, setEncoding: function () { stdin.text = true; return stdin; }, resume: function () { return stdin; }, pause: function () { return stdin; },
  on: function (name, run) {
    EventEmitter.prototype.on.call(stdin, name, run);
    if ((name === 'data' || name === 'end' || name === 'readable') && !stdin.begun) {
      stdin.begun = true;
      setImmediate(function () { var bytes = Buffer.from(facts.stdin, 'latin1'); if (bytes.length) stdin.emit('data', stdin.text ? bytes.toString() : bytes); stdin.emit('end'); stdin.emit('close'); });
    }
    return stdin;
  },
  [Symbol.asyncIterator]: async function* () { if (facts.stdin !== '') { var bytes = Buffer.from(facts.stdin, 'latin1'); yield stdin.text ? bytes.toString() : bytes; } }
});
process.stdin = stdin;

W.define('util', function () {
  var types = {
    isPromise: function (v) { return v instanceof Promise; }, isRegExp: function (v) { return v instanceof RegExp; }, isDate: function (v) { return v instanceof Date; },
    isMap: function (v) { return v instanceof Map; }, isSet: function (v) { return v instanceof Set; }, isNativeError: function (v) { return v instanceof Error; },
    isTypedArray: function (v) { return ArrayBuffer.isView(v) && !(v instanceof DataView); }, isUint8Array: function (v) { return v instanceof Uint8Array; }
  };
  return {
    inspect: W.inspect, format: W.format, types: types, TextEncoder: TextEncoder, TextDecoder: TextDecoder,
    isDeepStrictEqual: function (a, b) { return W.get('assert').same_(a, b, true); },
    promisify: function (run) {
      return function () { var self = this, args = Array.prototype.slice.call(arguments); return new Promise(function (resolve, reject) { run.apply(self, args.concat(function (error, value) { if (error) reject(error); else resolve(value); })); }); };
    },
    callbackify: function (run) { return function () { var args = Array.prototype.slice.call(arguments), done = args.pop(); run.apply(this, args).then(function (value) { done(null, value); }, done); }; },
    inherits: function (a, b) { Object.setPrototypeOf(a.prototype, b.prototype); Object.setPrototypeOf(a, b); },
    deprecate: function (run) { return run; },
    stripVTControlCharacters: function (text) { return text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, ''); },
    styleText: function (_, text) { return text; }
  };
});
W.define('timers', function () { return { setTimeout: setTimeout, setInterval: setInterval, setImmediate: setImmediate, clearTimeout: clearTimeout, clearInterval: clearInterval, clearImmediate: clearImmediate }; });
W.define('timers/promises', function () {
  return {
    setTimeout: function (ms, value) { return new Promise(function (resolve) { setTimeout(resolve, ms, value); }); },
    setImmediate: function (value) { return new Promise(function (resolve) { setImmediate(resolve, value); }); }
  };
});
W.define('perf_hooks', function () { return { performance: performance }; });
W.define('os', function () {
  return { EOL: '\n', platform: function () { return 'linux'; }, type: function () { return 'Linux'; }, arch: function () { return 'x64'; }, release: function () { return '0'; }, tmpdir: function () { return '/tmp'; }, homedir: function () { return '/workspace'; }, hostname: function () { return 'workspace'; }, cpus: function () { return []; }, availableParallelism: function () { return 1; }, totalmem: function () { return 0; }, freemem: function () { return 0; }, endianness: function () { return 'LE'; } };
});
W.define('url', function () {
  return {
    fileURLToPath: function (url) {
      var text = typeof url === 'string' ? url : url.href;
      if (!/^file:\/\/\//.test(text)) throw W.coded(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
      return decodeURIComponent(text.slice(7).replace(/[?#].*$/, ''));
    },
    pathToFileURL: function (path) { return new FileUrl(W.get('path').resolve(path)); },
    URL: globalThis.URL
  };
});
/** File addresses only: what scripts make of import.meta.url. */
class FileUrl {
  constructor(path) { this.protocol = 'file:'; this.pathname = path.split('/').map(encodeURIComponent).join('/'); this.href = 'file://' + this.pathname; }
  toString() { return this.href; }
  toJSON() { return this.href; }
}
globalThis.URL = class URL extends FileUrl {
  constructor(url, base) {
    var text = String(url);
    if (/^file:\/\/\//.test(text)) super(decodeURIComponent(text.slice(7)));
    else if (base !== undefined && /^file:\/\/\//.test(String(base)) && !/^[a-z][a-z0-9+.-]*:/i.test(text)) {
      var from = decodeURIComponent(String(base).slice(7));
      super(W.get('path').normalize(text[0] === '/' ? text : from.slice(0, from.lastIndexOf('/') + 1) + text));
    } else throw W.coded(TypeError, 'ERR_INVALID_URL', 'Only file URLs are available in this shell: ' + text);
  }
};
W.define('crypto', function () {
  function randomBytes(size) { var bytes = Buffer.alloc(size); for (var i = 0; i < size; i++) bytes[i] = Math.floor(Math.random() * 256); return bytes; }
  return {
    createHash: function (name) {
      var parts = [];
      if (String(name).toLowerCase().replace('-', '') !== 'sha256') throw new Error('Only sha256 is available in this shell, not ' + name);
      return {
        update: function (data, encoding) { parts.push(typeof data === 'string' ? Buffer.from(data, encoding) : Buffer.from(data)); return this; },
        digest: function (encoding) { var bytes = Buffer.from(globalThis.__sha256(W.bytesOf(Buffer.concat(parts))), 'hex'); return encoding ? bytes.toString(encoding) : bytes; }
      };
    },
    randomBytes: randomBytes,
    randomInt: function (low, high) { if (high === undefined) { high = low; low = 0; } return low + Math.floor(Math.random() * (high - low)); },
    randomUUID: function () { var h = randomBytes(16); h[6] = (h[6] & 15) | 64; h[8] = (h[8] & 63) | 128; var t = h.toString('hex'); return [t.slice(0, 8), t.slice(8, 12), t.slice(12, 16), t.slice(16, 20), t.slice(20)].join('-'); }
  };
});
W.define('module', function () { return { createRequire: function (from) { var path = typeof from === 'string' && from[0] === '/' ? from : W.get('url').fileURLToPath(from); return W.requireFrom(W.get('path').dirname(path)); }, builtinModules: W.names() }; });

var loaded = Object.create(null);
W.requireFrom = function (directory) {
  function resolve(name) { return W.call('resolve', [String(name), directory, 'require']); }
  function require(name) {
    var found = resolve(name);
    if (found.builtin) return W.get(found.builtin);
    return W.load(found);
  }
  require.resolve = function (name) { var found = resolve(name); return found.builtin ? name : found.path; };
  require.cache = loaded;
  require.main = W.main;
  return require;
};
W.load = function (found) {
  if (found.path in loaded) return loaded[found.path].exports;
  if (found.format === 'module') throw W.coded(Error, 'ERR_REQUIRE_ESM', 'require() of ES Module ' + found.path + ' is not supported; use import');
  var module = loaded[found.path] = { id: found.path, filename: found.path, path: W.get('path').dirname(found.path), exports: {}, loaded: false, children: [], paths: [] };
  if (W.main === undefined) W.main = module;
  try {
    var text = Buffer.of_(W.call('read', [found.path])).toString().replace(/^\uFEFF/, '');
    if (found.format === 'json') {
      try { module.exports = JSON.parse(text); } catch (error) { throw new SyntaxError(found.path + ': ' + error.message); }
    } else {
      var require = module.require = W.requireFrom(module.path);
      globalThis.__compile(text.replace(/^#!/, '//'), found.path).call(module.exports, module.exports, require, module, found.path, module.path);
    }
    module.loaded = true;
  } catch (error) { delete loaded[found.path]; throw error; }
  return module.exports;
};
/** What an import finds of a module that is no ES module. */
W.imported = function (found) { return found.builtin ? W.get(found.builtin) : W.load(found); };
W.describe = function (error) { return W.inspect(error); };
})();
`
