/**
 * Generates scripts that print to both streams, by all the ways in which output moves through a script, except for errors after which the
 * interpreter drops output that was printed before.
 */
export function printingScript(random: () => number, depth: number): string {
  const below = (max: number) => Math.floor(random() * max)
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T
  let count = 0
  const text = () => {
    count += 1
    return pick([`t${count}`, `t${count}`, `t${count}`, `é${count}`, `日本${count}`])
  }
  /** A text that the interpreter changes at the end of a line, and in a nested script fails to count. */
  const ambiguous = () => pick([text(), text(), 'Ã©'])

  function simple(): string {
    return pick([
      () => `echo ${text()}`,
      () => `echo ${ambiguous()}`,
      () => `echo ${text()} >&2`,
      () => `printf '%s' ${ambiguous()}`,
      () => 'cat a.txt',
      () => 'cat missing',
      () => 'f1',
      () => 'f2 x',
      () => `f1 "$(${simple()})"`,
      () => `x=$(${simple()})`,
      () => `x=${text()} f1`,
      () => 'true',
      () => 'false',
      () => '((1))',
      () => '[[ -n $x ]]',
      () => 'let y=1',
      () => 'nothing-here',
      () => 'head -c 3 latin.bin',
      () => 'read line',
      () => `eval 'echo ${text()}; f1'`,
      () => `eval 'x=$(f1); f2 | cat'`,
      () => `bash -c 'echo ${text()}; echo ${text()} >&2'`,
      () => `sh -c 'for j in 1 2; do echo ${text()}; done' 2>&1`,
      () => 'bash script.sh',
      () => 'source script.sh',
      () => '. script.sh',
      () => './run.sh',
      () => 'seq 2 | xargs -n 1 echo',
      () => 'npm run -s show',
      () => 'npm run show',
    ])()
  }

  function redirection(): string {
    return below(4) > 0
      ? ''
      : pick([
          ' > out',
          ' 2> err',
          ' 2>&1',
          ' >&2',
          ' &> all',
          ' 2>/dev/null',
          ' < a.txt',
          ' 1>/dev/stderr',
          ' 2>&1 > out',
          ' <<< here',
          ' 3>&1',
        ])
  }

  /** Statements of a loop, which may leave it. */
  function body(level: number): string {
    const leaver = pick([
      '',
      '',
      'break',
      'continue',
      `{ ${list(level)}; break; }`,
      `if ${list(level)}; then continue; fi`,
    ])
    return leaver === ''
      ? list(level)
      : `${list(level)}; ${pick(['', 'true && ', 'false || '])}${leaver}; ${list(level)}`
  }

  function command(level: number): string {
    if (level === 0) return simple() + redirection()
    const inner = () => list(level - 1)
    return pick([
      () => simple() + redirection(),
      () => simple() + redirection(),
      () => `for i in 1 2; do ${body(level - 1)}; done${redirection()}`,
      () => `for ((k=0;k<2;k++)); do ${body(level - 1)}; done${redirection()}`,
      () => `{ ${inner()}; }${redirection()}`,
      () => `(${inner()})${redirection()}`,
      () => `if ${inner()}; then ${inner()}; else ${inner()}; fi${redirection()}`,
      () => `case a in a) ${inner()};; esac${redirection()}`,
      () => `while ${inner()} && [ "$n" != 1 ]; do n=1; ${body(level - 1)}; done${redirection()}`,
      () => `until ${inner()}; do break; done${redirection()}`,
      () => `f${1 + below(2)}() { ${inner()}; }${redirection()}`,
      () => `${command(level - 1)} | ${command(level - 1)}`,
      () => `${command(level - 1)} |& ${pick(['cat', command(level - 1)])}`,
      () => `! ${command(level - 1)}`,
      () => `f${1 + below(2)}() { ${inner()}; return 2; echo ${text()}; }; f${1 + below(2)}${redirection()}`,
    ])()
  }

  function list(level: number): string {
    const commands = Array.from({ length: 1 + below(3) }, () => command(level))
    return commands.reduce((line, next) => `${line}${pick(['; ', '; ', ' && ', ' || '])}${next}`)
  }

  const start = pick([
    '',
    '',
    '',
    'set -e; ',
    'set -x; ',
    'set -v\n',
    'set -o pipefail; ',
    'exec 2>&1; ',
    'exec 3>&1 >out; ',
    "trap 'echo bye' EXIT; ",
    "trap 'f1' EXIT; ",
  ])
  return `${start}f1() { echo in1; echo err1 >&2; }; f2() { f1; echo in2; }; ${Array.from({ length: 1 + below(4) }, () => list(depth)).join('\n')}${pick(['', '', '\nexit 3', '; { echo out; exit 4; }'])}`
}
