import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { parseConfig } from '../../src/cli/parse-config.ts'
import { patchAndDiff } from '../../src/dialects/patch-and-diff/index.ts'
import { git } from '../../src/git/index.ts'
import { createWorkspace, type DialectWorkspace, type PolicyInput } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

/** The repository of the examples. */
const files: Readonly<Record<string, string>> = {
  'pom.xml': '<project/>\n',
  'README.md': '# Orders\n',
  'src/main/java/com/acme/OrderStatus.java':
    'package com.acme;\n\npublic enum OrderStatus {\n  OPEN,\n  CANCELLED\n}\n',
  'src/main/java/com/acme/OrderService.java': Array.from({ length: 120 }, (_, i) => `// line ${i + 1}\n`).join(''),
  '.env': 'PASSWORD=hunter2\n',
  'target/generated/X.java': 'class X {}\n',
  'package-lock.json': '{}\n',
}

const SERVICE = 'src/main/java/com/acme/OrderService.java'
const STATUS = 'src/main/java/com/acme/OrderStatus.java'

async function open(more: Readonly<Record<string, string>> = {}, policy: PolicyInput = 'autonomous') {
  const backend = memory({ ...files, ...more })
  const dialect = patchAndDiff()
  const workspace = await createWorkspace({ backend, policy, dialect, shell: bash(), git: git(), clock: () => 0 })
  return { workspace }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Makes a call, and returns the answer in the form of the seed's contract. */
async function answer(workspace: DialectWorkspace, tool: string, input: object) {
  const { isError, output, structuredContent, failure } = await workspace.call(tool, input)
  return {
    isError,
    text: String(output),
    data: { ...structuredContent } as Record<string, unknown>,
    code: failure?.code,
  }
}

describe('read_file', () => {
  it('accepts the fields of the contract, and returns those of the response', async () => {
    const { workspace } = await open()
    const { data, text } = await answer(workspace, 'read_file', { path: SERVICE, startLine: 1, maxLines: 200 })
    expect(data).toEqual({
      path: SERVICE,
      startLine: 1,
      endLine: 120,
      totalLines: 120,
      sha256: sha256(files[SERVICE] as string),
      truncated: false,
      content: files[SERVICE],
    })
    expect(text).toContain(sha256(files[SERVICE] as string))
  })

  it('reads a range, with line numbers on request', async () => {
    const { workspace } = await open()
    const { data, text } = await answer(workspace, 'read_file', {
      path: SERVICE,
      startLine: 9,
      maxLines: 2,
      lineNumbers: true,
    })
    expect(data).toMatchObject({
      startLine: 9,
      endLine: 10,
      truncated: true,
      content: '     9 | // line 9\n    10 | // line 10\n',
    })
    expect(text).toContain('(lines 9-10 of 120, sha256 ')
  })

  it('refuses secrets, binary files and files that are too large for one answer', async () => {
    const { workspace } = await open({ 'a.bin': 'abc\0def\0', 'large.txt': 'line\n'.repeat(20_000) })
    expect(await answer(workspace, 'read_file', { path: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect(await answer(workspace, 'read_file', { path: 'a.bin' })).toMatchObject({ code: 'UNSUPPORTED_BINARY' })
    expect(await answer(workspace, 'read_file', { path: 'large.txt' })).toMatchObject({ code: 'FILE_TOO_LARGE' })
    const part = await answer(workspace, 'read_file', { path: 'large.txt', startLine: 15_000, maxLines: 1000 })
    expect(part.data).toMatchObject({ startLine: 15_000, endLine: 15_999, truncated: true })
  })

  it('reads a long line in chunks', async () => {
    const line = 'x'.repeat(100_000)
    const { workspace } = await open({ 'min.js': `${line}\nend\n` })
    const first = await answer(workspace, 'read_file', { path: 'min.js', startLine: 1, maxLines: 1 })
    expect(first.data).toMatchObject({ truncated: true, nextColumn: 65_537 })
    expect(first.text).toContain('(line 1 is cut: go on with startLine 1, startColumn 65537)')
    const second = await answer(workspace, 'read_file', {
      path: 'min.js',
      startLine: 1,
      maxLines: 1,
      startColumn: 65_537,
    })
    expect(`${first.data.content}${second.data.content}`).toBe(`${line}\n`)
  })
})

describe('list_dir', () => {
  it('accepts the fields of the contract, and returns those of the response', async () => {
    const { workspace } = await open()
    const input = { path: '.', maxDepth: 2, includeHidden: false, maxEntries: 300 }
    const { data, text } = await answer(workspace, 'list_dir', input)
    expect(data).toMatchObject({ path: '.', truncated: false })
    expect(data.entries).toContainEqual(expect.objectContaining({ path: 'pom.xml', type: 'file', sizeBytes: 11 }))
    expect(data.entries).toContainEqual(expect.objectContaining({ path: 'README.md', kind: 'TEXT_DOC' }))
    expect(text.split('\n')).toEqual(expect.arrayContaining(['pom.xml', 'src/', 'src/main/']))
    // Ignored directories are left out.
    expect(text).not.toContain('target')
    expect((await answer(workspace, 'list_dir', { includeHidden: true })).data.entries).toContainEqual(
      expect.objectContaining({ path: '.env', kind: 'SECRET_LIKE', readable: false }),
    )
    const cut = await answer(workspace, 'list_dir', { path: '.', maxEntries: 2 })
    expect(cut.data).toMatchObject({ truncated: true })
    expect(cut.text).toContain('entries are not shown)')
  })
})

describe('search_text', () => {
  it('accepts the fields of the contract, and returns those of the response, with hashes', async () => {
    const { workspace } = await open()
    const input = {
      query: 'OrderStatus',
      path: 'src/main/java',
      mode: 'literal',
      includeGlob: '**/*.java',
      maxMatches: 100,
      contextLines: 2,
    }
    const { data, text } = await answer(workspace, 'search_text', input)
    expect(data).toMatchObject({
      query: 'OrderStatus',
      truncated: false,
      matches: [
        {
          path: STATUS,
          line: 3,
          snippet: 'public enum OrderStatus {',
          kind: 'TEXT_SOURCE',
          sha256: sha256(files[STATUS] as string),
          before: ['package com.acme;', ''],
          after: ['  OPEN,', '  CANCELLED'],
        },
      ],
    })
    expect(text).toBe(
      [
        `${STATUS}-1-package com.acme;`,
        `${STATUS}-2-`,
        `${STATUS}:3:public enum OrderStatus {`,
        `${STATUS}-4-  OPEN,`,
        `${STATUS}-5-  CANCELLED`,
        `(sha256 ${STATUS} ${sha256(files[STATUS] as string)})`,
      ].join('\n'),
    )
    expect((await answer(workspace, 'search_text', { ...input, hashes: false })).text).not.toContain('sha256')
    expect(
      (await answer(workspace, 'search_text', { query: 'line 1\\d$', mode: 'regex', maxMatches: 3 })).data,
    ).toMatchObject({
      truncated: true,
    })
  })
})

describe('write_file', () => {
  const path = 'src/test/java/com/acme/OrderServiceTest.java'

  it('creates a file', async () => {
    const { workspace } = await open()
    const created = { path, content: 'class T {}\n', mode: 'CREATE_NEW', expectedSha256: null, reason: 'Add a test' }
    expect((await answer(workspace, 'write_file', created)).data).toMatchObject({
      ok: true,
      path,
      newSha256: sha256('class T {}\n'),
    })
    expect(workspace.auditRecords().at(-1)).toMatchObject({ reason: 'Add a test', via: 'patch-and-diff.write_file' })
    expect(await answer(workspace, 'write_file', created)).toMatchObject({ code: 'ALREADY_EXISTS' })
  })

  it('replaces a file only in the expected version', async () => {
    const { workspace } = await open()
    const replace = { path: SERVICE, content: 'new\n', mode: 'REPLACE_EXISTING' }
    const current = sha256(files[SERVICE] as string)
    const blind = await answer(workspace, 'write_file', replace)
    expect(blind).toMatchObject({ code: 'WRITE_CONFLICT', data: { ok: false, path: SERVICE, currentSha256: current } })
    const stale = await answer(workspace, 'write_file', { ...replace, expectedSha256: sha256('old') })
    expect(stale).toMatchObject({ code: 'WRITE_CONFLICT', data: { currentSha256: current } })
    expect(stale.text).toContain(`currentSha256: ${current}`)
    const both = { ...replace, mode: 'CREATE_OR_REPLACE', expectedSha256: current, reason: 'Add regression test' }
    expect((await answer(workspace, 'write_file', both)).data).toMatchObject({ newSha256: sha256('new\n') })
    expect(await answer(workspace, 'write_file', { ...replace, path: 'none.txt' })).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('apply_patch and diff_workspace', () => {
  const patch = `--- a/${STATUS}\n+++ b/${STATUS}\n@@ -4,3 +4,4 @@\n   OPEN,\n-  CANCELLED\n+  CANCELLED,\n+  PAID\n }\n`

  async function repository() {
    const { workspace } = await open()
    await workspace.git?.init()
    await workspace.git?.add('.')
    await workspace.git?.commit({ message: 'Begin', author: { name: 'A', email: 'a@example.com' } })
    return { workspace, base: (await workspace.git?.log())?.[0]?.commit }
  }

  it('accept the fields of the contract, and return those of the response', async () => {
    const { workspace, base } = await repository()
    const input = { patch, expectedBaseCommit: base, dryRun: true, reason: 'Replace deprecated API call' }
    const dry = await answer(workspace, 'apply_patch', input)
    expect(dry.data).toMatchObject({
      applied: false,
      dryRun: true,
      filesTouched: [STATUS],
      insertions: 2,
      deletions: 1,
    })
    expect(dry.text).toContain('Would apply: +2 -1')
    expect((await answer(workspace, 'diff_workspace', {})).text).toContain('No changes')

    const applied = await answer(workspace, 'apply_patch', { ...input, dryRun: false })
    const diff = await answer(workspace, 'diff_workspace', { statOnly: false, maxBytes: 120_000 })
    expect(applied.data).toMatchObject({
      ...{ applied: true, dryRun: false, filesTouched: [STATUS], insertions: 2, deletions: 1, warnings: [] },
      newWorkspaceDiffSha256: diff.data.diffSha256,
    })
    expect(diff.data).toMatchObject({
      baseCommit: base,
      filesChanged: 1,
      insertions: 2,
      deletions: 1,
      truncated: false,
    })
    expect(diff.text).toContain(`(1 file, +2 -1, sha256 ${diff.data.diffSha256})`)
    expect((await answer(workspace, 'diff_workspace', { statOnly: true })).text).toContain(`modified ${STATUS} +2 -1\n`)
  })

  it('refuse a patch for another commit and a patch that does not apply, and change nothing', async () => {
    const { workspace } = await repository()
    const other = await answer(workspace, 'apply_patch', { patch, expectedBaseCommit: 'f'.repeat(40) })
    expect([other.isError, other.code]).toEqual([true, 'WRITE_CONFLICT'])
    const wrong = patch.replace('OPEN', 'CLOSED')
    expect(await answer(workspace, 'apply_patch', { patch: wrong })).toMatchObject({ code: 'PATCH_CONFLICT' })
    expect((await answer(workspace, 'diff_workspace', {})).text).toContain('No changes')
  })

  it('cut a diff at maxBytes', async () => {
    const { workspace } = await repository()
    await answer(workspace, 'write_file', { path: 'new.txt', content: 'line\n'.repeat(5000) })
    expect((await answer(workspace, 'diff_workspace', { maxBytes: 1000 })).data).toMatchObject({ truncated: true })
  })

  const create = (path: string) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`
  it.each([
    ['.git/config', 'PATH_REJECTED|POLICY_DENIED'],
    ['/etc/passwd', 'PATH_REJECTED|INVALID_PATCH'],
    ['../x', 'PATH_REJECTED'],
    ['.env', 'POLICY_DENIED_SECRET|ALREADY_EXISTS'],
    ['target/generated/Y.java', 'POLICY_DENIED'],
  ])('refuse a patch that touches %s', async (path, codes) => {
    const { workspace } = await open()
    const { code } = await answer(workspace, 'apply_patch', { patch: create(path) })
    expect(code).toMatch(new RegExp(`^(${codes})$`))
  })

  it('enforce the patch budget of the configuration', async () => {
    const budget = `patchBudget:
  maxFilesTouched: 20
  maxInsertions: 800
  maxDeletions: 800
  maxBytes: 200000
  requireApprovalIf:
    - touchesBuildFile
    - touchesSecuritySensitivePath
    - deletesFile
    - changesPublicApi
`
    const policy = (text: string) =>
      parseConfig(`preset: autonomous\n${text}`, 'yaml', 'policy.yaml').data as PolicyInput
    const { workspace } = await open({}, policy(budget))
    expect(await answer(workspace, 'apply_patch', { patch })).toMatchObject({ isError: false })
    const build = '--- a/pom.xml\n+++ b/pom.xml\n@@ -1 +1 @@\n-<project/>\n+<project></project>\n'
    expect(await answer(workspace, 'apply_patch', { patch: build })).toMatchObject({ code: 'APPROVAL_REQUIRED' })
    const small = await open({}, policy(budget.replace('maxInsertions: 800', 'maxInsertions: 1')))
    expect(await answer(small.workspace, 'apply_patch', { patch })).toMatchObject({ code: 'PATCH_BUDGET_EXCEEDED' })
    await expect(open({}, policy(budget.replace('maxBytes', 'maxByte')))).rejects.toThrow('patchBudget.maxByte')
  })
})

describe('paths and kinds', () => {
  it.each([
    ['src/main/../../pom.xml', undefined],
    ['./pom.xml', undefined],
    ['../../etc/passwd', 'PATH_REJECTED'],
    ['/etc/passwd', 'PATH_REJECTED'],
    ['.git/config', 'POLICY_DENIED|PATH_REJECTED'],
    ['.env', 'POLICY_DENIED_SECRET'],
    ['', 'PATH_REJECTED'],
  ])('read_file { path: "%s" }: %s', async (path, codes) => {
    const { workspace } = await open()
    expect(String((await answer(workspace, 'read_file', { path })).code)).toMatch(new RegExp(`^(${codes})$`))
  })

  it('refuses to change generated files', async () => {
    const { workspace } = await open()
    const write = { path: 'target/generated/X.java', content: 'x', expectedSha256: sha256('class X {}\n') }
    expect(await answer(workspace, 'write_file', write)).toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('changes a lockfile only by a package manager, or with an approval', async () => {
    const { workspace } = await open()
    const write = { path: 'package-lock.json', content: '{"x":1}\n', expectedSha256: sha256('{}\n') }
    expect(await answer(workspace, 'write_file', write)).toMatchObject({ code: 'APPROVAL_REQUIRED' })
    const echo = await workspace.own.call('run_command', { command: 'echo x > package-lock.json' })
    expect(echo).toMatchObject({ code: 'APPROVAL_REQUIRED', message: expect.stringContaining('it is a lockfile') })
    const explained = await workspace.own.explain('run_command', { command: 'npm install left-pad' })
    expect(explained).toMatchObject({
      ok: true,
      line: { commands: [expect.objectContaining({ text: 'npm install left-pad' })] },
    })
  })

  it('describes a protected file without its content', async () => {
    const { workspace } = await open()
    expect(await workspace.own.call('file_info', { path: '.env' })).toMatchObject({
      kind: 'SECRET_LIKE',
      readable: false,
      redacted: true,
      reason: expect.stringContaining('environment file'),
    })
    expect(await workspace.own.call('file_info', { path: 'pom.xml' })).toMatchObject({ redacted: false })
  })
})

describe('evidence', () => {
  it('records the fields of the audit, and a diff for every change', async () => {
    const { workspace } = await open()
    const write = { path: 'new.txt', content: 'x\n', reason: 'To see' }
    await answer(workspace, 'write_file', write)
    const record = workspace.auditRecords().findLast(({ phase }) => phase === 'outcome')
    expect(record).toMatchObject({
      toolName: 'write_file',
      pathsRead: [],
      pathsWritten: ['new.txt'],
      oldSha256: { 'new.txt': null },
      newSha256: { 'new.txt': sha256('x\n') },
      policyDecision: { decision: 'allow' },
      artifactUris: [expect.stringMatching(/^artifact:\/\//)],
    })
    const [uri = ''] = record?.artifactUris ?? []
    expect((await answer(workspace, 'read_file', { path: uri })).text).toContain('+x')
    expect(await workspace.report()).toMatchObject({ written: [{ path: 'new.txt', from: null, to: sha256('x\n') }] })
  })
})
