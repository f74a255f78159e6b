/** Scripts whose results must be the same in the shell's engine and in Node: `main.cjs` exports the values to compare. */
export const scripts: readonly (readonly [string, Readonly<Record<string, string | { link: string }>>])[] = [
  [
    'require finds the same modules',
    {
      'main.cjs': `module.exports = async () => {
        const told = (value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value))
        const out = []
        const names = ['./a', './a.js', './b', './c.json', './d.cjs', './dir', './dir/', './main-dir', './broken-main', './none', '.',
          './sub/up.cjs', './esm-typed/x.js', './cjs-typed/x.js', './link.cjs', './a.js/', './dir/.', './bad.json', './bad-json',
          'plain', 'plain/sub', 'plain/sub.js', '@own/scoped', '@own/scoped/deep', 'shown', 'shown/a', 'shown/star/x', 'shown/hidden', 'shown/none',
          'only-import', 'listed', 'nulled', 'missing', 'me', 'me/part', '#inner', '#pattern/x', '#unknown', 'node:nothing', 'path', 'sub-only', 'string-exports', 'string-exports/sub', './nameless/use.cjs']
        for (const name of names) {
          try { out.push([name, 'require', told(require(name))]) } catch (error) { out.push([name, 'require', error.code ?? error.name]) }
        }
        return out
      }`,
      'a.js': "exports.a = 'a'",
      'b.json': '{ "b": 1 }',
      'c.json': '[1]',
      'd.cjs': "#!/usr/bin/env node\nmodule.exports = 'd'",
      'dir/index.js': "module.exports = 'index'",
      'main-dir/package.json': '{ "main": "lib" }',
      'main-dir/lib/index.js': "module.exports = 'lib'",
      'broken-main/package.json': '{ "main": "nothing.js" }',
      'broken-main/index.js': "module.exports = 'fallback'",
      'index.js': "module.exports = 'here'",
      'nameless/package.json': '{ "exports": { ".": "./use.cjs" } }',
      'nameless/use.cjs': "try { require('undefined/x') } catch (error) { module.exports = error.code }",
      'sub/up.cjs': "module.exports = [require('..').length, require('../a.js').a]",
      'esm-typed/package.json': '{ "type": "commonjs" }',
      'esm-typed/x.js': "module.exports = 'typed'",
      'cjs-typed/package.json': '{}',
      'cjs-typed/x.js': "exports.x = 'untyped'",
      'link.cjs': { link: 'sub/up.cjs' },
      'bad.json': '{',
      'node_modules/plain/index.js': "module.exports = 'plain'",
      'node_modules/plain/sub.js': "module.exports = 'plain sub'",
      'node_modules/@own/scoped/package.json': '{ "main": "./m.js" }',
      'node_modules/@own/scoped/m.js': "module.exports = 'scoped'",
      'node_modules/@own/scoped/deep/index.js': "module.exports = 'deep'",
      'node_modules/shown/package.json':
        '{ "exports": { ".": { "require": "./r.js", "import": "./i.mjs" }, "./a": ["./a.js"], "./star/*": "./stars/*.js", "./hidden": null } }',
      'node_modules/shown/r.js': "module.exports = 'required'",
      'node_modules/shown/i.mjs': "export default 'imported'",
      'node_modules/shown/a.js': "module.exports = 'shown a'",
      'node_modules/shown/stars/x.js': "module.exports = 'star x'",
      'node_modules/only-import/package.json': '{ "exports": { "import": "./i.mjs" } }',
      'node_modules/only-import/i.mjs': 'export default 1',
      'node_modules/listed/package.json': '{ "exports": { ".": [{ "import": "./no.js" }, "./yes.js"] } }',
      'node_modules/listed/yes.js': "module.exports = 'yes'",
      'node_modules/nulled/package.json': '{ "exports": { "node": { "import": "./no.mjs" }, "default": "./yes.js" } }',
      'node_modules/nulled/yes.js': "module.exports = 'nested default'",
      'node_modules/sub-only/package.json': '{ "exports": { "./x": "./x.js" } }',
      'node_modules/string-exports/package.json': '{ "exports": "./s.js", "main": "./no.js" }',
      'node_modules/string-exports/s.js': "module.exports = 'by a text'",
      'package.json':
        '{ "name": "me", "exports": { ".": "./a.js", "./part": "./dir/index.js" }, "imports": { "#inner": "./d.cjs", "#pattern/*": { "default": "./dir/index.js" } } }',
    },
  ],
  [
    'import finds the same modules',
    {
      'main.cjs': `module.exports = () => import('./probe.mjs').then(({ probe }) => probe())`,
      'probe.mjs': `
        import { createRequire } from 'node:module'
        const names = ['./a.mjs', './a', './dir', './common.cjs', './typed.js', './untyped.js', './none.mjs', './dir/', 'imported', 'imported/x', 'imported/none',
          'main-only', 'main-only/extra.js', 'nothing-there', '#in', 'self', '/nowhere.mjs', 'node:nothing', './throws.mjs', './syntax.mjs']
        export async function probe() {
          const out = [import.meta.url, import.meta.filename, import.meta.dirname, new URL('./x', import.meta.url).pathname]
          for (const name of names) {
            try {
              const found = await import(name)
              out.push([name, Object.keys(found).filter((key) => key !== 'module.exports').sort(), String(found.default ?? found.value ?? '')])
            } catch (error) { out.push([name, error.code === 'OWN' || 'it is not there']) }
          }
          out.push((await import(new URL('./a.mjs', import.meta.url).href)).value, createRequire(import.meta.url)('./common.cjs').one)
          return out
        }`,
      'a.mjs': '#!/usr/bin/env node\nexport const value = 1',
      'dir/index.js': 'module.exports = 1',
      'common.cjs': "exports.one = 1; exports.two = 2; exports.toString = () => 'common'",
      'typed.js': "export default 'typed'; export const also = 1",
      'untyped.js': 'const three = 3, four = () => 4\nmodule.exports = { three, four }',
      'throws.mjs': "throw Object.assign(new Error('thrown'), { code: 'OWN' })",
      'syntax.mjs': 'let a = ;',
      'package.json': '{ "name": "self", "exports": "./a.mjs", "imports": { "#in": "./a.mjs" }, "type": "commonjs" }',
      'node_modules/imported/package.json':
        '{ "type": "module", "exports": { ".": "./m.js", "./x": { "import": "./x.js" } } }',
      'node_modules/imported/m.js': "export default 'imported'",
      'node_modules/imported/x.js': "export default 'imported x'",
      'node_modules/main-only/package.json': '{ "main": "m.js" }',
      'node_modules/main-only/m.js': "module.exports = 'main only'",
      'node_modules/main-only/extra.js': "module.exports = 'extra'",
    },
  ],
  [
    'fs reads and changes files in the same way',
    {
      'main.cjs': `
        const fs = require('fs'), path = require('path')
        const p = (name) => path.join(__dirname, name)
        const tries = [
          () => fs.readFileSync(p('a.txt'), 'utf8'), () => fs.readFileSync(p('none')), () => fs.readFileSync(p('d')),
          () => fs.writeFileSync(p('w.txt'), 'written'), () => fs.appendFileSync(p('w.txt'), '!'), () => fs.readFileSync(p('w.txt')).toString(),
          () => fs.writeFileSync(p('w.txt'), 'x', { flag: 'wx' }), () => fs.writeFileSync(p('w.txt'), 'y', { flag: 'a' }), () => fs.readFileSync(p('w.txt'), { encoding: 'hex' }),
          () => fs.writeFileSync(p('no/dir.txt'), ''), () => fs.existsSync(p('a.txt')), () => fs.existsSync(p('none')),
          () => fs.accessSync(p('none')), () => fs.accessSync(p('a.txt')),
          () => fs.statSync(p('a.txt')).size, () => fs.statSync(p('d')).isDirectory(), () => fs.statSync(p('l')).isFile(), () => fs.lstatSync(p('l')).isSymbolicLink(),
          () => fs.statSync(p('none'), { throwIfNoEntry: false }), () => fs.statSync(p('none')), () => (fs.statSync(p('a.txt')).mode & 0o170000).toString(8),
          () => (fs.lstatSync(p('l')).mode & 0o170000).toString(8), () => (fs.statSync(p('d')).mode & 0o170000).toString(8),
          () => fs.readdirSync(p('d')).sort(), () => fs.readdirSync(p('d'), { withFileTypes: true }).map((e) => [e.name, e.isFile(), e.isDirectory(), e.isSymbolicLink()]).sort(),
          () => fs.readdirSync(p('d'), { recursive: true }).sort(), () => fs.readdirSync(p('none')), () => fs.readdirSync(p('a.txt')),
          () => fs.mkdirSync(p('d')), () => fs.mkdirSync(p('new')), () => fs.mkdirSync(p('deep/er/est'), { recursive: true }) !== undefined, () => fs.mkdirSync(p('no/where')),
          () => fs.rmSync(p('d')), () => fs.rmSync(p('none')), () => fs.rmSync(p('none'), { force: true }), () => fs.rmSync(p('deep'), { recursive: true }), () => fs.existsSync(p('deep')),
          () => fs.rmdirSync(p('d')), () => fs.rmdirSync(p('new')), () => fs.rmdirSync(p('a.txt')), () => fs.rmdirSync(p('none')),
          () => fs.unlinkSync(p('w.txt')), () => fs.unlinkSync(p('none')), () => fs.existsSync(p('w.txt')),
          () => fs.copyFileSync(p('a.txt'), p('copy.txt')), () => fs.renameSync(p('copy.txt'), p('moved.txt')), () => fs.readFileSync(p('moved.txt'), 'base64'), () => fs.renameSync(p('none'), p('x')),
          () => fs.cpSync(p('d'), p('dd'), { recursive: true }), () => fs.readdirSync(p('dd')).sort(),
          () => fs.symlinkSync('a.txt', p('fresh')), () => fs.readlinkSync(p('fresh')), () => fs.readlinkSync(p('a.txt')), () => fs.realpathSync(p('fresh')), () => fs.realpathSync(p('none')),
          () => fs.chmodSync(p('a.txt'), 0o600), () => (fs.statSync(p('a.txt')).mode & 0o777).toString(8), () => fs.chmodSync(p('none'), 0o600),
          () => fs.truncateSync(p('a.txt'), 2), () => fs.readFileSync(p('a.txt'), 'latin1'),
          () => fs.renameSync(p('d'), p('a.txt')), () => fs.renameSync(p('a.txt'), p('d')), () => fs.renameSync(p('dd'), p('d')), () => fs.renameSync(p('d'), p('d/in')), () => fs.renameSync(p('a.txt'), p('a.txt')),
          () => fs.renameSync(p('dd'), p('away')), () => fs.mkdirSync(p('hollow')), () => fs.renameSync(p('away'), p('hollow')), () => fs.readdirSync(p('hollow')).sort(), () => fs.renameSync(p('hollow'), p('nowhere/x')),
          () => fs.symlinkSync('x', p('a.txt')), () => fs.mkdirSync(p('a.txt')), () => fs.writeFileSync(p('d'), ''), () => fs.existsSync(p('a.txt/x')), () => fs.unlinkSync(p('d')),
          () => fs.symlinkSync('gone', p('dangling')), () => fs.lstatSync(p('dangling')).isSymbolicLink(), () => fs.statSync(p('dangling')), () => fs.rmdirSync(p('d/e'), { recursive: true }),
        ]
        module.exports = async () => {
          const out = tries.map((run) => { try { return String(run()) } catch (error) { return error.code ?? error.name } })
          out.push(await fs.promises.readFile(p('d/b.txt'), 'utf8'), await fs.promises.stat(p('none')).catch((error) => error.code))
          out.push(await new Promise((resolve) => fs.readFile(p('d/b.txt'), 'utf8', (error, text) => resolve([error, text]))))
          return out
        }`,
      'a.txt': 'größe\n',
      'd/b.txt': 'b',
      'd/e/f.txt': 'f',
      'd/l': { link: 'b.txt' },
      l: { link: 'a.txt' },
    },
  ],
  [
    'Buffer encodes and decodes in the same way',
    {
      'main.cjs': `module.exports = async () => {
        const out = []
        const texts = ['', 'plain', 'größe 漢字 \u{1f600}', '\\xff\\x00\\x7f', 'aGk=', 'aGk', '_-_-', 'a', '68692', 'zz', 'QUJD RA==']
        for (const encoding of ['utf8', 'utf-8', 'hex', 'base64', 'base64url', 'latin1', 'binary', 'ascii', 'utf16le', 'ucs2']) {
          for (const text of texts) {
            if (/^base64/.test(encoding) && /[^\\x00-\\x7f]/.test(text)) continue
            const bytes = Buffer.from(text, encoding)
            out.push([encoding, text, bytes.toString('hex'), bytes.length])
          }
          out.push([encoding, Buffer.from([0, 255, 104, 105, 195, 188, 240, 159, 152, 128, 66, 0]).toString(encoding)])
        }
        out.push(Buffer.from([255, 254, 65, 0]).toString('utf16le'), Buffer.from([239, 187, 191, 65]).toString(), new TextEncoder().encode('a\\0b').length)
        out.push(require('crypto').createHash('sha256').update('abc').digest('hex'))
        return out
      }`,
    },
  ],
]
