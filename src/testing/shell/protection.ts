import { check, same } from '../assert.ts'
import { needs, open, type ShellCase } from './case.ts'

const SECRET = 'PASSWORD=hunter2-of-the-contract'
const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`

const tree = {
  '.env': `${SECRET}\n`,
  'conf/.env.production': `${SECRET}\n`,
  'a.txt': 'ordinary\n',
}

/** Ways to a file `F`, by programs that any system has. What a shell does not have fails by itself. */
const ways = [
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

/** What a command is kept from. */
export const protectionCases: readonly ShellCase[] = [
  {
    name: 'no command gets at the content of a protected file, or brings it elsewhere',
    unless: needs('confined'),
    async test(subject) {
      const { run, snapshot, workspace } = await open(subject, tree)
      const before = await snapshot()
      for (const path of ['.env', 'conf/.env.production']) {
        for (const way of ways) {
          const line = way.replaceAll('F', path)
          const told = JSON.stringify(await run(line, { timeoutMs: 20_000 }))
          for (const text of spellings(SECRET)) check(!told.includes(text), `${line}: it told the secret: ${told}`)
          for (const [name, content] of await snapshot()) {
            const isNew = before.get(name) !== content
            check(!isNew || !content.includes(SECRET), `${line}: ${name} holds the secret`)
          }
        }
        same((await snapshot()).get(path), before.get(path), path)
      }
      const records = JSON.stringify(workspace.auditRecords())
      check(!records.includes(SECRET), 'The audit holds the secret')
    },
  },
  {
    name: 'each try at a protected file is in the result and in the audit',
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
          `${line}: the result does not tell the try: ${JSON.stringify(refused)}`,
        )
        const record = workspace.auditRecords().at(-1)
        check(
          record?.refusals?.some(({ path }) => path === '.env'),
          `${line}: the audit does not tell the try`,
        )
      }
    },
  },
  {
    name: 'a protected file cannot be changed',
    unless: needs('confined'),
    async test(subject) {
      const { run, snapshot } = await open(subject, tree)
      const before = await snapshot()
      for (const way of [
        'f=F; echo x > "$f"',
        'f=F; echo x >> "$f"',
        'cp a.txt F',
        'mv a.txt F',
        'rm -f F',
        'chmod 600 F',
      ]) {
        await run(way.replaceAll('F', '.env'))
        same((await snapshot()).get('.env'), before.get('.env'), way)
      }
    },
  },
  {
    name: 'what policy hides is not there',
    unless: needs('confined'),
    async test(subject) {
      const policy = { preset: 'autonomous', deniedPaths: ['private'], tools: { run_command: 'allow' } } as const
      const { run } = await open(subject, { 'private/plan.txt': 'the plan\n', 'a.txt': 'a\n' }, { policy })
      const { stdout } = await run('ls -a; find .; echo *; cat private/plan.txt 2> /dev/null; grep -r plan .; true')
      check(stdout.includes('a.txt'), `what shows: got ${JSON.stringify(stdout)}`)
      check(!stdout.includes('plan'), `what is hidden shows: ${JSON.stringify(stdout)}`)
    },
  },
  {
    name: 'secrets in an ordinary file do not show, and stay in it',
    async test(subject) {
      const { ok, snapshot } = await open(subject, { 'conf.ts': `const token = '${TOKEN}'\nconst x = 1\n` })
      const { stdout } = await ok('cat conf.ts; echo "const y = 2" >> conf.ts')
      check(stdout.includes('const x') && !stdout.includes(TOKEN), `cat: got ${JSON.stringify(stdout)}`)
      const content = (await snapshot()).get('conf.ts')
      check(content?.includes(TOKEN) && content.includes('const y'), `conf.ts: got ${JSON.stringify(content)}`)
    },
  },
  {
    name: 'nothing can be changed where the workspace is read-only',
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
    name: 'nothing outside of the workspace is there',
    unless: needs('guarded'),
    async test(subject) {
      const { run } = await open(subject, { 'a.txt': '' })
      const answer = await run('cat /etc/hostname /etc/passwd /proc/self/environ ../outside')
      same(answer.stdout, '', 'what it reads')
      same((await run('true', { cwd: '../x' })).code, 'PATH_REJECTED', 'a directory outside')
    },
  },
  {
    name: 'a line that the judge forbids does not start',
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
      same({ ok, stdout }, { ok: true, stdout: 'sudo\n' }, 'a word as data')
    },
  },
]

/** A text as it stands, backwards, and in the middle of base64. */
function spellings(text: string): string[] {
  return [text.slice(10), [...text].reverse().join(''), btoa(text).slice(0, 16)]
}
