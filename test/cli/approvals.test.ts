import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace, type Failure } from '../../src/index.ts'
import { approvalText } from '../../src/policy/approval-text.ts'
import { directoryParking } from '../../src/policy/directory-parking.ts'
import { runCli } from './run-cli.ts'
import { withPolicy } from './with-policy.ts'

const edit = { path: 'a.txt', oldText: 'one', newText: 'uno' }

describe('approvals on the command line', () => {
  let home: string
  let root: string
  let waiting: string

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'wardspace-approvals-'))
    root = join(home, 'project')
    waiting = join(home, 'waiting')
    await mkdir(root)
    await writeFile(join(root, 'a.txt'), 'one\n')
  })

  afterEach(() => rm(home, { recursive: true, force: true }))

  const text = () => readFile(join(root, 'a.txt'), 'utf8')

  const run = (args: readonly string[], stdin = '') =>
    runCli(withPolicy(args), { env: { XDG_STATE_HOME: join(home, 'state') }, cwd: root, stdin })

  it.each([
    ['edit_file', edit, 'supervised', '--ask asks on stderr, and --parked DIR keeps the call'],
    ['run_command', { command: 'ls' }, 'autonomous', '--shell bash'],
  ])('name the option that a refused call of %s lacks', async (tool, input, policy, advice) => {
    const { code, stderr } = await run(['call', tool, JSON.stringify(input), '--policy', policy])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(advice) })
  })

  it('are not looked for in a missing directory, which is not created', async () => {
    const missing = join(home, 'waitnig')
    const { code, stderr } = await run(['approve', '--parked', missing])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('there is no directory') })
    expect(await readdir(home)).not.toContain('waitnig')
  })

  it('wait in one process and are answered once in another', async () => {
    const options = ['--policy', 'supervised', '--parked', waiting]
    const question = await run(['call', 'edit_file', JSON.stringify(edit), ...options])
    expect({ code: question.code, stderr: question.stderr }).toEqual({ code: 1, stderr: '' })
    const { code, approvalId } = JSON.parse(question.stdout) as Failure
    expect(code).toBe('APPROVAL_REQUIRED')
    expect(await text()).toBe('one\n')

    const listed = await run(['approve', ...options])
    expect(listed.stdout).toContain(String(approvalId))
    expect(listed.stdout).toContain('+uno')

    const audit = join(home, 'audit.jsonl')
    const answered = await run(['approve', String(approvalId), 'yes', ...options, '--audit', audit])
    expect(JSON.parse(answered.stdout)).toMatchObject({ ok: true, path: 'a.txt' })
    expect(await text()).toBe('uno\n')
    expect(await readFile(audit, 'utf8')).toContain(`"by":"${userInfo().username}"`)

    const replayed = await run(['approve', String(approvalId), 'yes', ...options])
    expect(JSON.parse(replayed.stdout)).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    expect(await readdir(waiting)).toEqual([])
  })

  it('are asked in the terminal: the diff on stderr, the answer from stdin', async () => {
    const call = ['call', 'edit_file', JSON.stringify(edit), '--policy', 'supervised', '--ask']
    const denied = await run(call, 'not today\n')
    expect(denied.stderr).toMatch(/Approval needed\n.*edit_file on a\.txt[\s\S]*-one\n\+uno/)
    expect(JSON.parse(denied.stdout)).toMatchObject({
      code: 'APPROVAL_DENIED',
      message: expect.stringContaining('not today'),
    })
    expect(await text()).toBe('one\n')
    const silent = await run(call)
    expect(JSON.parse(silent.stdout)).toMatchObject({ code: 'APPROVAL_DENIED' })
    const allowed = await run(call, 'y\n')
    expect(JSON.parse(allowed.stdout)).toMatchObject({ ok: true })
    expect(await text()).toBe('uno\n')
  })

  async function parkedIn(directory: string, limits = {}, clock = Date.now) {
    const workspace = await createWorkspace({
      backend: nodeBackend(root),
      policy: 'supervised',
      parked: directoryParking(directory),
      limits,
      clock,
    })
    return { workspace, [Symbol.asyncDispose]: () => workspace.close() }
  }

  it('apply to the version that was shown: a file that has changed is a conflict, and keeps its content', async () => {
    const { workspace } = await parkedIn(waiting)
    const failure = (await workspace.call('edit_file', edit)) as Failure
    await writeFile(join(root, 'a.txt'), 'zero\none\n')
    const other = await parkedIn(waiting)
    expect(await other.workspace.resume(String(failure.approvalId), 'allow')).toMatchObject({
      code: 'WRITE_CONFLICT',
      currentSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(await text()).toBe('zero\none\n')
    await workspace.close()
    await other.workspace.close()
  })

  it('expire at the exact millisecond, for any answer', async () => {
    let now = 1_000_000
    const { workspace } = await parkedIn(waiting, { approvalMs: 5000 }, () => now)
    const ask = async () => String(((await workspace.call('edit_file', edit)) as Failure).approvalId)
    const [late, denied, intime] = [await ask(), await ask(), await ask()]
    now += 4999
    expect(await workspace.resume(intime, { deny: 'no' })).toMatchObject({ code: 'APPROVAL_DENIED' })
    now += 1
    for (const [id, answer] of [
      [late, 'allow'],
      [denied, { deny: 'no' }],
    ] as const) {
      const result = await workspace.resume(id, answer)
      expect(result).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('too late') })
    }
    expect(await text()).toBe('one\n')
    expect(await readdir(waiting)).toEqual([])
    await workspace.close()
  })

  it('are taken by the first process only, and are readable only by their owner', async () => {
    const parking = directoryParking(waiting)
    const { workspace } = await parkedIn(waiting)
    const id = String(((await workspace.call('edit_file', edit)) as Failure).approvalId)
    expect((await stat(waiting)).mode & 0o077).toBe(0)
    for (const name of await readdir(waiting)) expect((await stat(join(waiting, name))).mode & 0o077).toBe(0)
    expect(parking.list().map((call) => call.id)).toEqual([id])
    const attempts = Array.from({ length: 5 }, () => directoryParking(waiting).take(id))
    expect((await Promise.all(attempts)).filter((call) => call !== undefined)).toHaveLength(1)
    expect(await parking.take('../../etc/passwd')).toBeUndefined()
    await workspace.close()
  })

  it('cannot be stored inside the root, where an agent could reach them', async () => {
    const backend = nodeBackend(root)
    const inside = directoryParking(join(root, 'waiting'))
    await expect(createWorkspace({ backend, policy: 'supervised', parked: inside })).rejects.toThrow(TypeError)
    await backend.close()
  })

  it('are printed without control characters', async () => {
    let question = ''
    const workspace = await createWorkspace({
      backend: memory({}),
      policy: 'supervised',
      approve(request) {
        question = approvalText(request)
        return 'allow'
      },
    })
    const content = 'a\u001b[2J\u001b]0;x\u0007\r\u202eb\u0085c\u2028d'
    await workspace.call('write_file', { path: 'x.txt', content, reason: '\u001b[1A' })
    expect(question).toContain('\\u{1b}[2J')
    expect(question).toContain('\\u{202e}')
    expect(question).not.toMatch(/[^\P{Cc}\n\t]|[\p{Cf}\u2028\u2029]/u)
    const big = `${'x\n'.repeat(50_000)}`
    await workspace.call('write_file', { path: 'big.txt', content: big })
    expect(question.length).toBeLessThan(20_000)
    expect(question).toContain('more characters')
  })
})
