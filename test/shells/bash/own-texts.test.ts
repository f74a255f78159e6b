import { getCommandNames } from 'just-bash'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../../dist/backends/memory/index.js'
import { createWorkspace } from '../../../dist/index.js'
import { bash } from '../../../dist/shells/bash/index.js'
import { everyNth } from '../../counts.ts'

/** What only the interpreter's own package has: its names, options, packages, documentation and environments. */
const foreign =
  /just-?bash|BashEnv|\bBash\(|executionLimits|npm install|\(apt\)|\(brew\)|mongodb|liblzma|vercel|browser|CPython|Emscripten|InternalError|accounting|stack overflow|\bcurl\b/i

describe('the commands of bash(), as published', () => {
  const names = getCommandNames()
  const helps = [
    ...names.flatMap((name) => [`${name} --help`, `help ${name}`]),
    'help',
    'cat /proc/version',
    'uname -a',
  ]
  const files = {
    'a.txt': 'one\n',
    'helps.sh': `${helps.map((line) => `${line} 2>&1 < /dev/null`).join('\n')}\n`,
    'calls.sh': 'f() { f; }\nf\n',
    'sources.sh': 'source sources.sh\n',
  }
  const endless = Object.keys(files).filter((name) => name.endsWith('.sh') && name !== 'helps.sh')
  const open = () => createWorkspace({ backend: memory(files), policy: 'autonomous', shell: bash({ worker: false }) })
  let workspace: Awaited<ReturnType<typeof open>>
  beforeAll(async () => {
    workspace = await open()
  })
  afterAll(() => workspace.close())

  it.each(
    everyNth(
      [
        'bash helps.sh',
        'tar -cJf a.txz a.txt',
        'tar --zstd -cf a.tzst a.txt',
        'tar -caf a.tar.xz a.txt',
        'tar -caf a.tar.zst a.txt',
        ...['python', 'python3', 'sqlite3', 'js-exec'].map((name) => `${name} a.txt`),
        'while true; do true; done 2>&1 | cat',
        ...endless.flatMap((name) => [`bash ${name}`, `bash ${name} 2>&1 | cat`, `timeout 20 sh ${name} 2> e; cat e`]),
        ...['source calls.sh', `node -e 'function f() { f() }; f()'`, `node -e '"x".repeat(1e9)'`].flatMap(
          (failure) => [
            `{ ${failure}; } 2>&1 | cat`,
            `{ ${failure}; } 2> e; cat e`,
            `x=$( { ${failure}; } 2>&1 ); echo "$x"`,
          ],
        ),
      ],
      5,
    ),
  )('%s says nothing about another package', async (command) => {
    const result = await workspace.callTool('run_command', { command, timeoutMs: 60_000 })
    const text = JSON.stringify(result).replaceAll(command, '')
    expect(text.length).toBeGreaterThan(20)
    expect(foreign.exec(text)?.[0]).toBeUndefined()
  })

  it.each([
    ['eval if', 'bash: line 1: syntax error: unexpected end of file\n'],
    ['if true; then', "bash: line 2: syntax error near unexpected token `fi'\n"],
    ['echo $((1/0))', 'bash: division by 0\n'],
    ["awk 'BEGIN { print ( }'", 'awk: line 1: syntax error at or near }\n'],
    ["awk '{ print $1'", 'awk: line 1: syntax error at or near end of file\n'],
    ["jq '.a[' a.txt", 'jq: syntax error: unexpected end of file at position 3\n'],
    ["jq '{a' a.txt", "jq: syntax error: expected '}' at position 2, not end of file\n"],
    [`${'{ '.repeat(300)}:${'; }'.repeat(300)}`, 'bash: line 1: too large, or nested too deeply, for this shell\n'],
  ])('name no token of a parser: %.30s', async (script, stderr) => {
    const { callTool, close } = await createWorkspace({
      backend: memory({ 's.sh': `${script}\n`, 'a.txt': '{}' }),
      policy: 'autonomous',
      shell: bash({ worker: false }),
    })
    for (const command of [
      'bash s.sh',
      '{ . ./s.sh; } 2>&1 >/dev/null | cat >&2',
      'for i in 1; do bash s.sh; done 2> e; cat e >&2',
    ]) {
      const result = (await callTool('run_command', { command })) as { stderr?: string }
      expect([command, result.stderr?.replace('s.sh: ', '').replace('./', '')]).toEqual([command, stderr])
    }
    await close()
  })

  it('has a home directory without HOME', async () => {
    const tree = { 'h.sh': 'unset HOME; echo ~ ~/a; HOME=/x; echo ~\n' }
    const { callTool, close } = await createWorkspace({
      backend: memory(tree),
      policy: 'autonomous',
      shell: bash({ worker: false }),
    })
    expect(await callTool('run_command', { command: 'bash h.sh' })).toMatchObject({
      stdout: expect.stringContaining('/workspace /workspace/a\n/x\n') as unknown,
    })
    await close()
  })

  const terms = `${'1+'.repeat(20_000)}1`
  const parentheses = `${'('.repeat(20_000)}x${')'.repeat(20_000)}`
  it.each(
    everyNth(
      [
        `echo $((${terms}))`,
        `let 'x=${terms}'`,
        `a[${terms}]=1`,
        `x=abc; echo \${x:${terms}}`,
        `for ((i=0; i<${terms}; i++)); do :; done`,
        `((${terms}))`,
        `[[ ${terms} -eq 1 ]]`,
        `declare -i n='${terms}'`,
        `[[ x =~ ${parentheses} ]]`,
        `expr ${'\\( '.repeat(20_000)} 1 ${'\\) '.repeat(20_000)}`,
        `find . ${'\\( '.repeat(5_000)} -name a ${'\\) '.repeat(5_000)}`,
        `awk 'BEGIN { print ${parentheses} }'`,
      ],
      6,
    ),
  )('says nothing of the engine, however large it is: %.20s', async (script) => {
    const { callTool, close } = await createWorkspace({
      backend: memory({ 's.sh': `${script}\n` }),
      policy: 'autonomous',
      shell: bash({ worker: false }),
    })
    const result = await callTool('run_command', { command: 'bash s.sh', timeoutMs: 9_000 })
    await close()
    expect(JSON.stringify(result)).not.toMatch(/call stack|RangeError|recursion \(|Invalid \w+ length|out of memory/i)
  })
})
