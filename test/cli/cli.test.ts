import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli, runHere } from './run-cli.ts'
import { withPolicy } from './with-policy.ts'

describe('the command line', () => {
  let home: string
  let root: string

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'wardspace-cli-'))
    root = join(home, 'project')
    await mkdir(join(root, 'src'), { recursive: true })
    await writeFile(
      join(root, 'src/app.ts'),
      'export function answer() {\n  return 41\n}\n\nexport function other() {\n  return 41\n}\n',
    )
    await writeFile(join(root, '.env'), 'PASSWORD=hunter2\n')
  })

  afterEach(() => rm(home, { recursive: true, force: true }))

  const run = (...args: string[]) => runWithoutPolicy(...withPolicy(args))

  const runWithoutPolicy = (...args: string[]) =>
    runCli(args, { env: { XDG_STATE_HOME: join(home, 'state') }, cwd: root })

  it('exits with 0 for success, 1 for a refusal and 2 for wrong usage', async () => {
    const ok = await run('call', 'read_file', '{"path":"src/app.ts"}', '--root', root)
    expect(ok.code).toBe(0)
    expect(JSON.parse(ok.stdout)).toMatchObject({ ok: true, totalLines: 7 })
    const refused = await run('call', 'read_file', '{"path":".env"}', '--root', root)
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    for (const wrong of [
      ['call'],
      ['call', 'read_file', '{'],
      ['nonsense'],
      ['tools', '--nonsense'],
      ['call', 'a', '{}', 'b'],
      ['call', 'read_file', '{}', '--policy', 'nonsense'],
      ['call', 'read_file', '{}', '--policy', './absent.json'],
    ]) {
      // A command and an unknown one in a process of their own, too.
      for (const result of [await runHere(withPolicy(wrong)), ...(wrong.length === 1 ? [await run(...wrong)] : [])]) {
        const { code, stderr } = result
        expect({ wrong, code }).toEqual({ wrong, code: 2 })
        expect(stderr).toMatch(/^wardspace: /)
        expect(stderr).not.toMatch(/\n\s+at /)
      }
    }
  })

  it.each([
    ...['acp', 'approve', 'audit', 'call', 'demo', 'mcp', 'overlay', 'policy', 'replay', 'report', 'tools'].flatMap(
      (name) => [
        [name, '--help'],
        [name, '-h'],
      ],
    ),
    ['policy', 'check', '--help'],
    ['audit', 'verify', '--help'],
  ])('prints the help for %s %s %s', async (...words) => {
    const given = words.filter((word) => word !== undefined)
    const { code, stdout } = await runHere(given)
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^ {2}wardspace ${given[0]} `))
    // One in a process of its own, too.
    if (given[0] === 'mcp') expect(await runWithoutPolicy(...given)).toEqual({ code, stdout, stderr: '' })
  })

  it('ends with 2 without a policy, and names the presets', async () => {
    for (const words of [
      ['call', 'read_file', '{}'],
      ['mcp'],
      ['policy', 'explain', 'read_file', 'a'],
      ['policy', 'check'],
    ]) {
      // One in a process of its own, too.
      if (words.length === 1) expect(await runWithoutPolicy(...words)).toMatchObject({ code: 2 })
      const { code, stderr } = await runHere(words)
      expect({ words, code }).toEqual({ words, code: 2 })
      expect(stderr).toContain('A policy is required: name readOnly, supervised, autonomous')
    }
  })

  it('lists the tools, as text and as JSON Schema', async () => {
    expect((await run('tools')).stdout).toMatch(/^search_text\s+reads/m)
    const schemas = JSON.parse((await run('tools', '--json', '--read-only')).stdout) as {
      name: string
      inputSchema: { type: string }
    }[]
    expect(schemas.every(({ inputSchema }) => inputSchema.type === 'object')).toBe(true)
    expect(schemas.map(({ name }) => name)).not.toContain('write_file')
  })

  it('writes the audit to a file outside the root, and refuses one inside', async () => {
    const audit = join(home, 'audit.jsonl')
    await run('call', 'write_file', '{"path":"a.txt","content":"a"}', '--root', root, '--audit', audit)
    const records = (await readFile(audit, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(records.map(({ phase }) => phase)).toEqual(['intent', 'outcome'])
    const inside = await run(
      'call',
      'write_file',
      '{"path":"b.txt","content":"b"}',
      '--root',
      root,
      '--audit',
      join(root, 'audit.jsonl'),
    )
    expect(inside.code).toBe(2)
    expect(await readdir(root)).toEqual(['.env', 'a.txt', 'src'])
  })

  it('plays the demo on a copy with the expected refusals, and does not change the disk', async () => {
    const before = await readFile(join(root, 'src/app.ts'), 'utf8')
    const { code, stdout } = await run('demo', root)
    expect(stdout).toContain('chain intact')
    for (const refusal of [
      'PATH_REJECTED',
      'POLICY_DENIED_SECRET',
      'WRITE_CONFLICT',
      'EDIT_AMBIGUOUS',
      'EDIT_NO_MATCH',
      'POLICY_DENIED',
      'INVALID_PATTERN',
      'PLAN_MODE',
      'APPROVAL_DENIED',
    ]) {
      expect(stdout).toContain(`✗ ${refusal}`)
    }
    expect(stdout).not.toContain('hunter2')
    expect(code).toBe(0)
    expect(await readFile(join(root, 'src/app.ts'), 'utf8')).toBe(before)
    expect(await readdir(root)).toEqual(['.env', 'src'])
  })

  it('plays the demo in an empty folder', async () => {
    const empty = join(home, 'empty')
    await mkdir(empty)
    for (const where of [['--root', empty], [empty]]) {
      expect(await run('demo', ...where)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('✗ EDIT_AMBIGUOUS'),
      })
    }
    expect(await readdir(empty)).toEqual([])
  })
})
