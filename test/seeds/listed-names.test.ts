import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { fileReadWrite } from '../../src/dialects/file-read-write/index.ts'
import { patchAndDiff } from '../../src/dialects/patch-and-diff/index.ts'
import { pythonHarness } from '../../src/dialects/python-harness/index.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

/* The paths, names and values that the originals list, each in a call of its tools. */

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

type Files = Readonly<Record<string, string>>

async function open(dialect: ReturnType<typeof patchAndDiff>, files: Files, more: object = {}) {
  const backend = memory(files)
  return createWorkspace({ backend, policy: 'autonomous', dialect, shell: bash({ worker: false }), ...more })
}

/** Opens a directory on the disk, which may have links to outside. */
async function openDirectory(dialect: ReturnType<typeof patchAndDiff>, files: Files, links: Files) {
  const root = await mkdtemp(join(tmpdir(), 'wardspace-seeds-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  for (const [path, target] of Object.entries(links)) await symlink(target, join(root, path))
  return createWorkspace({ backend: nodeBackend(root), policy: 'autonomous', dialect })
}

describe('the file tools of a background coding agent', () => {
  const links = { 'src/link-to-host': '/home', 'src/out': '/tmp' }

  it.each([
    ['src/App.java', 'undefined'],
    ['./src/App.java', 'undefined'],
    ['src/../pom.xml', 'undefined'],
    ['../../etc/passwd', 'PATH_REJECTED'],
    ['/etc/passwd', 'PATH_REJECTED'],
    ['/home/runner/.ssh/id_rsa', 'PATH_REJECTED'],
    ['/workspaces/run-0183/artifacts/report.json', 'PATH_REJECTED'],
    ['../../host/file', 'PATH_REJECTED'],
    ['src/link-to-host/secrets', 'PATH_REJECTED'],
    ['src/out', 'PATH_REJECTED'],
    ['.git/config', 'POLICY_DENIED'],
    ['.env', 'POLICY_DENIED_SECRET'],
  ])('read_file { path: "%s" }: %s', async (path, code) => {
    const files = { 'src/App.java': 'class App {}\n', 'pom.xml': '<project/>\n', '.env': 'A=1\n' }
    const workspace = await openDirectory(patchAndDiff(), files, links)
    const { failure } = await workspace.call('read_file', { path })
    expect(String(failure?.code)).toBe(code)
  })

  const secrets =
    '.env .env.local .env.production a.pem a.key a.p12 a.jks id_rsa id_ed25519 secrets.yml application-prod.yml'
  it.each(secrets.split(' '))('hides the content of %s, and shows its kind', async (path) => {
    const workspace = await open(patchAndDiff(), { [path]: 'hunter2 is the word\n' })
    for (const [tool, input] of [
      ['read_file', { path }],
      ['write_file', { path, content: 'x', mode: 'REPLACE_EXISTING', expectedSha256: sha256('hunter2 is the word\n') }],
      ['apply_patch', { patch: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-hunter2 is the word\n+x\n` }],
    ] as const) {
      const { failure, output } = await workspace.call(tool, input)
      expect(failure?.code, tool).toBe('POLICY_DENIED_SECRET')
      expect(String(output), tool).not.toContain('hunter2')
    }
    const found = await workspace.call('search_text', { query: 'hunter2' })
    expect(found.structuredContent).toMatchObject({ matches: [] })
    const info = await workspace.own.call('file_info', { path })
    expect(info).toMatchObject({ path, kind: 'SECRET_LIKE', readable: false, reason: expect.any(String) })
    expect(info).not.toHaveProperty('sha256')
  })

  const generated = [
    'target/generated/X.java',
    'build/x.js',
    'dist/x.js',
    'node_modules/x/index.js',
    'generated-sources/x.java',
    'target/generated-sources/x.java',
    'api/order.pb.go',
    'src/Order.generated.java',
    'openapi/generated/client.ts',
  ]
  it.each(generated)('refuses to change %s, and reads it', async (path) => {
    const workspace = await open(patchAndDiff(), { [path]: 'one\n' })
    const write = { path, content: 'two\n', mode: 'REPLACE_EXISTING', expectedSha256: sha256('one\n') }
    const { failure } = await workspace.call('write_file', write)
    expect(failure).toMatchObject({ code: 'POLICY_DENIED' })
    expect(await workspace.call('read_file', { path })).toMatchObject({ isError: false })
  })

  const lockfiles = 'package-lock.json pnpm-lock.yaml yarn.lock poetry.lock Cargo.lock go.sum'
  it.each(lockfiles.split(' '))('asks before it changes %s', async (path) => {
    const workspace = await open(patchAndDiff(), { [path]: 'one\n', 'pom.xml': '<project/>\n' })
    const write = (at: string, old: string) =>
      workspace.call('write_file', {
        path: at,
        content: 'two\n',
        mode: 'REPLACE_EXISTING',
        expectedSha256: sha256(old),
      })
    expect((await write(path, 'one\n')).failure).toMatchObject({ code: 'APPROVAL_REQUIRED' })
    expect(await write('pom.xml', '<project/>\n')).toMatchObject({ isError: false })
  })

  it('takes the inputs of its contracts word by word', async () => {
    const service = 'src/main/java/com/acme/OrderService.java'
    const status = 'src/main/java/com/acme/OrderStatus.java'
    const files = { 'pom.xml': '<project/>\n', [service]: 'a\n', [status]: 'public enum OrderStatus {\n' }
    const workspace = await open(patchAndDiff(), files, { run: { task: { text: 'Orders', risk: 'SUPERVISED_PR' } } })
    const calls = {
      read_file: { path: service, startLine: 1, maxLines: 200 },
      list_dir: { path: '.', maxDepth: 2, includeHidden: false, maxEntries: 300 },
      search_text: {
        ...{ query: 'OrderStatus', path: 'src/main/java', mode: 'literal' },
        ...{ includeGlob: '**/*.java', maxMatches: 100, contextLines: 2 },
      },
      write_file: {
        ...{ path: 'src/test/java/com/acme/OrderServiceTest.java', content: '...', mode: 'CREATE_OR_REPLACE' },
        ...{ expectedSha256: null, reason: 'Add regression test for cancelled order validation' },
      },
      diff_workspace: { statOnly: false, maxBytes: 120000 },
    }
    for (const [tool, input] of Object.entries(calls)) {
      expect(await workspace.call(tool, input), tool).toMatchObject({ isError: false })
    }
    const patch = {
      ...{ patch: `--- a/${service}\n+++ b/${service}\n@@ -1 +1 @@\n-a\n+b\n`, dryRun: false },
      ...{ reason: 'Replace deprecated API call with new method' },
    }
    // The original shortens its hashes with three dots.
    const shortened = await workspace.call('apply_patch', { ...patch, expectedBaseCommit: '9f72...' })
    expect(shortened.failure).toMatchObject({ code: 'INVALID_INPUT', field: 'expectedBaseCommit' })
    expect(await workspace.call('apply_patch', patch)).toMatchObject({ isError: false })
    expect(workspace.auditRecords().at(-1)).toMatchObject({ toolName: 'apply_patch', reason: patch.reason })
  })

  it('has a rule for each permission and for the risk that it names', async () => {
    const permissions =
      'file:list file:read file:search file:write:create file:write:replace file:patch:apply file:diff'
    for (const permission of permissions.split(' ')) {
      const rule = { name: 'no', action: 'deny', permissions: [permission], risk: ['SUPERVISED_PR'] } as const
      const policy = { preset: 'autonomous', rules: [rule] } as const
      for (const [risk, refusals] of [
        ['SUPERVISED_PR', 1],
        ['OTHER', 0],
      ] as const) {
        const workspace = await open(patchAndDiff(), { 'a.txt': 'a\n' }, { policy, run: { task: { text: 'x', risk } } })
        const calls: Readonly<Record<string, readonly [string, object]>> = {
          'file:list': ['list_dir', {}],
          'file:read': ['read_file', { path: 'a.txt' }],
          'file:search': ['search_text', { query: 'a', path: 'a.txt' }],
          'file:write:create': ['write_file', { path: 'b.txt', content: 'b' }],
          'file:write:replace': ['write_file', { path: 'a.txt', content: 'b', expectedSha256: sha256('a\n') }],
          'file:patch:apply': ['apply_patch', { patch: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n' }],
          'file:diff': ['diff_workspace', { paths: ['a.txt'] }],
        }
        const [tool, input] = calls[permission] as readonly [string, object]
        const { failure } = await workspace.call(tool, input)
        expect(failure === undefined ? 0 : 1, `${permission} ${risk}`).toBe(refusals)
      }
    }
  })
})

describe('file_read and file_write', () => {
  const sensitive = '.ssh/id_rsa .ssh/config .env .env.local .git-credentials .bash_history .zsh_history'
  it.each(sensitive.split(' '))('do not read or write %s', async (path) => {
    const workspace = await open(fileReadWrite({ '/home/user': '' }), { [path]: 'hunter2 is the word\n' })
    for (const at of [path, `/home/user/${path}`]) {
      for (const [tool, input] of [
        ['file_read', { path: at }],
        ['file_write', { path: at, content: 'x' }],
      ] as const) {
        const { failure, output } = await workspace.call(tool, input)
        expect(failure?.code, `${tool} ${at}`).toBe('POLICY_DENIED_SECRET')
        expect(JSON.stringify(output)).not.toContain('hunter2')
      }
    }
  })

  it.each(['/home/user/workspace/../../../etc/passwd', '/home/user/workspace/link-to-etc', '/root/x', '/etc/shadow'])(
    'refuse %s',
    async (path) => {
      const links = { 'link-to-etc': '/etc' }
      const workspace = await openDirectory(fileReadWrite({ '/home/user/workspace': '' }), {}, links)
      expect((await workspace.call('file_read', { path })).failure).toMatchObject({ code: 'PATH_REJECTED' })
      expect((await workspace.call('file_write', { path, content: 'x' })).failure).toMatchObject({
        code: 'PATH_REJECTED',
      })
    },
  )
})

describe('the hooks of the agent', () => {
  it('see a command before it runs and every answer after it', async () => {
    const before: unknown[] = []
    const after: string[] = []
    const hooks = {
      preToolCall: ({ tool, input }: { tool: string; input: unknown }) => {
        if (tool === 'run_command') before.push(input)
        return JSON.stringify(input).includes('deploy') ? { refuse: 'Not today' } : undefined
      },
      postToolResponse: ({ tool }: { tool: string }) => void after.push(tool),
    }
    const workspace = await open(snakeCase(), { 'a.txt': 'a\n' }, { hooks })
    expect(await workspace.call('run_command', { command: 'cat a.txt' })).toMatchObject({
      output: { stdout: 'a\n', exit_code: 0 },
    })
    expect(before).toEqual([expect.objectContaining({ command: 'cat a.txt' })])
    await workspace.call('read_file', { path: '/workspace/a.txt' })
    expect(after).toEqual(['run_command', 'read_file'])
    expect((await workspace.call('run_command', { command: 'echo deploy' })).failure).toMatchObject({
      code: 'POLICY_DENIED',
    })
    for (const command of ['rm -rf /', 'sudo ls']) {
      expect((await workspace.call('run_command', { command })).failure, command).toMatchObject({
        code: 'COMMAND_DENIED',
      })
    }
  })
})

describe('the toolset of the Python harness', () => {
  it.each(['.git/config', '.env', 'a.pem', 'b.key', 'secrets.yml', 'config/secrets.json'])(
    'protects %s',
    async (path) => {
      const workspace = await openDirectory(pythonHarness(), { [path]: 'hunter2 is the word\n' }, {})
      for (const [tool, input] of [
        ['read_file', { path }],
        ['write_file', { path, content: 'x' }],
      ] as const) {
        const answer = await workspace?.call(tool, input)
        expect(answer?.isError ?? true, tool).toBe(true)
        expect(JSON.stringify(answer ?? ''), tool).not.toContain('hunter2')
      }
    },
  )
})
