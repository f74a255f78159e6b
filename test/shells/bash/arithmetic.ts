/** Expressions that together have all operators and kinds of operands. */
const expressions: readonly string[] = [
  'a + b * c ** 2 / (d - 1) % 3',
  'a++ + ++b - c-- - --d',
  '!a && ~b || -c ^ +d & e | f',
  'a << 2 >> b <= 1 >= c < 2 > d == e != 3',
  'a = b += c -= d *= 2, e /= 3, f %= 4',
  'a <<= 1, b >>= 2, c &= 3, d |= 4, e ^= 5',
  'a ? b : c ? d : e',
  'a[1] + b[c[2]] + d["k"] + e[\'k\'] + f[$g]',
  'a[1] = b[i++] += 2',
  '0x1F + 010 + 2#101 + 64#@_ + 1e5 + 1.5',
  '$a + ${b} + ${#c} + ${d:-1} + ${!e} + ${f[0]} + ${g}1',
  '$1 + $# + $? + $$ + $! + $- + $@ + $*',
  '$((a + $((b)))) + $(echo 1) + `echo 2`',
  '"1" + \'2\' + $"3" + $\'4\' + "a + b"',
  'a\\\n + b \\c #d',
  '{a} + [b] + ]c[ + ;d @e :f .g',
]

/** Characters that are put into the expressions. */
const inserted: readonly string[] = ['$', '$$', '`', '"', "'", '(', ')', '[', ']', '{', '}', '#', '\\', ' ', '?', '0']

/** The beginnings and the ends of all expressions, and the expressions with another character in every place. */
export function brokenExpressions(): readonly string[] {
  const broken = new Set<string>()
  for (const text of expressions) {
    for (let at = 0; at <= text.length; at++) {
      broken.add(text.slice(0, at)).add(text.slice(at))
      for (const char of inserted) broken.add(text.slice(0, at) + char + text.slice(at))
      broken.add(`${text.slice(0, at)}$${text.slice(at + 1)}`)
    }
  }
  return [...broken]
}

/** Scripts that evaluate an expression as the value of a variable, or where it is written. */
export const places: readonly ((expression: string) => string)[] = [
  (text) => `x=${quote(text)}; echo $((x))`,
  (text) => `x=${quote(text)}; ((y = x)); echo $y`,
  (text) => `x=${quote(text)}; a[x]=1; a[$x]=2; echo "\${a[x]} \${a[$x]}"`,
  (text) => `x=${quote(text)}; let "$x"; let "y = x"`,
  (text) => `x=${quote(text)}; s=abc; echo "\${s:x} \${s:$x:1} \${s:0:x}"`,
  (text) => `x=${quote(text)}; [[ x -eq 1 || 1 -lt $x ]]`,
  (text) => `declare -i v; v=${quote(text)}; v+=${quote(text)}`,
  (text) => `x=${quote(text)}; for ((i = x; i < x; i += x)); do break; done`,
  (text) => `set -- ${quote(text)}; echo $(($1)) $((1 + $1)) $(($@))`,
  (text) => `set -- 1 ${quote(text)}; (($*)); a[$@]=1`,
  (text) => `x=${quote(text)}; unset "a[$x]"; declare -n r="a[$x]"; printf %d "$x"; [ "$x" -eq 1 ]`,
  (text) => `echo $((${text}))`,
  (text) => `((${text}))`,
  (text) => `a[${text}]=1; echo \${a[${text}]}`,
  (text) => `s=abc; echo \${s:${text}}`,
  (text) => `let ${text}`,
  (text) => `[[ ${text} -eq 1 ]]`,
  (text) => `a=${quote(text)}; b=a+a; c=b+b; d=c+c; e=d+d; f=e+e; g=f+f; echo $((g + g))`,
  (text) => `for ((i = ${text}; i < 1; i++)); do break; done`,
]

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
