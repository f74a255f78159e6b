/** The word in every file below `private`. Nothing may show it to a run that may not view them. */
export const WORD = 'zanzibar'

/** A file that a rule hides. */
export const PLAN = 'private/plan.md'

/** The files of every way to change something below `docs` and to view something below `private`. */
export const wayTree = {
  'docs/a.md': 'one\ntwo\n',
  'docs/b/c.md': 'three\n',
  'docs/notes/old.md': 'old\n',
  'src/x.md': 'x\n',
  'src/d/y.md': 'y\n',
  'private/plan.md': `the word is ${WORD}\n`,
  'private/d/deep.md': `${WORD}\n`,
  'private/notes/plan.md': `${WORD}\n`,
  'change.patch': '--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n',
  'package.json': JSON.stringify({
    scripts: { change: 'echo n > docs/a.md', view: 'cat private/plan.md', test: 'node --test' },
  }),
  'change.cjs': "require('fs').writeFileSync('docs/a.md', 'n')\n",
  'change.mjs': "import fs from 'node:fs'\nfs.writeFileSync('docs/a.md', 'n')\n",
  'change.test.cjs': "require('fs').writeFileSync('docs/a.md', 'n')\n",
  'change.sh': 'rm docs/a.md\n',
  'view.sh': 'cat private/plan.md\n',
  'view.cjs': "console.log(require('fs').readFileSync('private/plan.md', 'utf8'))\n",
} as const

/** The version of `docs/a.md`. */
export const A_SHA256 = 'c3f9c8c283a2b1f2f1896f27a01cbe3cddc0c9d93f752e4639035a0f5b36f6e8'
/** The version of `docs/notes/old.md`. */
export const OLD_SHA256 = '01d09d19c2139a46aebfb577780d123d7396e97201bc7ead210a2ebff8239dee'
