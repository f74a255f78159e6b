import { describe, expect, it } from 'vitest'
import { type LogicalPath, parsePath } from '../../../src/paths/logical-path.ts'
import { compilePolicy } from '../../../src/policy/policy.ts'
import { createLineAnalyzer } from '../../../src/shells/shared/line-judge.ts'

const confined = createLineAnalyzer({ root: '/workspace', shell: 'bash', confined: true })
const unconfined = createLineAnalyzer({ root: '/workspace', shell: 'bash' })
const plain = compilePolicy({ preset: 'autonomous' })
const withRules = [
  { commands: { deny: ['git push'] } },
  { commands: { allow: ['*'] } },
  { commands: { deniedOperators: ['<<<'] } },
  { rules: [{ name: 'asks', action: 'ask', commands: ['npm publish'] }] },
  { rules: [{ name: 'asks', action: 'ask', args: { command: ['*publish*'] }, tools: ['run_command'] }] },
  { labels: { sinks: [{ name: 'net', ceiling: 'public', commands: ['curl*'] }] } },
  { labels: { sources: [{ label: 'internal', commands: ['jira *'] }] } },
].map((fields) => compilePolicy({ preset: 'autonomous', ...fields }))

function decide(judge: typeof confined, line: string, policy = plain, cwd = ''): string {
  const path = (cwd === '' ? '' : parsePath(cwd)) as LogicalPath
  return judge(line, {
    cwd: path as never,
    policy,
    call: { tool: 'run_command', accesses: [], input: { command: line } },
  }).verdict.decision
}

/** Absolute paths of the workspace, and paths that leave a directory below the root: known, so no shell refuses them. */
const inside = [
  'rm -r /workspace/src',
  'rm -rf /workspace/src/a /workspace/b',
  'rm -rf "/workspace/dist"',
  'rm -rf /workspace/dist/*',
  'rm -rf /workspace/',
  'rm -rf /workspace/a/../b',
  'chmod -R u+w /workspace/src',
  'chown -R me /workspace/src',
  'shred /workspace/a',
  'cd src && rm -rf ../dist',
  'cd src/a && rm -rf ../../dist',
  'dd if=a of=/workspace/b',
  'dd if=a of=/dev/null',
  'dd if=a of=b..c',
  'cd /workspace/src && rm -rf /workspace/dist',
]

const outside = [
  'rm -r /etc',
  'rm -rf /',
  'rm -rf /workspaces',
  'rm -rf /workspace2/a',
  'rm -rf /workspace/..',
  'rm -rf /workspace/../etc',
  'rm -rf /workspace/a/../../etc',
  'rm -rf ..',
  'rm -rf a/../..',
  'cd src && rm -rf ../..',
  'rm -rf "~"',
  'chmod -R 777 /usr',
  'dd of=/dev/sda',
  'dd of=../x',
  'dd of=/etc/passwd',
  'sudo rm a',
  'cd /etc',
  'cd ..',
  'echo > /etc/x',
  'echo > ../x',
  '$cmd',
  '"$a" b',
  'sh -c "$x"',
  'sh "$x"',
  'bash ./"$x"',
  'env $x',
  'env "$x" ls',
  'xargs $x',
  'timeout $t ls',
  'nice $x ls',
  'npx $x',
  'npm $x',
  'git $x',
  'git -c "$x" status',
  'eval "$x"',
  'node -e "$x"',
  'echo > a.sh; sh a.sh',
  'source x',
  'f() { f; }; f',
]

/** What only the run shows: the guard decides on each path. */
const unknownPaths = [
  'echo 1 > "$out"',
  'echo 1 > $d/x.txt',
  'for f in a b; do echo 1 > "$f.txt"; done',
  'out=x; echo 1 >> "$out"',
  'cat < "$in"',
  'ls 2> "$log"',
  'ls &> $log',
  'cat a > $(date +%F).txt',
  'cat a > *.txt',
  'cat a > ~/x',
  'cd $PWD',
  'cd "$PWD"',
  'cd "$HOME/x"',
  'cd ~',
  'cd',
  'cd -',
  'cd "$d" && ls',
  'cd "$d" && echo 1 > x.txt',
  'pushd "$d"; popd; popd',
  'rm -rf "$d"',
  'rm -rf "$d"/*',
  'rm -rf $(ls)',
  'find . -name "*.js" | xargs rm',
  'find . -name "*.js" -print0 | xargs -0 rm -rf',
  'chmod -R u+w "$d"',
  'ls | xargs chmod u+x',
]

/** Words that may become options: harmless without a rule on commands. */
const unknownWords = [
  'grep -rl x src | xargs sed -i s/x/y/',
  'sed -i s/x/y/ $(grep -rl x src)',
  'sed -n 1p "$f"',
  'for f in test/*.test.js; do node "$f"; done',
  'tar xf "$a"',
  'find "$d" -name a',
]

describe('a line in a confined shell', () => {
  it.each([...inside, ...unknownPaths, ...unknownWords])(
    '%j is allowed by a policy without rules on commands',
    (line) => {
      expect(decide(confined, line)).toBe('allow')
    },
  )

  it.each([...inside, ...unknownPaths])('%j is allowed by a policy with rules on commands', (line) => {
    for (const policy of withRules) expect(decide(confined, line, policy)).toBe('allow')
  })

  it.each(unknownWords)('%j is denied by a policy with rules on commands', (line) => {
    for (const policy of withRules) expect(decide(confined, line, policy)).toBe('deny')
  })

  it.each([
    'echo a > "$out"; sh x.sh',
    'echo a > "$out"; ./x',
    'cd "$d" && echo a > x.sh && sh x.sh',
    'cd "$d" && sh x.sh',
    'cd "$d" && ./x',
    'node a.js > "$out"',
  ])('%j may write what it runs, which a policy with rules on commands denies', (line) => {
    for (const policy of withRules) expect(decide(confined, line, policy)).toBe('deny')
    expect(decide(confined, line)).toBe('allow')
  })

  it.each(outside)('%j is denied by every policy', (line) => {
    for (const policy of [plain, ...withRules]) expect(decide(confined, line, policy)).toBe('deny')
  })

  it('takes paths relative to the directory of the call', () => {
    expect(decide(confined, 'rm -rf ../b', plain, 'a')).toBe('allow')
    expect(decide(confined, 'rm -rf ../../b', plain, 'a')).toBe('deny')
  })
})

describe('a line in a shell that does not confine commands', () => {
  it.each(inside)('%j is allowed', (line) => {
    expect(decide(unconfined, line)).toBe('allow')
  })

  it.each([...unknownPaths.filter((line) => !/chmod u\+x/.test(line)), ...outside])('%j is denied', (line) => {
    for (const policy of [plain, ...withRules]) expect(decide(unconfined, line, policy)).toBe('deny')
  })
})

it('suggests the command of git that was meant', () => {
  const { verdict } = confined('git comit -m x', {
    cwd: '' as never,
    policy: plain,
    call: { tool: 'run_command', accesses: [], input: { command: 'git comit -m x' } },
  })
  expect(verdict.reason).toContain('did you mean "commit"?')
})

it('matches entries of rules whatever their blanks', () => {
  const rules = [{ name: 'no push', action: 'deny', commands: ['  git   push '] }]
  expect(decide(confined, 'git push', compilePolicy({ preset: 'autonomous', rules }))).toBe('deny')
})
