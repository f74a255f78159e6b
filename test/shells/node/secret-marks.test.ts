import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { probeSandbox } from '../../../src/shells/node/probe.ts'
import { part, times } from '../../counts.ts'
import { letters, passwords, shortest, tokens } from '../../files/secrets/tokens.ts'
import { until } from '../../until.ts'
import { nodeBench } from './setup.ts'

const probe = probeSandbox()

/** Lines that bring a part of the secret in `t.txt` out of its context. */
const lines = [
  'sed s/^/x/ t.txt; cut -c3- t.txt; tr "\\n" x < t.txt; cat g.txt t.txt',
  'cat t.txt >> g.txt; cat g.txt',
  'tail -c +2 t.txt | tee -a g.txt',
  'sed s/^/x/ t.txt > n.txt; cut -c4- t.txt > m.txt; mkdir d; cut -c5- t.txt > d/o.txt',
  'sed -i s/^/x/ t.txt; cat t.txt >&2',
  'ln t.txt h.txt; sed s/^./7/ h.txt > n.txt',
  'ln -s "x$(head -n 1 t.txt | tr -d / | cut -c4-80)" s.txt',
  'touch "x$(head -n 1 t.txt | tr -d /: | cut -c4-80)"; mkdir "d-$(head -n 1 t.txt | tr -d /: | cut -c4-80)"',
  'cp t.txt n.txt; printf 7A >> n.txt; printf x | cat - n.txt > m.txt',
]

/** Secrets of at least twenty characters: shorter ones cannot be found in the output of a program. */
const secrets = [...tokens, ...passwords]
  .map(([kind, before, secret, after]) => ({ kind, before, secret, after: after.trimEnd() }))
  .concat(
    shortest.map(([kind, prefixes, body]) => ({ kind, before: '', secret: prefixes.split(' ')[0] + body, after: '' })),
  )
  .filter(({ secret }) => secret.length >= 20)

describe('programs that open files by themselves', () => {
  it(`do not show a hidden secret: ${lines.length} lines`, async () => {
    const { run, workspace, snapshot } = await nodeBench({ 'g.txt': 'ends in x' })
    const leaks: string[] = []
    for (const { kind, before, secret, after } of part(secrets.filter((_, index) => index % times(29, 1) === 0))) {
      const content = `${before}${secret}${after}\nlast line\n`
      const created = await workspace.callTool('write_file', { path: 't.txt', content, mode: 'CREATE_NEW' })
      expect(created.ok).toBe(true)
      const calls = [created.callId as string]
      for (const line of lines) {
        const result = await run(line)
        if (result.ok) calls.push(result.callId)
        const files = Object.entries(await snapshot()).filter(([path]) => !/^(?:t|h|n)\.txt$/.test(path))
        const read = []
        for (const path of ['t.txt', 'g.txt', 'n.txt', 'm.txt', 'd/o.txt', 'h.txt']) {
          read.push(await workspace.callTool('read_file', { path }))
        }
        const visible = JSON.stringify([result, read, files.map(([path]) => path), workspace.auditRecords().slice(-8)])
        for (let at = 0; at + 12 <= secret.length; at++) {
          if (!visible.includes(secret.slice(at, at + 12))) continue
          leaks.push(`${kind} (${before}): ${line}`)
          break
        }
      }
      for (const callId of calls.reverse()) await workspace.undo(callId)
    }
    expect(leaks).toEqual([])
  })

  it('do not lose a file that they move and change, if the change is refused', async () => {
    const { run, snapshot } = await nodeBench({ 't.txt': `${secrets[0]?.secret}\n` })
    const before = await snapshot()
    expect(await run('mv t.txt u.txt; sed -i s/^/x/ u.txt')).toMatchObject({ ok: false, code: 'POLICY_DENIED_SECRET' })
    expect(await snapshot()).toEqual(before)
  })

  it('show and change nothing if the files hold more secrets than the table has room for', async () => {
    const { run, root, snapshot } = await nodeBench()
    const [, , secret] = tokens.find(([kind]) => kind === 'github-token') as (typeof tokens)[number]
    // Tokens of 4 Mi characters and more, in files that are small enough to be searched.
    for (let file = 0; file < 5; file++) {
      const lines = Array.from({ length: 4800 }, (_, line) => `ghp_${`${file}x${line}z`.padEnd(200, 'aB3dE6gH9jK2')}`)
      writeFileSync(join(root, `${file}.txt`), lines.join('\n'))
    }
    writeFileSync(join(root, 't.txt'), `${secret}\n`)
    const before = await snapshot()
    const refusal = {
      code: 'LIMIT_EXCEEDED',
      limit: 'characters of secrets in the files of a call',
      value: 4 * 1024 * 1024,
    }
    for (const line of ['cat t.txt', 'cut -c3- t.txt', 'printf a > x.txt; cat t.txt >&2']) {
      const answer = await run(line)
      expect(answer, line).toMatchObject({ ok: false, ...refusal })
      expect(JSON.stringify(answer)).not.toContain(secret.slice(8, 20))
      expect(await snapshot()).toEqual(before)
    }
    expect(await run('cut -c3- t.txt > n.txt')).toMatchObject({
      filesChanged: [],
      refused: [{ path: 'n.txt', code: 'LIMIT_EXCEEDED' }],
    })
    expect(await snapshot()).toEqual(before)
    // Without anything that could be a piece of a secret, no file is searched.
    expect(await run('echo done')).toMatchObject({ stdout: 'done\n' })
  })

  it.each(['utf-16le', 'utf-16be'] as const)('do not show a whole secret in %s', async (encoding) => {
    const { run, root } = await nodeBench()
    const [, , secret] = tokens.find(([kind]) => kind === 'github-token') as (typeof tokens)[number]
    for (const start of ['', '\ufeff']) {
      const units = Buffer.from(`${start}key: ${secret}\n`, 'utf16le')
      writeFileSync(join(root, 't.txt'), encoding === 'utf-16le' ? units : units.swap16())
      for (const line of ['cat t.txt', 'cat t.txt >&2', 'head -c 400 t.txt', 'tr -d "\\0" < t.txt']) {
        const { stdout, stderr } = await run(line)
        const output = `${stdout}${stderr}`.replaceAll('\0', '')
        expect(output).toContain('[REDACTED:github-token')
        expect(output).not.toContain(secret)
      }
    }
  })
})

describe.each(['none', 'sandbox'] as const)('check_command of a program, with %s', (name) => {
  const sandbox = name === 'none' ? 'none' : 'sandbox' in probe ? probe.sandbox : undefined

  // The platform may have no sandbox.
  it.skipIf(sandbox === undefined)('shows no part of a token that arrives in pieces', async () => {
    const token = `ghp_${letters(36)}`
    const { workspace } = await nodeBench({ 't.txt': `${token}\n` }, sandbox === undefined ? {} : { sandbox })
    for (const first of [1, 5]) {
      const command = `for i in 0 4 8 12 16 20 24 28 32 36; do cut -c$((${first} + i))-$((${first} + 3 + i)) t.txt | tr -d '\\n'; sleep 0.05; done`
      const started = await workspace.callTool('start_command', { command })
      let shown = ''
      await until('the end', async () => {
        const answer = await workspace.callTool('check_command', { id: started.id as string })
        shown += answer.stdout
        return answer.state === 'ended'
      })
      expect(shown).toMatch(/^\[REDACTED:github-token:[0-9]\]$/)
    }
  })
})
