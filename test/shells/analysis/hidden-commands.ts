/** Programs that no line may start: the first by the list of the policy, the others by the built-in list. */
export const forbiddenPrograms = ['forbidden', 'sudo', 'reboot'] as const

type Random = () => number

/** A deterministic random generator. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns a line that hides a forbidden command, or only mentions one as data. */
export function hiddenCommand(random: Random): string {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const name = pick(forbiddenPrograms)
  const depth = 1 + Math.floor(random() * 4)
  let words = random() < 0.15 ? 'ok' : spelled(name, random, pick)
  if (random() < 0.3) words = `${words} ${pick(['a', '-x', '"$1"', "'a b'", '*', '>/dev/null', '2>&1'])}`
  let line = words
  let simple = true
  for (let i = 0; i < depth; i++) {
    if (simple && random() < 0.5) {
      line = pick(aroundWords)(line)
    } else {
      line = pick(aroundScripts)(line)
      simple = false
    }
  }
  if (random() < 0.3) line = `${pick(before)}${line}`
  if (random() < 0.2) line = `${line}${pick(after)}`
  if (random() < 0.35) line = mutated(line, random, pick)
  return line
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const doubled = (text: string): string => `"${text.replace(/[\\"$`]/g, '\\$&')}"`
const backquoted = (text: string): string => `\`${text.replace(/[\\`]/g, '\\$&')}\``
const hex = (text: string): string => [...text].map((c) => `\\x${c.charCodeAt(0).toString(16)}`).join('')
const octal = (text: string): string => [...text].map((c) => `\\${c.charCodeAt(0).toString(8)}`).join('')

function spelled(name: string, random: Random, pick: <T>(items: readonly T[]) => T): string {
  const at = 1 + Math.floor(random() * (name.length - 1))
  const head = name.slice(0, at)
  const tail = name.slice(at)
  return pick([
    name,
    name,
    name,
    `'${name}'`,
    `"${name}"`,
    `${head}''${tail}`,
    `${head}"${tail}"`,
    `\\${name}`,
    `${head}\\${tail}`,
    `${head}\\\n${tail}`,
    `$'${hex(name)}'`,
    `$'${octal(name)}'`,
    `${head}$'${hex(tail)}'`,
    `$"${name}"`,
    `./${name}`,
    `bin/${name}`,
    `./bin/../bin/${name}`,
    `$PWD/${name}`,
    `${head}\${x}${tail}`,
    `${head}$@${tail}`,
    `$(echo ${name})`,
    `\`echo ${name}\``,
    `{${name},a}`,
    `${head}{${tail},x}`,
    `${head}?${tail.slice(1)}`,
    `${head}*`,
    `[${name.charAt(0)}]${name.slice(1)}`,
    `\${x:-${name}}`,
    `\${x:=${name}}`,
    `~+/${name}`,
    `$(printf '%s' ${name})`,
    `"$(echo ${head})"${tail}`,
    `-- ${name}`,
    `A=1 ${name}`,
    `A=1 B=\${C} ${name}`,
    `>/dev/null ${name}`,
    `<a.txt ${name}`,
    `2>&1 ${name}`,
    `{fd}>/dev/null ${name}`,
  ])
}

/** Wrappers around one command. */
const aroundWords: readonly ((words: string) => string)[] = [
  (w) => `env ${w}`,
  (w) => `env -i ${w}`,
  (w) => `env -u X A=b ${w}`,
  (w) => `env -S ${quoted(w)}`,
  (w) => `env -- ${w}`,
  (w) => `nice ${w}`,
  (w) => `nice -n 3 ${w}`,
  (w) => `nice -3 ${w}`,
  (w) => `nohup ${w}`,
  (w) => `timeout 3 ${w}`,
  (w) => `timeout -k 1 -s 9 3 ${w}`,
  (w) => `stdbuf -oL ${w}`,
  (w) => `setsid -w ${w}`,
  (w) => `command ${w}`,
  (w) => `command -p ${w}`,
  (w) => `command -v ${w}`,
  (w) => `builtin ${w}`,
  (w) => `builtin command ${w}`,
  (w) => `exec ${w}`,
  (w) => `exec -a z ${w}`,
  (w) => `time ${w}`,
  (w) => `time -p ${w}`,
  (w) => `! ${w}`,
  (w) => `eval ${w}`,
  (w) => `eval ${quoted(w)}`,
  (w) => `echo | xargs ${w}`,
  (w) => `echo a | xargs -n1 ${w}`,
  (w) => `echo a | xargs -I{} ${w}`,
  (w) => `echo ${w} | xargs -n1`,
  (w) => `echo ${w} | xargs -I{} {}`,
  (w) => `echo ${w} | xargs env`,
  (w) => `echo ${w} | xargs -I{} sh -c {}`,
  (w) => `find a.txt -exec ${w} \\;`,
  (w) => `find a.txt -exec ${w} {} +`,
  (w) => `find . -maxdepth 0 -execdir ${w} \\;`,
  (w) => `find . -maxdepth 0 -name ${w}`,
  (w) => `find . -maxdepth 0 -exec sh -c ${quoted(w)} \\;`,
  (w) => `coproc ${w}; wait`,
  (w) => `git bisect run ${w}`,
  (w) => `git -c alias.z=${quoted(`!${w}`)} z`,
  (w) => `git -c core.pager=${quoted(w)} -p version`,
  (w) => `GIT_PAGER=${quoted(w)} git -p version`,
  (w) => `tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=${quoted(w)} a.txt`,
  (w) => `tar cf /dev/null -I ${quoted(w)} a.txt`,
  (w) => `awk ${quoted(`BEGIN{system(${JSON.stringify(w)})}`)}`,
  (w) => `awk ${quoted(`BEGIN{print 1 | ${JSON.stringify(w)}}`)}`,
  (w) => `awk ${quoted(`BEGIN{${JSON.stringify(w)} | getline}`)}`,
  (w) => `sed ${quoted(`1e ${w}`)} a.txt`,
  (w) => `sed ${quoted(`s/.*/${w.replaceAll('/', '\\/')}/e`)} a.txt`,
  (w) => `perl -e ${quoted(`system(q(${w}))`)}`,
  (w) => `perl -pe ${quoted(`s/a/${w.replaceAll('/', '')}/e`)} a.txt`,
  (w) => `make -s SHELL=${quoted(w)}`,
  (w) => `make -s ${quoted(`X=$(shell ${w})`)}`,
  (w) => `make -s --eval=${quoted(`z: ; ${w}`)} z`,
  (w) => `CC=${quoted(w)} make`,
  (w) => `sort --compress-program=${quoted(w)} a.txt`,
  (w) => `split --filter=${quoted(w)} a.txt`,
]

/** Wrappers around a whole script. */
const aroundScripts: readonly ((script: string) => string)[] = [
  (s) => `true; ${s}`,
  (s) => `true;${s}`,
  (s) => `true && ${s}`,
  (s) => `false || ${s}`,
  (s) => `true & ${s}`,
  (s) => `true | ${s}`,
  (s) => `${s} | cat`,
  (s) => `true\n${s}`,
  (s) => `(${s})`,
  (s) => `( ${s}\n)`,
  (s) => `{ ${s}\n}`,
  (s) => `{ ${s}; }`,
  (s) => `if ${s}; then :; fi`,
  (s) => `if true; then ${s}; fi`,
  (s) => `if false; then :; else ${s}\nfi`,
  (s) => `while ${s}; do break; done`,
  (s) => `until ${s}; do break; done`,
  (s) => `for i in 1; do ${s}; done`,
  (s) => `for i in $(${s}); do :; done`,
  (s) => `for ((i=0;i<1;i++)); do ${s}; done`,
  (s) => `case a in a) ${s};; esac`,
  (s) => `case a in (b) :;; (*) ${s}\nesac`,
  (s) => `case $(${s}) in *) :;; esac`,
  (s) => `f() { ${s}; }; f`,
  (s) => `f() (${s}); f`,
  (s) => `function f { ${s}\n}; f`,
  (s) => `echo $(${s})`,
  (s) => `echo "$(${s})"`,
  (s) => `echo "a $(echo "$(${s})") b"`,
  (s) => `echo ${backquoted(s)}`,
  (s) => `echo "${backquoted(s)}"`,
  (s) => `cat <(${s})`,
  (s) => `echo a > >(${s})`,
  (s) => `x=$(${s})`,
  (s) => `x=(a $(${s}))`,
  (s) => `export x=$(${s})`,
  (s) => `echo \${x:-$(${s})}`,
  (s) => `echo "\${x:-$(${s})}"`,
  (s) => `echo \${x:=\`${s}\`}`,
  (s) => `echo \${x/a/$(${s})}`,
  (s) => `echo \${x[$(${s})]}`,
  (s) => `echo $((1+$(${s})))`,
  (s) => `((x=$(${s})1))`,
  (s) => `[[ -n $(${s}) ]]`,
  (s) => `[ -n "$(${s})" ]`,
  (s) => `cat <<E\n$(${s})\nE\n`,
  (s) => `cat <<E\n\${x:-$(${s})}\nE\n`,
  (s) => `cat <<'E'\n$(${s})\nE\n`,
  (s) => `cat <<-E\n\t$(${s})\n\tE\n`,
  (s) => `cat <<< $(${s})`,
  (s) => `sh <<E\n${s}\nE\n`,
  (s) => `sh <<'E'\n${s}\nE\n`,
  (s) => `bash <<< ${quoted(s)}`,
  (s) => `bash -s <<'E'\n${s}\nE\n`,
  (s) => `sh -c ${quoted(s)}`,
  (s) => `sh -c ${doubled(s)}`,
  (s) => `dash -c ${quoted(s)}`,
  (s) => `bash -c ${quoted(s)}`,
  (s) => `bash -euo pipefail -c ${quoted(s)}`,
  (s) => `bash -c ${doubled(s)} x y`,
  (s) => `bash -c '"$@"' _ ${s}`,
  (s) => `bash -c '$0' ${quoted(s)}`,
  (s) => `eval ${quoted(s)}`,
  (s) => `eval ${doubled(s)}`,
  (s) => `echo ${quoted(s)} | sh`,
  (s) => `printf %s ${quoted(s)} | bash`,
  (s) => `bash <(echo ${quoted(s)})`,
  (s) => `. /dev/stdin <<< ${quoted(s)}`,
  (s) => `source <(echo ${quoted(s)})`,
  (s) => `echo ${quoted(s)} > w1; sh w1`,
  (s) => `echo ${quoted(s)} > w1; chmod +x w1; ./w1`,
  (s) => `echo ${quoted(s)} | tee w1; bash w1`,
  (s) => `trap ${quoted(s)} EXIT`,
  (s) => `trap ${quoted(s)} DEBUG; true`,
  (s) => `alias z=${quoted(s)}\nz`,
  (s) => `shopt -s expand_aliases; alias z=${quoted(s)}\nz`,
  (s) => `x=${quoted(s)}; $x`,
  (s) => `x=${quoted(s)}; eval "$x"`,
  (s) => `x=${quoted(`a[$(${s})]`)}; echo $((x))`,
  (s) => `x=${quoted(`a[$(${s})]`)}; [[ x -eq 1 ]]`,
  (s) => `x=${quoted(`a[$(${s})]`)}; echo \${y[x]}`,
  (s) => `x=${quoted(`a[$(${s})]`)}; echo \${!x}`,
  (s) => `[[ -v ${quoted(`a[$(${s})]`)} ]]`,
  (s) => `test -v ${quoted(`a[$(${s})]`)}`,
  (s) => `printf -v ${quoted(`a[$(${s})]`)} 1`,
  (s) => `read ${quoted(`a[$(${s})]`)} <<< 1`,
  (s) => `unset ${quoted(`a[$(${s})]`)}`,
  (s) => `declare -i x=${quoted(`a[$(${s})]`)}`,
  (s) => `let ${quoted(`a[$(${s})]=1`)}`,
  (s) => `x=${quoted(`$(${s})`)}; echo "\${x@P}"`,
  (s) => `PS4=${quoted(`$(${s})`)}; set -x; true`,
  (s) => `PROMPT_COMMAND=${quoted(s)} bash -i -c true`,
  (s) => `BASH_ENV=<(echo ${quoted(s)}) bash -c true`,
  (s) => `env ${quoted(`BASH_FUNC_cat%%=() { ${s}\n}`)} bash -c cat`,
  (s) => `mapfile -c1 -C ${quoted(`${s} #`)} x < a.txt`,
  (s) => `git submodule foreach ${quoted(s)}`,
  (s) => `echo a # ${s}`,
  (s) => `echo ${quoted(s)}`,
  (s) => `echo ${doubled(s)}`,
  (s) => `grep -e ${quoted(s)} a.txt`,
  (s) => `printf '%s\\n' ${quoted(s)} > w2`,
  (s) => `: ${quoted(s)}`,
  (s) => `awk '{print $1}' a.txt; ${s}`,
  (s) => `sed -n 1p a.txt && ${s}`,
  (s) => `[[ a == !(${s}) ]]`,
  (s) => `!(${s})`,
  (s) => `echo @(a|${s})`,
  (s) => `[[ a || ${s} ]]`,
  (s) => `((${s}))`,
  (s) => `echo x &>w2 ${s}`,
  (s) => `echo $'a\\'; ${s} #'`,
  (s) => `echo "\${x:-'a}"; ${s}; echo "}'"`,
]

const before = [
  'A=1; ',
  'cd bin; cd ..; ',
  'set -e; ',
  'set -x; ',
  'x=1 y=2\n',
  'exec 3>&1; ',
  ': ; ',
  '\n\n',
  '# c\n',
  'true &&\n',
  'PATH=bin:$PATH; ',
  'IFS=_; ',
  'unset x; ',
]
const after = [' ', '\n', ' &', '; wait', ' # end', ' || true', ' 2>/dev/null', ' < a.txt', ';', ' |& cat', '\n:']

const special = [
  '\\',
  "'",
  '"',
  '`',
  '$',
  '(',
  ')',
  '{',
  '}',
  '[',
  ']',
  ';',
  '&',
  '|',
  '<',
  '>',
  '\n',
  ' ',
  '\t',
  '#',
  '!',
  '~',
  '*',
  '?',
  '=',
  '-',
  ',',
  '$(',
  '<(',
  '<<',
  "$'",
  '((',
  '))',
  '&&',
  '||',
  '\\\n',
  ';;',
  '${',
  '}"',
  '"$(',
]

/** Inserts, removes or doubles a few characters, which a parser may read differently from a shell. */
function mutated(line: string, random: Random, pick: <T>(items: readonly T[]) => T): string {
  let text = line
  const times = 1 + Math.floor(random() * 3)
  for (let i = 0; i < times; i++) {
    const at = Math.floor(random() * (text.length + 1))
    const kind = random()
    if (kind < 0.5) text = text.slice(0, at) + pick(special) + text.slice(at)
    else if (kind < 0.75) text = text.slice(0, at) + text.slice(at + 1)
    else text = text.slice(0, at) + text.slice(at, at + 3) + text.slice(at)
  }
  return text
}
