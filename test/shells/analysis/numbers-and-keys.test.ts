import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../src/paths/logical-path.ts'
import { compilePolicy } from '../../../src/policy/policy.ts'
import { createLineAnalyzer } from '../../../src/shells/shared/line-judge.ts'

const analyze = createLineAnalyzer({ root: '/workspace', confined: true })
const policy = compilePolicy({ preset: 'autonomous', commands: { deny: ['rm'] } })
const call = { tool: 'run_command', input: {}, accesses: [] }

/** Returns the decisions on a text as a line, and as a script file that receives variables from elsewhere. */
function decide(text: string): readonly string[] {
  const line = analyze(text, { cwd: ROOT, policy, call }).verdict.decision
  const [script] = analyze('bash s.sh', { cwd: ROOT, policy, call }).scripts ?? []
  return [line, script?.judge(text)?.verdict.decision ?? 'none']
}

const keys = ['a', 'foo-bar', '1.2', 'src/a.ts', '$k', '${k}', '"$k"', "'x y'", '"a $k"', '$1']
const uses = (key: string) => [
  ...[`m[${key}]=1`, `m[${key}]+=x`, `echo "\${m[${key}]}"`, `echo \${#m[${key}]}`, `[[ \${m[${key}]} ]] && ls`],
  ...[`echo "\${m[${key}]:-none}"`, `for k in a b; do m[${key}]=1; done`, `f() { m[${key}]=1; }; f`],
]

describe('a subscript of an associative array', () => {
  it.each(keys)('is a text: %s', (key) => {
    for (const declaration of ['declare -A m', 'declare -A m=()', 'typeset -A n m', 'declare -A m=([a]=1 [b]=2)'])
      for (const use of uses(key)) {
        const text = `${declaration}\n${use}`
        expect([text, ...decide(text)]).toEqual([text, 'allow', 'allow'])
      }
  })

  it.each([
    ...['', 'declare -a m', 'm=(); declare -A m', 'm=1; declare -A m', '(declare -A m)', 'true && declare -A m'],
    ...[
      'declare -A m &',
      'declare -A m > x',
      'if ls; then declare -A m; fi',
      'f() { declare -A m; }; f',
      'declare -Ag m',
    ],
    ...[
      'declare -A m; unset m',
      'declare -A m; unset -v m',
      'declare -A m; unset "$x"',
      'declare -A m; builtin unset m',
    ],
    ...[
      'declare -A m; f() { local m; }',
      'declare -A m; export m',
      'declare -A m; declare -n m=k',
      'declare -A m; read m',
    ],
    ...[
      'declare -A m; eval "unset m"',
      "declare -A m; trap 'unset m' DEBUG",
      'declare -A m; eval "$x"',
      'declare -A m[a]',
    ],
    ...['declare -A "$m"', 'X=1 declare -A m', 'declare -A m; mapfile m', 'declare -A m; declare m', 'export -A m'],
    ...['y=$(declare -A m)', 'y=`declare -A m`', "bash -c 'declare -A m'", 'declare -A m; unset "m[$k]"'],
  ])('is arithmetic unless its array is certainly one: %s', (declaration) => {
    for (const use of ['m[$k]=1', 'echo "${m[$k]}"', 'echo ${#m[$k]}'])
      for (const text of [`${declaration}\n${use}`, `${use}\n${declaration}`])
        expect([text, ...decide(text)]).toEqual([text, 'deny', 'deny'])
  })

  it.each([
    ...['(( m[$k]++ ))', 'echo $(( m[$k] ))', 'declare m[$k]=1', 'export m[$k]=1', '[[ -v m[$k] ]]', 'read m[$k]'],
    ...[': ${m[$k]:=1}', 'echo ${!m[$k]}', 'echo "${m[$(rm a)]}"', 'echo "${m[`rm a`]}"', 'printf -v "m[$k]" 1'],
    ...['echo $(( ${m[$k]} + 1 ))', 'm[$k]=$x; echo $(( ${m[$k]:-0} + 1 ))', 'unset "m[$k]"', 'm[$k]=1 ls'],
  ])('is refused where the shell evaluates it again: %s', (use) => {
    const text = `declare -A m\n${use}`
    expect([text, ...decide(text)]).toEqual([text, 'deny', 'deny'])
  })

  it.each(['GROUPS', 'BASH_ALIASES', 'PIPESTATUS', 'FUNCNAME', 'DIRSTACK', 'COMPREPLY'])(
    'of the shell is arithmetic: %s',
    (name) => {
      expect(decide(`declare -A ${name}\necho \${${name}[$k]}`)).toEqual(['deny', 'deny'])
    },
  )
})

describe('arithmetic', () => {
  it.each([
    ...['n=5; echo $(( $n + ${n:-0} ))', 'echo $(( $SECONDS / 60 ))', 'echo $(( ${SECONDS} + $RANDOM % 6 ))'],
    ...[
      's=$SECONDS; ls; echo $((SECONDS - s))',
      's="${EPOCHSECONDS}"; echo $((s))',
      'a=(1 2); for i in "${!a[@]}"; do echo $((i+1)); done',
    ],
    ...[
      'n=$(stat -c %s a.txt); echo $((n / 2))',
      't=$(date +%s%N); echo $((t))',
      'a=(1 2); for i in "${!a[@]}"; do echo "${a[$i]}"; done',
    ],
    ...['declare -A c=(); for w in a b; do c[$w]=$(( ${c[$w]:-0} + 1 )); done'],
  ])('reads what is always a number: %s', (text) => {
    expect(decide(text)).toEqual(['allow', 'allow'])
  })

  it.each([
    ...[
      'echo $(( ${n:-0} ))',
      'n=${n:-5}; echo $((n))',
      'n=$1; echo $(( $n ))',
      'n=5; echo $(( ${n:-$x} ))',
      'echo $(( $x ))',
    ],
    ...[
      'unset SECONDS; read SECONDS; s=$SECONDS; echo $((s))',
      's=$UID$x; echo $((s))',
      'read LINENO; s=$LINENO; echo $((s))',
    ],
    ...[
      'declare -A a; a[$k]=1; for i in "${!a[@]}"; do echo $((i)); done',
      'f() { local -A a; }; for i in "${!a[@]}"; do echo $((i)); done',
    ],
    ...[
      'for i in "${!BASH_ALIASES[@]}"; do echo $((i)); done',
      'n=$(stat -c %n a.txt); echo $((n))',
      'n=$(stat -c %s "$f"); echo $((n))',
    ],
    ...['s=${SECONDS:-x}; echo $((s))', 's=${!x}; echo $((s))', 'for i in "${!a@}"; do echo $((i)); done'],
  ])('on what may be a text is refused: %s', (text) => {
    expect(decide(text)).toEqual(['deny', 'deny'])
  })

  it('reads an array that a script receives as a variable only if the script empties it', () => {
    const count = 'c[$w]=$(( ${c[$w]:-0} + 1 ))'
    expect(decide(`declare -A c\n${count}`)).toEqual(['allow', 'deny'])
    expect(decide(`declare -A c=([a]=1)\n${count}`)).toEqual(['deny', 'deny'])
  })
})

describe('lines that patterns could take exponential time for', () => {
  // With backtracking over equal ways to match, each of them would take years.
  const lines = [
    `x=([${'a'.repeat(60)}.]=1)`,
    `declare -A m; m["${'$aa'.repeat(60)}!"]=1`,
    `declare -A m; m[${'$aa'.repeat(60)}!]=1`,
    `echo \${x:-"${'$aa'.repeat(60)}\\"}`,
    `awk '/${'[^^]'.repeat(60)}\\'`,
    `sed -n '/${'[^^]'.repeat(60)}['`,
    `sed '1,/${'[^^]'.repeat(60)}['`,
  ]
  it.each(lines)('are judged at once: %.20s', (line) => {
    expect(decide(line)[0]).toMatch(/allow|deny/)
  })
})
