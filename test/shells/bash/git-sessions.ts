import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import { git } from '../../../src/git/index.ts'
import { outputOf, runProgram } from '../../run-program.ts'
import { shellBench } from '../setup.ts'

const environment = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
  GIT_PAGER: 'cat',
}

/** Runs a line with a real shell and the real git. */
export function real(cwd: string, line: string): { stdout: string; exitCode: number } {
  const { stdout, status } = runProgram('sh', ['-c', line], { cwd, env: environment })
  return { stdout: stdout.toString(), exitCode: status }
}

const file = fc.constantFrom('a.txt', 'd/b.txt', 'd/e/c.txt', 'x.log', 'f')
const place = fc.oneof(file, fc.constantFrom('.', 'd', 'd/e', 'missing'))
const branch = fc.constantFrom('main', 'one', 'two/three')
const text = fc.constantFrom('1', '2', '3')

/** A line of a session, which must have the same effect in the real git and in the built-in one. */
const step = fc.oneof(
  { arbitrary: fc.tuple(file, text).map(([name, content]) => `mkdir -p d/e && echo ${content} > ${name}`), weight: 6 },
  { arbitrary: file.map((name) => `rm -f ${name}`), weight: 2 },
  { arbitrary: place.map((name) => `git add ${name}`), weight: 4 },
  fc.constantFrom('git add -A', 'git add -u', 'git add .'),
  { arbitrary: text.map((content) => `git commit -qm "message ${content}"`), weight: 4 },
  fc.constantFrom('git commit -qam all', 'git commit -q --allow-empty -m empty', 'git commit -q --amend --no-edit'),
  { arbitrary: branch.map((name) => `git checkout -q -b ${name}`), weight: 2 },
  { arbitrary: branch.map((name) => `git checkout -q ${name}`), weight: 3 },
  branch.map((name) => `git switch -q ${name}`),
  branch.map((name) => `git switch -q -c ${name}`),
  branch.map((name) => `git branch ${name}`),
  branch.map((name) => `git branch -q -d ${name}`),
  branch.map((name) => `git branch -q -D ${name}`),
  fc.constantFrom('git reset -q --hard', 'git reset -q', 'git checkout -q HEAD~1'),
  file.map((name) => `git restore ${name}`),
  place.map((name) => `git restore --staged ${name}`),
  file.map((name) => `git checkout -q -- ${name}`),
  fc.tuple(branch, file).map(([name, path]) => `git checkout -q ${name} -- ${path}`),
)

const questions = [
  'git status --porcelain',
  'git log --format=%s',
  "git branch | grep -v '[*] ('",
  'git branch --show-current',
  'git status | grep renamed',
  'git diff --name-status',
  'git diff --cached --name-status',
  'git diff --name-only HEAD',
  'git show --name-status --format=%s',
]

/** Files that are renamed in the index, with equal and with similar contents, and one that is changed after that. */
const sessionsWithRenames = [
  ['echo 1 > f', 'git add f', 'git commit -qm "message 1"', 'rm -f f', 'mkdir -p d && echo 1 > d/b.txt', 'git add -A'],
  [
    'seq 20 > f',
    'git add f',
    'git commit -qm "message 2"',
    'rm -f f',
    'seq 19 > a.txt',
    'git add -A',
    'echo 1 >> a.txt',
  ],
]

/** Runs sessions line by line, with the real git in one directory and the built-in git in another. `numRuns` of them are random. */
export async function compareSessions(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (lines) => {
      const base = realpathSync(mkdtempSync(join(tmpdir(), 'git-sessions-')))
      const [theirs, ours] = [join(base, 'theirs'), join(base, 'ours')]
      mkdirSync(theirs)
      mkdirSync(ours)
      const bench = await shellBench(
        {},
        {
          backend: nodeBackend(ours, { stateDir: join(base, 'state') }),
          git: git({ author: { name: 'A', email: 'a@example.com' } }),
          policy: { preset: 'autonomous', rules: [{ name: 'all', action: 'allow', permissions: ['*'] }] },
        },
      )
      try {
        const all = ['git init -q -b main', 'echo "*.log" > .gitignore', 'git add .', 'git commit -qm first', ...lines]
        for (const [index, line] of all.entries()) {
          const script = `${all.slice(0, index + 1).join('\n')}\n`
          const expected = real(theirs, line)
          const answer = await bench.run(line)
          expect(answer.ok, script + JSON.stringify(answer)).toBe(true)
          expect(answer.exitCode === 0, script + JSON.stringify(answer)).toBe(expected.exitCode === 0)
          if (index < 3) continue
          for (const question of index === all.length - 1 ? questions : questions.slice(0, 1)) {
            const right = real(theirs, question).stdout
            expect(real(ours, question).stdout, script + question).toBe(right)
            expect((await bench.run(question)).stdout, script + question).toBe(right)
          }
        }
        const history = 'git log --all --format="%T %s" | sort'
        expect(real(ours, history).stdout, lines.join('\n')).toBe(real(theirs, history).stdout)
        outputOf('git', ['fsck', '--strict'], { cwd: ours, env: environment })
      } finally {
        await bench.workspace.close()
        rmSync(base, { recursive: true })
      }
    }),
    { numRuns: numRuns + sessionsWithRenames.length, examples: sessionsWithRenames.map((lines) => [lines]) },
  )
}
