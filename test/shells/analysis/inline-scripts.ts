import type { Case } from './bypasses.ts'

/** Scripts as people write them for `node -e`. None loads code. */
const ordinary = String.raw`
console.log(Buffer.from('hi').toString('base64'))
console.log(Buffer.from('aGk=', 'base64').toString())
Buffer.from('hi')
Buffer.from("hi", "utf8").length
Buffer.from ('hi')
Array.from('abc')
console.log(Array.from('abc').reverse().join(''))
console.log(Array.from('abc', (c) => c.charCodeAt(0)))
console.log(Uint8Array.from('123'))
console.log(Object.fromEntries([['a', 1]]))
console.log(String.fromCharCode(97))
Iterator.from('abc').toArray()
Readable.from('abc')
const from = 'a'; console.log(from)
let from="a"
const range = { from: 'a', to: 'b' }; console.log(range.from)
console.log(moment.from('2020'))
db.select('x').from('users')
db.from("users").where("id", 1)
console.log('from "here" to there')
console.log("import it from 'there'")
console.log('mail from', 'me')
console.log('Copied from: ' + 'a')
console.log("the word from 'a text'")
console.log('modules to require')
console.log("import and export of goods")
console.log('a global process with a constructor')
console.log('kill the fork with care')
console.log('eval is evil')
console.log("please don't exec")
console.log('the module is not on the list')
console.log('a prototype')
const s = 'spawn'; console.log(s.length)
console.log(1 + 1)
console.log('a' + 'b')
console.log([1, 2, 3].map((n) => n * 2))
console.log([3, 1, 2].sort((a, b) => a - b))
console.log(JSON.stringify({ a: 1 }, null, 2))
console.log(JSON.parse('{"a":1}').a)
console.log(process.version)
console.log(process.argv.slice(1))
console.log(process.env.HOME)
console.log(new Date(0).toISOString())
console.log(Math.max(1, 2, 3))
console.log(typeof x === 'undefined')
console.log('abc'.includes('b'))
console.log('a,b'.split(','))
console.log('a b'.replace(' ', '-'))
console.log('x'.padStart(3, '0'))
for (let i = 0; i < 3; i++) console.log(i)
if (process.argv.length > 5) process.exit(1)
console.log(require('fs').readFileSync('a.txt', 'utf8'))
console.log(require('./package.json').version)
const fs = require('fs'); fs.writeFileSync('a.txt', 'hi')
const { join } = require('node:path'); console.log(join('a', 'b'))
require('fs').readdirSync('.').forEach((name) => console.log(name))
console.log(require('os').cpus().length)
console.log(require('crypto').createHash('sha256').update('a').digest('hex'))
import('fs').then((fs) => console.log(fs.existsSync('a.txt')))
import('node:path').then(({ sep }) => console.log(sep))
const p = require('./package.json'); console.log(p.scripts.test)
console.log([...new Set('aab')].join(''))
console.log('from'.length, "from".at(0))
console.log(Object.keys({ from: 1 }))
export const a = Buffer.from('a')
console.log(1 > 0 ? 'from' : 'to')
console.log('a\'b from "c"')
console.log("it's from 'x'")
class A { from(a) { return a } }; new A().from('x')
/a/.exec('b')
console.log(/(\d+)/.exec('a1')[1])
const m = /a\/b/g.exec(s); console.log(m)
if (!/^x$/i.exec(s)) console.log(1)
let m; while ((m = /a/y.exec(s)) !== null) console.log(m)
const f = ({ from }) => from; f({ from: 'a' })
setTimeout(() => console.log(1), 5)
setTimeout(function () { console.log('done') }, 100)
const t = setTimeout(async () => {}, 10); clearTimeout(t)
new Promise((resolve) => setTimeout(resolve, 100)).then(() => console.log('x'))
setInterval((x) => console.log(x), 1000, 'tick')
import { a } from './src/a.js'; console.log(a())
import fs, { existsSync as e } from 'fs'; console.log(fs === e)
import * as path from "node:path"⏎console.log(path.sep)
console.log(require('react/package.json').version, require('@a/b/package.json').version)
const { createInterface } = require('readline'); createInterface({ input: process.stdin })
const lines = 'a b'.split(' '); console.log(lines[lines.length - 1])
const [a, b] = '1 2'.split(' '); console.log(+a + +b)
class A { constructor() { this.x = 1 } } console.log(new A().x)
const p = /a(b)/g; let m; while ((m = p.exec(s)) !== null) console.log(m[1], p.lastIndex)
const p = /a/; const q = /b/y; console.log(p.exec(s), q.exec(s), q.test(s), q.source)
const p = /a+\/b/i⏎console.log(p.exec(s)?.at(0))
const read = (s) => { const word = /\w+/g; return word.exec(s).index }
'; eval(' + 1 + ') + '
"a\"; require(b); "
`

/** Scripts that load code, reach members by texts, or make it unclear where a text ends. */
const loading = String.raw`
require('child_process')
require("child_process").execSync('id')
require('http')
import('child_process')
import 'child_process'
import cp from 'child_process'
import * as cp from 'child_process'
import { exec } from 'child_process'
import{exec}from'child_process'
import a, { b as c } from "child_process"
import/**/a from 'child_process'
import a from/**/'child_process'
export * from 'child_process'
export*from'child_process'
export { exec } from "child_process"
export {exec}from 'data:text/javascript,a'
export * from/**/'child_process'
export * from /*a*/ 'data:text/javascript,a'
export * as a from 'http'
export { default } from './a'; require('http')
const from = 1; export * from 'http'
Buffer.from('a'); export * from 'http'
require('fs'.replace('fs', 'child_process'))
require('fs'.concat(a))
require('fs' + a)
import('fs'.replace('fs', 'vm'))
require('./a', eval('b'))
(0, require)('vm')
const r = require; r('vm')
x['constructor']('a')
x["constructor"]
x[ 'constructor' ]
const { 'constructor': F } = x
const {"constructor" : F} = x
const { ['constructor']: F } = x
x[('constructor')]
x['con' + 'structor']
x[a = 'constructor']
process['binding']
globalThis['eval']
/'/.test(x); require('vm') //'
/"/; eval(a) //"
'a' /* ' */; require('vm') /* ' */
x <!-- '⏎eval(a) //'
x = "a" <!-- "⏎eval(b) // "
x⏎--> '⏎eval(a) + '
'a\\'; eval(b); 'c'
require('./a'); fs.writeFileSync('./a', 'require("vm")')
fs.writeFileSync('./a.js', 'require("child_process")'); require('./a.js')
fs.writeFileSync('./a.js', 'eval(b)'); import('./a.js')
new Worker('a')
Function('a')()
setTimeout('a', 1)
setTimeout("a" + b, 1)
x.setTimeout = 1
import a from 'http'; import { b } from 'child_process'
import a from './a'; import b from 'vm'
import { a } from 'fs' + b
require('child_process/package.json/../..')
require('../package.json/x').exec('id')
x[y-z]
x[(y)-1]
x[y.z - 1 || w]
x[y-1,w]
x.const [y]
foo.constructor('a')
x = { y: 1 }.constructor('a')
constructor.constructor('a')
module.require('vm')
process.binding('a')
cp.exec('id')
a /b/g.exec('id')
a/*(/a*/g.exec('id')
(/a*/b).exec('id') /**/
x = 1 /cp.exec('id')/ 2
(/a/, cp).exec('id')
(/'/.test(a), cp.exec('/a/'))
(/a/.exec, cp).exec('id')
(/a/⏎.exec('b'), cp.exec('id'))
p.exec('id')
let p = /a/; p.exec('id')
const p = cp; p.exec('id')
const p = /a/; p = cp; p.exec('id')
const p = /a/; ((p) => p.exec('id'))(cp)
const p = /a/; p.exec = cp.exec; p.exec('id')
const p = /a/; p.exec.call(cp, 'id')
const p = /a/; x.p.exec('id')
const p = /a/; x. p.exec('id')
const p = /a/; x./**/p.exec('id')
const p = /a/; x.//⏎p.exec('id')
const p = /a/; Object.assign(p, cp); p.exec('id')
const p = /a/; { const { a: p } = cp; p.exec('id') }
const p = /a/; ({ p: cp }).p.exec('id')
const p = /a/ && cp; p.exec('id')
const p = /a/⏎.b; p.exec('id')
const p = /a/⏎[cp].at(0); p.exec('id')
const p = /a/.b || cp; p.exec('id')
const p = /a/; cp.exec('id')
const p = /a/; p.exec('b'); $p.exec('id')
const p = /a/; p.exec('b'); ép.exec('id')
process.mainModule.require('vm')
x.__proto__
import(a)
import(a + 'fs')
import
`

/** Python without access to other processes, and with words of it in texts. */
const ordinaryPython = `
print('the os is fine')
print("exec this", 'system')
d = {'code': 1}; print(d['code'])
import json, sys; print(json.load(sys.stdin)['query'])
import re; print(re.compile('a+').match('aa'))
import re; print(re.sub('eval', 'x', 'an eval'))
import csv, sys; print([row['license'] for row in csv.DictReader(sys.stdin)])
print('a" ); exec("b')
print('dir' in ['dir'])
import os; print(os.getcwd(), os.environ.get('HOME'))
import os; print(os.path.exists('a.txt'), os.listdir('.'))
import os.path; print(os.path.abspath('a'))
import sys, os⏎print(os.path.join('a', 'b'), sys.argv)
import ast; ast.parse(open('a.py').read())
import numpy as np; print(np.__version__)
`

/** Python that runs or looks up a text, or may. */
const loadingPython = `
exec('a')
eval("a")
import os; os.system('a')
import os; os.getcwd(); os.popen('a')
import os; os.path.os.system('a')
import os; os.getcwd(); x = os; x.execv('a', [])
import os as o; o.getcwd(); o.execl('a')
import os, sys as s; os.getcwd(); os.posix_spawn('a', [], {})
from os import getcwd, system; os.getcwd()
from os.path import os; os.getcwd()
import os; os.getcwd(); a.os.execv('b')
import os; os.getcwd.__globals__['system']('a')
import os; os.environ.__class__
import os; print(f'{os.getcwd()}', os . system('a'))
import os; os.path.genericpath.os.fork()
import ast; ast.sys.modules['os']
a.__version__.__class__
a.__file__()
a.__name__.__init__
getattr(a, 'b')
import typing; print('exec(a)')
import pandas; pandas.DataFrame().apply('eval')
import yaml; yaml.load('exec')
print(f'{exec(1)}')
print(f"{os}")
print(rf'{os}')
print('{0.os}'.format(a))
open('re.py', 'w').write('exec(a)'); import re
from pathlib import Path; Path('re.py').write_text('exec(a)'); import re
compile('a', 'b', 'exec')
import re; re.a.compile('a')
import sys as re; re.modules
x = 'it''s'; exec(x)
print("a' ); exec('b')
print('a'); exec("b" 'c')
'''; os; '''
print('a' # ' ⏎, os)
`

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replaceAll('⏎', '\n'))

/** Quotes a script as one word of a shell. */
const quoted = (script: string): string => `'${script.replaceAll("'", `'"'"'`)}'`

export const inlineScripts: Readonly<Record<string, readonly Case[]>> = {
  'ordinary scripts of node': linesOf(ordinary).map((script): Case => [`node -e ${quoted(script)}`, 'allow']),
  'scripts of node that load code': linesOf(loading).map(
    (script): Case => [`node -e ${quoted(script)}`, 'INLINE_CODE'],
  ),
  'ordinary scripts of python': linesOf(ordinaryPython).map(
    (script): Case => [`python3 -c ${quoted(script)}`, 'allow'],
  ),
  'scripts of python that load code': linesOf(loadingPython).map(
    (script): Case => [`python3 -c ${quoted(script)}`, 'INLINE_CODE'],
  ),
}
