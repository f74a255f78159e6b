import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import type { LogicalPath } from '../../../src/paths/logical-path.ts'
import { compilePolicy } from '../../../src/policy/policy.ts'
import type { ScriptFile } from '../../../src/shells/analysis/index.ts'
import { judgeScripts } from '../../../src/shells/shared/script-judge.ts'

const name = fc.constantFrom('a', 'b', 'c')
/** Several names, as a brace list. */
const names = fc.tuple(name, name).map((both) => `{${both.join()}}`)
const text = fc.constantFrom(
  ...[
    'git',
    'git',
    'push',
    'push',
    'git push',
    'echo',
    'true',
    'status',
    'node',
    './d/node',
    "''",
    'gi',
    't',
    'pu',
    'x',
  ],
)
const quoted = text.map((value) => (value.includes("'") ? value : `'${value}'`))

/** A value as an assignment has it. */
const value: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: quoted },
  { weight: 2, arbitrary: fc.tuple(name, name).map(([one, other]) => `"$${one}$${other}"`) },
  name.map((one) => `$${one}`),
  fc.tuple(name, quoted).map(([one, other]) => `\${${one}:-${other}}`),
  fc.tuple(name, text).map(([one, other]) => `\${${one}:+${other.includes("'") ? '' : other}}`),
  fc.tuple(name, name).map(([one, other]) => `"$${one}/$${other}"`),
  name.map((one) => `"\${${one}##*/}"`),
  name.map((one) => `"\${${one}%/*}"`),
  fc.constantFrom(
    ...['$(dirname "$0")', '"${0%/*}"', '$(basename "$0")', '$(cd "$(dirname "$0")" && pwd)', '$0', '"$PWD"', '$(pwd)'],
    ...['$((1/0))', '$((08))', '$(echo git)', '"$*"', '$1', '~', '$(cygpath -w "$a")', '$(dirname "$(dirname "$0")")'],
  ),
)

/** A command that starts git if its variables say so. */
const use: fc.Arbitrary<string> = fc.oneof(
  name.map((one) => `$${one}`),
  name.map((one) => `"$${one}"`),
  fc.tuple(name, name).map(([one, other]) => `$${one} $${other}`),
  fc.tuple(name, name).map(([one, other]) => `"$${one}" "$${other}"`),
  name.map((one) => `$${one} push`),
  name.map((one) => `git "$${one}"`),
  name.map((one) => `git $${one}`),
  name.map((one) => `git$${one} push`),
  name.map((one) => `gi$${one} push`),
  name.map((one) => `"$${one}/node"`),
  name.map((one) => `(exec "$${one}/node" x)`),
  name.map((one) => `(exec "$${one}/git" push)`),
  name.map((one) => `env $${one} push`),
  name.map((one) => `env "$${one}" git push`),
  name.map((one) => `command $${one} push`),
  name.map((one) => `command -v $${one}`),
  name.map((one) => `sh -c "$${one}"`),
  name.map((one) => `sh -c "$${one} push"`),
  name.map((one) => `. "$${one}/node"`),
  name.map((one) => `env A=$${one} true`),
  fc.tuple(name, name).map(([one, other]) => `$${one} ${other}=git`),
  fc.tuple(name, name).map(([one, other]) => `$${one} ${other}`),
  fc
    .constantFrom('$((1 + $1))', '[[ ${1} -gt 0 ]]', '[[ 0 -lt $1 ]]', '${a:$1}', 'x[$2]=')
    .map((code) => `set -- 'a[$(git push)]' 'b[$(git push)]'\n: ${code}`.replace(/: (?=\[|x)/, '')),
  fc.constantFrom('. "$(dirname "$0")/node"', '. "${0%/*}/git"', 'source "$(dirname -- "$0")/../git"'),
  fc.constantFrom('"$(dirname "$0")/node"', '"${0%/*}/node"', '"$0" x', 'env A=$((212))git push', 'env A=$?git push'),
)

const assign: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(name, value).map(([one, what]) => `${one}=${what}`) },
  fc.tuple(name, value).map(([one, what]) => `export ${one}=${what}`),
  fc.tuple(name, value).map(([one, what]) => `local ${one}=${what}`),
  fc.tuple(name, value).map(([one, what]) => `readonly ${one}=${what}`),
  fc.tuple(name, quoted).map(([one, what]) => `: \${${one}:=${what}}`),
  fc.tuple(name, quoted).map(([one, what]) => `${one}+=${what}`),
  fc.tuple(name, quoted).map(([one, what]) => `read ${one} <<X\n${what}\nX`),
  fc.tuple(name, quoted).map(([one, what]) => `printf -v ${one} ${what}`),
  fc.tuple(name, quoted, name).map(([one, what, other]) => `${one}=${what} ${other}=$((1/0))`),
  fc.tuple(name, quoted).map(([one, what]) => `${one}=${what} > /nope/x`),
  name.map((one) => `unset ${one}`),
  name.map((one) => `readonly ${one}`),
  fc.tuple(names, quoted).map(([several, what]) => `read ${several} <<X\n${what}\nX`),
  fc
    .tuple(fc.constantFrom('export ', 'local ', 'declare ', 'builtin declare ', 'readonly '), names, quoted)
    .map(([command, several, what]) => `${command}${several}=${what}`),
  fc.tuple(fc.constantFrom('unset ', 'command unset ', 'local ', '{unset,c} '), names).map((parts) => parts.join('')),
  fc.tuple(name, quoted).map(([one, what]) => `${one}[1]=${what}`),
  fc.constantFrom(
    ...['IFS=1', 'IFS=i', 'IFS=:', 'IFS=', 'unset IFS', 'cd d', 'set -- git push', 'shift', 'UID=1', 'f'],
  ),
  fc.constantFrom(
    'PATH=/usr/bin:$PATH',
    "PATH='$PATH:/usr/bin'",
    'PATH=$PATH:/usr/sbin',
    'CDPATH=',
    'return',
    'exit 1 2',
  ),
)

const { statements } = fc.letrec<{ statement: string; statements: string }>((tie) => ({
  statement: fc.oneof(
    { maxDepth: 2 },
    { weight: 8, arbitrary: assign },
    { weight: 6, arbitrary: use },
    fc
      .tuple(name, text, text, tie('statements'))
      .map(([one, a, b, body]) => `for ${one} in ${a} ${b}; do\n${body}\ndone`),
    fc.tuple(tie('statements'), tie('statements')).map(([a, b]) => `if [ -n "$a" ]; then\n${a}\nelse\n${b}\nfi`),
    tie('statements').map((a) => `if [ -n "$a" ]; then\nexit\nelse\n${a}\nfi`),
    fc.tuple(tie('statements'), tie('statements')).map(([a, b]) => `case "$a" in\nx)\n${a} ;;\n*)\n${b} ;;\nesac`),
    tie('statements').map((body) => `f() {\n${body}\n}`),
    tie('statements').map((body) => `{\n${body}\n}`),
    tie('statements').map((body) => `(\n${body}\n)`),
    tie('statements').map((body) => `{\n${body}\n} > /nope/x`),
    assign.map((body) => `${body} &`),
    fc.tuple(use, assign).map(([one, other]) => `${one} && ${other}`),
    fc.tuple(assign, use).map(([one, other]) => `${one} || ${other}`),
    assign.filter((body) => !/['\n]/.test(body)).map((body) => `eval '${body}'`),
    use.filter((body) => !body.includes("'")).map((body) => `trap '${body}' EXIT`),
  ) as fc.Arbitrary<string>,
  statements: fc
    .array(tie('statement') as fc.Arbitrary<string>, { minLength: 1, maxLength: 3, size: 'max' })
    .map((lines) => lines.join('\n')),
}))

/** A script whose variables may hold the name of a program, or a part of it, and that starts what they hold. */
const script = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(statements, use).map((parts) => parts.join('\n')) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(...['a', 'b', 'c'].map((one) => value.map((what) => `${one}=${what}`)), assign, use)
      .map((parts) => parts.join('\n')),
  },
)

const policy = compilePolicy({ preset: 'autonomous', commands: { deny: ['git push'] } })
const others: Readonly<Record<string, string>> = Object.fromEntries(
  ['node', 'git', 'd/node', 'd/git', 'd/d/node'].map((path) => [path, '#!/bin/sh\ngit push\n']),
)

/** Whether a policy that denies `git push` allows a script file, with everything that it runs. */
function isAllowed(file: ScriptFile, files: Readonly<Record<string, string>>): boolean {
  const call = { tool: 'run_command', accesses: [], input: {} }
  const pending = [...judgeScripts([file], { policy, call, root: '/workspace' })]
  const seen = new Set<string | undefined>()
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const content = files[next.path]
    if (content === undefined || seen.has(next.id)) continue
    seen.add(next.id)
    const evaluation = next.judge(content)
    if (evaluation === undefined) continue
    if (evaluation.verdict.decision !== 'allow') return false
    pending.push(...evaluation.scripts)
  }
  return true
}

interface ScriptFuzzResult {
  readonly scripts: number
  /** Number of scripts, per shell, that are allowed. */
  readonly allowed: number
  /** Allowed scripts that push. */
  readonly escaped: readonly string[]
  /** Refused scripts of a sample that push, which shows that the record works. */
  readonly wouldPush: number
}

/** Generates scripts, evaluates them, and runs the allowed ones in real shells with a false git on PATH. */
export function fuzzScripts(count: number, seed: number, sample = 20): ScriptFuzzResult {
  const scripts = fc.sample(script, { numRuns: count, seed })
  const runs = scripts.flatMap((content) =>
    (['bash', 'sh'] as const).map((kind) => ({
      content,
      kind,
      allowed: isAllowed(
        { path: 'd/s.sh' as LogicalPath, kind, cwd: '' as LogicalPath },
        { ...others, 'd/s.sh': content },
      ),
    })),
  )
  const allowed = runs.filter((run) => run.allowed)
  const refused = runs.filter((run) => !run.allowed).slice(0, sample)
  const pushed = runAll(
    [...allowed, ...refused].map(({ content, kind }) => ({ content, shell: kind === 'sh' ? 'dash' : 'bash' })),
  )
  return {
    scripts: count,
    allowed: allowed.length,
    escaped: allowed.flatMap(({ content, kind }, index) => (pushed.has(index) ? [`${kind}: ${content}`] : [])),
    wouldPush: refused.filter((_, index) => pushed.has(allowed.length + index)).length,
  }
}

/** Runs scripts in an empty directory. Returns the numbers of those that push. */
function runAll(runs: readonly { readonly content: string; readonly shell: string }[]): Set<number> {
  const base = mkdtempSync(join(tmpdir(), 'scripts-'))
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), content)
    chmodSync(join(base, path), 0o755)
  }
  try {
    write(
      'bin/git',
      `#!/bin/sh\ncase "$*" in *push*) read -r n < '${base}/number'; echo "$n" >> '${base}/record' ;; esac\n`,
    )
    for (const [path, content] of Object.entries(others)) write(`work/${path}`, content)
    runs.forEach(({ content }, index) => {
      write(`scripts/${index}`, content)
    })
    write('record', '')
    const lines = runs.map(
      ({ shell }, index) =>
        `echo ${index} > '${base}/number'; cp '${base}/scripts/${index}' d/s.sh; (ulimit -t 5; exec timeout 3 ${shell} d/s.sh git push) < /dev/null > /dev/null 2>&1`,
    )
    write('driver', `cd '${base}/work' || exit 9\n${lines.join('\n')}\n`)
    spawnSync('bash', [join(base, 'driver')], {
      env: {
        PATH: `${join(base, 'bin')}:/usr/bin:/bin`,
        a: 'git',
        b: 'push',
        c: 'git push',
        HOME: '/nope',
        CDPATH: '',
      },
    })
    return new Set(readFileSync(join(base, 'record'), 'utf8').split('\n').filter(Boolean).map(Number))
  } finally {
    if (existsSync(base)) rmSync(base, { recursive: true })
  }
}
