import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { probeSandbox } from '../../../src/shells/node/probe.ts'
import { isLong, part, times } from '../../counts.ts'
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
    for (const { kind, before, secret, after } of part(secrets.filter((_, index) => index % times(613, 1) === 0))) {
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

  it.runIf(isLong)('show and change nothing if the files hold more secrets than the table has room for', async () => {
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
    for (const line of isLong
      ? ['cat t.txt', 'cut -c3- t.txt', 'printf a > x.txt; cat t.txt >&2']
      : ['cut -c3- t.txt']) {
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

const key = 'QwErTyUiOpAsDfGhJkLzXcVbNm'.repeat(3).slice(0, 64)

/** Secrets whose pieces look like ordinary text, and then those above. */
const hiddenTexts = [
  { before: 'password: "', secret: 'Tr0ub4dor&3-x9!kQ', after: '"' },
  { before: 'password: "', secret: 'a1b2.c3d4.e5f6.g7h8', after: '"' },
  { before: 'DB_PASSWORD=', secret: 'correcthorsebatterystaple', after: '' },
  { before: '', secret: `ghp_${key.slice(0, 36)}`, after: '' },
  {
    before: '-----BEGIN RSA PRIVATE KEY-----\n',
    secret: key,
    after: `\n${key.slice(1)}a\n-----END RSA PRIVATE KEY-----`,
  },
  ...secrets,
  ...[...tokens, ...passwords]
    .map(([, before, secret, after]) => ({ before, secret, after: after.trimEnd() }))
    .filter(({ secret }) => secret.length < 20),
].filter(({ secret }) => secret.length >= 12)

/** Start and length of the pieces of a secret of `length` characters. */
const pieces: readonly ((length: number) => readonly [start: number, length: number])[] = [
  () => [0, 12],
  (length) => [length - 12, 12],
  (length) => [(length - 12) >> 1, 12],
  (length) => [Math.min(4, length - 12), length - Math.min(4, length - 12)],
]

/** Brings a piece to every place where a result or a record could show it. */
const places = [
  'printf "%s\\n" "$p" "x$p y"',
  'printf %s "$p" >&2',
  'cat "nosuch$p"',
  'cd "no/$p"',
  'printf %s "$p" > n.txt',
  'printf "x%s\\n" "$p" >> g.txt',
  'n=$(printf %s "$p" | tr -d /)',
  'touch "$n" "x-$n.txt" ".env.$n" "$n.pem" "a:$n" "a\\$n" "$(printf "\\001")$n"',
  'mkdir -p "$n" "d/$n" ".git/$n" "node_modules/$n" "dist/$n" "b:$n"',
  'touch ".git/$n/x" "node_modules/$n/x" "dist/$n/x"',
  'ln -s "$p" l1',
  'ln -s x "c:$n"',
  'ln -s "../../$n" l2',
].join('; ')

/** Lines that show a piece when its file is gone. */
const removals = ['printf %s "$p"; rm t.txt', 'rm t.txt; touch "a:$p"', 'mv t.txt .env; printf %s "$p"']

/** Runs a line over a file with a secret, and returns all that a caller can see of it. */
async function seenOf(content: string, line: string, tool: 'run_command' | 'start_command'): Promise<string> {
  const { workspace, close } = await nodeBench({ 't.txt': content, 'g.txt': 'g\n' })
  const shown = await workspace.callTool('read_file', { path: 't.txt' })
  expect(shown.content).toContain('[REDACTED:')
  const first = await workspace.callTool(tool, { command: line })
  const seen: unknown[] = [first]
  if (tool === 'start_command') {
    await until('the end', async () => {
      const answer = await workspace.callTool('check_command', { id: first.id as string })
      seen.push(answer)
      return answer.state === 'ended'
    })
  }
  for (const path of ['n.txt', 'g.txt', 'l1', 't.txt']) seen.push(await workspace.callTool('read_file', { path }))
  seen.push(await workspace.callTool('list_files', {}), workspace.auditRecords(), await workspace.report())
  await close()
  return JSON.stringify(seen)
}

describe('pieces of a secret', () => {
  it('are in no result and in no record', async () => {
    const isWhole = isLong
    const sample = hiddenTexts.filter((_, index) => isWhole || index < 3 || index % 401 === 0)
    const leaks: string[] = []
    for (const [index, { before, secret, after }] of part(sample).entries()) {
      const windows = Array.from({ length: secret.length - 11 }, (_, at) => secret.slice(at, at + 12))
      for (const [turn, piece] of pieces.entries()) {
        if (!isWhole && turn !== index % pieces.length) continue
        const [start, length] = piece(secret.length)
        const setting = `p=$(head -c ${before.length + start + length} t.txt | tail -c ${length})`
        for (const line of [places, removals[(index + turn) % removals.length]]) {
          for (const tool of ['run_command', 'start_command'] as const) {
            const seen = await seenOf(`${before}${secret}${after}\n`, `${setting}; ${line}`, tool)
            const leak = windows.find((window) => seen.includes(JSON.stringify(window).slice(1, -1)))
            if (leak !== undefined) leaks.push(`${before}${secret}, ${start}+${length}, ${tool} ${line}: ${leak}`)
          }
        }
      }
    }
    expect(leaks).toEqual([])
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
