import { describe, expect, it } from 'vitest'
import { bubblewrap } from '../../../src/shells/node/bubblewrap.ts'
import { probeSandbox } from '../../../src/shells/node/probe.ts'
import { watchMasks } from '../../../src/shells/node/watch-masks.ts'
import { nodeBench } from './setup.ts'

const probe = probeSandbox()
const reason = 'why' in probe ? `, not available on this machine: ${probe.why}` : ''
const sandboxes = 'sandbox' in probe ? [probe.sandbox] : []
const tree = { '.env': 'PLANTED=1\n', 'conf/key.pem': 'PLANTED\n', 'private.txt': 'PLANTED\n', 'a.txt': 'a\n' }
const policy = { preset: 'autonomous', deniedPaths: ['private.txt'] } as const

describe.skipIf(reason !== '')(`attempts to read a masked file in a sandbox${reason}`, () => {
  const options = { sandbox: sandboxes[0] ?? bubblewrap(), graceMs: 200 }
  const attempts = [
    ['cat', 'cat .env'],
    ['bash itself', 'source .env; read -r x < .env'],
    ['cp, through a link', 'ln -s .env l; cp l x; cat x; rm -f x l'],
    ['node', `node -p "fs.readFileSync('.env', 'utf8')"`],
    ['a background process', 'cat .env & sleep 0.3'],
    ['many readers at once', 'for i in 1 2 3 4 5 6 7 8; do cat .env & done; wait'],
  ] as const
  it.each(attempts)('appear in the result and the audit: %s', async (_, line) => {
    const { run, workspace } = await nodeBench(tree, options, { policy })
    const result = await run(line)
    expect(JSON.stringify(result)).not.toContain('PLANTED')
    expect(result.refused).toEqual([expect.objectContaining({ path: '.env', code: 'POLICY_DENIED_SECRET' })])
    const refusal = { permission: 'file:read', path: '.env', code: 'POLICY_DENIED_SECRET' }
    expect(workspace.auditRecords().at(-1)?.refusals).toEqual([refusal])
  })

  it('are listed per file, and not for commands that only list or stat', async () => {
    const { run } = await nodeBench(tree, options, { policy })
    expect((await run('ls -la . conf; stat .env; test -e .env; grep -r a . ; cat a.txt')).refused).toBeUndefined()
    const { refused, stdout } = await run('cat conf/key.pem private.txt; echo more >> .env || echo closed')
    expect(refused).toEqual([
      expect.objectContaining({ path: 'conf/key.pem', code: 'POLICY_DENIED_SECRET' }),
      expect.objectContaining({ path: 'private.txt', code: 'POLICY_DENIED' }),
    ])
    expect(stdout).toBe('closed\n')
  })

  it('are recorded for a command that times out and for one in the background', async () => {
    const { run, workspace } = await nodeBench(tree, options, { policy })
    const check = async (id: string) => (await workspace.call('check_command', { id })) as object
    const secret = { permission: 'file:read', path: '.env', code: 'POLICY_DENIED_SECRET' }
    const refusals = () => workspace.auditRecords().flatMap((record) => record.refusals ?? [])
    await workspace.call('start_command', { command: 'cat .env; sleep 60', timeoutMs: 1500 })
    const late = await run('cat .env; sleep 60', { timeoutMs: 1500 })
    expect(late).toMatchObject({ code: 'COMMAND_TIMEOUT', refused: [{ path: '.env' }] })
    const ended = { state: 'ended', exitCode: 124, stderr: 'The command did not end within 1500 ms\n' }
    await expect.poll(() => check('process-1'), { timeout: 20_000 }).toMatchObject(ended)
    const before = refusals()
    expect(before).toEqual([secret, secret])
    await workspace.call('start_command', { command: 'cat .env; echo done' })
    await expect.poll(() => check('process-2'), { timeout: 20_000 }).toMatchObject({ state: 'ended' })
    expect(refusals().slice(before.length)).toContainEqual(secret)
  })

  it('fail on files beyond the watched number, without a record', async () => {
    const many = Array.from({ length: 150 }, (_, i) => ({ kind: 'f', path: `${i}.pem` }) as const)
    const unnamed = ['a\\b.pem', './c.pem'].map((path) => ({ kind: 'f', path }) as const)
    const masks = [...unnamed, ...many]
    const { mkdirSync, mkdtempSync, rmSync } = await import('node:fs')
    const commandDir = mkdtempSync('/tmp/attempts-')
    mkdirSync(`${commandDir}/void`)
    const watched = await watchMasks(commandDir, masks)
    expect(watched.masks.filter(({ source }) => source !== undefined)).toHaveLength(100)
    expect(watched.masks.slice(0, 2)).toEqual(unnamed)
    expect(watched.stop({ refuse: (_permission, _path, error) => error })).toBe(0)
    rmSync(commandDir, { recursive: true })
  })
})
