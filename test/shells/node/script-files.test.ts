import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type MemoryEntry, memory } from '../../../src/backends/memory/index.ts'
import { ROOT } from '../../../src/paths/logical-path.ts'
import { compilePolicy } from '../../../src/policy/policy.ts'
import { npmCommands } from '../../../src/shells/analysis/npm-commands.ts'
import { nodeShell } from '../../../src/shells/node/index.ts'
import { createLineAnalyzer } from '../../../src/shells/shared/line-judge.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'
import { everyNth, times } from '../../counts.ts'
import { allowing, filesFor, refusing, scripts } from '../bash/started-commands.ts'
import { ways } from './hidden-ways.ts'

const base = mkdtempSync(join(tmpdir(), 'script-files-'))
const root = join(base, 'root')
mkdirSync(root)
afterAll(() => rmSync(base, { recursive: true }))

const preset = { preset: 'autonomous', tools: { run_command: 'allow' } } as const

/** Returns the decision on a line in a workspace whose `s.sh` is the script, without running it. */
async function decide(
  script: string,
  line: string,
  policy: object,
  files: Readonly<Record<string, MemoryEntry>> = {},
): Promise<string> {
  const tree = {
    ...filesFor(script),
    'd/a.txt': '',
    'n.js': '#!/usr/bin/env node\nrm x.txt\n',
    'big.sh': 'ls\n'.repeat(900),
    ...files,
  }
  const shell = nodeShell({ root, stateDir: join(base, 'state'), sandbox: 'none' })
  const workspace = await createWorkspace({ backend: memory(tree), policy: { ...preset, ...policy }, shell })
  try {
    const { verdict } = (await workspace.explain('run_command', { command: line })) as { verdict: { decision: string } }
    return verdict.decision
  } finally {
    await workspace.close()
  }
}

/** Lines that run `s.sh`, or the scripts of package.json. */
const lines = [
  ...['bash s.sh', 'sh s.sh', './s.sh', 'dash s.sh', 'bash -e s.sh', 'env A=1 ./s.sh', 'timeout 9 bash s.sh'],
  ...[
    'cd d && bash ../s.sh',
    'sh -c "./s.sh"',
    'if ./s.sh; then true; fi',
    'echo "$(bash s.sh)"',
    'npm run s',
    'npm start',
  ],
  ...[
    'npm run clean',
    'npm test',
    'npm t',
    'npm run any -- x.txt',
    'cd d && npm run clean',
    'yarn clean',
    'pnpm run clean',
  ],
]

/** Scripts of which only the run shows which command they start, or what an arithmetic expression runs. */
const unknown = /\$c |\$\{c%x\} |\$\{!d\}|\$\(echo rm\)|"\$1" x|"\$v"|echo "?rm x\.txt"? \||alias|PATH=|env$|a\[|\(\(v/

/** Scripts whose arguments only the run shows, so that an entry with arguments does not match. */
const unknownArguments = /xargs|-exec|rm "\$[f@]"/

/** The shell leaves a link to a directory for the parent of its target, which has another script of the same name. */
const linked = {
  'a/b/k.txt': '',
  'a/b/c/k.txt': '',
  'a/t.sh': 'rm x.txt\n',
  'a/package.json': '{"scripts":{"t":"rm x.txt"}}',
  'package.json': '{"scripts":{"t":"ls"}}',
  't.sh': 'ls\n',
  'u.sh': 'sh link/../t.sh\n',
  'd/k.txt': '',
  link: { link: 'a/b' },
  'd/link': { link: '../a/b' },
} as const

describe('a path that leaves a directory by ".."', () => {
  const policy = { commands: { deny: ['rm'] } }
  const decideLinked = (line: string) => decide('ls', line, policy, linked)

  it.each([
    ...['sh link/../t.sh', './link/../t.sh', '. ./link/../t.sh', 'cd link && sh ../t.sh', 'cd link/.. && sh t.sh'],
    ...[
      'sh d/link/../t.sh',
      'sh -c "sh link/../t.sh"',
      'sh u.sh',
      'cd link && npm run t',
      'cd d/link && sh ../../t.sh',
    ],
    ...[
      'ln -s a/b new; sh new/../t.sh',
      'sh link/c/../../t.sh',
      'cd link; cd ..; sh ./t.sh',
      'echo $(cd d/link && ../t.sh)',
    ],
  ])('through a link does not run a script: %s', async (line) => {
    expect(await decideLinked(line)).toBe('deny')
  })

  it.each(['sh d/../t.sh', 'cd d && sh ../t.sh', 'cd a/b && cat ../t.sh', 'cd d && npm run t', 'sh t.sh'])(
    'that is no link runs it: %s',
    async (line) => {
      expect(await decideLinked(line)).toBe('allow')
    },
  )

  it.each([
    'sh a/../a/t.sh',
    'cd a/b && sh ../t.sh',
    'cd a && npm run t',
    'cd a && yarn t',
    'cd a/b && npm run-script t',
  ])('reads that script: %s', async (line) => {
    expect(await decideLinked(line)).toBe('deny')
  })
})

/** All scripts; in `npm test`, every third one, beginning with another one for each policy. */
const scriptsFor = (policies: object, name: string): readonly string[] =>
  Object.values(scripts).filter((_, index) => (index + Object.keys(policies).indexOf(name)) % times(13, 1) === 0)

describe('a script that a line of nodeShell() runs', () => {
  it.each(Object.entries(refusing))('is read and refused by %s', async (name, policy) => {
    const expected = name === 'a rule that asks' ? 'ask' : 'deny'
    const failed: string[] = []
    for (const line of lines) if ((await decide('rm x.txt', line, policy)) !== expected) failed.push(line)
    for (const script of scriptsFor(refusing, name)) {
      const decision = await decide(script, 'bash s.sh', policy)
      const isUnknown = name === 'a denylist with arguments' && unknownArguments.test(script)
      const isRefused = decision === 'deny' && (unknown.test(script) || script.includes('w.sh'))
      if (decision !== expected && !isRefused && !(decision === 'allow' && isUnknown)) failed.push(script)
    }
    expect(failed).toEqual([])
  })

  it.each(Object.entries(allowing))('runs if %s does not refuse it', async (name, policy) => {
    const failed: string[] = []
    for (const script of scriptsFor(allowing, name)) {
      const isUnknown = unknown.test(script) || (name === 'an allowlist' && unknownArguments.test(script))
      const isRefused = (await decide(script, 'bash s.sh', policy)) !== 'allow'
      if (isRefused && !isUnknown && !script.includes('w.sh')) failed.push(script)
    }
    expect(failed).toEqual([])
  })

  it('is not evaluated if another program runs it, or nothing of it is known', async () => {
    const policy = refusing['a denylist'] ?? {}
    for (const line of ['./n.js', 'node n.js', 'bash missing.sh', 'bash big.sh', 'npm run missing']) {
      expect(`${line}: ${await decide('rm x.txt', line, policy)}`).toBe(`${line}: allow`)
    }
  })

  it('needs no entries for its functions, and does not run with an unknown command under an allowlist', async () => {
    const policy = { commands: { allow: ['bash', 'ls', 'echo'] } }
    expect(await decide('f() { ls; }\nf', 'bash s.sh', policy)).toBe('allow')
    expect(await decide('$SHELL', 'bash s.sh', policy)).toBe('deny')
    expect(await decide('if', 'bash s.sh', policy)).toBe('deny')
  })
})

/** Scripts as projects have them. */
const ordinary: readonly string[] = [
  'set -euo pipefail\ncd "$(dirname "$0")"\nfor f in src/*.ts; do\n  echo "$f"\ndone\nmkdir -p "$OUT"; cp -r src "$OUT"',
  'log() { printf "%s\\n" "$1" >&2; }\nfail() { log "$1"; exit 1; }\n[ -n "${1:-}" ] || fail "no name"\nlog "$1"',
  'cat > config.h <<EOF\n#define PREFIX "${prefix:-/usr/local}"\nEOF\ngcc -o a a.c && ./a',
  'case "$(uname)" in Linux) echo linux ;; *) echo other ;; esac > "$log" 2>&1',
  'i=0\nwhile [ "$i" -lt 3 ]; do i=$((i + 1)); git status; done\nfor ((j = 0; j < 3; j++)); do echo "$j"; done',
  'while IFS= read -r line; do echo "$line"; done < list.txt > /tmp/out.txt',
  'walk() { for d in "$1"/*; do walk "$d"; done; }\nwalk src',
  'set -e\n. "$(dirname "$0")/lib.sh"\ngreet you',
  'if [ -f "$(dirname "$0")/lib.sh" ]; then\n. "$(dirname "$0")/lib.sh"\nfi',
  '. ./lib.sh\ngreet "$USER"\nnode build.js --out "./$OUT"\ngrep -q "$1" README.md || npm test',
  'if command -v git >/dev/null; then git log -1 --format=%h; fi\ntrap cleanup EXIT\ncleanup() { echo done; }',
]

/** The file that pnpm writes to node_modules/.bin for a program in JavaScript. */
const shim = `#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\\\,/,g')")

case \`uname\` in
    *CYGWIN*|*MINGW*|*MSYS*)
        if command -v cygpath > /dev/null 2>&1; then
            basedir=\`cygpath -w "$basedir"\`
        fi
    ;;
esac

if [ -z "$NODE_PATH" ]; then
  export NODE_PATH="/home/me/project/node_modules/.pnpm/tsc@1.0.0/node_modules:/home/me/project/node_modules/.pnpm/node_modules"
else
  export NODE_PATH="/home/me/project/node_modules/.pnpm/tsc@1.0.0/node_modules:/home/me/project/node_modules/.pnpm/node_modules:$NODE_PATH"
fi
if [ -x "$basedir/node" ]; then
  exec "$basedir/node"  "$basedir/../tsc/bin/tsc" "$@"
else
  exec node  "$basedir/../tsc/bin/tsc" "$@"
fi
`

describe('a shim of pnpm', () => {
  it('runs, unless a script next to it that it would run is refused', async () => {
    const decideWith = async (files: Record<string, string>, line: string) => {
      const shell = nodeShell({ root, stateDir: join(base, 'state'), sandbox: 'none' })
      const backend = memory({ 'node_modules/.bin/tsc': shim, ...files })
      const policy = { ...preset, commands: { deny: ['git push'] } }
      const workspace = await createWorkspace({ backend, policy, shell })
      const { verdict } = (await workspace.explain('run_command', { command: line })) as {
        verdict: { decision: string }
      }
      await workspace.close()
      return verdict.decision
    }
    for (const line of [
      './node_modules/.bin/tsc --noEmit',
      'sh node_modules/.bin/tsc',
      'cd node_modules && .bin/tsc',
    ]) {
      expect(`${line}: ${await decideWith({}, line)}`).toBe(`${line}: allow`)
      expect(await decideWith({ 'node_modules/.bin/node': '#!/bin/sh\ngit push\n' }, line)).toBe('deny')
    }
  })
})

/** Scripts whose variables hold known values. */
const known: readonly string[] = [
  'LS=ls\n$LS -l',
  'run="npm run"\n$run build',
  'if [ -n "$CI" ]; then go="npm ci"; else go="npm install"; fi\n$go',
  'case $1 in (a) x=ls ;; (*) x=true ;; esac\n"$x"',
  'dry=${DRY:+echo}\n: "$dry"',
  'root=$(cd "$(dirname "$0")" && pwd)\ncd "$root"\n"$root/run.sh"',
  'here=${0%/*}\n"$here/lib.sh"',
  'PATH="/usr/local/bin:$PATH"\nexport PATH\nls',
  'old=$IFS\nIFS=:\nfor d in $PATH; do echo "$d"; done\nIFS=$old',
  'if command -v "$1" > /dev/null; then echo yes; fi',
  'f() { local pick="sort -u"; ls | $pick; }\nf',
  'for tool in ls cat; do "$tool" a.txt; done',
  'script="s/a/b/"\nsed -e "$script" a.txt',
]

describe('a script with known values', () => {
  it.each(known)('runs under a denylist: %j', async (script) => {
    expect(await decide(script, 'bash s.sh', { commands: { deny: ['git push', 'rmdir'] } })).toBe('allow')
  })

  it.each([
    'c=git\n$c push',
    'c="git push"\n$c',
    'if [ -n "$CI" ]; then c=ls; else c=git; fi\n$c push',
    'for tool in ls git; do "$tool" push; done',
    'IFS=i\nc="gitipush"\n$c',
    'c=read; v=ls; $c v <<< git; $v push',
    'unset c; c=git; "$c" push',
    'c=ls\nexport -n c=git\n$c push',
    'local c=ls\n$c push',
    'c=ls > /nope/x\n$c push',
    'readonly c; c=ls\n$c push',
    'PATH=$PWD:$PATH\nls',
    "PATH='$PATH:/usr/bin'\nls",
    'cd d\n"$(dirname "$0")/run.sh"',
    'x=a; c=$x; "$c" push; x=git; "$x" push',
  ])('is refused under a denylist: %j', async (script) => {
    expect(await decide(script, 'bash s.sh', { commands: { deny: ['git push', 'rmdir'] } })).toBe('deny')
  })
})

describe('an ordinary script', () => {
  it.each(ordinary)('runs under a denylist: %j', async (script) => {
    expect(await decide(script, 'bash s.sh', { commands: { deny: ['git push', 'rmdir'] } })).toBe('allow')
  })
})

describe('a file that a line runs', () => {
  const judge = async (files: Record<string, string>, line: string) => {
    const shell = nodeShell({ root, stateDir: join(base, 'state'), sandbox: 'none' })
    const workspace = await createWorkspace({
      backend: memory(files),
      policy: { ...preset, commands: { deny: ['rm'] } },
      shell,
    })
    const { verdict } = (await workspace.explain('run_command', { command: line })) as {
      verdict: { decision: string; reason: string; hint?: string }
    }
    await workspace.close()
    return verdict
  }

  it('is refused if it contains an invisible character, with its position', async () => {
    const verdict = await judge({ 'a.sh': 'ls\n# \u200b\n' }, 'bash a.sh')
    expect(verdict).toMatchObject({ decision: 'deny', hint: 'See line 2, character 3 of "a.sh".' })
  })

  it.each([
    [
      'a.sh',
      'ls\n# \u200b\n',
      'The script contains U+200B, which is invisible or looks like another character (line 2)',
    ],
    ['a.sh', 'ls\nif\n', 'The script does not parse: expected'],
    ['a.sh', 'ls\nls\n"$x" y\n', 'The command name "\\"$x\\"" is only known at run time (line 3)'],
    ['a.sh', 'ls\n\nrm x\n', 'Policy denies "rm" (line 3)'],
    ['a.sh', 'echo > b; sh b\n', 'The script writes "b" and runs it (line 1)'],
  ])('is named with its line in the message: %j %j', async (name, text, message) => {
    const { reason } = await judge({ [name]: text }, `bash ${name}`)
    expect(reason).toContain(`Cannot run "${name}": ${message}`)
  })

  it('is named with the script of package.json in the message', async () => {
    const { reason } = await judge({ 'package.json': '{"scripts":{"x":"rm v"}}' }, 'npm run x')
    expect(reason).toBe('Cannot run the script "x" of "package.json": Policy denies "rm"')
  })

  it.each([
    ['rm in its first line', { x: '#!/bin/rm\n' }, './x'],
    ['a split first line', { x: '#!/usr/bin/env -S rm v\n' }, './x'],
    ['code in its first line', { x: '#!/usr/bin/env -S bash -c "rm v"\n' }, './x'],
    ['a file as its program', { x: '#!/workspace/y\n', y: 'rm v\n' }, './x'],
    ['a byte order mark', { x: '\ufeff#; rm v\n' }, 'bash x'],
    ['a NUL after the first line', { x: 'rm v\n\0' }, './x'],
    ['a package.json with a byte order mark', { 'package.json': '\ufeff{"scripts":{"x":"rm v"}}' }, 'npm run x'],
    ['a command that only an argument names', { 'package.json': '{"scripts":{"x":"env"}}' }, 'npm run x -- "$a" v'],
    [
      'a chain of a hundred files',
      Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`f${n}`, n === 119 ? 'rm v' : `bash f${n + 1}`])),
      'bash f0',
    ],
    ['more files than are read', { x: Array.from({ length: 120 }, (_, n) => `bash f${n}`).join('\n') }, 'bash x'],
  ])('is refused with %s', async (_, files, line) => {
    expect(await judge(files, line)).toMatchObject({ decision: 'deny' })
  })

  it('is refused if systems read its first line in different ways', async () => {
    const firstLines = [
      '',
      ' ',
      '\t',
      'y',
      './y',
      'bin/cat',
      '\0',
      '\0/bin/cat',
      '/bin/cat\0x',
      '/bin/cat\r',
      '\v/bin/cat',
      '\u00a0/bin/cat',
    ]
    for (const blank of [' ', '\t'])
      for (const length of everyNth([128, 129, 200, 253, 255, 256, 257, 300], 3, 1))
        for (const program of ['/bin/cat', '/usr/bin/env lsQQ', '/usr/bin/env -S ls', '/bin/sh -e']) {
          const [name = '', ...rest] = program.split(' ')
          const padding = blank.repeat(length - 2 - program.length)
          firstLines.push(padding + program, program + padding, [name + padding, ...rest].join(blank))
        }
    for (const first of firstLines) {
      const files = { x: `#!${first}\nls\n`, y: 'ls\n' }
      for (const line of ['./x', 'env ./x'])
        expect([first, (await judge(files, line)).decision]).toEqual([first, 'deny'])
    }
    for (const first of [
      '/bin/cat',
      ' /bin/cat',
      '\t/bin/sh\t-e',
      '/usr/bin/env -S bash -e',
      `/bin/cat${' '.repeat(117)}`,
    ])
      expect([first, (await judge({ x: `#!${first}\nls\n` }, './x')).decision]).toEqual([first, 'allow'])
  })

  it.each([
    ['perl x', '#!/bin/sh\nrm v\n'],
    ['perl -w x a', '#! /bin/sh -e\nls\n'],
    ['env A=1 perl5.36-x86_64-linux-gnu ./x', '#!/usr/bin/env bash\nls\n'],
    ['perl -pe s/a/b/ a.txt; bash y', ' :#!/usr/bin/rm\n'],
    ['./z', '# line 1\n#!/bin/sh\nls\n'],
    ['frob x', '#!/bin/sh\nrm v\n'],
    ['frob --run=./x a', '#!/usr/bin/env -S rm\n'],
    ['frob a.sh', 'rm v\n'],
    ['python x.py rm v', ''],
    ["node x.js 'rm v'", ''],
    ["perl x.pl 'ls|'", ''],
    ['ruby3.1 x.rb rm', ''],
  ])('is refused if perl or an unknown program hands it on: %s', async (line, text) => {
    const files = { x: text, y: 'perl x\n', z: `#!/usr/bin/perl\n${text}`, 'a.sh': text }
    expect((await judge(files, line)).decision).toBe('deny')
    const plain = { x: '#!/usr/bin/perl -w\n', y: 'ls', z: '#!/usr/bin/perl\n1;\n#!/bin/sh\n', 'a.sh': 'ls\n' }
    if (text !== '') expect(await judge(plain, line)).toMatchObject({ decision: 'allow' })
  })

  // The first lines are tried with the real perl, which a system such as Windows does not have.
  it.skipIf(spawnSync('perl', ['-v']).status !== 0)('is refused wherever perl hands it on', () => {
    const marker = join(base, 'marker')
    const hits = join(base, 'hits')
    writeFileSync(marker, `#!/bin/sh\nfor path; do :; done; echo "$path" >> ${hits}\n`, { mode: 0o755 })
    const starts = ['', ' ', '\t', '\v', '\f', ':', ' :', ': ', '::', '\n', '\ufeff', '# line 1\n', '#line 1 "x"\n']
    starts.push('# line 0\n\n', 'my $a;\n#  line  1\n', '#\n', '=pod\n\n=cut\n')
    const ends = ['', ' -e', '\t-e', ' perl', ' -perl', ' Perl', ' indir', '\r', ' #perl', ' x y']
    const texts = starts.flatMap((start) =>
      ['#!', '#! ', '#!\t', '# !'].flatMap((mark) => ends.map((end) => `${start}${mark}${marker}${end}\n`)),
    )
    const cases = everyNth(texts, 3).map((text) => Buffer.from(text))
    for (const text of texts.filter((_, index) => index % times(120, 40) === 0))
      cases.push(
        Buffer.from(text, 'utf16le'),
        Buffer.from(text, 'utf16le').swap16(),
        Buffer.from(`\ufeff${text}`, 'utf16le'),
      )
    const directory = join(base, 'perl')
    mkdirSync(directory)
    for (const [index, bytes] of cases.entries()) writeFileSync(join(directory, String(index)), bytes)
    spawnSync('sh', ['-c', 'for i in *; do perl "$i"; done'], { cwd: directory })
    const started = new Set(readFileSync(hits, 'utf8').trim().split('\n').map(Number))
    const policy = compilePolicy({ ...preset, commands: { deny: ['rm'] } })
    const call = { tool: 'run_command', input: {}, accesses: [] }
    const [script] = createLineAnalyzer({ root, confined: true })('perl x', { cwd: ROOT, policy, call }).scripts ?? []
    const passes = (bytes: Buffer) => {
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
      return script?.judge(text)?.verdict.decision !== 'deny'
    }
    expect(cases.filter((bytes, index) => started.has(index) && passes(bytes)).map(String)).toEqual([])
    expect(started.size).toBeGreaterThan(times(60, 200))
    expect(cases.filter(passes).length).toBeGreaterThan(times(60, 200))
  })

  it('is read itself if its first line names a file without one, which no system starts', async () => {
    const decideOn = async (x: string, y: string) =>
      (await judge({ x: `#!${root}/y\n${x}\n`, y: `${y}\n` }, './x')).decision
    expect(await decideOn('rm v', 'ls')).toBe('deny')
    expect(await decideOn('ls', 'rm v')).toBe('deny')
    expect(await decideOn('ls', 'ls')).toBe('allow')
  })

  it.each(
    [
      ...['/bin/bash', '/bin/sh', '/bin/dash', '/bin/rbash', '/bin/bash -e', '/usr/bin/nice bash', '/usr/bin/env bash'],
      ...[
        '/usr/bin/env  sh',
        '/usr/bin/env /bin/bash',
        '/usr/bin/env -S bash',
        '/usr/bin/env -S bash -eu',
        '/bin/env dash',
      ],
    ].flatMap((program) => ['./x', 'd/x', './d/../d/x', 'cd d && ./x', 'cd d && ../x'].map((line) => [program, line])),
  )('is judged with #!%s, as %s', async (program, line) => {
    const file = (text: string) => ({ x: `#!${program}\n${text}\n`, 'd/x': `#!${program}\n${text}\n` })
    expect(await judge(file('rm v'), line)).toMatchObject({ decision: 'deny' })
    expect(await judge(file('ls'), line)).toMatchObject({ decision: 'allow' })
  })

  it.each(
    ['run', 'run-script', 'run-s', 'runScript', 'rum', 'urn'].flatMap((sub) =>
      [
        ...['SUB z', 'SUB z --silent', 'SUB --silent z', 'SUB -q z', 'SUB --if-present z', 'SUB --loglevel silent z'],
        ...['--silent SUB z', '-s SUB --loglevel=error z x', 'SUB -w . z', 'SUB --foo z', 'SUB a --foo z'],
      ].map((line) => `npm ${line.replace('SUB', sub)}`),
    ),
  )('of package.json is found by %s', async (line) => {
    const manifest = (z: string) => ({ 'package.json': JSON.stringify({ scripts: { z, a: z } }) })
    expect(await judge(manifest('rm v'), line)).toMatchObject({ decision: 'deny' })
    if (!line.includes('--foo')) expect(await judge(manifest('ls'), line)).toMatchObject({ decision: 'allow' })
  })

  it.each([
    ...['EXIT', 'DEBUG', 'ERR', 'RETURN', 'USR1', '0'].flatMap((signal) =>
      ['./F', 'env ./F', 'bash F', '. ./F', 'npm run z'].map((text) => `trap '${text}' ${signal}; ls`),
    ),
    "trap -- './F' EXIT",
    "f() { trap './F' EXIT; }; f",
    "trap './F' EXIT; cd d",
    "trap 'npm run z' EXIT; cd d",
    "set -T; trap './F' DEBUG; x=$(cd d; ls)",
    '. ./ok.sh; ./F',
    '. ./ok.sh; npm run z',
    'cd nowhere; ./F',
    'cd nowhere; npm run z',
  ])('is found where a line or a script has: %s', async (line) => {
    const files = (text: string) => ({
      ...{ F: `#!/bin/bash\n${text}\n`, 'd/F': `#!/bin/bash\n${text}\n`, 'ok.sh': 'x=1\n', 's.sh': `${line}\n` },
      'package.json': JSON.stringify({ scripts: { z: text } }),
    })
    expect(await judge(files('rm v'), line)).toMatchObject({ decision: 'deny' })
    expect(await judge(files('rm v'), 'bash s.sh')).toMatchObject({ decision: 'deny' })
    if (!line.includes('cd')) expect(await judge(files('ls'), line)).toMatchObject({ decision: 'allow' })
  })

  it.each([
    ['npm tes', 'test'],
    ['npm sto', 'stop'],
    ['npm resta', 'poststop'],
    ['npm pac', 'prepack'],
    ['npm rb', 'prepare'],
    ['npm verison patch', 'preversion'],
    ['npm publ', 'prepublishOnly'],
    ['npm it', 'test'],
    ['npm up', 'dependencies'],
    ['npm run restart', 'prestart'],
    ['pnpm run --silent test', 'test'],
    ['yarn run -s test', 'test'],
  ])('of package.json is found by %s: %s', async (line, script) => {
    const manifest = { 'package.json': JSON.stringify({ scripts: { [script]: 'rm v' } }) }
    expect(await judge(manifest, line)).toMatchObject({ decision: 'deny' })
  })

  it('gets the arguments that npm does not take', async () => {
    const manifest = (z: string) => ({ 'package.json': JSON.stringify({ scripts: { z, start: 'ls' } }) })
    for (const line of [
      'npm run z --silent rm v',
      'npm run z --foo rm v',
      'npm run z --foo x rm v',
      'npm run z -- rm v',
    ])
      expect(await judge(manifest('timeout 5'), line)).toMatchObject({ decision: 'deny' })
    expect(await judge(manifest('echo'), 'npm run z --silent a -- --b')).toMatchObject({ decision: 'allow' })
    expect(await judge(manifest('ls'), 'npm start')).toMatchObject({ decision: 'allow' })
  })

  it('is found by every word that npm takes for a command', () => {
    const directory = join(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())), '..')
    const npm = createRequire(import.meta.url)(join(directory, 'lib/utils/cmd-list.js')) as {
      readonly commands: readonly string[]
      readonly aliases: Readonly<Record<string, string>>
      deref(word: string): string | undefined
    }
    const words = [...npm.commands, ...Object.keys(npm.aliases)].flatMap((name) =>
      Array.from(name, (_, end) => name.slice(0, end + 1)),
    )
    const different = words.filter((word) => {
      const command = npm.deref(word)
      return command !== undefined && !npmCommands(word).includes(command)
    })
    expect(different).toEqual([])
    expect(npmCommands('runScript')).toEqual([npm.deref('runScript')])
  })

  it.each([
    ['/bin/bash sub/s.sh', './x'],
    ['/bin/sh sub/s.sh', '../d/x'],
    ['/usr/bin/env -S bash sub/s.sh', './x'],
    ['/usr/bin/env sub/s.sh', './x'],
    ['sub/s.sh', './x'],
  ])('finds the file in #!%s from the directory of the command', async (program, line) => {
    const files = { 'd/x': `#!${program}\n`, 'd/sub/s.sh': 'rm v\n' }
    expect(await judge(files, `cd d && ${line}`)).toMatchObject({ decision: 'deny' })
  })

  it.each([
    ['another program in its first line', { x: '#!/usr/bin/env python3\nrm\n' }, './x'],
    ['options in its first line', { x: '#!/usr/bin/env -S bash -eu\nls\n' }, './x'],
    ['machine code', { x: '\x7fELF\x02\x01\x01\0\0rm v' }, './x'],
    ['itself', { x: '[ -e y ] || bash x\n' }, 'bash x'],
  ])('runs with %s', async (_, files, line) => {
    expect(await judge(files, line)).toMatchObject({ decision: 'allow' })
  })
})

/** The lines that run a way: itself, and the files and texts that hold it. */
const places: Readonly<Record<string, (way: string, number: number) => string>> = {
  'as a line': (way) => way,
  'in a file': (_, number) => `bash w${number}.sh`,
  'in a file that is run by its path': (_, number) => `./w${number}.sh`,
  'in a file that is sourced': (_, number) => `. ./w${number}.sh`,
  'in a file that a file sources': (_, number) => `bash s${number}.sh`,
  'in a script of package.json': (_, number) => `npm run w${number}`,
  'in a here-document': (way) => `bash <<'END'\n${way}\nEND`,
}

const sample = ways.flatMap((way, number) => (number % times(83, 1) === 0 ? [{ way, number }] : []))

/** Every word of the ways that may be the name of a command, apart from `rm`. */
const names = [...new Set(`bash source . npm ./n.sh ${ways.join(' ')}`.match(/[\w./[-]+/g))].filter(
  (name) => !/(^|\/)rm$|^-|\.\.|^\/bin\/$/.test(name),
)

describe('a way to run a command', () => {
  it.each([
    ['a denylist', { deny: ['rm'] }],
    ['an allowlist', { allow: names }],
  ])('is refused by %s on a line and in every file', async (_, commands) => {
    const tree = Object.fromEntries(
      sample.flatMap(({ way, number }) => [
        [`w${number}.sh`, `#!/bin/bash\n${way}\n`],
        [`s${number}.sh`, `. ./w${number}.sh\n`],
      ]),
    )
    const manifest = JSON.stringify({
      scripts: Object.fromEntries(sample.map(({ way, number }) => [`w${number}`, way])),
    })
    const failed: unknown[] = []
    const workspace = await createWorkspace({
      backend: memory({ ...tree, 'package.json': manifest }),
      policy: { ...preset, commands },
      shell: nodeShell({ root, stateDir: join(base, 'state'), sandbox: 'none' }),
    })
    for (const { way, number } of sample) {
      for (const [place, lineFor] of Object.entries(places)) {
        const answer = await workspace.explain('run_command', { command: lineFor(way, number) })
        if ((answer as { verdict: { decision: string } }).verdict.decision !== 'deny') failed.push([place, way])
      }
    }
    await workspace.close()
    expect(failed).toEqual([])
  })

  it.runIf(process.platform === 'linux')('runs in bash without a policy', () => {
    const failed = sample.filter(({ way }) => {
      const cwd = mkdtempSync(join(base, 'way-'))
      for (const [name, text] of Object.entries({ v: '', s: 'x\n', 'way.sh': way }))
        writeFileSync(join(cwd, name), text)
      spawnSync('bash', ['way.sh'], { cwd, env: { ...process.env, HOME: cwd, Z: '!rm v' }, input: '', timeout: 9_000 })
      return existsSync(join(cwd, 'v'))
    })
    expect(failed).toEqual([])
  })
})
