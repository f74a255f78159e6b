import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bash } from '../../src/shells/bash.ts'
import { scripts } from './scripts.ts'
import { type Answer, shellBench, unjudged } from './setup.ts'
import { standInForWorkers } from './web-worker.ts'

const workers = standInForWorkers()
const inThread = bash()
const here = bash({ worker: false })
afterAll(async () => {
  await inThread.close()
  workers.close()
})

const open = (tree: Parameters<typeof shellBench>[0], shell = inThread) => shellBench(tree, { shell: unjudged(shell) })

describe('a line in a Web Worker', () => {
  const tree = { 'a.txt': 'one\ntwo\n', 'd/b.txt': 'three\n', 'x.sh': 'echo x', '.env': 'PASSWORD=hunter2\n' }
  it.each([
    'cat a.txt; echo oops >&2; echo two > b.txt; exit 3',
    'cd d && pwd && mkdir -p e/f && cp b.txt e/f && mv e g && ls -R && chmod 700 b.txt && stat -c %a b.txt',
    'ln -s a.txt l && readlink l && cat l && rm l && touch -c a.txt && [ -e a.txt ] && test ! -e l',
    'grep -rn t . | sort; echo foo | grep foo; rg --files | sort',
    'git status; node -p 1+1; echo x >> a.txt; wc -l < a.txt',
    'echo before; echo x > /etc/passwd; echo never',
    'echo before; cat /etc/passwd nothing; cat .env; echo after',
    'echo "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two" | patch -p1; cat a.txt; patch --nothing',
    'cat <(echo a) /dev/null; echo t > /tmp/t; cat /tmp/t; cd /tmp',
  ])('does what it does in the thread of its caller: %s', async (line) => {
    const [one, other] = [await open(tree), await open(tree, here)]
    const { callId: _, durationMs: __, artifactUri: ___, ...expected } = await other.run(line)
    expect(await one.run(line)).toMatchObject(expected)
    expect(await one.snapshot()).toEqual(await other.snapshot())
    expect(workers.made).toEqual(['module shells/bash/thread.js'])
  })
})

describe('node, beside the real one', () => {
  it.each(scripts)('%s', async (_, files) => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'scripts-')))
    const tree: Record<string, string | { link: string }> = { ...files }
    for (const [path, content] of Object.entries(tree)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      if (typeof content === 'string') writeFileSync(join(directory, path), content)
      else symlinkSync(content.link, join(directory, path))
    }
    try {
      const real = await createRequire(join(directory, 'x.js'))('./main.cjs')()
      const { run } = await open(tree)
      const told = (await run(
        `node -e "require('./main.cjs')().then((v) => console.log(JSON.stringify(v)))"`,
      )) as Answer
      expect(told, told.stderr).toMatchObject({ ok: true, exitCode: 0, stderr: '' })
      expect(JSON.parse(told.stdout)).toEqual(JSON.parse(JSON.stringify(real).replaceAll(directory, '/workspace')))
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})
