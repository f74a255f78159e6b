import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  classifyContent,
  classifyDirectory,
  classifyPath,
  isOrdinaryFile,
  normalizedName,
} from '../../../src/files/classify/index.ts'
import {
  alterName,
  foldName,
  isPlainName,
  mayBeAltered,
  parseShortName,
  shortNameKey,
} from '../../../src/files/classify/name-spelling.ts'
import type { Classification, FileKind, Protection } from '../../../src/files/classify/types.ts'
import { type LogicalPath, parsePath } from '../../../src/paths/logical-path.ts'
import { times } from '../../counts.ts'
import { ownTime } from '../../own-time.ts'

const classify = (path: string): Classification => classifyPath(parsePath(path))
const words = (list: string): string[] => list.trim().split(/\s+/)

/** The names in the specification, one row per kind. `|` is a space in a name. */
const protectedNames: readonly [Protection, FileKind, string][] = [
  [
    'secret',
    'SECRET_LIKE',
    `.env .env.local .env.production .env.production.local .env.example.local .env.bak .envrc server.pem a.b.pem .pem x.key
    tls.KEY x.p12 x.pfx release.jks id_rsa id_dsa id_ecdsa id_ed25519 .ssh/config .ssh/known_hosts .ssh/a/b/c .ssh/id_rsa.pub
    .ssh/index.ts .ssh/.env.example .npmrc .netrc _netrc .pgpass .pypirc .htpasswd .git-credentials .aws/credentials
    .kube/config .docker/config.json .gnupg/pubring.kbx .gnupg/private-keys-v1.d/x secrets.yaml secrets.yml secrets.json
    secrets.toml secrets.env secrets.prod.yaml secrets.md secrets/db.yaml secrets/prod/token secrets/README.md secrets/a.pem
    secrets/yarn.lock secrets/a.png .env.js ENV~1.txt .docker/CONFIG~1.JSO .cargo/credentials.toml .config/gh/hosts.yml
    application-prod.yml application-prod.yaml .bash_history .zsh_history .python_history .node_repl_history .psql_history
    .mysql_history .irb_history fish_history .local/share/fish/fish_history etc/shadow etc/shadow- etc/gshadow
    .env~ .env.local~ id_rsa~ id_rsa.bak server.key.old .npmrc.orig .htpasswd.swp`,
  ],
  [
    'generated',
    'GENERATED',
    `target/classes/A.class target/x build/x.ts dist/index.js dist/logo.png node_modules/a/index.js
    node_modules/@a/b/package-lock.json node_modules/vendor/a.js generated-sources/A.java api.pb.go schema.generated.ts
    a.generated.d.ts .generated.ts openapi/generated/api.ts openapi/generated/a/b.ts`,
  ],
  ['vendored', 'VENDORED', 'vendor/github.com/a/b.go third_party/a.c vendor/go.sum'],
  [
    'lockfile',
    'LOCKFILE',
    `package-lock.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb poetry.lock uv.lock Cargo.lock go.sum Gemfile.lock
    composer.lock Pipfile.lock flake.lock`,
  ],
  ['binary', 'BINARY', 'logo.png a.JPG x.tar.gz lib.so main.wasm font.woff2 data.sqlite doc.pdf'],
  [
    'git',
    'GIT_INTERNAL',
    `.git .git/config .git/hooks/pre-commit .git/a/b/.env .git/objects/ab/cdef .git. .git.. .git|. .git.|/config git~1
    git~1/config GIT~2 .g\u200cit .git\u200d/config .\u2060git .gi\u00adt .gıt`,
  ],
]

/** Ordinary names that are similar to protected ones. */
const ordinaryNames: readonly [FileKind, string][] = [
  [
    'TEXT_SOURCE',
    `env.ts src/env.ts environment.ts keyboard.ts keys.ts monkey.key.ts key.ts a.key.ts a.pem.ts id_rsa.ts secrets.ts
    secrets.test.ts secrets.d.ts secrets/index.ts secrets/a/b.py secret.ts npmrc.ts dist.ts build.ts target.ts builder/a.ts
    distribution/a.ts my-build/a.ts node_modules.ts node_modules_old/a.js generated.ts src/generated/api.ts
    api/generated/a.ts openapi/a.ts openapi/generatedx/a.ts pb.go a.pb.go.ts vendors/a.ts gitx/a.ts .gitx/a.ts git/a.ts
    shadow.ts etc/shadow.ts history.ts bash_history.sh constructor.ts .aws/a.ts Makefile lockfile.ts Größe.ts ssh/a.ts
    BUILD~1/a.ts DIST~1/a.ts VENDOR~1/a.ts`,
  ],
  [
    'TEXT_CONFIG',
    `.env.example .env.sample .env.template a/.ENV.EXAMPLE .gitignore .gitattributes .gitmodules package.json
    kube/config.json docker/config.json config.json .docker/a.json .kube/config.yaml application.yml application-dev.yml
    secret.yaml my-secrets.yaml mysecrets.json Dockerfile .npmignore a.toml tsconfig.json lock.json .github/workflows/a.yml`,
  ],
  ['TEXT_DOC', 'README README.md docs/keys.md docs/secrets-guide.md LICENSE env.md a.rst id_rsa.md'],
  [
    'UNKNOWN',
    `.envx .environment env xenv a.env.x id_rsa.pub id_rsa2 my_id_rsa pem key jks .key_x a.pemx a.keys secrets xsecrets.q
    npmrc netrc credentials aws/credentials kube/config shadow etc/shadows bash_history build dist target node_modules a/dist
    x.lock shadow/etc a.ssh .sshx .gnupgx ... .... ..git .git-x git.git dotgit gitt~1 git~x ggit~1 __proto__ constructor
    ID_DSA~1 ID_RSA~1 GO~1.SUM SECRET~1 id_rsaé yarn.lock.bak go.sum.old`,
  ],
]

const variants = (path: string): string[] => {
  const upper = path.toUpperCase()
  const title = path.replace(/[a-z]/g, (letter, at: number) => (at % 2 === 0 ? letter.toUpperCase() : letter))
  return [path, `a/b/${path}`, upper, title, `x/${upper}`]
}

describe('classifyPath', () => {
  for (const [protection, kind, names] of protectedNames) {
    it.each(words(names).map((name) => name.replaceAll('|', ' ')))(`protects %j as ${protection}`, (name) => {
      for (const path of variants(name)) {
        const classification = classify(path)
        expect(classification, path).toMatchObject({ kind, protection })
        expect(classification.readable, path).toBe(!['secret', 'git', 'binary'].includes(protection))
        expect(classification.writable, path).toBe(protection === 'binary')
        expect(classification.redacted, path).toBe(protection === 'secret')
        expect(classification.reason).toMatch(/^it /)
        expect(classification.hint).toBeTruthy()
        expect(Object.isFrozen(classification)).toBe(true)
        if (kind === 'SECRET_LIKE' || kind === 'GIT_INTERNAL') expect(isOrdinaryFile(parsePath(path)), path).toBe(false)
      }
    })
  }

  for (const [kind, names] of ordinaryNames) {
    it.each(words(names))(`does not protect %j, which is ${kind}`, (name) => {
      for (const path of [name, `a/b/${name}`]) {
        expect(classify(path), path).toMatchObject({ kind, readable: true, writable: true, redacted: false })
        expect(classify(path).protection).toBeUndefined()
      }
    })
  }

  it.each([
    ['.env.', 'secret'],
    ['.env ', 'secret'],
    ['.ssh./id', 'secret'],
    ['.ssh /id', 'secret'],
    ['id_rsa. . ', 'secret'],
    ['.e\u200cnv', 'secret'],
    ['.ßh/x', 'secret'],
    ['.ſsh/x', 'secret'],
    ['x.\u212aey', 'secret'],
    ['ENV~1', 'secret'],
    ['ENV~1.LOC', 'secret'],
    ['NPMRC~1', 'secret'],
    ['SSH~1/id', 'secret'],
    ['ID_ED2~1', 'secret'],
    ['AWS~1/CREDEN~1', 'secret'],
    ['a/DOCKER~1/CONFIG~1.JSO', 'secret'],
    ['NODE_M~1/a.js', 'generated'],
    ['dist./a.js', 'generated'],
    ['yarn.lock.', 'lockfile'],
    ['ENV~x', undefined],
    ['ID_ED2~1.PUB', undefined],
    // No disk treats compatibility forms as the same name.
    ['.ｇit/config', undefined],
    ['．git/config', undefined],
  ])('recognises the spelling %j', (path, protection) => {
    expect(classify(path).protection).toBe(protection)
  })

  // The results for extensions and directories are cached, so each name is new.
  let count = 0
  it.each<[string, Protection | undefined, FileKind]>([
    ['a.NEW.ts', undefined, 'TEXT_SOURCE'],
    ['a.NEW', undefined, 'UNKNOWN'],
    ['a.ts.NEW', undefined, 'UNKNOWN'],
    ['a.NEW.pem', 'secret', 'SECRET_LIKE'],
    ['a.pem.NEW', undefined, 'UNKNOWN'],
    ['a.NEW.generated.ts', 'generated', 'GENERATED'],
    ['a.generated.NEW', 'generated', 'GENERATED'],
    ['a.generated.NEW.b.c', 'generated', 'GENERATED'],
    ['a.NEW.generated', undefined, 'UNKNOWN'],
    ['a.NEW.pb.go', 'generated', 'GENERATED'],
    ['a.pb.NEW.go', undefined, 'TEXT_SOURCE'],
    ['a.pb.go.NEW', undefined, 'UNKNOWN'],
    ['.NEW', undefined, 'UNKNOWN'],
    ['a.NEW.pem.bak', 'secret', 'SECRET_LIKE'],
    ['a.NEW.pem.backup', 'secret', 'SECRET_LIKE'],
    ['a.NEW.pem.old', 'secret', 'SECRET_LIKE'],
    ['a.NEW.pem.orig', 'secret', 'SECRET_LIKE'],
    ['a.NEW.pem.save', 'secret', 'SECRET_LIKE'],
    ['a.NEW.pem.swp', 'secret', 'SECRET_LIKE'],
    ['a.NEW.pem.bak.old', 'secret', 'SECRET_LIKE'],
    ['a.NEW.pemxbak', undefined, 'UNKNOWN'],
    ['NEW/secrets/a.yaml', 'secret', 'SECRET_LIKE'],
    ['secrets/NEW/a.yaml', 'secret', 'SECRET_LIKE'],
    ['NEW/secrets/a.ts', undefined, 'TEXT_SOURCE'],
    ['NEW/.ssh/a.ts', 'secret', 'SECRET_LIKE'],
    ['NEW/openapi/generated/a.ts', 'generated', 'GENERATED'],
    ['NEW/openapi/.../generated/a.ts', 'generated', 'GENERATED'],
    ['.../openapi/generated/NEW/a.ts', 'generated', 'GENERATED'],
    ['openapi/generated/NEW/a.ts', 'generated', 'GENERATED'],
    ['NEWopenapi/generated/a.ts', undefined, 'TEXT_SOURCE'],
    ['openapi/NEW/generated/a.ts', undefined, 'TEXT_SOURCE'],
    ['NEW/.aws/credentials', 'secret', 'SECRET_LIKE'],
    ['NEW.aws/credentials', undefined, 'UNKNOWN'],
    ['.aws/NEW/credentials', undefined, 'UNKNOWN'],
  ])('%s has the protection %s', (name, protection, kind) => {
    count += 1
    const classification = classify(name.replace('NEW', `new${count}`))
    expect([classification.protection, classification.kind]).toEqual([protection, kind])
  })

  it('gives the reason', () => {
    const reasons = (...paths: string[]) => paths.map((path) => classify(path).reason)
    expect(reasons('a.ts', 'a.json', 'a.md', 'a')).toEqual([
      'it is source code by its name',
      'it is configuration or data by its name',
      'it is documentation by its name',
      'its name says nothing about its content',
    ])
    expect(classifyDirectory(parsePath('src'))).toEqual({
      kind: 'DIRECTORY',
      readable: true,
      writable: true,
      redacted: false,
      reason: 'it is a directory',
    })
    expect(classify('id_rsa')).toMatchObject({
      reason: 'it is a private key or a key store by its name',
      hint: 'The file is protected as a secret; do not retry, work without its content.',
    })
  })

  it('applies the strictest of several matches', () => {
    expect(classify('dist/.env').kind).toBe('SECRET_LIKE')
    expect(classify('.git/.env').kind).toBe('GIT_INTERNAL')
    expect(classify('.ssh/.git/x').kind).toBe('GIT_INTERNAL')
    expect(classify('node_modules/a/yarn.lock').kind).toBe('GENERATED')
    expect(classify('vendor/dist/a.js').kind).toBe('GENERATED')
    expect(classify('secrets/dist/a.js').kind).toBe('GENERATED')
    expect(classify('secrets/dist/a.txt').kind).toBe('SECRET_LIKE')
  })

  it('does not depend on earlier calls', () => {
    const paths = [
      'a/b.ts',
      'a/b',
      'ab/c.ts',
      'a/.ssh/x',
      'a/.ss/x',
      'a',
      'secrets/a.ts',
      'secrets/a.yaml',
      'secret/a.yaml',
      'dist/a',
      'dis/a',
      'liba/dist',
    ]
    expect(['dist/b', 'libb/dist', 'dist/b'].map((path) => classify(path).kind)).toEqual([
      'GENERATED',
      'UNKNOWN',
      'GENERATED',
    ])
    const alone = new Map(paths.map((path) => [path, classify(path)]))
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...paths)), (order) => {
        for (const path of order) expect(classify(path)).toBe(alone.get(path))
      }),
    )
  })

  it('protects everything below a protected directory, with any name', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
      .filter((part) => !/[/\\:\p{Cc}\p{Bidi_C}\ud800-\udfff]/u.test(part) && part.trim() !== '' && !/^\.+$/.test(part))
    fc.assert(
      fc.property(
        fc.constantFrom('.git', '.ssh', '.GNUPG', 'git~1'),
        fc.array(name, { minLength: 1, maxLength: 4 }),
        (directory, below) => {
          const { protection } = classify([directory, ...below].join('/'))
          expect(['git', 'secret']).toContain(protection)
        },
      ),
    )
  })

  it('returns the same object for equal results', () => {
    expect(classifyPath('a.ts' as LogicalPath)).toBe(classifyPath('b/c.ts' as LogicalPath))
  })

  it('takes linear time for hostile paths', () => {
    for (const unit of ['a/', './', `${'.'.repeat(200)}/`, ' /', '~1/', 'generated/', '\u200c/', '.a']) {
      const path = `${unit.repeat(Math.floor(4000 / unit.length))}x` as LogicalPath
      const started = ownTime()
      for (let i = 0; i < 20; i++) {
        const other = `${i}${path}` as LogicalPath
        classifyPath(other)
        classifyDirectory(other)
        normalizedName(other)
      }
      expect(ownTime() - started, unit).toBeLessThan(500)
    }
  })
})

describe('classifyDirectory', () => {
  it.each([
    ['.git', 'GIT_INTERNAL'],
    ['a/.git/hooks', 'GIT_INTERNAL'],
    ['git~1', 'GIT_INTERNAL'],
    ['.Git.', 'GIT_INTERNAL'],
    ['.ssh', 'SECRET_LIKE'],
    ['home/.gnupg/x', 'SECRET_LIKE'],
    ['secrets', 'SECRET_LIKE'],
    ['src/Secrets/a', 'SECRET_LIKE'],
    ['target', 'GENERATED'],
    ['a/build', 'GENERATED'],
    ['dist/a', 'GENERATED'],
    ['node_modules', 'GENERATED'],
    ['openapi/generated', 'GENERATED'],
    ['vendor', 'VENDORED'],
    ['.', 'DIRECTORY'],
    ['src', 'DIRECTORY'],
    ['openapi', 'DIRECTORY'],
    ['generated', 'DIRECTORY'],
    ['.aws', 'DIRECTORY'],
    ['.env', 'DIRECTORY'],
    ['certificates.pem', 'DIRECTORY'],
    ['yarn.lock', 'DIRECTORY'],
    ['.github', 'DIRECTORY'],
    ['secret', 'DIRECTORY'],
  ])('%s is %s', (path, kind) => {
    expect(classifyDirectory(parsePath(path)).kind).toBe(kind)
  })
})

describe('alteredForm', () => {
  it.each([
    ['.git.', '.git'],
    ['.git ', '.git'],
    ['a/.git . ./config', 'a/.git/config'],
    ['git~1/config', '.git/config'],
    ['.g\u200cit', '.git'],
    ['\ufeff.git', '.git'],
    ['.env.', '.env'],
    ['ENV~1.LOC', '.env.loc'],
    ['src/a.ts.', 'src/a.ts'],
    ['src/a b /c', 'src/a b/c'],
    ['src/.../c', 'src/c'],
    ['nul', '\\\\.\\NUL'],
    ['src/aux.ts', 'src/\\\\.\\AUX'],
    ['COM1.txt', '\\\\.\\COM1'],
    ['lpt\u00b9', '\\\\.\\LPT\u00b9'],
    ['con', '\\\\.\\CON'],
    ['con /x', '\\\\.\\CON/x'],
    ['conin$', '\\\\.\\CONIN$'],
  ])('of %j is %j', (path, altered) => {
    expect(normalizedName(parsePath(path))).toBe(altered)
  })

  it.each(
    words(`a.ts README.md .gitignore config.ts console.log auxiliary.ts common/a.ts com10 com/a lptx nullable.ts a~1 b~12.ts
    Größe.txt .env .git SRC/A.TS a..b ..a printer.ts components/con-a.ts a/~1`),
  )('is undefined for %j', (path) => {
    expect(normalizedName(parsePath(path))).toBeUndefined()
  })

  it('is undefined for letters with accents, composed or not', () => {
    expect(normalizedName(parsePath('é/e\u0301'))).toBeUndefined()
  })

  it('is never more protected than the path itself', () => {
    // The guard refuses a path whose altered form is protected, so its classification must be as strict.
    const part = fc.constantFrom('.git', 'git~1', '.env', 'ENV~1', 'id_rsa', 'dist', 'a', '.ssh', 'nul', 'x.pem')
    const tail = fc.constantFrom('', '.', ' ', '. .', '\u200c', '\u200d.')
    fc.assert(
      fc.property(fc.array(fc.tuple(part, tail), { minLength: 1, maxLength: 3 }), (parts) => {
        const path = parsePath(parts.map((pieces) => pieces.join('')).join('/'))
        const altered = normalizedName(path)
        if (altered === undefined) return
        const { protection } = classifyPath(altered)
        if (protection !== undefined) expect(classifyPath(path).protection).toBeDefined()
        if (protection === 'git' || protection === 'secret') expect(classifyPath(path).readable).toBe(false)
      }),
    )
  })
})

describe('spellings of a name', () => {
  it.each([
    ['src/app.ts', false],
    ['falcon.txt', false],
    ['con', true],
    ['a/CON.txt', true],
    ['conin$', true],
    ['a./b', true],
    ['a~1', true],
    ['a\u200cb', true],
  ])('of %j can differ on a disk: %s', (path, may) => {
    expect(mayBeAltered(path)).toBe(may)
  })

  it.each([
    ['falcon', 'falcon'],
    ['falcon.txt', 'falcon.txt'],
    ['. .', ''],
    ['GIT~1', 'GIT~1'],
  ])('%j becomes %j if no short name is known', (name, altered) => {
    expect(alterName(name, () => undefined)).toBe(altered)
  })

  it.each([
    ['\u017f', 's'],
    ['\u212a', 'k'],
    ['\u00df', 'ss'],
    ['e\u0301', 'é'],
    ['A\u00adB', 'ab'],
    ['A.TS', 'a.ts'],
    ['ｇ', 'ｇ'],
  ])('%j folds to %j', (name, folded) => {
    expect(foldName(name)).toBe(folded)
  })

  it('do not exist for a plain name', () => {
    expect(['a.ts', '.env', 'a}'].map(isPlainName)).toEqual([true, true, true])
    expect(['a.', 'a ', 'a~', 'é', 'éa'].map(isPlainName)).toEqual([false, false, false, false, false])
  })

  it.each([
    ['.gitignore', 'gitign~'],
    ['..a b', 'ab~'],
    ['a.toml', 'a~tom'],
    ['a.b c.d', 'abc~d'],
    ['longer-name.CONF', 'longer~con'],
  ])('%j has the short name key %j', (name, key) => {
    expect(shortNameKey(name)).toBe(key)
  })

  it.each([
    ['GIT~1', { stem: 'git', extension: '' }],
    ['A~12.TXT', { stem: 'a', extension: 'txt' }],
    ['ABCDEF~1.C', { stem: 'abcdef', extension: 'c' }],
    ['ABCDEFG~1', undefined],
    ['A~123', undefined],
    ['A~1.TEXT', undefined],
    ['A~1x', undefined],
    ['~1', undefined],
  ])('%j is parsed as the short name %j', (name, parsed) => {
    expect(parseShortName(name)).toEqual(parsed)
  })
})

describe('classifyContent', () => {
  const text = (content: string): Uint8Array => new TextEncoder().encode(content)
  const content = (path: string, bytes: Uint8Array | string): Classification =>
    classifyContent(classify(path), typeof bytes === 'string' ? text(bytes) : bytes)
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 0, 0)

  it.each([
    ['a.ts', '// @generated\n'],
    ['a.ts', '/**\n * @generated SignedSource<<0>>\n */\n'],
    ['a.js', '/* eslint-disable */\n// @generated by protobuf-ts\n'],
    ['a.go', '// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a\n'],
    ['a.go', '//go:build x\r\n\r\n// Code generated by x. DO NOT EDIT.\r\n'],
    ['a.py', '# Generated by the protocol buffer compiler.  DO NOT EDIT!\n'],
    ['a.dart', '// GENERATED CODE - DO NOT MODIFY BY HAND\n'],
    ['a.cs', '// <auto-generated>\n'],
    ['a.sql', '-- @generated\n'],
    ['a.html', '<!-- @generated -->\n'],
    ['a.md', '<!-- Code generated by x. DO NOT EDIT. -->\n# A\n'],
    ['a.yaml', '# @generated\na: 1\n'],
    ['unknown', '# @generated\n'],
    ['a.ts', '\ufeff// @generated\n'],
    ['a.go', 'package a\n// Code generated by x. DO NOT EDIT.\n'],
    ['a.ts', 'a\r// @generated\r'],
    ['a.bat', 'rem @generated\r\n'],
    ['a.bat', '@REM @generated\r\n'],
    ['a.cs', '// <autogenerated />\n'],
    ['a.py', '# Autogenerated file, do not edit\n'],
    ['a.sh', '#generated, do not change\n'],
    ['a.md', '  <!-- @generated -->\n'],
    ['a.rst', '.. Generated by x, do not modify\n'],
  ])('finds the marker in %s: %j', (path, source) => {
    expect(content(path, source)).toMatchObject({
      kind: 'GENERATED',
      protection: 'generated',
      readable: true,
      writable: false,
    })
  })

  it.each([
    ['a.ts', 'const marker = "@generated"\n'],
    ['a.ts', '// Files with "@generated" are skipped, `@generated` too\n'],
    ['a.ts', '// not@generated, @generatedness\n'],
    ['a.ts', 'throw new Error("Code generated by x. DO NOT EDIT.")\n'],
    ['a.ts', '// do not edit what was generated\n'],
    ['a.ts', '// The generated code is in dist.\n'],
    ['a.md', '# @generated\n'],
    ['a.md', '* GENERATED CODE is not checked in\n'],
    ['a.ts', `${'// filler\n'.repeat(300)}// @generated\n`],
    ['a.json', '{ "@generated": true }\n'],
    ['a.ts', 'const a = 1 // @generated\n'],
    ['a.ts', '// generated by x\n'],
    ['a.md', 'A comment such as <!-- @generated -->\n'],
    ['a.md', 'x <!-- @generated -->\n'],
  ])('ignores in %s: %.60j', (path, source) => {
    expect(content(path, source)).toBe(classify(path))
  })

  it('finds the marker in UTF-16', () => {
    const bytes = Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from('// @generated\n', 'utf16le')])
    expect(content('a.cs', bytes)).toEqual({
      kind: 'GENERATED',
      readable: true,
      writable: false,
      redacted: false,
      reason: 'a comment at its top marks it as generated',
      protection: 'generated',
      hint: 'Change the source that it is generated from and run the generator.',
    })
    expect(content('a.cs', bytes.swap16()).kind).toBe('GENERATED')
  })

  it('reports binary content as binary, with the protection of the name if it has one', () => {
    const own = { ...classify('a.ts') }
    expect(classifyContent(own, png)).toEqual({
      kind: 'BINARY',
      readable: false,
      writable: true,
      redacted: false,
      reason: 'it is binary',
      protection: 'binary',
      hint: 'The file is not text; file_info describes it. In a shell, xxd, file or hexdump show its bytes.',
    })
    const generated = { ...classify('dist/a.dat') }
    expect(classifyContent(generated, png)).toEqual({ ...generated, kind: 'BINARY', readable: false })
    expect(content('linker.so', 'text\n').reason).toBe('it is text, although its name suggests otherwise')
  })

  it('recognises binary content under any name, and text under a binary name', () => {
    expect(content('a.ts', png)).toMatchObject({
      kind: 'BINARY',
      protection: 'binary',
      readable: false,
      writable: true,
    })
    expect(content('a.png', png)).toBe(classify('a.png'))
    expect(content('linker.so', 'GROUP ( libc.so.6 )\n')).toMatchObject({ kind: 'UNKNOWN', readable: true })
    expect(content('linker.so', 'text\n').protection).toBeUndefined()
    expect(content('a.ts', png)).toBe(content('b.ts', png))
  })

  it('never lifts the protection of the name', () => {
    for (const path of ['.env', '.git/config', 'id_rsa']) {
      expect(content(path, png)).toBe(classify(path))
      expect(content(path, '// @generated\n')).toBe(classify(path))
    }
    expect(content('dist/a.dat', png)).toMatchObject({
      kind: 'BINARY',
      protection: 'generated',
      readable: false,
      writable: false,
    })
    expect(content('bun.lockb', png)).toMatchObject({ kind: 'BINARY', protection: 'lockfile', writable: false })
    expect(content('yarn.lock', '# @generated\n').kind).toBe('LOCKFILE')
    expect(content('vendor/a.go', '// @generated\n').kind).toBe('VENDORED')
  })
})

describe('isOrdinaryFile', () => {
  const names = fc.array(
    fc.constantFrom(
      ...[
        '.env',
        '.ENV',
        'env',
        'id_rsa',
        'secrets',
        'SECRETS',
        'secret',
        'application-prod',
        'config',
        '.docker',
        '.aws',
      ],
      ...[
        'credentials',
        '.ssh',
        '.kube',
        '.git',
        'git~1',
        'etc',
        'shadow',
        'a',
        'key',
        'pem',
        'index',
        'consolehost_history',
      ],
      ...[
        '.',
        '.',
        '/',
        '/',
        ' ',
        '~',
        'js',
        'ts',
        'json',
        'yml',
        'yaml',
        'txt',
        'md',
        'properties',
        'example',
        'é',
        'ſ',
      ],
    ),
    { minLength: 1, maxLength: 8 },
  )

  it('is false for every file that must not be read', () => {
    fc.assert(
      fc.property(names, (parts) => {
        let path: LogicalPath
        try {
          path = parsePath(parts.join(''))
        } catch {
          return
        }
        if (isOrdinaryFile(path)) expect(['git', 'secret']).not.toContain(classifyPath(path).protection)
      }),
      { numRuns: times(1000, 20_000) },
    )
  })

  it('is true for ordinary names', () => {
    for (const path of [
      'src/app.ts',
      'README.md',
      'a/b/package.json',
      'lib/index.d.ts',
      'x.min.js',
      'a}.ts',
      'notes.txt',
    ]) {
      expect(isOrdinaryFile(path as LogicalPath)).toBe(true)
    }
  })
})

describe('name extensions', () => {
  it('of a backup copy are ignored: the original name decides', () => {
    for (const name of ['notes.md.bak', 'notes.md~', 'a.b.orig']) {
      expect([name, classifyPath(name as LogicalPath).readable]).toEqual([name, true])
    }
    expect(classifyPath('server.pem.bak' as LogicalPath).kind).toBe('SECRET_LIKE')
  })

  it('are removed from a full cache and classified again', () => {
    for (let i = 0; i < 10_050; i++) classifyPath(`name.e${i}` as LogicalPath)
    expect(classifyPath('server.pem' as LogicalPath).kind).toBe('SECRET_LIKE')
    expect(classifyPath('a.ts' as LogicalPath).kind).toBe('TEXT_SOURCE')
  })
})
