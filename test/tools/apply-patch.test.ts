import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import type { LogicalPath, Path } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
import { ownTime } from '../own-time.ts'
import { bench, type Tree } from './setup.ts'

const tree: Tree = {
  'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n',
  'old.txt': 'x\n',
  'gone/b.txt': 'b\n',
  '.env': 'PASSWORD=hunter2\n',
  '.git/config': '[core]\n',
  'dist/app.js': 'x\n',
  'vendor/lib.c': 'x\n',
  'package-lock.json': '{}\n',
  'blob.dat': new Uint8Array([1, 0, 2]),
  link: { link: 'a.txt' },
}

const several = `some text before
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 1
-2
+two
 3
diff --git a/old.txt b/new/name.txt
similarity index 100%
rename from old.txt
rename to new/name.txt
diff --git a/gone/b.txt b/gone/b.txt
deleted file mode 100644
--- a/gone/b.txt
+++ /dev/null
@@ -1 +0,0 @@
-b
diff --git a/made/c.txt b/made/c.txt
new file mode 100644
--- /dev/null
+++ b/made/c.txt
@@ -0,0 +1,2 @@
+c
+d
\\ No newline at end of file
-- 
2.39.5
`

/** Returns a patch section that changes one file, with the given old and new name. */
function change(from: string, to = from, git = true): string {
  return `${git ? `diff --git ${from} ${to}\n` : ''}--- ${from}\n+++ ${to}\n@@ -1 +1 @@\n-x\n+y\n`
}

function creation(name: string, mode = '100644'): string {
  return `diff --git ${name} ${name}\nnew file mode ${mode}\n--- /dev/null\n+++ ${name}\n@@ -0,0 +1 @@\n+y\n`
}

/** A policy that allows patches to override the named protections. */
const lifted = (overrides: readonly string[]) => ({
  policy: {
    preset: 'autonomous',
    rules: [{ name: 'may', action: 'allow', permissions: ['file:patch:apply'], paths: ['**'], overrides }],
  } as never,
})

describe('apply_patch', () => {
  it('creates an executable file in place of a directory that the patch empties', async () => {
    const { ok, backend } = await bench(tree, lifted(['mode']))
    const deletion =
      'diff --git a/gone/b.txt b/gone/b.txt\ndeleted file mode 100644\n--- a/gone/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n'
    await ok('apply_patch', {
      patch: `${creation('a/gone', '100755').replace(' a/gone\nnew', ' b/gone\nnew').replace('+++ a/', '+++ b/')}${deletion}`,
    })
    expect(await backend.stat('gone' as Path)).toMatchObject({ type: 'file', mode: 0o755 })
  })

  it('applies a patch of several files as a whole', async () => {
    const { ok, text, snapshot } = await bench({ 'a.txt': '1\n2\n3\n', 'old.txt': 'x\n', 'gone/b.txt': 'b\n' })
    const answer = await ok('apply_patch', { patch: several })
    expect(answer).toMatchObject({ applied: true, insertions: 3, deletions: 2, summary: 'Patched 5 files (+3 -2)' })
    expect(answer.filesTouched).toMatchObject([
      { path: 'a.txt', kind: 'modify' },
      { path: 'old.txt', kind: 'delete', newSha256: null },
      { path: 'new/name.txt', kind: 'create', oldSha256: null },
      { path: 'gone/b.txt', kind: 'delete' },
      { path: 'made/c.txt', kind: 'create' },
    ])
    expect(await text('a.txt')).toBe('1\ntwo\n3\n')
    expect(await text('new/name.txt')).toBe('x\n')
    expect(await text('made/c.txt')).toBe('c\nd')
    expect(Object.keys(await snapshot()).sort()).toEqual(['a.txt', 'made', 'made/c.txt', 'new', 'new/name.txt'])
  })

  it('returns the same result for a dry run, and changes nothing', async () => {
    const { ok, call, snapshot } = await bench(tree)
    const before = await snapshot()
    const dry = await ok('apply_patch', { patch: several, dryRun: true })
    expect(await snapshot()).toEqual(before)
    const refused = await call('apply_patch', { patch: change('a/dist/app.js', 'b/dist/app.js'), dryRun: true })
    expect(refused.code).toBe('POLICY_DENIED')
    const real = await ok('apply_patch', { patch: several })
    expect(dry).toMatchObject({ filesTouched: real.filesTouched, insertions: 3, deletions: 2, applied: false })
  })

  it('detects and applies a V4A patch', async () => {
    const { ok, text, snapshot } = await bench({ ...tree, 'crlf.txt': 'one\r\ntwo\r\nthree' })
    await ok('apply_patch', {
      patch: `*** Begin Patch
*** Update File: a.txt
@@ 3
 4
-5
+five
*** Update File: crlf.txt
*** Move to: moved/crlf.txt
@@
 two
-three
+drei
+vier
*** End of File
*** Add File: new.txt
+hello
+
*** Delete File: gone/b.txt
*** End Patch
`,
    })
    expect(await text('a.txt')).toBe('1\n2\n3\n4\nfive\n6\n7\n8\n')
    expect(await text('moved/crlf.txt')).toBe('one\r\ntwo\r\ndrei\r\nvier')
    expect(await text('new.txt')).toBe('hello\n\n')
    expect(await snapshot()).not.toHaveProperty('gone')
  })

  it('refuses a V4A chunk that matches several places, or none', async () => {
    const { call } = await bench({ 'a.txt': 'x\ny\nx\ny\n' })
    const patch = (chunk: string) => `*** Begin Patch\n*** Update File: a.txt\n${chunk}*** End Patch\n`
    const answer = await call('apply_patch', { patch: patch('-x\n+z\n') })
    expect(answer).toMatchObject({ code: 'PATCH_CONFLICT', message: expect.stringContaining('2 places (lines 1, 3)') })
    expect(await call('apply_patch', { patch: patch('-q\n+z\n') })).toMatchObject({ code: 'PATCH_CONFLICT', hunk: 1 })
    expect(await call('apply_patch', { patch: patch('-x \n+z\n') })).toMatchObject({ code: 'PATCH_CONFLICT' })
    expect(await call('apply_patch', { patch: patch('@@ y\n-x\n+z\n') })).toMatchObject({ ok: true })
  })

  it('reports a conflict with its hunk, the expected and the current lines', async () => {
    const { call, snapshot } = await bench(tree)
    const before = await snapshot()
    const patch = `${several.slice(0, several.indexOf('diff --git a/old'))}--- a/a.txt\n+++ b/a.txt\n@@ -5,3 +5,3 @@\n 5\n-six\n+SIX\n 7\n`
    expect(await call('apply_patch', { patch })).toMatchObject({
      code: 'PATCH_CONFLICT',
      path: 'a.txt',
      hunk: 1,
      expected: [
        { line: 5, text: '5' },
        { line: 6, text: 'six' },
        { line: 7, text: '7' },
      ],
      actual: [
        { line: 5, text: '5' },
        { line: 6, text: '6' },
        { line: 7, text: '7' },
      ],
    })
    expect(await snapshot()).toEqual(before)
  })

  it('applies two sections of one path in order', async () => {
    const { ok, text } = await bench(tree)
    await ok('apply_patch', {
      patch: `${change('a/old.txt', 'b/old.txt')}--- a/old.txt\n+++ b/old.txt\n@@ -1 +1 @@\n-y\n+z\n`,
    })
    expect(await text('old.txt')).toBe('z\n')
  })

  it('checks the expected versions and base commit', async () => {
    const { call, code, sha } = await bench(tree)
    const patch = change('a/old.txt', 'b/old.txt')
    const wrong = '0'.repeat(64)
    expect(await call('apply_patch', { patch, expectedSha256s: { 'old.txt': wrong } })).toMatchObject({
      code: 'WRITE_CONFLICT',
      currentSha256: await sha('old.txt'),
    })
    expect(await code('apply_patch', { patch, expectedSha256s: { 'old.txt': null } })).toBe('WRITE_CONFLICT')
    expect(await code('apply_patch', { patch, expectedSha256s: { 'other.txt': wrong } })).toBe('INVALID_INPUT')
    expect(await code('apply_patch', { patch, expectedSha256s: { '../x': wrong } })).toBe('PATH_REJECTED')
    expect(await code('apply_patch', { patch, expectedBaseCommit: 'a'.repeat(40) })).toMatch(
      /INVALID_INPUT|WRITE_CONFLICT/,
    )
    expect((await call('apply_patch', { patch, expectedSha256s: { 'old.txt': await sha('old.txt') } })).ok).toBe(true)
  })

  it('keeps line ends, byte order mark and encoding, also for a patch of plain lines', async () => {
    const utf16 = new Uint8Array(Buffer.from('\ufeffone\r\ntwo\r\n', 'utf16le'))
    const { ok, text, bytes } = await bench({
      'crlf.txt': 'one\r\ntwo\r\nthree\r\n',
      'bom.txt': '\ufeffone\ntwo\n',
      'utf16.txt': utf16,
      'latin.txt': new Uint8Array([0xe9, 10, 97, 10, 98, 10]),
    })
    const patch = (name: string, from: string, to: string) =>
      `--- a/${name}\n+++ b/${name}\n@@ -1,2 +1,2 @@\n-${from}\n+${to}\n two\n`
    await ok('apply_patch', { patch: patch('crlf.txt', 'one', 'ONE') })
    expect(await text('crlf.txt')).toBe('ONE\r\ntwo\r\nthree\r\n')
    await ok('apply_patch', { patch: patch('bom.txt', 'one', 'ONE') })
    expect(await text('bom.txt')).toBe('\ufeffONE\ntwo\n')
    await ok('apply_patch', { patch: patch('utf16.txt', 'one', 'ONE') })
    expect(Buffer.from(await bytes('utf16.txt')).toString('utf16le')).toBe('\ufeffONE\r\ntwo\r\n')
    await ok('apply_patch', { patch: '--- a/latin.txt\n+++ b/latin.txt\n@@ -2,2 +2,2 @@\n-a\n+é\n b\n' })
    expect([...(await bytes('latin.txt'))]).toEqual([0xe9, 10, 0xc3, 0xa9, 10, 98, 10])
  })

  describe('with secrets in the file', () => {
    const token = `ghp_${'a1B2'.repeat(10)}`
    const stored = `before\ntoken = "${token}"\nafter\n`
    const patch = (lines: string) => `--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n${lines}`

    it('matches a mark in the context with its secret, and never shows the secret', async () => {
      const { ok, call, text } = await bench({ 'a.txt': stored })
      const { content } = await ok('read_file', { path: 'a.txt' })
      const line = content.split('\n')[1] as string
      const answer = await ok('apply_patch', { patch: patch(`-before\n+BEFORE\n ${line}\n after\n`) })
      expect(await text('a.txt')).toBe(stored.replace('before', 'BEFORE'))
      const conflict = await call('apply_patch', { patch: patch(`-none\n+BEFORE\n ${line}\n after\n`) })
      expect(conflict.code).toBe('PATCH_CONFLICT')
      expect(JSON.stringify([answer, conflict])).not.toContain(token)
    })

    it('refuses to write a mark, but allows removing its line', async () => {
      const { ok, code, text } = await bench({ 'a.txt': stored })
      const { content } = await ok('read_file', { path: 'a.txt' })
      const line = content.split('\n')[1] as string
      expect(await code('apply_patch', { patch: patch(` before\n-${line}\n+x ${line}\n after\n`) })).toBe(
        'POLICY_DENIED_SECRET',
      )
      expect(await text('a.txt')).toBe(stored)
      await ok('apply_patch', { patch: patch(` before\n-${line}\n+gone\n after\n`) })
      expect(await text('a.txt')).toBe('before\ngone\nafter\n')
    })
  })
})

/** What patches may not do by default, in several spellings, with the code of the refusal. */
const dangers: Readonly<Record<string, readonly [code: RegExp, patches: readonly string[]]>> = {
  'into .git': [
    /POLICY_DENIED|PATH_REJECTED/,
    [
      change('a/.git/config', 'b/.git/config'),
      change('a/.GIT/config', 'b/.GIT/config'),
      change('a/./.git/config', 'b/./.git/config'),
      change('a/sub//.git/hooks/x', 'b/sub//.git/hooks/x'),
      change('"a/.\\147it/config"', '"b/.\\147it/config"'),
      creation('b/.git/hooks/pre-commit'),
      creation('b/git~1/config'),
      creation('b/.git /config'),
      creation('b/.git'),
      'diff --git a/old.txt b/.git/x\nsimilarity index 100%\nrename from old.txt\nrename to .git/x\n',
      'diff --git a/.git/config b/x\nsimilarity index 100%\ncopy from .git/config\ncopy to x\n',
      '*** Begin Patch\n*** Add File: .git/hooks/x\n+x\n*** End Patch\n',
      '*** Begin Patch\n*** Update File: old.txt\n*** Move to: .git/x\n*** End Patch\n',
    ],
  ],
  'absolute and climbing': [
    /PATH_REJECTED/,
    [
      change('a//etc/passwd', 'b//etc/passwd').replaceAll('a//', 'a/../../'),
      change('a/../x', 'b/../x'),
      change('a/d/../../x', 'b/d/../../x'),
      change('a/d/../old.txt', 'b/d/../old.txt'),
      change('"a/\\056\\056/x"', '"b/\\056\\056/x"'),
      creation('"b/\\056./x"'),
      'diff --git a/old.txt b/x\nrename from old.txt\nrename to /etc/x\n',
      'diff --git a/old.txt b/x\nrename from old.txt\nrename to ../x\n',
      'diff --git a/old.txt b/x\ncopy from /etc/passwd\ncopy to x\n',
      '*** Begin Patch\n*** Add File: /etc/x\n+x\n*** End Patch\n',
      '*** Begin Patch\n*** Delete File: ../x\n*** End Patch\n',
      creation('"b/a\\000b"'),
      creation('"b/a\\nb"'),
      creation('b/C:/x'),
      creation('"b/a\\\\b"'),
      creation('b/dir/'),
    ],
  ],
  'mode changes': [
    /POLICY_DENIED/,
    [
      'diff --git a/old.txt b/old.txt\nold mode 100644\nnew mode 100755\n',
      `diff --git a/old.txt b/old.txt\nold mode 100644\nnew mode 100755\n${change('a/old.txt', 'b/old.txt', false)}`,
      'diff --git a/old.txt b/y\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from old.txt\nrename to y\n',
      creation('b/run.sh', '100755'),
      creation('b/run.sh', '0100755'),
    ],
  ],
  'links and submodules': [
    /POLICY_DENIED/,
    [
      creation('b/l', '120000'),
      creation('b/l', '0120000'),
      creation('b/sub', '160000'),
      'diff --git a/old.txt b/old.txt\nold mode 100644\nnew mode 120000\n',
      'diff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-a.txt\n\\ No newline at end of file\n',
      'diff --git a/sub b/sub\nindex 1111111..2222222 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n',
    ],
  ],
  'through a link': [/PATH_REJECTED/, [change('a/link', 'b/link').replace('-x', '-1')]],
  binary: [
    /POLICY_DENIED|UNSUPPORTED_BINARY/,
    [
      `diff --git a/n.bin b/n.bin\nnew file mode 100644\nindex ${'0'.repeat(40)}..${'1'.repeat(40)}\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n`,
      'diff --git a/blob.dat b/blob.dat\nindex 1..2 100644\nBinary files a/blob.dat and b/blob.dat differ\n',
      'diff --git a/blob.dat b/blob.dat\ndeleted file mode 100644\nBinary files a/blob.dat and /dev/null differ\n',
      creation('b/x.png'),
    ],
  ],
  secrets: [
    /POLICY_DENIED_SECRET/,
    [
      change('a/.env', 'b/.env'),
      change('a/.ENV', 'b/.ENV'),
      change('"a/.\\145nv"', '"b/.\\145nv"'),
      creation('b/deploy/id_rsa'),
      creation('b/.ssh/config'),
      'diff --git a/.env b/env.txt\nsimilarity index 100%\nrename from .env\nrename to env.txt\n',
      'diff --git a/.env b/env.txt\nsimilarity index 100%\ncopy from .env\ncopy to env.txt\n',
      'diff --git a/old.txt b/x.pem\nsimilarity index 100%\nrename from old.txt\nrename to x.pem\n',
      '*** Begin Patch\n*** Update File: .env\n*** Move to: env.txt\n*** End Patch\n',
      '*** Begin Patch\n*** Delete File: .env\n*** End Patch\n',
    ],
  ],
  'generated and vendored': [
    /POLICY_DENIED/,
    [
      change('a/dist/app.js', 'b/dist/app.js'),
      change('a/vendor/lib.c', 'b/vendor/lib.c'),
      creation('b/node_modules/p/i.js'),
      creation('b/api/x.pb.go'),
      'diff --git a/old.txt b/dist/old.txt\nsimilarity index 100%\nrename from old.txt\nrename to dist/old.txt\n',
    ],
  ],
  lockfiles: [/APPROVAL_REQUIRED/, [change('a/package-lock.json', 'b/package-lock.json').replace('-x', '-{}')]],
  'over budget': [
    /PATCH_BUDGET_EXCEEDED/,
    [
      Array.from({ length: 21 }, (_, i) => creation(`b/f${i}.txt`)).join(''),
      `--- /dev/null\n+++ b/big.txt\n@@ -0,0 +1,801 @@\n${'+x\n'.repeat(801)}`,
      `--- a/a.txt\n+++ /dev/null\n@@ -1,801 +0,0 @@\n${'-x\n'.repeat(801)}`,
      `--- /dev/null\n+++ b/big.txt\n@@ -0,0 +1 @@\n+${'x'.repeat(200_000)}\n`,
      Array.from({ length: 6 }, (_, i) => `--- a/f${i}.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`).join(''),
    ],
  ],
  'onto an existing path': [
    /ALREADY_EXISTS/,
    [
      creation('b/old.txt'),
      creation('b/gone'),
      'diff --git a/old.txt b/a.txt\nsimilarity index 100%\nrename from old.txt\nrename to a.txt\n',
      'diff --git a/old.txt b/a.txt\nsimilarity index 100%\ncopy from old.txt\ncopy to a.txt\n',
      `${creation('b/new.txt')}${creation('b/new.txt')}`,
      '*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n',
    ],
  ],
  'of a missing or different file': [
    /NOT_FOUND|PATCH_CONFLICT|IS_DIRECTORY|NOT_A_DIRECTORY/,
    [
      change('a/none.txt', 'b/none.txt'),
      change('a/a.txt/x', 'b/a.txt/x'),
      change('a/gone', 'b/gone'),
      change('a/a.txt', 'b/a.txt'),
      'diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n',
      'diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n',
      `diff --git a/old.txt b/y.txt\nsimilarity index 100%\nrename from old.txt\nrename to y.txt\n${change('a/old.txt', 'b/old.txt')}`,
    ],
  ],
  'that cannot be read': [
    /INVALID_PATCH/,
    [
      '',
      'hello',
      'diff --git a/a.txt b/a.txt\n',
      'diff --git a/a.txt b/a.txt\nindex 1..2 100644\n',
      '@@ -1 +1 @@\n-1\n+x\n',
      '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1 @@\n-1\n+x\n',
      '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+x\n+y\n',
      '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n-1\n+x\n',
      '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-1\n+x\n?2\n',
      '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n 1\n',
      '--- a/a.txt\n+++ b/a.txt\n@@ -x +1 @@\n-1\n+x\n',
      '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-1\n\\ No newline at end of file\n-2\n+x\n+y\n',
      '--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+x\n',
      'diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n--- a/a.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-1\n+x\n',
      'diff --git a/a.txt b/a.txt\nnew file mode 100644\ndeleted file mode 100644\n',
      'diff --git a/n b/n\nnew file mode 100644\n--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+x\n',
      '*** Begin Patch\n*** Update File: a.txt\n-1\n+x\n',
      '*** Begin Patch\n*** Update File: a.txt\n*** End Patch\n',
      '*** Begin Patch\n*** Nothing: a.txt\n*** End Patch\n',
      '*** Begin Patch\n*** Add File: n.txt\nx\n*** End Patch\n',
      '*** Begin Patch\n*** End Patch\n',
    ],
  ],
}

describe('a dangerous patch is refused as a whole and changes nothing', () => {
  it.each(Object.entries(dangers))('%s', async (_, [code, patches]) => {
    const { call, snapshot } = await bench(tree)
    const before = await snapshot()
    const harmless = '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-1\n+one\n 2\n 3\n'
    for (const patch of patches) {
      // After another section, a part without a change is ignored as text around the patch.
      const alone = patch.startsWith('***') || !/^(?:--- |@@ |diff --git .*\n.)/.test(patch)
      for (const text of alone ? [patch] : [patch, `${harmless}${patch}`]) {
        const answer = await call('apply_patch', { patch: text })
        expect(answer.ok, text).toBe(false)
        if (text === patch) expect(answer.code, text).toMatch(code)
        expect(JSON.stringify(answer)).not.toContain('hunter2')
      }
    }
    expect(await snapshot()).toEqual(before)
  })

  it('is allowed only by an override that names the protection', async () => {
    const [mode] = dangers['mode changes']?.[1] ?? []
    const one = await bench(tree, lifted(['mode']))
    await one.ok('apply_patch', { patch: mode })
    expect(((await one.backend.stat('old.txt' as Path))?.mode ?? 0) & 0o111).toBe(0o111)
    expect(await one.text('old.txt')).toBe('x\n')
    expect(await (await bench(tree, lifted(['binary', 'secret']))).code('apply_patch', { patch: mode })).toBe(
      'POLICY_DENIED',
    )
    const [binary] = dangers.binary?.[1] ?? []
    expect(await (await bench(tree, lifted(['mode']))).code('apply_patch', { patch: binary })).toBe('POLICY_DENIED')
    expect(await (await bench(tree, lifted(['binary']))).code('apply_patch', { patch: binary })).toBe('INVALID_PATCH')
  })
})

describe('cost', () => {
  it('is linear in the size of patch and file for every content', async () => {
    const limits = {
      patchBytes: 1 << 26,
      patchInsertions: 10_000_000,
      patchDeletions: 10_000_000,
      patchFiles: 1_000_000,
      textFileBytes: 1 << 26,
    }
    const same = 'a\n'.repeat(200_000)
    const { call } = await bench({ 'a.txt': same, 'b.txt': 'ab\n'.repeat(100_000) }, { limits })
    const hunk = (count: number, start: number) =>
      `@@ -${start},${count + 2} +${start},${count + 1} @@\n${' a\n'.repeat(count)}-b\n a\n`
    const patches = [
      `--- a/a.txt\n+++ b/a.txt\n${hunk(100_000, 10)}`,
      `--- a/a.txt\n+++ b/a.txt\n${Array.from({ length: 20_000 }, (_, i) => `@@ -${i * 3 + 50_000},3 +${i * 3 + 2},3 @@\n a\n-a\n+c\n a\n`).join('')}`,
      ' '.repeat(5_000_000),
      '\n'.repeat(2_000_000),
      `diff --git ${'a/ '.repeat(500_000)}\n`,
      `--- ${' '.repeat(1_000_000)}\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n`,
      `*** Begin Patch\n*** Update File: a.txt\n${'@@\n-a\n+b\n'.repeat(50_000)}*** End Patch\n`,
      `${'--- a/x\n+++ b/x\n'.repeat(200_000)}`,
      `${'diff --git a/x b/x\n'.repeat(200_000)}`,
    ]
    const start = ownTime()
    for (const patch of patches) await call('apply_patch', { patch })
    expect(ownTime() - start).toBeLessThan(8000)
  })

  it('of a hunk that does not match is small', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `  const value${i} = compute(${i % 7})\n`)
    const { call } = await bench({ 'a.ts': lines.join('') })
    const patch = `--- a/a.ts\n+++ b/a.ts\n@@ -2500,3 +2500,3 @@\n${lines
      .slice(2499, 2501)
      .map((line) => ` ${line}`)
      .join('')}-nothing like it\n+x\n`
    let best = Number.POSITIVE_INFINITY
    for (let i = 0; i < 5; i++) {
      const start = ownTime()
      expect((await call('apply_patch', { patch })).code).toBe('PATCH_CONFLICT')
      best = Math.min(best, ownTime() - start)
    }
    expect(best).toBeLessThan(200)
  })
})

describe('apply_patch, corner cases', () => {
  const section = (name: string, hunk: string) => `--- a/${name}\n+++ b/${name}\n${hunk}`
  const added = (name: string) => section(name, '@@ -0,0 +1 @@\n+x\n')
  const created = (name: string) =>
    `diff --git a/${name} b/${name}\nnew file mode 100644\n${section(name, '@@ -0,0 +1 @@\n+x\n').replace(`a/${name}`, '/dev/null')}`
  const renamed = (from: string, to: string) =>
    `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`
  const deleted = (name: string) =>
    `diff --git a/${name} b/${name}\ndeleted file mode 100644\n--- a/${name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${name}\n`

  it('measures the size of a patch in bytes, not in UTF-16 units', async () => {
    const patch = section('a.txt', `@@ -1 +1 @@\n-a.txt\n+${'€'.repeat(30)}\n`)
    const { call } = await bench({ 'a.txt': 'a.txt\n' }, { limits: { patchBytes: patch.length + 50 } })
    expect(await call('apply_patch', { patch })).toMatchObject({ code: 'PATCH_BUDGET_EXCEEDED', limit: 'patchBytes' })
  })

  it('creates a file from added lines, but not in place of a directory', async () => {
    const { ok, call, text } = await bench({ d: { directory: true } })
    expect(await ok('apply_patch', { patch: added('new.txt') })).toMatchObject({ filesTouched: [{ kind: 'create' }] })
    expect(await text('new.txt')).toBe('x\n')
    expect(await call('apply_patch', { patch: added('d') })).toMatchObject({ code: 'IS_DIRECTORY' })
  })

  it('swaps the names of two files, and counts the last line of a file deleted by a V4A patch', async () => {
    const { ok, text } = await bench({ a: 'a\n', b: 'b\n', c: '1\n2' })
    await ok('apply_patch', { patch: renamed('a', 'b') + renamed('b', 'a') })
    expect([await text('a'), await text('b')]).toEqual(['b\n', 'a\n'])
    const patch = '*** Begin Patch\n*** Delete File: c\n*** End Patch\n'
    expect(await ok('apply_patch', { patch })).toMatchObject({ deletions: 2 })
  })

  it('creates each missing directory once, also below a removed file', async () => {
    const { ok, snapshot } = await bench({ f: 'f\n' })
    const names = ['f/a/x', 'f/a/c/y', 'n/a/x', 'n/b/y']
    await ok('apply_patch', { patch: deleted('f') + names.map(created).join('') })
    expect(Object.keys(await snapshot())).toEqual(expect.arrayContaining(names))
  })

  it('ignores letter case if the storage does, and refuses a link', async () => {
    const inner = memory({ 'a.txt': 'a.txt\n', link: { link: 'a.txt' } })
    const backend: Backend = {
      ...inner,
      capabilities: { ...inner.capabilities, caseSensitive: false },
      canonical: (path, options) => inner.canonical(path.toLowerCase() as LogicalPath, options),
    }
    const { ok, call, text } = await bench({}, { backend })
    const hunk = '@@ -1 +1 @@\n-a.txt\n+b\n'
    expect(await call('apply_patch', { patch: section('link', hunk) })).toMatchObject({ code: 'PATH_REJECTED' })
    await ok('apply_patch', { patch: section('A.txt', hunk) })
    expect(await text('a.txt')).toBe('b\n')
  })

  it('can be cancelled between two files', async () => {
    const workspace = await createWorkspace({ backend: memory({ a: 'a\n', b: 'b\n' }), policy: 'autonomous' })
    const stop = new AbortController()
    const onProgress = () => stop.abort()
    const patch = deleted('a') + deleted('b')
    expect(await workspace.call('apply_patch', { patch }, { signal: stop.signal, onProgress })).toMatchObject({
      code: 'ABORTED',
    })
    expect(await workspace.call('file_info', { path: 'a' })).toMatchObject({ ok: true })
  })
})
