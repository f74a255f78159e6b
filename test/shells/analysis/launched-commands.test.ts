import { describe, expect, it } from 'vitest'
import { analyzeCommand } from '../../../src/shells/analysis/index.ts'
import { launchers } from '../../../src/shells/analysis/launchers.ts'
import { packageManagers } from '../../../src/shells/analysis/package-managers.ts'
import { wrappers } from '../../../src/shells/analysis/wrappers.ts'

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
    expect(decisionOf(name, [name])).toBe('allow')
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
