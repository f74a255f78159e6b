import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Path, ROOT } from '../../../src/paths/logical-path.ts'
import { bubblewrap } from '../../../src/shells/node/bubblewrap.ts'
import { findMasks } from '../../../src/shells/node/find-masks.ts'
import { nodeShell } from '../../../src/shells/node/index.ts'
import { probeSandbox } from '../../../src/shells/node/probe.ts'
import { isAlive, nodeBench } from './setup.ts'

const SECRET = 'planted-in-dot-env'
const probe = probeSandbox()
const name =
  'sandbox' in probe ? 'a command in a sandbox' : `a command in a sandbox, not available on this machine: ${probe.why}`
const options = 'sandbox' in probe ? { sandbox: probe.sandbox, graceMs: 200 } : {}
const confined = { policy: 'autonomous' } as const

describe.skipIf('why' in probe)(name, () => {
  it('runs without a question, and its shell declares that it is confined', async () => {
    const { run, root } = await nodeBench({ 'a.txt': 'a\n' }, options, confined)
    expect(await run('pwd; cat a.txt')).toMatchObject({ ok: true, stdout: '/workspace\na\n' })
    const shell = nodeShell({ root })
    expect(shell.capabilities).toMatchObject({ confined: true, undo: true, network: false, guarded: false })
    await shell.close()
  })

  it('cannot open a protected file by any program, name or privilege, nor one in a directory that is not a logical path', async () => {
    const tree = { '.env': `${SECRET}\n`, 'conf/.env.production': `${SECRET}\n`, '.git/config': `${SECRET}\n` }
    const { run, root, snapshot } = await nodeBench({ ...tree, 'a.txt': 'a\n' }, options, confined)
    mkdirSync(join(root, 'odd\\name'))
    writeFileSync(join(root, 'odd\\name/.env'), SECRET)
    symlinkSync('.env', join(root, 'link.txt'))
    const before = await snapshot()
    const line = [
      'for f in .env conf/.env.production link.txt "odd\\\\name/.env" .git/config; do',
      'cat "$f"; cp "$f" copy; tar cf t.tar "$f"; tar xOf t.tar; ln "$f" hard && cat hard; ln -s "$f" soft && cat soft',
      'chmod 644 "$f"; mv "$f" moved; dd if="$f"; python3 -c "print(open(\'$f\').read())"; perl -ne print "$f"',
      "node -p \"fs.readFileSync('$f', 'utf8')\"; rm -f copy t.tar hard soft moved; done",
      'grep -r planted . ; cat /proc/1/root/workspace/.env /proc/self/root/workspace/.env',
      'umount .env; unshare -r --mount sh -c "umount -l .env; cat .env"; mount --bind . /tmp && cat /tmp/.env',
      'mkdir -p /tmp/l /tmp/m; mount -t overlay o -o lowerdir=/workspace,upperdir=/tmp/l,workdir=/tmp/m /tmp/m; cat /tmp/m/.env',
      `find / -xdev -name '.env*' -exec cat {} + ; cat ${root}/.env; ls ${root}`,
    ].join('\n')
    const result = await run(line)
    expect(result.ok).toBe(true)
    expect(JSON.stringify(result)).not.toContain(SECRET)
    const { 'link.txt': _, ...after } = await snapshot()
    const { 'link.txt': __, ...expected } = before
    expect(after).toEqual(expected)
    expect(JSON.stringify(Object.keys(after))).not.toContain('copy')
  })

  it('sees no second copy of the workspace in a readable system directory', async () => {
    const parent = join(import.meta.dirname, '../../../dist')
    mkdirSync(parent, { recursive: true })
    const { run, root } = await nodeBench({ '.env': SECRET }, { ...options, readable: [parent] }, confined, parent)
    const { stdout, stderr, exitCode } = await run(
      `ls ${parent} && cat ${root}/.env; ls ${root}; cat ${root}/../root/.env`,
    )
    expect(stdout).toContain('node-shell-')
    expect(`${stdout}${stderr}`).not.toContain(SECRET)
    expect(exitCode).not.toBe(0)
  })

  it('does not start if the view cannot be set up, and the error names no physical path', async () => {
    const { run, root } = await nodeBench({ 'a.txt': '' }, { ...options, readable: ['/no/such/directory'] }, confined)
    const result = await run('echo a > a.txt')
    expect(result).toMatchObject({ ok: false, code: 'SHELL_UNAVAILABLE' })
    expect(JSON.stringify(result)).not.toContain('/no/such')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('')
  })

  it('has no network, home directory or privilege, and cannot change the system', async () => {
    const { run } = await nodeBench({}, options, confined)
    const { stdout } = await run(
      [
        'grep -c : /proc/net/dev',
        `ls ${process.env.HOME ?? '/root'} 2>/dev/null; ls /home 2>/dev/null`,
        'touch /usr/x /etc/x /x 2>/dev/null && echo changed',
        'grep CapEff /proc/self/status; unshare -r true 2>/dev/null && echo namespace',
        '(echo 1 > /proc/sys/kernel/sysrq) 2>/dev/null && echo sysctl',
        'touch /tmp/t && echo temporary; ps -e 2>/dev/null | grep -c wardspace',
      ].join('\n'),
    )
    expect(stdout).toMatch(/^1\nCapEff:\t0{16}\ntemporary\n0?\n?$/)
  })

  it('has its changes evaluated, listed, committed and undone as one call', async () => {
    const tree = { 'a.txt': 'a\n', 'gone.txt': 'g\n', 'd/old.txt': 'old\n', 'd/e/f.txt': 'f\n', 'same.txt': 's\n' }
    const { run, root, snapshot, workspace } = await nodeBench(tree, options, confined)
    const before = await snapshot()
    const result = await run(
      'echo b >> a.txt; rm gone.txt; rm -r d; mkdir d; echo new > d/new.txt; touch same.txt; echo k > .env.local; mkfifo p; mkdir n; mv a.txt n/b.txt; ln -s n/b.txt in; ln -s /etc/passwd out',
    )
    const refused = (result.refused as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`)
    expect(refused.sort()).toEqual(['.env.local POLICY_DENIED_SECRET', 'out PATH_REJECTED', 'p PATH_REJECTED'])
    expect(
      workspace
        .auditRecords()
        .at(-1)
        ?.refusals?.map(({ path }) => path),
    ).toContain('.env.local')
    expect([...(result.filesChanged as string[])].sort()).toEqual([
      'a.txt',
      'd/e',
      'd/e/f.txt',
      'd/new.txt',
      'd/old.txt',
      'gone.txt',
      'in',
      'n',
      'n/b.txt',
    ])
    expect(readFileSync(join(root, 'n/b.txt'), 'utf8')).toBe('a\nb\n')
    expect(existsSync(join(root, '.env.local'))).toBe(false)
    expect((await workspace.undo(result.callId)).ok).toBe(true)
    expect(await snapshot()).toEqual(before)
  })

  it('leaves no process behind', async () => {
    const { run, close } = await nodeBench({}, options, confined)
    const mark = `6${process.pid}${Date.now() % 10_000}`
    const { stdout } = await run(`setsid env -i sleep ${mark} & sleep ${mark} & echo $!`)
    expect(Number(stdout)).toBeGreaterThan(0)
    expect(existsSync('/proc/self') && processesWith(`sleep\0${mark}`)).toEqual([])
    await close()
  })
})

it('bubblewrap(): mounts masks after the workspace, hides other copies, and passes the program unchanged', () => {
  const line = 'echo "$(cat .env)"'
  const view = {
    root: '/usr/src/repo',
    commandDir: '/var/tmp/own',
    cwd: 'src' as Path,
    masks: [
      { kind: 'f', path: '.env' },
      { kind: 'd', path: 'a b/.git' },
    ],
    readable: ['/var/tmp'],
    argv: ['/bin/bash', '-c', line],
  } as const
  const argv = bubblewrap().wrap(view)
  const at = (...part: string[]) => argv.findIndex((_, i) => part.every((word, j) => argv[i + j] === word))
  const workspace = at('--bind', '/usr/src/repo', '/workspace')
  expect(workspace).toBeGreaterThan(0)
  expect(at('--ro-bind', '/var/tmp/own/void/f', '/workspace/.env')).toBeGreaterThan(workspace)
  expect(at('--ro-bind', '/var/tmp/own/void/d', '/workspace/a b/.git')).toBeGreaterThan(workspace)
  for (const path of ['/usr/src/repo', '/var/tmp/own']) {
    const hidden = at('--ro-bind', '/var/tmp/own/void/d', path)
    expect(hidden, path).toBeGreaterThan(at('--ro-bind', '/usr', '/usr'))
    expect(hidden, path).toBeGreaterThan(at('--ro-bind', '/var/tmp', '/var/tmp'))
  }
  expect(argv.slice(0, argv.indexOf('--'))).toEqual(
    expect.arrayContaining(['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop']),
  )
  expect(argv.filter((word) => word === '--bind')).toHaveLength(1)
  expect(argv.slice(-3)).toEqual(['/bin/bash', '-c', line])
  const startOf = (words: readonly string[]) => words[words.indexOf('--chdir') + 1]
  expect(startOf(argv)).toBe('/workspace/src')
  expect(startOf(bubblewrap().wrap({ ...view, cwd: ROOT }))).toBe('/workspace')
})

it('findMasks(): masks the files on the disk that are not visible to the call', async () => {
  const { root } = await nodeBench({ 'a.txt': '', '.env': '', 'secret/b.txt': '', 'd/.env': '', 'odd\\n/c': '' })
  symlinkSync('a.txt', join(root, 'd/link'))
  const see = (path: string) => !/(^|\/)(\.env|secret)$/.test(path)
  const masks = await findMasks(root, { see })
  expect(masks.map(({ kind, path }) => `${kind} ${path}`).sort()).toEqual([
    'd odd\\n',
    'd secret',
    'f .env',
    'f d/.env',
  ])
})

/** Finds live processes by their arguments. */
function processesWith(argv: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(argv) && isAlive(pid)
    } catch {
      return false
    }
  })
}
