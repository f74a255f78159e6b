import { expect, it } from 'vitest'
import { patchLines } from '../../src/elements/parts/patch-lines.ts'

const shown = (patch: string) =>
  patchLines(patch).map(({ kind, text, numbers }) => `${kind}|${numbers?.[1] ?? numbers?.[0] ?? ''}|${text}`)

it('shows a patch as its files and numbered lines; what begins like a header within a hunk is a line', () => {
  const patch = [
    ...['diff --git a/notes.sql b/notes.sql', 'index 1..2 100644', '--- a/notes.sql', '+++ b/notes.sql'],
    ...['@@ -3,3 +3,2 @@ head', ' one', '--- two', '-diff --git a/x b/x', '+++ three'],
    ...['@@ -20 +19 @@', '-old', '+new', '\\ No newline at end of file'],
    ...['diff --git a/run.sh b/run.sh', 'old mode 100644', 'new mode 100755'],
  ]
  expect(shown(`${patch.join('\n')}\n`)).toEqual([
    ...['file||notes.sql', '|3|one', 'minus|4|--- two', 'minus|5|-diff --git a/x b/x', 'plus|4|+++ three'].map((row) =>
      row.replace('|3|one', '|3| one'),
    ),
    ...['hunk||⋯', 'minus|20|-old', 'plus|19|+new', 'head||\\ No newline at end of file'],
    ...['file||run.sh', 'head||old mode 100644', 'head||new mode 100755'],
  ])
})

it('numbers a line of context in both files, and any other in its own', () => {
  const patch = ['--- a/x', '+++ b/x', '@@ -3,3 +5,3 @@', ' one', '-two', '+deux', ' three'].join('\n')
  expect(patchLines(patch).flatMap(({ numbers }) => (numbers === undefined ? [] : [numbers]))).toEqual([
    [3, 5],
    [4, undefined],
    [undefined, 6],
    [5, 7],
  ])
})

it('shows a patch in another form as it is', () => {
  expect(shown('*** Update File: a.js\n@@\n-one\n+two')).toEqual([
    ...['head||*** Update File: a.js', 'hunk||@@', 'minus||-one', 'plus||+two'],
  ])
})
