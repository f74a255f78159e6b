import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { nodeShell } from '../../../src/shells/node/index.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'
import { allowing, filesFor, refusing, scripts } from '../bash/started-commands.ts'

const base = mkdtempSync(join(tmpdir(), 'script-files-'))
const root = join(base, 'root')
mkdirSync(root)
afterAll(() => rmSync(base, { recursive: true }))

const preset = { preset: 'autonomous', tools: { run_command: 'allow' } } as const

/** Returns the decision on a line in a workspace whose `s.sh` is the script, without running it. */
async function decide(script: string, line: string, policy: object): Promise<string> {
  const tree = {
    ...filesFor(script),
    'd/a.txt': '',
    'n.js': '#!/usr/bin/env node\nrm x.txt\n',
    'big.sh': 'ls\n'.repeat(900),
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

/** Scripts whose command only the run shows. */
const unknown = /\$c |\$\{c%x\} |\$\{!d\}|\$\(echo rm\)|"\$1" x|"\$v"|echo "?rm x\.txt"? \||alias|<<< "rm|PATH=|env$/

/** Scripts whose arguments only the run shows, so that an entry with arguments does not match. */
const unknownArguments = /xargs|-exec|rm "\$[f@]"/

describe('a script that a line of nodeShell() runs', () => {
  it.each(Object.entries(refusing))('is read and refused by %s', async (name, policy) => {
    const expected = name === 'a rule that asks' ? 'ask' : 'deny'
    const failed: string[] = []
    for (const line of lines) if ((await decide('rm x.txt', line, policy)) !== expected) failed.push(line)
    for (const script of Object.values(scripts)) {
      const decision = await decide(script, 'bash s.sh', policy)
      const isUnknown = unknown.test(script) || (name === 'a denylist with arguments' && unknownArguments.test(script))
      const isWritten = decision === 'deny' && script.includes('w.sh')
      if (decision !== expected && !isWritten && !(decision === 'allow' && isUnknown)) failed.push(script)
    }
    expect(failed).toEqual([])
  })

  it.each(Object.entries(allowing))('runs if %s does not refuse it', async (name, policy) => {
    const failed: string[] = []
    for (const script of Object.values(scripts)) {
      const isUnknown = name === 'an allowlist' && (unknown.test(script) || unknownArguments.test(script))
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
