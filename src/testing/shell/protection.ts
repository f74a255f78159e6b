import { check, same } from '../assert.ts'
import { needs, open, type ShellCase } from './case.ts'

const SECRET = 'PASSWORD=hunter2-of-the-contract'
const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`

const tree = {
  '.env': `${SECRET}\n`,
  'conf/.env.production': `${SECRET}\n`,
  'a.txt': 'ordinary\n',
}

/** Command lines that read a file `F` with common programs. A line whose program is missing fails and reveals nothing. */
const readingLines = [
  'cat F',
  'cat < F',
  'cat ./F',
  'p=F; cat "$p"',
  'echo "$(cat F)"',
  'while read -r x; do echo "$x"; done < F',
  'sh -c "cat F"',
  'eval "cat F"',
  'head -c 100 F',
  'tail -n 5 F',
  'grep . F',
  'grep -r PASSWORD .',
  'sed p F',
  "awk '{ print }' F",
  'sort F',
  'cut -c1- F',
  'diff F a.txt',
  'tr a b < F',
  'od -c F',
  'base64 F',
  'find . -type f -exec cat {} +',
  'cp F out.txt; cat out.txt',
  'cp -r . copied; cat copied/F',
  'mv F out.txt; cat out.txt',
  'ln F hard; cat hard',
  'ln -s F soft; cat soft',
  'tar cf out.tar F; tar xOf out.tar',
  'gzip -c F > out.gz; gzip -dc out.gz',
  'tee out.txt < F',
  '. ./F; echo "$PASSWORD"',
  'git diff --no-index a.txt F',
]

/** Protected, hidden and outside files, read-only workspaces, denied lines. */
export const protectionCases: readonly ShellCase[] = [
  {
    name: 'no command reads or copies the content of a protected file',
    unless: needs('confined'),
    async test(subject) {
      const { run, snapshot, workspace } = await open(subject, tree)
      const before = await snapshot()
      for (const path of ['.env', 'conf/.env.production']) {
        for (const template of readingLines) {
          const line = template.replaceAll('F', path)
          const result = JSON.stringify(await run(line, { timeoutMs: 20_000 }))
          for (const text of spellings(SECRET))
            check(!result.includes(text), `${line}: the result contains the secret: ${result}`)
          for (const [name, content] of await snapshot()) {
            const isNew = before.get(name) !== content
            check(!isNew || !content.includes(SECRET), `${line}: ${name} contains the secret`)
          }
        }
        same((await snapshot()).get(path), before.get(path), path)
      }
      const records = JSON.stringify(workspace.auditRecords())
      check(!records.includes(SECRET), 'The audit contains the secret')
    },
  },
  {
    name: 'each access to a protected file is listed in the result and in the audit',
    unless: needs('guarded'),
    async test(subject) {
      const { ok, workspace } = await open(subject, tree)
      for (const line of [
        'cat .env',
        'cp .env x',
        'cat .env 2>/dev/null; true',
        'ln -s .env soft',
        'p=.env; cat < "$p"',
      ]) {
        const { refused } = await ok(line)
        check(
          refused?.some(
            ({ path, code }: { path: string; code: string }) => path === '.env' && code === 'POLICY_DENIED_SECRET',
          ),
          `${line}: expected the refused access in the result, got ${JSON.stringify(refused)}`,
        )
        const record = workspace.auditRecords().at(-1)
        check(
          record?.refusals?.some(({ path }) => path === '.env'),
          `${line}: expected the refused access in the audit`,
        )
      }
    },
  },
  {
    name: 'no command changes a protected file',
    unless: needs('confined'),
    async test(subject) {
      const { run, snapshot } = await open(subject, tree)
      const before = await snapshot()
      for (const template of [
        'f=F; echo x > "$f"',
        'f=F; echo x >> "$f"',
        'cp a.txt F',
        'mv a.txt F',
        'rm -f F',
        'chmod 600 F',
      ]) {
        await run(template.replaceAll('F', '.env'))
        same((await snapshot()).get('.env'), before.get('.env'), template)
      }
    },
  },
  {
    name: 'files that policy hides do not exist for commands',
    unless: needs('confined'),
    async test(subject) {
      const policy = { preset: 'autonomous', deniedPaths: ['private'], tools: { run_command: 'allow' } } as const
      const { run } = await open(subject, { 'private/plan.txt': 'the plan\n', 'a.txt': 'a\n' }, { policy })
      const { stdout } = await run('ls -a; find .; echo *; cat private/plan.txt 2> /dev/null; grep -r plan .; true')
      check(stdout.includes('a.txt'), `expected a.txt in the output, got ${JSON.stringify(stdout)}`)
      check(!stdout.includes('plan'), `the output contains a hidden file: ${JSON.stringify(stdout)}`)
    },
  },
  {
    name: 'secrets in other files are masked in the output and kept in the file',
    async test(subject) {
      const { ok, snapshot } = await open(subject, { 'conf.ts': `const token = '${TOKEN}'\nconst x = 1\n` })
      const { stdout } = await ok('cat conf.ts; echo "const y = 2" >> conf.ts')
      check(stdout.includes('const x') && !stdout.includes(TOKEN), `cat: got ${JSON.stringify(stdout)}`)
      const content = (await snapshot()).get('conf.ts')
      check(content?.includes(TOKEN) && content.includes('const y'), `conf.ts: got ${JSON.stringify(content)}`)
    },
  },
  {
    name: 'no command changes a read-only workspace',
    unless: needs('guarded'),
    async test(subject) {
      const { ok, snapshot } = await open(subject, { 'a.txt': 'a\n' }, { readOnly: true })
      const before = await snapshot()
      same((await ok('cat a.txt')).stdout, 'a\n', 'cat')
      for (const line of ['rm a.txt', 'mv a.txt b', 'touch c', 'mkdir d', 'cp a.txt e', 'tee f < a.txt']) await ok(line)
      same(await snapshot(), before, 'the workspace')
    },
  },
  {
    name: 'files outside the workspace do not exist for commands',
    unless: needs('guarded'),
    async test(subject) {
      const { run } = await open(subject, { 'a.txt': '' })
      const answer = await run('cat /etc/hostname /etc/passwd /proc/self/environ ../outside')
      same(answer.stdout, '', 'output of reads outside the workspace')
      same((await run('true', { cwd: '../x' })).code, 'PATH_REJECTED', 'a directory outside')
    },
  },
  {
    name: 'a line that the analysis denies is not started',
    async test(subject) {
      const { run, snapshot } = await open(subject, { 'a.txt': '' }, { shell: subject.shell })
      const before = await snapshot()
      for (const line of [
        'rm -f a.txt; sudo ls',
        'rm -f a.txt; rm -rf /',
        'rm -f a.txt; c=ls; $c',
        'rm -f a.txt; echo "',
      ]) {
        same((await run(line)).code, 'COMMAND_DENIED', line)
      }
      same(await snapshot(), before, 'the workspace')
      const { ok, stdout } = await run('echo sudo')
      same({ ok, stdout }, { ok: true, stdout: 'sudo\n' }, 'a denied program as an argument')
    },
  },
]

/** Returns parts of a text as it is, reversed, and in base64. */
function spellings(text: string): string[] {
  return [text.slice(10), [...text].reverse().join(''), btoa(text).slice(0, 16)]
}
