import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../src/paths/logical-path.ts'
import { hasKnownOptions } from '../../../src/policy/command-options.ts'
import { compilePolicy } from '../../../src/policy/policy.ts'
import { analyzeCommand } from '../../../src/shells/analysis/index.ts'
import { findInspector } from '../../../src/shells/analysis/inspectors.ts'
import { launchers } from '../../../src/shells/analysis/launchers.ts'
import { programs, wordOptions } from '../../../src/shells/analysis/option-spellings.ts'
import { packageManagers } from '../../../src/shells/analysis/package-managers.ts'
import { mayLaunch } from '../../../src/shells/analysis/possible-launches.ts'
import { wrappers } from '../../../src/shells/analysis/wrappers.ts'
import { createLineAnalyzer } from '../../../src/shells/shared/line-judge.ts'
import { isLong, times } from '../../counts.ts'

const decisionOf = (line: string, allow: readonly string[]) => analyzeCommand(line, { allow }).decision

const refused = [
  ...[
    'npm exec id',
    'npm exec -- id',
    'npm x id',
    'npm x -- id',
    'npm exe id',
    'npm exec --yes id',
    'npm exec -y -- id',
  ],
  ...["npm exec -c 'id'", 'npm exec --call=id', 'npm --prefix a exec id', 'npm exec --package=a id', 'npm exec id@1 a'],
  ...[
    'npm explore a -- id',
    'npm explor a -- id',
    'npm init id',
    'npm create id',
    'npm innit id@latest',
    'npm init @a/id',
  ],
  ...[
    'npx id',
    'npx -- id',
    'npx -y id',
    "npx -c 'id'",
    'pnpx id',
    'bunx id',
    'pnpm exec id',
    'pnpm dlx id',
    'pnpm id',
  ],
  ...[
    'pnpm create id',
    'yarn exec id',
    'yarn dlx id',
    'yarn create id',
    'bun x id',
    'bun run id',
    'bun id',
    'bun create id',
  ],
  ...['uv run id', 'uv tool run id', 'uvx id', 'pipx run id', 'poetry run id', 'pipenv run id', 'conda run -n a id'],
  ...[
    'bundle exec id',
    'rbenv exec id',
    'mise exec node@20 -- id',
    'volta run id',
    'rustup run stable id',
    'direnv exec . id',
  ],
  ...['cmake -E env id', 'cmake -E time id', 'cmake -E chdir a id', 'hatch run id', 'hatch run test:id', 'pdm run id'],
  ...[
    'find . -exec id \\;',
    'find . -execdir id {} +',
    'xargs id',
    'xargs -n1 id',
    "sh -c 'id'",
    "bash -c 'id'",
    "bash -lc 'id'",
  ],
  ...['hyperfine id', "concurrently 'id'", 'git bisect run id', "git -c alias.x='!id' x", 'git submodule foreach id'],
]

const transparent = Object.keys(wrappers).filter((name) => wrappers[name]?.transparent === true)
const shellBuiltins = ['command', 'builtin', 'exec', 'time']
/** Without a command, these start a shell that reads its standard input. */
const shellStarters = ['fakeroot', 'fakeroot-sysv', 'fakeroot-tcp', 'linux64', 'linux32', 'i386']

describe('a command that an allowlist does not name', () => {
  it.each(refused)('is refused after its launcher: %s', (line) => {
    const launcher = line.slice(0, line.indexOf(' '))
    expect(decisionOf(line, [launcher])).toBe('deny')
    expect(decisionOf(line, [`${launcher} *`, 'ls', 'cat'])).toBe('deny')
  })

  it('is refused after every launcher in every form that starts it', () => {
    const forms = [
      ...['L id', 'L -- id', 'L exec id', 'L exec -- id', 'L x id', 'L x -- id', 'L run id', 'L run -- id', 'L dlx id'],
      ...["L -c 'id'", "L --call 'id'", "L -e 'id'", 'L tool run id', 'L 1 id', 'L -n 1 id', 'L a=b id', 'L a=b L id'],
      ...[
        'L . -exec id ;',
        'L -E env id',
        'L -E time id',
        'L create id',
        'L init id',
        'L L id',
        'L env id',
        'L nice id',
      ],
    ]
    let started = 0
    for (const name of new Set([
      ...Object.keys(packageManagers),
      ...Object.keys(wrappers),
      ...Object.keys(launchers),
    ])) {
      for (const form of forms) {
        const line = form.replaceAll('L', name)
        const { commands } = analyzeCommand(line, { allow: ['*'] })
        if (!commands.some((command) => /^(create-)?id$/.test(command.name) && command.via.length > 0)) continue
        // Yarn starts a script of the project by its name, as npm run does.
        if (/^yarn (-- )?(run (-- )?)?(id|1|env|nice|tool|x|a=b|yarn)\b/.test(line)) continue
        started += 1
        expect([line, decisionOf(line, [name])]).toEqual([line, 'deny'])
      }
    }
    expect(started).toBeGreaterThan(250)
  })

  it.each(transparent)('is refused as a bare %s', (name) => {
    const line = analyzeCommand(name, { allow: ['ls'] })
    if (line.commands.length === 1) expect(line.decision).toBe(shellBuiltins.includes(name) ? 'allow' : 'deny')
    expect(decisionOf(name, [name])).toBe(shellStarters.includes(name) ? 'deny' : 'allow')
  })
})

describe('a command that an allowlist names', () => {
  it.each([
    ['npm exec id', ['npm', 'id']],
    ['npm exec -- id -u', ['npm exec -- id']],
    ['npx vitest run', ['npx vitest']],
    ['npx vitest run', ['npx', 'vitest']],
    ['npx env vitest', ['npx env', 'vitest']],
    ['env A=1 ls', ['ls']],
    ['env', ['env']],
    ['poetry run pytest -q', ['poetry run pytest']],
    ['bun run build', ['bun run build']],
    ['pnpm build', ['pnpm build']],
    ['yarn build', ['yarn']],
    ['npm run build', ['npm']],
    ['npm init -y', ['npm']],
    ['npm create vite', ['npm create vite']],
  ] as const)('is allowed: %s with %j', (line, allow) => {
    expect(decisionOf(line, allow)).toBe('allow')
  })

  it('does not allow the commands that it starts', () => {
    expect(decisionOf('npx env id', ['npx env'])).toBe('deny')
    expect(decisionOf('npx other', ['npx vitest'])).toBe('deny')
  })
})

const launcherOptions = [
  ...[
    '',
    '--',
    'A=1',
    'A=1 B="x y"',
    '-i',
    '-i A=1',
    '-u X',
    '-uX',
    '--unset=X',
    '--ignore-environment',
    '-i -u X A=1',
  ],
  ...['-n 5', '-n5', '-5', '--adjustment=5', '-n 5 --', '5', '5s', '-k 1 5', '-s 9 5', '-s9 -k1 5', '--signal=9 5'],
  ...['--foreground 5', '-oL', '-o L -e 0', '--output=L', '-w', '-cf', '-p', '-a z', '-c', '-l', '-f %e', '-v', '0x1'],
  ...[
    '-c 2',
    '-t',
    '-0',
    '-r',
    '-n1',
    '-I{}',
    '-I {}',
    '-P 4 -n 1',
    '-d ,',
    "-d ',' -n1",
    '-L1',
    '--max-args=1',
    '-a in',
  ],
  ...['. -exec', '. -name a -exec', '. -type f -execdir', 'a b -maxdepth 1 -exec', '-e', '-E'],
]

describe('a denied launcher with its command', () => {
  it('is refused with every option and assignment of the launcher', () => {
    const lists = (entry: string) => ({ deny: [entry] })
    const open: string[] = []
    let count = 0
    let tried = 0
    for (const name of new Set([...transparent, ...Object.keys(launchers)])) {
      for (const options of launcherOptions) {
        tried += 1
        const ends = ['id', 'id -u', '/usr/bin/id', 'nice id', "'id' {} \\;", '-- id']
        // Each launcher with each option; in `npm test`, with one of the ends, so that each end occurs with each launcher.
        for (const end of ends.filter((_, at) => isLong || at === tried % ends.length))
          for (const line of [`${name} ${options} ${end}`, `${name} ${options} ${name} ${options} ${end}`]) {
            const { commands, decision } = analyzeCommand(line, {})
            if (decision !== 'allow' || !commands.some((one) => /(^|\/)id$/.test(one.name) && one.via.includes(name)))
              continue
            count += 1
            if (analyzeCommand(line, lists(`${name} id`)).decision !== 'deny') open.push(line)
            if (analyzeCommand(line, lists(`${name} idx`)).decision !== 'allow') open.push(`${line} (idx)`)
          }
      }
    }
    expect(open).toEqual([])
    expect(count).toBeGreaterThan(times(170, 1000))
  })

  it.each([
    ['find -exec id', 'find . -name a -exec id {} \\;'],
    ['find -exec rm', 'find a -type f -exec rm -f {} +'],
    ['sh -c id', "sh -ec 'id'"],
    ['bash -c', "bash -ec 'id'"],
    ['xargs rm -rf', 'cat a | xargs -n 1 rm -fr'],
    ['xargs rm -rf', 'cat a | xargs -0 rm -r --force a'],
    ['env rm -r', 'env -i A=1 rm -f --recursive a'],
    ['npx vitest', 'npm exec vitest'],
    ['npm exec vitest', 'npx vitest run'],
  ])('%s refuses %s', (entry, line) => {
    const codesWith = (deny: string) => analyzeCommand(line, { deny: [deny] }).reasons.map(({ code }) => code)
    expect(codesWith(entry)).toContain('POLICY_DENIED')
    expect(codesWith('git push')).not.toContain('POLICY_DENIED')
  })
})

describe('a denied script', () => {
  const starters = ['X', 'bash X', 'sh X', 'bash -e X', '. X', 'source X', 'env A=1 X', 'nice bash X']
  const paths = ['./x.sh', '././x.sh', './a/../x.sh', '/workspace/x.sh', 'x.sh']
  const context = { root: '/workspace', confined: true } as const
  const decide = (line: string, deny: readonly string[]) => {
    const policy = compilePolicy({ preset: 'autonomous', commands: { deny } })
    const call = { tool: 'run_command', input: { command: line }, accesses: [] }
    return createLineAnalyzer(context)(line, { cwd: ROOT, policy, call }).verdict.decision
  }

  it('is refused with every spelling of its path and in every shell', () => {
    const open: string[] = []
    let count = 0
    for (const starter of starters) {
      for (const path of paths) {
        // A name without a slash is looked up in PATH.
        if (path === 'x.sh' && /^(X|\. X|source X|env .*)$/.test(starter)) continue
        for (const rest of ['', ' a']) {
          const line = starter.replace('X', path) + rest
          count += 1
          for (const entry of ['./x.sh', 'x.sh', '/workspace/x.sh', `./x.sh${rest}`])
            if (decide(line, [entry]) !== 'deny') open.push(`${entry}: ${line}`)
          for (const entry of ['./y.sh', './a/x.sh', './x.sh b'])
            if (decide(line, [entry]) === 'deny') open.push(`${entry}: ${line}`)
        }
      }
    }
    expect(open).toEqual([])
    expect(count).toBeGreaterThan(70)
    for (const line of ['node x.js', 'node ./x.js a', 'python ./a/../x.js', 'cd a; node ../x.js'])
      expect([line, decide(line, ['./x.js'])]).toEqual([line, 'deny'])
    expect(decide('cat x.sh; ls ./x.sh', ['./x.sh'])).toBe('allow')
  })
})

describe('a denied option', () => {
  const spellings: Readonly<Record<string, readonly string[]>> = {
    'rm -rf': [
      'rm -rf a',
      'rm -fr a',
      'rm -r -f a',
      'rm -f -r a',
      'rm -Rf a',
      'rm --recursive --force a',
      'rm a -rf',
      'rm -rfv a',
      'rm --recur --fo a',
      'rm -r a -f',
      'rm -v -rf -- a',
      '/bin/rm -f a b --recursive',
      'RM -fr a',
    ],
    'rm --recursive': ['rm -r a', 'rm -R a', 'rm -fr a', 'rm --rec a'],
    'git push --force': [
      'git push -f',
      'git push origin main --force',
      'git push origin -f main',
      'git -C a push -uf origin',
      'git push --forc',
    ],
    'git push -f origin': ['git push origin main --force', 'git push -uf origin'],
    'git commit -n': ['git commit -m a --no-verify', 'git commit -anm x', 'git commit --no-verify'],
    'git reset --hard': ['git reset HEAD~1 --hard', 'git reset --har', 'git reset -q --hard'],
    'git clean -fd': ['git clean -df', 'git clean -d --force', 'git clean -xfd .'],
    'git branch -d *': ['git branch --delete a', 'git branch a -d'],
    'curl -X DELETE': [
      'curl -XDELETE http://a',
      'curl http://a -X DELETE',
      'curl --request DELETE http://a',
      'curl -s --request=DELETE http://a',
      'curl -sX DELETE http://a',
    ],
    'curl -o *': ['curl http://a -o b', 'curl -ob http://a', 'curl --output=b http://a'],
    'sed -i': [
      'sed -i s/a/b/ f',
      'sed --in-place s/a/b/ f',
      'sed -Ei s/a/b/ f',
      'sed -i.bak s/a/b/ f',
      'sed -e s/a/b/ f -i',
    ],
    'npm install -g': ['npm install --global a', 'npm install a -g', 'npm -g install a'],
    'chmod -R *': ['chmod --recursive 755 a', 'chmod 755 -R a', 'chmod -vR 755 a'],
    'find -delete': ['find . -name a -delete', 'find -delete', 'find a b -type f -delete'],
    'find * -delete': ['find . -delete', 'find a -type f -delete'],
    'tar -x': ['tar xzf a.tgz', 'tar -xzf a.tgz', 'tar --extract -f a.tgz', 'tar -f a.tgz -x'],
    'frob --deep': ['frob a --deep', 'frob -v --deep=1 a', 'frob --dee a'],
    'frob -ab': ['frob -ba', 'frob -b x -a', 'frob -cab'],
  }
  const others: Readonly<Record<string, readonly string[]>> = {
    'rm -rf': ['rm -r a', 'rm -f a', 'rm a', 'rm -- -rf', 'ls -rf', 'rm -v --force a'],
    'git push --force': ['git push', 'git push origin main', 'git push --force-with-lease', 'git pull --force'],
    'git commit -n': ['git commit -m n', 'git commit -mn', 'git commit -m -n', 'git commit --amend'],
    'curl -X DELETE': ['curl -X GET http://DELETE', 'curl -d DELETE http://a'],
    'sed -i': ["sed -n '/i/p' f", 'sed -ei f', 'sed -e -i f'],
    'find -delete': ['find . -name -delete2', 'find . -type d -name elt'],
    'frob -ab': ['frob -a', 'frob --ab', 'frob ab'],
  }

  it.each(Object.entries(spellings))('%s is refused in every spelling', (entry, lines) => {
    expect(lines.filter((line) => analyzeCommand(line, { deny: [entry] }).decision !== 'deny')).toEqual([])
    const policy = compilePolicy({
      preset: 'autonomous',
      rules: [{ name: 'r', action: 'ask', commands: [entry, `${entry} *`] }],
    })
    const judge = createLineAnalyzer({ root: '/workspace', confined: true })
    const decide = (line: string) =>
      judge(line, { cwd: ROOT, policy, call: { tool: 'run_command', input: { command: line }, accesses: [] } }).verdict
        .decision
    expect(lines.filter((line) => decide(line) === 'allow')).toEqual([])
  })

  it.each(Object.entries(others))('%s is not found in other options and values', (entry, lines) => {
    const open = lines.filter((line) => analyzeCommand(line, {}).decision === 'allow')
    expect(open.filter((line) => analyzeCommand(line, { deny: [entry] }).decision !== 'allow')).toEqual([])
  })

  it('is one of a program that lintPolicy knows', () => {
    const names = [...programs.keys(), ...wordOptions].filter((name) => !name.includes('-'))
    expect(names.filter((name) => !hasKnownOptions(name))).toEqual([])
    expect(hasKnownOptions('frob')).toBe(false)
  })

  it('never widens an entry that allows', () => {
    const allowed = (line: string, entry: string) => analyzeCommand(line, { allow: [entry] }).decision
    expect(allowed('rm -f -r a', 'rm -rf')).toBe('deny')
    expect(allowed('rm -rf a', 'rm -r')).toBe('deny')
    expect(allowed('env A=1 ls', 'env ls')).toBe('deny')
  })
})

describe('a denied command behind a program that the analysis does not know', () => {
  const forms = [
    ...[
      'P id',
      'P -- id',
      'P x id -u',
      'P /usr/bin/id',
      'P ./bin/id',
      "P -c 'id -u'",
      "P -e '!id'",
      "P 'id -u|'",
      "P '|id'",
    ],
    ...[
      "P --exec='id -u'",
      'P --exec=id',
      'P -cid',
      "P 'env A=1 id'",
      "P 'sh -c id'",
      `P 'exec("id -u")'`,
      `P 'i"d" -u'`,
    ],
    ...["P <<< 'id -u'", "P <<< '!id'", 'P << E\n!id\nE', 'echo id -u | P', "printf 'id\\n' | P", 'echo id | { P; }'],
    ...[
      'X=id P',
      "X='id -u' P a",
      'X=id; P',
      'export X=id; P',
      'env X=id P',
      'env P id',
      'xargs P id',
      "P bash -c 'id'",
    ],
    ...['echo "$(P id)"', 'if P id; then ls; fi', 'f() { P id; }; f', 'P {a,id}', "P 'bash x.sh|'"],
  ]

  it.each(forms)('is refused: %s', (form) => {
    for (const name of ['frob', './frob', 'zcmp', 'qlaunch']) {
      const line = form.replaceAll('P', name).replaceAll('\\n', '\n')
      expect([line, analyzeCommand(line, { deny: ['id'] }).decision]).toEqual([line, 'deny'])
      if (!/\|'|'\|/.test(line)) {
        expect([line, analyzeCommand(line, { deny: ['idx'] }).decision]).toEqual([line, 'allow'])
        expect([line, analyzeCommand(line, { deny: ['id x'] }).decision]).toEqual([line, 'allow'])
      }
    }
  })

  it.each([
    ...[
      'cat id',
      'grep -rn id src',
      'ls -l bin/id',
      'echo id | cat',
      'which id',
      'command -v id',
      "jq '.id' a.json",
      'wc -l <<< id',
    ],
    ...[
      'frob ids',
      'frob id.txt',
      "frob 'the id of it'",
      'X=id; ls',
      'x=id frob',
      'f() { echo "$1"; }; f id',
      'git commit -m "id x"',
    ],
  ])('is no operand that is data: %s', (line) => {
    expect(analyzeCommand(line, { deny: ['id'] }).decision).toBe('allow')
  })

  it('is one that a rule restricts, too', () => {
    const judge = createLineAnalyzer({ root: '/workspace', confined: true })
    for (const action of ['ask', 'deny'] as const) {
      const policy = compilePolicy({ preset: 'autonomous', rules: [{ name: 'r', action, commands: ['id'] }] })
      const decide = (line: string) =>
        judge(line, { cwd: ROOT, policy, call: { tool: 'run_command', input: { command: line }, accesses: [] } })
          .verdict.decision
      expect(['frob id', "frob -c 'id'", 'X=id frob', 'frob ids'].map(decide)).toEqual([
        action,
        action,
        action,
        'allow',
      ])
    }
  })
})

describe('the names of a program', () => {
  // As packages of Debian install them.
  const names: Readonly<Record<string, string>> = {
    perl: 'perl5.36.0 perl5.36-x86_64-linux-gnu perl5.40-aarch64-linux-gnu perl5.34-i386-linux-gnu perl5.40-powerpc64le-linux-gnu',
    python:
      'python3 python2.7 python3.11 python3.11-dbg python3-dbg python3.13t python3.9d pypy3 pypy3.9 pypy3-dbg micropython',
    ruby: 'ruby3.1 ruby2.7 ruby1.9.1 jruby mruby',
    lua: 'lua5.1 lua5.4 lua50 luajit luajit-2.1.0-beta3 texlua',
    tclsh: 'tclsh8.6 tclsh9.0 wish wish8.6',
    php: 'php8.2 php7.4 php5 php-cgi php-cgi8.2 php8.2-cgi php8.2-fpm php-fpm8.2',
    node: 'node20 node-18',
    guile: 'guile-3.0 guile-2.2 guile3.0',
    gcc: 'gcc-12 g++-12 x86_64-linux-gnu-gcc-12 x86_64-linux-gnu-g++ aarch64-linux-gnu-gcc-13 i686-w64-mingw32-gcc-win32 x86_64-w64-mingw32-g++-posix arm-linux-gnueabihf-gcc-12 i686-linux-gnu-gcc clang-14 clang++-16',
    vim: 'vim.basic vim.tiny vim.nox vim.gtk3 vim.athena nvim rvim rview view vimdiff vimtutor gvim nvi elvis vile emacs-nox emacs-gtk emacs-lucid emacs28.2 nano-tiny rnano ed red jmacs mcedit',
    zsh: 'zsh5 zsh-static zsh5-static ksh93 ksh2020 mksh-static lksh posh yash tcsh sash fish',
    bash: 'bash-5.2 bash5',
    sh: 'dash',
    awk: 'gawk gawk-5.2.1 mawk original-awk nawk',
    make: 'make-4.3 gmake bmake pmake remake',
    sqlite3: 'sqlite3-3.40 psql15 mariadb mysql',
    gdb: 'gdb-multiarch lldb-14 ltrace busybox-static',
    nc: 'nc.openbsd nc.traditional ncat netcat',
    tar: 'bsdtar gtar',
    'ld.so': 'ld-linux-x86-64.so.2 ld-linux.so.2 ld-linux-aarch64.so.1 ld64.so.2 ld-2.31.so ld-musl-x86_64.so.1',
    pip: 'pip3 pip3.11 pip-3.2',
  }

  it.each(Object.entries(names))('%s are found with versions, systems and variants', (base, others) => {
    expect(findInspector(base)).toBeDefined()
    for (const name of others.split(' ')) {
      expect([name, findInspector(name) === undefined]).toEqual([name, false])
      expect([name, mayLaunch(name) && analyzeCommand(`${name} a id`, { deny: ['id'] }).decision]).not.toEqual([
        name,
        'allow',
      ])
    }
    const aliases = others.split(' ').filter((name) => findInspector(name) === findInspector(base))
    expect(aliases.length).toBeGreaterThan(0)
  })

  it.each([
    ...[
      'python3-config',
      'x86_64-linux-gnu-python3.11-config',
      'python.sh',
      'node.sh',
      'vim.conf',
      'make.js',
      'perldoc',
    ],
    ...[
      'perl-cleaner',
      'node18-install',
      'rubyfmt',
      'luac5.4',
      'gcc-ar-12',
      'x86_64-linux-gnu-nm',
      'phpunit',
      'bashcov',
    ],
    ...['i386-setup', 'awk.pl', 'ruby-build', 'tarantool', '3', '-3', '12-', 'x86_64-', 'dc3dd', '2to3'],
  ])('of another program are not taken for it: %s', (name) => {
    expect(findInspector(name)).toBeUndefined()
  })

  it.each(['cp2', 'ls3', 'env2', 'tee3', 'tar-static'])('are searched as those of an unknown program: %s', (name) => {
    expect(mayLaunch(name)).toBe(true)
    expect(analyzeCommand(`${name} --x='id -u'`, { deny: ['id'] }).decision).toBe('deny')
  })
})

describe('launchers of other names', () => {
  it.each([
    ...['linux64', 'linux32', 'i386', 'fakeroot', 'fakeroot-sysv'].flatMap((name) => [
      ...[`${name} <<< 'id'`, `echo id | ${name}`, `${name} < f.sh`, `stdbuf -o0 ${name} < f.sh`, `${name} id`],
    ]),
    ...['ld.so', 'ld-linux.so.2', '/usr/bin/ld.so', 'ld-linux-x86-64.so.2', 'ld-musl-x86_64.so.1'].flatMap((name) => [
      ...[`${name} /usr/bin/id`, `${name} /bin/sh -c ls`, `xargs ${name} <<< a`],
    ]),
    ...[
      'dpkg --pre-invoke=ls -i x',
      'dpkg --post-invoke ls -i x',
      'dpkg-architecture -c ls',
      'dpkg-architecture --command=ls',
    ],
    ...[
      'CMP=id bzcmp a b',
      'DIFF=id zdiff a b',
      'GREP=id zgrep a b',
      'fstab-decode ls',
      'heaptrack ls',
      'sotruss ls',
      'nsenter',
    ],
    ...['a|', '|a', ' |a', '>a', '+<a', '<a', 'a | b'].flatMap((operand) => [
      ...[
        `perl -pe s/a/b/ '${operand}'`,
        `perl -ne 's/a/b/' f '${operand}'`,
        `perl -i -pe s/a/b/ -e s/c/d/ '${operand}'`,
      ],
    ]),
    ...['*', '"$f"', './$f', '"./$f"', 'a*', './*', "'|'*.txt", '$(ls)'].map((operand) => `perl -pe s/a/b/ ${operand}`),
  ])('are refused: %s', (line) => {
    expect(analyzeCommand(line, { deny: ['id'] }).decision).toBe('deny')
  })

  it.each([
    ...['perl -pi -e s/a/b/ a.txt ./b.txt', 'perl -pe "s/a|b/c/" src/*.txt', "perl -pe s/a/b/ -e 's/c|d/e/' a.txt"],
    ...["linux64 <<< 'ls'", 'linux64 ls', 'dpkg -l', 'dpkg-architecture -qDEB_HOST_ARCH', 'DIFF=diff zdiff a b'],
  ])('run: %s', (line) => {
    expect(analyzeCommand(line, { deny: ['id'] }).decision).toBe('allow')
  })
})
