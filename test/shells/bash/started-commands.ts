import type { MemoryEntry } from '../../../src/backends/memory/index.ts'

/** Scripts that run `rm x.txt` in different ways. Some need files of their own. */
export const scripts: Readonly<Record<string, string>> = {
  plainly: 'rm x.txt',
  'with quotes in its name': `r'm' x.txt`,
  'with a backslash': '\\rm x.txt',
  'by a variable': 'c=rm; $c x.txt',
  'by an indirect variable': 'c=rm; d=c; ${!d} x.txt',
  'by an expansion': 'c=xrmx; c=${c#x}; ${c%x} x.txt',
  'by a variable and arguments': 'set -- x.txt; c=rm; $c "$@"',
  'by a substitution': '$(echo rm) x.txt',
  'with command': 'command rm x.txt',
  'with command -p': 'command -p rm x.txt',
  'with exec': 'exec rm x.txt',
  'with env': 'env A=1 rm x.txt',
  'with env -i': 'env -i rm x.txt',
  'with an assignment': 'A=1 rm x.txt',
  'with timeout': 'timeout 5 rm x.txt',
  'with time': 'time rm x.txt',
  'with !': '! rm x.txt',
  'with xargs': 'echo x.txt | xargs rm',
  'with xargs -I': 'echo x.txt | xargs -I{} rm {}',
  'with xargs of a shell': `echo x.txt | xargs sh -c 'rm "$1"' _`,
  'with xargs of input': 'echo rm x.txt | xargs env',
  'with find -exec': 'find . -name x.txt -exec rm {} ";"',
  'with find -exec +': 'find . -name x.txt -exec rm {} +',
  'with eval': 'eval "rm x.txt"',
  'with eval of a variable': 'v="rm x.txt"; eval "$v"',
  'with sh -c': 'sh -c "rm x.txt"',
  'with bash -c of a variable': 'v="rm x.txt"; bash -c "$v"',
  'with bash -ec': 'bash -ec "rm x.txt"',
  'with the input of a shell': 'echo "rm x.txt" | bash',
  'with a here-document': 'bash <<E\nrm x.txt\nE',
  'with a here-string': 'bash <<< "rm x.txt"',
  'in a function': 'f() { rm x.txt; }; f',
  'in a function with its name as argument': 'f() { "$1" x.txt; }; f rm',
  'in nested functions': 'f() { g() { rm x.txt; }; g; }; f',
  'with command in a function of its name': 'rm() { command rm "$@"; }; rm x.txt',
  'by an alias': 'shopt -s expand_aliases\nalias r=rm\nr x.txt',
  'in a trap': `bash -c 'trap "rm x.txt" EXIT'`,
  'in a substitution': 'v=$(rm x.txt)',
  'in backquotes': 'v=`rm x.txt`',
  'in the argument of another command': 'echo "$(rm x.txt)"',
  'in a default value': 'echo "${v:-$(rm x.txt)}"',
  'in a subscript': 'a[$(rm x.txt; echo 0)]=1',
  'in arithmetic': '((v = $(rm x.txt; echo 1)))',
  'in a test': '[[ -z $(rm x.txt) ]]',
  'in a here-document as text': 'cat <<E\n$(rm x.txt)\nE',
  'in a process substitution': 'cat <(rm x.txt)',
  'in a subshell': '(rm x.txt)',
  'in a group': '{ rm x.txt; }',
  'in a pipeline': 'true | rm x.txt',
  'before a pipe': 'rm x.txt | cat',
  'after &&': 'true && rm x.txt',
  'after ||': 'false || rm x.txt',
  'in the background': 'rm x.txt & wait',
  'in if': 'if rm x.txt; then true; fi',
  'in else': 'if false; then true; else rm x.txt; fi',
  'in for': 'for f in x.txt; do rm "$f"; done',
  'in while': 'while read -r f; do rm "$f"; done <<< x.txt',
  'in until': 'until rm x.txt; do break; done',
  'in case': 'case a in a) rm x.txt;; esac',
  'in a counting loop': 'for ((i = 0; i < 1; i++)); do rm x.txt; done',
  'in select of a value': 'echo x.txt | while read -r f; do rm "$f"; done',
  'in a sourced file': 'source ./rm.sh',
  'in a file run by .': '. ./rm.sh',
  'in another script': 'bash rm.sh',
  'in another script run by its path': './rm.sh',
  'in a script on the path': 'PATH=/workspace:$PATH; rm.sh',
  'in a script that is written first': 'echo "rm x.txt" > w.sh; bash w.sh',
  'in a script of package.json': 'npm run clean',
  'in a script before another one': 'npm test',
  'with arguments from npm': 'npm run any -- x.txt',
}

/** Lines that run `s.sh`. */
export const starters: readonly string[] = [
  'bash s.sh',
  'sh s.sh',
  './s.sh',
  'bash -e s.sh',
  'bash -o pipefail s.sh',
  'env A=1 bash s.sh',
  'timeout 9 bash s.sh',
  'command ./s.sh',
  'npm run s',
  'npm -s start',
]

/** The files of a workspace in which `s.sh` is a script. */
export function filesFor(script: string): Record<string, MemoryEntry> {
  return {
    's.sh': { text: `#!/bin/bash\n${script}\n`, mode: 0o755 },
    'rm.sh': { text: '#!/bin/bash\nrm x.txt\n', mode: 0o755 },
    'x.txt': 'x',
    'y.txt': 'y',
    'package.json': JSON.stringify({
      scripts: { clean: 'rm x.txt', pretest: 'rm x.txt', test: 'true', any: 'rm', s: 'bash s.sh', start: './s.sh' },
    }),
  }
}

/** Every command of the scripts and of the lines above, apart from `rm`. */
const others =
  `bash sh ./s.sh ./rm.sh rm.sh npm env timeout xargs find eval exec command echo cat read shopt alias trap source .
  set wait f g`.split(/\s+/)

/** Policies under which `rm x.txt` must not run in a script. */
export const refusing: Readonly<Record<string, object>> = {
  'a denylist': { commands: { deny: ['rm'] } },
  'a denylist with arguments': { commands: { deny: ['rm *x.txt'] } },
  'an allowlist': { commands: { allow: others } },
  'a rule that denies': { rules: [{ name: 'keep files', action: 'deny', commands: ['rm *'] }] },
  'a rule that asks': { rules: [{ name: 'keep files', action: 'ask', commands: ['rm *'] }] },
}

/** Policies with rules on commands under which it runs. */
export const allowing: Readonly<Record<string, object>> = {
  'a denylist': { commands: { deny: ['rm y*', 'mv'] } },
  'an allowlist': { commands: { allow: [...others, 'rm *x.txt'] } },
  'a rule that denies': { rules: [{ name: 'keep files', action: 'deny', commands: ['rm y*'] }] },
}
