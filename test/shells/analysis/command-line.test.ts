import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogicalPath } from '../../../src/paths/logical-path.ts'
import { compilePolicy } from '../../../src/policy/policy.ts'
import {
  analyzeCommand,
  type CommandAccess,
  type CommandVerdict,
  type DenialReason,
  type JudgedCommand,
} from '../../../src/shells/analysis/index.ts'
import { anyCharacter } from '../../code-points.ts'
import { everyNth, times } from '../../counts.ts'
import { benignLines } from './benign.ts'
import { bypasses } from './bypasses.ts'
import { details } from './details.ts'
import { edges } from './edges.ts'
import { inlineScripts } from './inline-scripts.ts'
import { messagePatterns } from './messages.ts'

const policy = { deny: ['forbidden', 'git push', 'npm publish'] }

const codes = (verdict: CommandVerdict): string[] => verdict.reasons.map(({ code }: DenialReason) => code)
const decisionOf = (line: string, lists: Parameters<typeof analyzeCommand>[1] = {}): string =>
  analyzeCommand(line, lists).decision

const groups = Object.entries({ ...bypasses, ...details, ...edges, ...inlineScripts })

describe.each(Object.entries({ ...bypasses, ...details, ...inlineScripts }))('%s', (_, cases) => {
  it.each(cases)('%j → %s', (line, ...expected) => {
    const verdict = analyzeCommand(line, policy)
    if (expected[0] === 'allow') expect(verdict).toMatchObject({ decision: 'allow', reasons: [] })
    else expect([verdict.decision, [...new Set(codes(verdict))].sort()]).toEqual(['deny', [...expected].sort()])
    for (const { code, message } of verdict.reasons) expect(messagePatterns[code]?.test(message) ?? message).toBe(true)
  })
})

// Thousands of short lines: one test per group.
it.each(Object.entries(edges))('%s', (_, cases) => {
  for (const [line, ...expected] of cases) {
    const { decision, reasons } = analyzeCommand(line, policy)
    const outcome = reasons.length === 0 ? [decision] : [...new Set(reasons.map(({ code }) => code))].sort()
    if (outcome.join() !== [...expected].sort().join()) expect([line, ...outcome]).toEqual([line, ...expected])
    for (const { code, message } of reasons)
      if (messagePatterns[code]?.test(message) !== true) expect([line, message]).toEqual([line, messagePatterns[code]])
  }
})

describe.each(groups)('%s', (_, cases) => {
  it('has reasons with positions inside the line, as plain data', () => {
    for (const [line] of everyNth(cases, 3)) {
      const verdict = analyzeCommand(line, policy)
      for (const { at } of [...verdict.reasons, ...verdict.commands, ...verdict.accesses]) {
        expect(at[0]).toBeGreaterThanOrEqual(0)
        expect(at[1]).toBeGreaterThanOrEqual(at[0])
        expect(at[1]).toBeLessThanOrEqual(line.length)
      }
      expect(structuredClone(verdict)).toEqual(verdict)
    }
  })
})

describe('a line that is refused without an allowlist is also refused with one', () => {
  const everything = { allow: ['*'], deny: policy.deny }
  it.each(groups)('%s', (_, cases) => {
    const differ = everyNth(cases, 3, 1).filter(
      ([line]) => analyzeCommand(line, policy).decision !== analyzeCommand(line, everything).decision,
    )
    expect(differ).toEqual([])
  })
})

describe('benign lines', () => {
  it('are refused only in the listed cases, at most one percent', () => {
    const lines = benignLines()
    expect(lines.length).toBeGreaterThanOrEqual(300)
    expect(new Set(lines).size).toBe(lines.length)
    const refused = lines
      .map((line) => ({ line, verdict: analyzeCommand(line, policy) }))
      .filter(({ verdict }) => verdict.decision !== 'allow')
      .map(({ line, verdict }) => [line, ...codes(verdict)])
    expect(refused).toEqual([
      ['nodemon server.js', 'HIDDEN_COMMAND'],
      ['source .venv/bin/activate', 'HIDDEN_COMMAND'],
      ['for f in test/*.test.js; do node "$f"; done', 'ARGUMENT_NOT_LITERAL'],
    ])
    expect(refused.length / lines.length).toBeLessThanOrEqual(0.01)
  })
})

describe('command lists of a policy', () => {
  it('require every command of a line on the allowlist', () => {
    const lists = { allow: ['git status', 'npm test', 'ls'] }
    expect(decisionOf('git status && npm test', lists)).toBe('allow')
    expect(decisionOf('cd src && ls -la', lists)).toBe('allow')
    expect(decisionOf('timeout 5 npm test -- --ci', lists)).toBe('allow')
    expect(decisionOf('/usr/bin/git status', lists)).toBe('allow')
    expect(codes(analyzeCommand('git status; git diff', lists))).toEqual(['NOT_ALLOWED'])
    expect(decisionOf('npm testing', lists)).toBe('deny')
    expect(decisionOf('./ls', lists)).toBe('deny')
    expect(decisionOf('bin/npm test', lists)).toBe('deny')
    expect(decisionOf('ls $(whoami)', lists)).toBe('deny')
    expect(decisionOf('echo hi', lists)).toBe('deny')
    expect(decisionOf('env whoami', lists)).toBe('deny')
    expect(decisionOf("sh -c 'ls'", lists)).toBe('deny')
    expect(decisionOf("sh -c 'ls'", { allow: ['sh -c', 'ls'] })).toBe('allow')
    expect(decisionOf("sh -c 'whoami'", { allow: ['sh -c', 'ls'] })).toBe('deny')
    expect(decisionOf('npx vitest run', { allow: ['npx vitest'] })).toBe('allow')
    for (const wrapper of ['nice', 'env', 'nohup', 'command', 'time', 'nice -n 5']) {
      expect(decisionOf(`${wrapper} ls`, lists)).toBe('allow')
      expect(decisionOf(`${wrapper} whoami`, lists)).toBe('deny')
    }
    expect(decisionOf('npx other', { allow: ['npx vitest'] })).toBe('deny')
    expect(decisionOf('ls | xargs whoami', { allow: ['ls', 'xargs'] })).toBe('deny')
    expect(decisionOf('git -c color.ui=always status', lists)).toBe('deny')
    expect(decisionOf('ls', { allow: [] })).toBe('deny')
    expect(decisionOf('sudo ls', { allow: ['sudo', 'ls'] })).toBe('deny')
    expect(decisionOf('f() { ls; }; f', lists)).toBe('deny')
  })

  it('do not require built-ins without effects on an allowlist', () => {
    for (const word of ': true false test [ exit return break continue shift cd wait'.split(' ')) {
      expect(codes(analyzeCommand(`${word} a`, { allow: [] }))).toEqual([])
      expect(codes(analyzeCommand(`/bin/${word} a`, { allow: [] }))).toEqual(['NOT_ALLOWED'])
    }
    expect(analyzeCommand('/bin/ls a', { allow: [] }).reasons.map(({ message }) => message)).toEqual([
      '"/bin/ls a" is not an allowed command',
    ])
  })

  it('treat any blanks in an entry as one space', () => {
    expect(decisionOf('git push -f', { deny: [' git  push '] })).toBe('deny')
    expect(decisionOf('git push', { deny: ['git\tpush'] })).toBe('deny')
  })

  it('give a denial precedence over everything else', () => {
    expect(decisionOf('git push', { allow: ['git'], deny: ['git push'] })).toBe('deny')
    expect(decisionOf('npm --loglevel silent publish', { deny: ['npm publish'] })).toBe('deny')
    expect(decisionOf('curl -s http://x', { deny: ['curl*'] })).toBe('deny')
    expect(decisionOf('cd a', { deny: ['cd'] })).toBe('deny')
    expect(decisionOf('timeout 5 ls', { deny: ['timeout'] })).toBe('deny')
  })

  it('match entries literally, except for the star', () => {
    expect(decisionOf('ls a.b', { deny: ['ls a?b'] })).toBe('allow')
    expect(decisionOf('ls a.b', { deny: ['l[s]'] })).toBe('allow')
    expect(decisionOf('npm run build:web', { allow: ['npm run build:*'] })).toBe('allow')
  })

  it.each([
    ['a && b', '&&'],
    ['a || b', '||'],
    ['a; b', ';'],
    ['a\nb', ';'],
    ['a &', '&'],
    ['a | b', '|'],
    ['a |& b', '|'],
    ['! a', '!'],
    ['a > x', '>'],
    ['a >| x', '>'],
    ['a &> x', '>'],
    ['a >& x', '>'],
    ['a >> x', '>>'],
    ['a &>> x', '>>'],
    ['a < x', '<'],
    ['a <> x', '>'],
    ['a << E\nE', '<<'],
    ['a <<< x', '<<<'],
    ['a $(b)', '$('],
    ['a `b`', '$('],
    ['a "`b`"', '$('],
    ['a <(b)', '<('],
    ['a >(b)', '>('],
    ['a $((1))', '$(('],
    ['(a)', '('],
    ['{ a; }', '{'],
    ['((1))', '(('],
    ['coproc a', '&'],
    ['a <> x', '<'],
    ['a $(b)', '`'],
    ['a <<< x', '<<'],
    ['a >| x', '>|'],
    ['a &> x', '&>'],
    ['a >& x', '>&'],
    ['a &>> x', '&>>'],
    ['a <& x', '<&'],
    ['a <<-E\nE', '<<-'],
    ['a $(b)', '$()'],
    ['(a)', '()'],
    ['{ a; }', '{}'],
    ['a\nb', '\n'],
    ['a; b', '\n'],
    ['[[ a ]]', '[['],
    ["sh -c 'a && b'", '&&'],
    ["eval 'a | b'", '|'],
  ])('%j is refused without %j', (line, operator) => {
    expect(analyzeCommand(line, { deniedOperators: [] }).decision).toBe('allow')
    const { reasons } = analyzeCommand(line, { deniedOperators: [operator] })
    expect(reasons.map(({ code }) => code)).toEqual(['OPERATOR_DENIED'])
    expect(reasons[0]?.message).toMatch(/^Policy denies the operator "\S+"$/)
  })

  it('report the operator as it is in the line', () => {
    const messages = (line: string, operator: string) =>
      analyzeCommand(line, { deniedOperators: [operator] }).reasons.map(({ message }) => message)
    expect(messages('a `b`', '$(')).toEqual(['Policy denies the operator "`"'])
    expect(messages('a $(b)', '`')).toEqual(['Policy denies the operator "$("'])
    expect(messages('a <<<b', '<<')).toEqual(['Policy denies the operator "<<<"'])
    expect(messages('time a', '!')).toEqual([])
  })

  const linesByOperator: Readonly<Record<string, string>> = {
    '&&': 'a && b',
    '||': 'a || b',
    ';': 'a; b',
    '&': 'a &',
    '|': 'a | b',
    '|&': 'a |& b',
    '!': '! a',
    '>': 'a > x',
    '>>': 'a >> x',
    '>|': 'a >| x',
    '>&': 'a >& x',
    '&>': 'a &> x',
    '&>>': 'a &>> x',
    '<': 'a < x',
    '<&': 'a <& x',
    '<>': 'a <> x',
    '<<': 'a << E\nE',
    '<<-': 'a <<-E\nE',
    '<<<': 'a <<< x',
    '$(': 'a $(b)',
    '`': 'a `b`',
    '<(': 'a <(b)',
    '>(': 'a >(b)',
    '$((': 'a $((1))',
    '(': '(a)',
    '((': '((1))',
    '[[': '[[ a ]]',
  }
  const containing = Object.keys(linesByOperator).flatMap((operator) =>
    Object.keys(linesByOperator)
      .filter((denied) => operator.includes(denied))
      .map((denied) => [operator, denied] as const),
  )

  it.each(containing)('%j is refused without %j, which it contains', (operator, denied) => {
    const line = linesByOperator[operator] as string
    const { reasons } = analyzeCommand(line, { deniedOperators: [denied] })
    expect(reasons).toContainEqual(
      expect.objectContaining({
        code: 'OPERATOR_DENIED',
        message: `Policy denies the operator ${JSON.stringify(operator)}`,
      }),
    )
    expect(decisionOf(`echo '${line}'`, { deniedOperators: [denied] })).toBe('allow')
  })

  // The original tests whether the text of the line contains the operator.
  it.each([
    'a; b',
    'a;',
    '! a;',
    'time a;',
    '(a;)',
    '{ a; }',
    'f() { a; }',
    'if a; then b\nfi',
    'if a\nthen b; fi',
    'if a\nthen b\nelif c; then d\nfi',
    'if a\nthen b\nelse c; fi',
    'for x in a; do b\ndone',
    'for x; do b\ndone',
    'for ((i=0;i<1;i++))\ndo a\ndone',
    'while a; do b\ndone',
    'until a\ndo b; done',
    'select x in a; do b\ndone',
    'case a in b) c;; esac',
    'case a in b) c\n;;\nesac',
    'case a in b) c\n;&\n*) d\nesac',
    'a # b\nif c; then d\nfi',
    'a $(if b; then c\nfi)',
    'a "$(b;)"',
    'a `b;`',
    'a <(b;)',
    'x=$(b;)',
    'cat <<E\n$(b;)\nE',
    "bash -c 'if a; then b\nfi'",
    "eval 'a;'",
  ])('%j is refused once without ";"', (line) => {
    expect(analyzeCommand(line, {}).decision).toBe('allow')
    expect(analyzeCommand(line, { deniedOperators: [';'] }).reasons.map(({ message }) => message)).toEqual([
      'Policy denies the operator ";"',
    ])
  })

  it.each([
    'if a\nthen b\nfi',
    'echo "a; b"',
    "echo 'a; b'",
    String.raw`echo a\;b`,
    'echo a # b; c',
    'cat <<E\na; b\nE',
    "cat <<'E'\n$(a; b)\nE",
    'x="a; b" c',
    'echo ${x:-a;b}',
    String.raw`find . -exec rm {} \;`,
  ])('%j has no ";"', (line) => {
    const { reasons } = analyzeCommand(line, { deniedOperators: [';'] })
    expect(reasons.filter(({ code }) => code === 'OPERATOR_DENIED')).toEqual([])
  })

  it('refuse a substitution and the arithmetic around it without "$("', () => {
    const { reasons } = analyzeCommand('a $(( $(nproc) ))', { deniedOperators: ['$('] })
    expect(reasons.map(({ code }) => code)).toEqual(['OPERATOR_DENIED', 'OPERATOR_DENIED'])
  })

  it('ignore operators in data', () => {
    const lists = { deniedOperators: ['&&', '||', ';', '|', '>', '<', '$(', '&'] }
    expect(decisionOf(`echo 'a && b || c; d | e > f < g $(h) &' "a;b|c>d<e&f"`, lists)).toBe('allow')
    expect(decisionOf('echo a 2>&1', lists)).toBe('allow')
  })

  it('throw for an unknown operator', () => {
    expect(() => analyzeCommand('ls', { deniedOperators: ['=>'] })).toThrow(
      'Policy field "commands.deniedOperators[0]" is not an operator: "=>"; the operators are "&&", "||", ";", "&", "|",',
    )
    expect(() => analyzeCommand('ls', { deny: ['ls', 'a'.repeat(5000)] })).toThrow('commands.deny[1]')
    expect(() => analyzeCommand('ls', { allow: ['ls', 'a'.repeat(5000)] })).toThrow('commands.allow[1]')
  })

  it('skip options before a subcommand, and their values', () => {
    const options = {
      git: '-C -c --git-dir --work-tree --namespace --exec-path --config-env',
      npm: '--prefix -C -w --workspace --registry --loglevel --userconfig --cache --tag',
      pnpm: '-C --dir --filter -F --registry --loglevel',
      yarn: '--cwd --registry --cache-folder --modules-folder --mutex',
      docker: '-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey',
      kubectl:
        '-n --namespace --context --kubeconfig -s --server --as --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key --cluster --profile --profile-output --request-timeout --tls-server-name --token --user -v --v --vmodule --username --password',
      helm: '-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-as-user --kube-as-group --kube-ca-file --kube-token --registry-config --repository-cache --repository-config --burst-limit --qps',
      gh: '-R --repo --hostname',
      aws: '--profile --region --endpoint-url --output --query --ca-bundle --color --cli-read-timeout --cli-connect-timeout --cli-binary-format',
    }
    for (const [name, all] of Object.entries(options)) {
      for (const option of all.split(' ')) {
        const line = `${name} -x ${option} value push "$x"`
        expect([line, ...codes(analyzeCommand(line, { deny: [`${name} push`] }))]).toContain('POLICY_DENIED')
      }
      expect(codes(analyzeCommand(`${name} value push`, { deny: [`${name} push`] }))).not.toContain('POLICY_DENIED')
    }
  })

  it('match an allow entry against a program in a system directory, too', () => {
    const allow = ['ls']
    for (const place of ['/bin/', '/sbin/', '/usr/bin/', '/usr/local/sbin/']) {
      expect(decisionOf(`${place}ls -a`, { allow })).toBe('allow')
    }
    for (const place of ['/opt/bin/', '/usr/bin/x/', 'a/usr/bin/', '/usr/lib/', '/usr/locals/bin/']) {
      expect(codes(analyzeCommand(`${place}ls -a`, { allow }))).toContain('NOT_ALLOWED')
    }
  })
})

describe('commands started by launchers and package managers', () => {
  it('are checked against the lists with all their words', () => {
    for (const line of ['bash git push -f', "bash git 'push' -f a", 'zsh git push -f']) {
      expect([line, decisionOf(line, { deny: ['git push -f'] })]).toEqual([line, 'deny'])
      expect([line, decisionOf(line, { deny: ['git push -F'] })]).toEqual([line, 'allow'])
    }
    const calls: unknown[] = []
    const decide = ({ name, args, text, otherTexts }: JudgedCommand) => {
      calls.push([name, args, text, otherTexts])
      return { decision: 'allow' as const, reason: '' }
    }
    analyzeCommand(`bash -x bin/git push -f "$x"`, {}, { decide })
    const args = ['-x', 'bin/git', 'push', '-f', null]
    const text = 'bash -x bin/git push -f "$x"'
    expect(calls).toEqual([
      ['bash', args, text, ['bash bin/git push']],
      ['bash', args, text, ['bin/git push -f "$x"', 'git push -f "$x"', 'git push', './bin/git push -f "$x"']],
    ])
  })

  it('are listed in the verdict', () => {
    const texts = (line: string) =>
      analyzeCommand(line, {})
        .commands.slice(1)
        .map(({ text }) => text)
    expect(texts('concurrently 10 npm:test xnpm:a')).toEqual(['npm run test', 'xnpm:a'])
    expect(texts('yarn vitest -- a b')).toEqual(['vitest a b'])
    expect(texts('yarn run vitest a')).toEqual(['vitest a'])
    expect(texts('npx a/b@1 c')).toEqual(['b c'])
    expect(texts('pnpm exec -- a')).toEqual(['a'])
    expect(texts('hatch run a:b c:d')).toEqual(['b c:d'])
  })

  it('are listed with the directories of options', () => {
    const accesses = (line: string) => analyzeCommand(line, {}).accesses.map(({ mode, path }) => `${mode} ${path}`)
    expect(accesses('git -C a status')).toEqual(['read a'])
    expect(accesses('npm --prefix=a test')).toEqual(['read a'])
    expect(accesses('npm -C a test')).toEqual(['read a'])
    expect(accesses('make -Ca -C b --directory=c d-C')).toEqual(['read a', 'read b', 'read c'])
    expect(accesses('find a -delete')).toEqual(['write a'])
    expect(accesses('find . -fprint a')).toEqual(['write a'])
    expect(accesses('echo &>3')).toEqual(['write 3'])
  })

  it('need an allowlist entry, by themselves or with their launcher', () => {
    const allow = ['pnpm', 'yarn', 'npx', 'uv', 'npm', 'bun']
    for (const line of ['pnpm vitest', 'npx vitest', 'uv run vitest', 'npm exec vitest', 'bun x vitest']) {
      expect([line, codes(analyzeCommand(line, { allow }))]).toEqual([line, ['NOT_ALLOWED']])
      expect([line, codes(analyzeCommand(line, { allow: [...allow, 'vitest'] }))]).toEqual([line, []])
      expect([line, codes(analyzeCommand(line, { allow: [line] }))]).toEqual([line, []])
    }
    // A script of the project, as with `npm run`.
    expect(codes(analyzeCommand('yarn run vitest', { allow }))).toEqual([])
    for (const line of ["npx -c 'vitest'", "uv run npx -c 'vitest'", 'npm explore a -- vitest'])
      expect(codes(analyzeCommand(line, { allow }))).toContain('NOT_ALLOWED')
  })

  it('are refused with a reason for an unknown option or file', () => {
    const messages = (line: string) => analyzeCommand(line, {}).reasons.map(({ message }) => message)
    expect(messages('zsh a"$x"')).toEqual(['The file that zsh runs is only known at run time'])
    expect(messages('node "$x"')).toEqual([
      'node: "\\"$x\\"" may become an option at run time; a path that starts with "./" cannot',
    ])
    expect(messages('make -f -')).toEqual(['make runs code from -'])
    expect(messages("make ' SHELL :=a'")).toEqual(['make: the variable "SHELL" may start commands'])
  })
})

describe('the verdict of analyzeCommand()', () => {
  it('lists every command with its position, directory and launchers', () => {
    const line = `cd packages/a && env A=1 timeout 5 npm test | tee "out $(date).log"`
    expect(analyzeCommand(line, {}).commands.map(({ text, via, cwd }) => [text, via.join(' '), cwd])).toEqual([
      ['cd packages/a', '', ''],
      ['env A=1 timeout 5 npm test', '', 'packages/a'],
      ['timeout 5 npm test', 'env', 'packages/a'],
      ['npm test', 'env timeout', 'packages/a'],
      ['date', '', 'packages/a'],
      ['tee "out $(date).log"', '', 'packages/a'],
    ])
    expect(analyzeCommand('/bin/git -C a push -f', {}).commands[0]?.otherTexts).toEqual([
      'git -C a push -f',
      'git push',
    ])
    const [, env] = analyzeCommand(line, {}).commands
    expect(line.slice(...(env?.at ?? []))).toBe('env A=1 timeout 5 npm test')
    expect(analyzeCommand('echo $X "a b"', {}).commands[0]?.args).toEqual([null, 'a b'])
  })

  it('lists launchers, known words and the initial directory of nested commands', () => {
    const started = (line: string) => {
      const command = analyzeCommand(line, {}).commands.at(-1)
      return [command?.via.join(' '), command?.name, command?.args, command === undefined || 'cwd' in command]
    }
    expect(started('export A+=b C=d')).toEqual(['', 'export', ['A+=b', 'C=d'], true])
    expect(started('declare a[0]=1 b=(1 2) c')).toEqual(['', 'declare', [null, null, 'c'], true])
    expect(started('cd a; ls')).toEqual(['', 'ls', [], false])
    expect(started('f() { cd a; ls; }')).toEqual(['', 'ls', [], false])
    for (const [line, via] of [
      ["eval 'a b'", 'eval'],
      ["eval eval 'a b'", 'eval eval'],
      ["trap 'a b' EXIT", 'trap'],
      ["CC='a b' ls", 'CC'],
      ["sh -c 'a b'", 'sh'],
      ["/bin/BASH -c 'a b'", 'bash'],
      ['find . -exec a b \\;', 'find'],
      ['xargs -I{} a b', 'xargs'],
      ["hyperfine 'a b'", 'hyperfine'],
      ['env A=1 nice a b', 'env nice'],
      ['git bisect run a b', 'git'],
      ['git submodule foreach a b', 'git'],
      ['npm explore p -- a b', 'npm'],
      ['pnpm a b', 'pnpm'],
      ['yarn run a b', 'yarn'],
      ['npx a b', 'npx'],
      ["npx -c 'a b'", 'npx'],
      ['uv run a b', 'uv'],
      ['cmake -E env A=1 a b', 'cmake'],
      ['tar -I "a b" -xf c', 'tar'],
      ['ssh h a b', 'ssh'],
    ] as const) {
      const command = analyzeCommand(line, {}).commands.find(({ name }) => name === 'a')
      expect([line, command?.via.join(' '), command?.args]).toEqual([line, via, ['b']])
    }
  })

  it('lists the files of redirections for every possible directory', () => {
    const accesses = (line: string, cwd = ''): string[] =>
      analyzeCommand(line, {}, { cwd: cwd as LogicalPath, root: '/workspace' }).accesses.map(
        ({ mode, path }: CommandAccess) => `${mode} ${path}`,
      )
    expect(accesses('sort < a > b 2>> c')).toEqual(['read a', 'write b', 'write c'])
    expect(accesses('echo x > ../b', 'src')).toEqual(['write b'])
    expect(accesses('cd a && echo x > b')).toEqual(['write a/b'])
    expect(accesses('cd a; echo x > b')).toEqual(['write a/b', 'write b'])
    expect(accesses('cd a || echo x > b')).toEqual(['write b'])
    expect(accesses('(cd a && echo x > b); echo x > c')).toEqual(['write a/b', 'write c'])
    expect(accesses('if cd a; then echo > b; else echo > c; fi; echo > d').sort()).toEqual([
      'write a/b',
      'write a/d',
      'write c',
      'write d',
    ])
    expect(accesses('! cd a && echo > b')).toEqual(['write b'])
    expect(accesses('cd a | true; echo > b')).toEqual(['write b'])
    expect(accesses('cd a & echo > b')).toEqual(['write b'])
    expect(accesses('cd a && cd b || echo > c').sort()).toEqual(['write a/c', 'write c'])
    expect(accesses('cd a || cd b && echo > c').sort()).toEqual(['write a/c', 'write b/c'])
    expect(accesses('time cd a && echo > b')).toEqual(['write a/b'])
    expect(accesses('time ! cd a && echo > b')).toEqual(['write b'])
    expect(accesses('cd a; for x in 1; do echo > b; done').sort()).toEqual(['write a/b', 'write b'])
    expect(accesses('cat <3')).toEqual(['read 3'])
    expect(accesses('cat <>x')).toEqual(['read x', 'write x'])
    expect(accesses('echo >&2 2>&12 >&- 3>&4-')).toEqual([])
    expect(accesses('echo >&a2 2>&2a >&4-a').sort()).toEqual(['write 2a', 'write 4-a', 'write a2'])
    expect(accesses('eval "cd a" && echo > b')).toEqual(['write a/b'])
    expect(accesses('command cd a && echo > b')).toEqual(['write a/b'])
    expect(accesses('builtin cd a; echo > b').sort()).toEqual(['write a/b', 'write b'])
    expect(accesses('env cd a; /usr/bin/command cd a; echo > b')).toEqual(['write b'])
    expect(accesses('cd "$x" || echo > b')).toEqual(['write b'])
    expect(accesses('cd /workspace && echo > b', 'c')).toEqual(['write b'])
    expect(accesses('echo > /workspace//a')).toEqual(['write a'])
    expect(accesses('sh -c "cd a"; echo > b')).toEqual(['write b'])
    expect(accesses('(cd a); echo > b')).toEqual(['write b'])
    expect(accesses('{ cd a; }; echo > b').sort()).toEqual(['write a/b', 'write b'])
    expect(accesses('case x in x) cd a;; y) cd b;; esac && echo > c').sort()).toEqual([
      'write a/b/c',
      'write a/c',
      'write b/c',
      'write c',
    ])
    expect(accesses('echo > /workspace/x/y')).toEqual(['write x/y'])
    expect(accesses('cd /workspace/a && echo > b', 'c')).toEqual(['write a/b'])
    expect(accesses('echo > /dev/null < /dev/urandom')).toEqual([])
    expect(accesses('sh run.sh')).toEqual(['read run.sh'])
    expect(analyzeCommand('echo > /workspacex/y', {}, { root: '/workspace' }).decision).toBe('deny')
    expect(analyzeCommand('echo > /workspace/../y', {}, { root: '/workspace' }).decision).toBe('deny')
  })

  it('lists each reason once with its position, and at most a hundred', () => {
    const reasonsOf = (line: string) =>
      analyzeCommand(line, policy).reasons.map(({ code, at }) => [code, line.slice(...at)])
    expect(reasonsOf('echo $(forbidden) `ls; forbidden`')).toEqual([
      ['POLICY_DENIED', 'forbidden'],
      ['POLICY_DENIED', 'forbidden'],
    ])
    expect(reasonsOf("sh -c 'ls; forbidden'; eval \"sh -c 'forbidden a'\"")).toEqual([
      ['POLICY_DENIED', "'ls; forbidden'"],
      ['POLICY_DENIED', 'eval "sh -c \'forbidden a\'"'],
    ])
    expect(reasonsOf("sh -c 'forbidden; forbidden; sudo'").map(([code]) => code)).toEqual([
      'POLICY_DENIED',
      'BUILT_IN_DENIED',
    ])
    expect(reasonsOf('forbidden; forbidden')).toHaveLength(2)
    expect(reasonsOf('forbidden;'.repeat(99))).toHaveLength(99)
    expect(reasonsOf('forbidden;'.repeat(120))).toHaveLength(100)
    expect(reasonsOf('a &&')[0]?.[0]).toBe('SYNTAX_ERROR')
    expect(reasonsOf('ls && && b')).toEqual([['SYNTAX_ERROR', ' && b']])
    expect(reasonsOf("sh -c 'sudo; fdisk'")).toHaveLength(2)
    for (const [line, message] of [
      ['node -e vm a', 'vm'],
      ['node -p -e', '-e'],
      ['node --eval=vm a', '--eval=vm'],
      ['node -r data:a b', 'data:a'],
      ['node -r', '-r'],
      ['node -r ../a.js b', '../a.js'],
      ['node - <<<vm', '-'],
      ['node -B <<<vm', '-B'],
      ['python -W', '-W'],
      ["awk -- 'system(1)' a", "'system(1)'"],
      ['sed -n p -e e', 'e'],
      ['sed -n p -e', '-e'],
      ['sqlite3 a .shell', '.shell'],
      ['psql <<<.a', 'psql <<<.a'],
    ] as const)
      expect(reasonsOf(line).map(([, text]) => text)).toEqual([message])
    // Nested backquotes have lost their backslashes, so their positions do not refer to the line.
    expect(reasonsOf('echo `echo \\`forbidden\\``')).toEqual([['POLICY_DENIED', '`echo \\`forbidden\\``']])
    expect(reasonsOf("sh -c 'echo `echo \\`forbidden\\``'")).toEqual([
      ['POLICY_DENIED', "'echo `echo \\`forbidden\\``'"],
    ])
  })

  it('is limited to a thousand commands and 262,144 characters in total', () => {
    expect(decisionOf('a;'.repeat(1000))).toBe('allow')
    expect(analyzeCommand('a;'.repeat(1001), {}).reasons).toEqual([
      {
        code: 'TOO_COMPLEX',
        action: 'deny',
        message: 'The line has more than 1000 commands, or is nested too deeply',
        at: [0, 2002],
      },
    ])
    const evals = (count: number) => `${'eval '.repeat(count)}echo ${'a'.repeat(65_000)}`
    expect(decisionOf(evals(1))).toBe('allow')
    expect(codes(analyzeCommand(evals(2), {}))).toEqual(['TOO_COMPLEX'])
    // 65,534 characters of nested scripts, and four more.
    const exactly = (more: number) => `${'eval '.repeat(4)}echo ${'a'.repeat(16_371 + more)}; ls`
    expect(decisionOf(exactly(0))).toBe('allow')
    expect(codes(analyzeCommand(exactly(1), {}))).toEqual(['TOO_COMPLEX'])
  })

  it('reports an unusual character with its position', () => {
    const reasonsOf = (line: string) =>
      analyzeCommand(line, {}).reasons.map(({ code, message, at }) => [code, message, at])
    const odd = (point: string) => `The line contains U+${point}, which is invisible or looks like another character`
    expect(reasonsOf('a'.repeat(65_536))).toEqual([])
    expect(reasonsOf('a'.repeat(65_537))).toEqual([
      ['LINE_TOO_LONG', 'The line is longer than 65536 characters', [0, 65_537]],
    ])
    expect(reasonsOf(' \t\n')).toEqual([['EMPTY_LINE', 'The line is empty', [0, 3]]])
    expect(reasonsOf('echo \0')).toEqual([['ODD_CHARACTER', odd('0000'), [5, 6]]])
    expect(reasonsOf('echo a\u{e0041}')).toEqual([['ODD_CHARACTER', odd('E0041'), [6, 8]]])
    for (const opening of ['$(', '${', '$[', '<(', '>(', '`', '((', '<<E', '<<-', '<<<a']) {
      const line = (count: number) => `echo '${opening.repeat(count)}'`
      expect([opening, ...reasonsOf(line(512))]).toEqual([opening])
      const last = 6 + 512 * opening.length + (opening === '<<<a' ? 1 : 0)
      expect([opening, ...reasonsOf(line(513))]).toEqual([
        opening,
        ['TOO_COMPLEX', 'The line has more than 512 expansions and here-documents', [last, line(513).length]],
      ])
    }
    for (const none of ['$a', '<a', '>', '<<<', '(', '[', '{a', 'a)']) {
      const line = `echo '${`${none}${none === '(' ? ' ' : ''}`.repeat(600)}'`
      expect([none, ...reasonsOf(line)]).toEqual([none])
    }
  })

  it('applies the rules of a policy to each command', () => {
    const rules = compilePolicy({
      preset: 'autonomous',
      rules: [
        { name: 'pushes', action: 'ask', commands: ['git push*'] },
        { name: 'no network', action: 'deny', commands: ['curl *', 'wget *'] },
      ],
    })
    const decide = ({ text }: JudgedCommand) => {
      const verdict = rules.evaluate({ tool: 'run_command', input: {}, accesses: [], commands: [text] })
      return { decision: verdict.decision, reason: verdict.reason }
    }
    const analyzed = (line: string) => analyzeCommand(line, {}, { decide })
    expect(analyzed('git status').decision).toBe('allow')
    expect(analyzed('git add -A && timeout 9 git push origin main').decision).toBe('ask')
    expect(analyzed('git push; curl http://x').reasons.map(({ action, at }) => [action, at])).toEqual([
      ['deny', [10, 23]],
      ['ask', [0, 8]],
    ])
    expect(codes(analyzed('git push'))).toEqual(['RULE'])
    expect(analyzed('git status').reasons).toEqual([])
    expect(analyzed(`${'git push;'.repeat(150)}curl http://x`).decision).toBe('deny')
    expect(analyzed(`${'git push;'.repeat(150)}curl http://x`).reasons).toHaveLength(100)
    expect(analyzed(`${'ls;'.repeat(150)}curl http://x`).decision).toBe('deny')
    expect(analyzed("sh -c 'curl http://x'").decision).toBe('deny')
    expect(analyzed("echo 'curl x'").decision).toBe('allow')
  })

  it('distinguishes the denials of rules from requests for approval', () => {
    const words = { no: 'deny', maybe: 'ask' } as Partial<Record<string, 'deny' | 'ask'>>
    const decide = ({ name, text }: JudgedCommand) => ({ decision: words[name] ?? ('allow' as const), reason: text })
    const analyzed = (line: string) => {
      const { decision, reasons } = analyzeCommand(line, {}, { decide })
      return [decision, ...reasons.map(({ code, action, message }) => [code, action, message].join(' '))]
    }
    expect(analyzed('ls a')).toEqual(['allow'])
    expect(analyzed('maybe a; ls b')).toEqual(['ask', 'RULE ask maybe a'])
    expect(analyzed('maybe a; no b; maybe c')).toEqual([
      'deny',
      'RULE deny no b',
      'RULE ask maybe a',
      'RULE ask maybe c',
    ])
    expect(analyzed(`${'maybe;'.repeat(100)}no`).slice(0, 2)).toEqual(['deny', 'RULE deny no'])
    expect(analyzed(`${'maybe;'.repeat(60)}${'no;'.repeat(41)}`)).toHaveLength(1 + 100)
    // A rule may have the same reason as the built-in denylist.
    const same = () => ({ decision: 'deny', reason: 'sudo takes other privileges' }) as const
    expect(codes(analyzeCommand('sudo ls', {}, { decide: same })).sort()).toEqual(['BUILT_IN_DENIED', 'RULE'])
  })

  it('is stricter for sh than for bash', () => {
    for (const line of ['[[ a ]]', '((1))', "echo $'a'", 'echo &> x', 'export A=$x', 'echo ${x:-"a"}']) {
      expect(analyzeCommand(line, {}).decision).toBe('allow')
      expect(analyzeCommand(line, {}, { shell: 'sh' }).decision).toBe('deny')
    }
  })
})

/** CPU time of this process in milliseconds, independent of other processes. */
const cpuTime = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

describe('hostile lines', () => {
  const N = 10_000
  const nested = (open: string, close = ''): string => open.repeat(N) + close.repeat(N)
  it.each([
    ['parentheses', nested('(', ')')],
    ['parentheses with spaces', nested('( ', ' )')],
    ['substitutions', nested('$(', ')')],
    ['substitutions in quotes', nested('"$(', ')"')],
    ['arithmetic', nested('$((', '))')],
    ['grouped arithmetic', `((${nested('(', ')')}))`],
    ['sums', `((${'1+'.repeat(N)}1))`],
    ['backquotes', nested('`')],
    ['escaped backquotes', nested('`\\`')],
    ['braces', nested('{ ', '; }')],
    ['brace lists', nested('{a,', '}')],
    ['parameters', nested(`\${x:-`, '}')],
    ['process substitutions', nested('<(', ')')],
    ['ifs', nested('if ')],
    ['cases', nested('case x in x) ', ';; esac')],
    ['functions', nested('f() { ')],
    ['quotes', `${nested("'")}'`],
    ['double quotes', `${nested('"')}"`],
    ['backslashes', nested('\\')],
    ['here-documents', Array.from({ length: 4000 }, (_, i) => `<<E${i}`).join(' ')],
    [
      'here-documents that end',
      `cat ${Array.from({ length: 2000 }, (_, i) => `<<E${i}`).join(' ')}\n${Array.from({ length: 2000 }, (_, i) => `E${i}\n`).join('')}`,
    ],
    ['here-documents in substitutions', 'cat <<E\n$('.repeat(5000)],
    ['tests', `[[ ${nested('! ')}`],
    ['tests in parentheses', `[[ ${nested('( ')}`],
    ['negations', `${nested('! ')}true`],
    ['time', `${nested('time ')}`],
    ['env', `${nested('env ')}ls`],
    ['eval', `${nested('eval ')}ls`],
    ['pipes', `${nested('a|')}a`],
    ['operators', `${nested('a&&b||')}a`],
    ['commands', nested('a;')],
    ['words', `echo ${nested('a ')}`],
    ['quoted words', `echo ${nested('"$a" ')}`],
    ['redirections', nested('>a ')],
    ['assignments', nested('a=1 ')],
    ['brackets', nested('[')],
    ['brace products', `echo ${'{a,b}'.repeat(5000)}`],
    ['changes of directory', 'cd a; '.repeat(5000)],
    ['awk patterns', `awk '${nested('/[a/')}'`],
    ['sed commands', `sed '${nested('s/[/')}'`],
    ['python', `python -c '${nested('import ')}'`],
    ['javascript', `node -e '${nested('[a][')}'`],
    ['perl', `perl -pe 's/${nested('\\')}'`],
    [
      'nested shells',
      Array.from({ length: 200 }).reduce<string>(
        (line) => (line.length > 60_000 ? line : `sh -c ${JSON.stringify(line)}`),
        'ls',
      ),
    ],
    ['too long', 'a '.repeat(100_000)],
    ['much too long', '$('.repeat(5_000_000)],
  ])('%s are analyzed quickly', (_, line) => {
    let least = Number.POSITIVE_INFINITY
    for (let tries = 0; tries < 3 && least >= 500; tries++) {
      const start = cpuTime()
      analyzeCommand(line, policy)
      least = Math.min(least, cpuTime() - start)
    }
    expect(least).toBeLessThan(500)
  })

  it.each([
    ['parentheses', nested('(', ')')],
    ['substitutions', nested('$(', ')')],
    ['quotes', `${nested('"$(', ')"')}`],
    ['here-documents', Array.from({ length: 4000 }, (_, i) => `<<E${i}`).join(' ')],
    ['ifs', nested('if ')],
    ['backquotes', nested('`\\`')],
    ['a forbidden word after much', `${nested('a;')}forbidden`],
  ])('%s are refused', (_, line) => {
    expect(analyzeCommand(line, policy).decision).toBe('deny')
  })

  it('take time linear in the length of the line', () => {
    const cost = (line: string): number => {
      const times = Array.from({ length: 3 }, () => {
        const start = cpuTime()
        analyzeCommand(line, policy)
        return cpuTime() - start
      })
      return Math.min(...times)
    }
    for (const unit of ['echo "a$b" | cat;', 'a && ', "echo 'x' >f;", 'env A=1 ls;', 'x=1;', 'cd a;']) {
      const short = unit.repeat(150)
      const long = unit.repeat(900)
      cost(short)
      expect(cost(`${long}ls`)).toBeLessThan(6 * cost(`${short}ls`) * 2 + 10)
    }
  })
})

describe('arbitrary text', () => {
  const piece = fc.constantFrom(
    ...'a ls sudo forbidden $( ) ` " \' \\ ; & && | || > < << EOF ( ) { } [ ] [[ ]] $ ${ $x x= ! # ~ * ? - -c sh env eval if then fi do done case esac in for while'.split(
      ' ',
    ),
    '\n',
    ' ',
    '\t',
  )
  const text = fc
    .array(fc.oneof(piece, piece, fc.string({ unit: anyCharacter, maxLength: 3 })), { maxLength: 40 })
    .map((parts) => parts.join(''))

  it('gets a deterministic verdict', () => {
    fc.assert(
      fc.property(text, (line) => {
        const verdict = analyzeCommand(line, policy)
        expect(['allow', 'deny']).toContain(verdict.decision)
        expect(verdict.decision === 'allow').toBe(verdict.reasons.length === 0)
        expect(analyzeCommand(line, policy)).toEqual(verdict)
      }),
      { numRuns: times(20, 1500) },
    )
  })

  it('is data in single quotes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 60 }), (data) => {
        const quoted = `'${data.replaceAll("'", `'\\''`)}'`
        expect(analyzeCommand(`echo ${quoted}`, policy)).toMatchObject({
          decision: 'allow',
          commands: [{ args: [data] }],
        })
        expect(analyzeCommand(`grep -e ${quoted} notes.md`, policy).decision).toBe('allow')
      }),
      { numRuns: times(15, 1000) },
    )
  })
})

it('analyzeCommand(): passes on errors that a rule throws', () => {
  const decide = () => {
    throw new Error('no word')
  }
  expect(() => analyzeCommand('ls', {}, { decide })).toThrow('no word')
})
