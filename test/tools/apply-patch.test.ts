import { describe, expect, it } from 'vitest'
import { bench } from './setup.ts'

describe('apply_patch', () => {
  it('applies a patch of several files, all of it', async () => {
    const { ok, text, snapshot } = await bench({ 'a.txt': '1\n2\n3\n', 'old.txt': 'x\n', 'gone/b.txt': 'b\n' })
    const answer = await ok('apply_patch', {
      patch: `some text before
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
`,
    })
    expect(answer).toMatchObject({ applied: true, insertions: 3, deletions: 2, summary: 'Patched 5 files (+3 -2)' })
    expect(await text('a.txt')).toBe('1\ntwo\n3\n')
    expect(await text('new/name.txt')).toBe('x\n')
    expect(await text('made/c.txt')).toBe('c\nd')
    expect(Object.keys(await snapshot()).sort()).toEqual(['a.txt', 'made', 'made/c.txt', 'new', 'new/name.txt'])
  })
})
