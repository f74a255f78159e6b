import { git } from '../../src/git/index.ts'
import type { Repository } from '../../src/git/provider.ts'
import type { Backend } from '../../src/storage/backend.ts'
import type { BackendSubject } from '../../src/testing/index.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'

type Answer = Readonly<Record<string, unknown>>

/** Plays the story over a backend and cleans up. */
export async function storyOver(create: () => BackendSubject | Promise<BackendSubject>): Promise<string> {
  const { backend, dispose } = await create()
  try {
    return await tellStory(backend)
  } finally {
    await backend.close()
    await dispose?.()
  }
}

/** Returns a story without permission bits, as on a backend that does not support them. */
export function withoutModes(story: string): string {
  return story.replace(/,"mode":"0\d{3}"/g, '')
}

/**
 * Plays one script of calls, refusals and undos with a fixed clock and ids, and returns all results and records as text. The
 * text must be identical on every backend and in every runtime, except for the modification times of files on a disk.
 */
async function tellStory(backend: Backend): Promise<string> {
  let now = 1_700_000_000_000
  let id = 0
  const workspace = await createWorkspace({
    backend,
    git: git(),
    policy: {
      preset: 'autonomous',
      rules: [
        { name: 'docs are asked for', action: 'ask', permissions: ['file:write:*', 'file:append'], paths: ['docs/**'] },
      ],
    },
    approve: async ({ tool }) => (tool === 'append_file' ? { deny: 'not the docs' } : 'allow'),
    clock: () => {
      now += 7
      return now
    },
    ids: () => `id-${++id}`,
    run: { id: 'story', actor: 'teller', task: { text: 'tell' } },
  })
  const messages: unknown[] = []
  const call = async (name: string, input: Answer): Promise<Answer> => {
    const answer = (await workspace.callTool(name, input)) as unknown as Answer
    messages.push({ call: name, input, answer })
    return answer
  }

  await call('write_file', { path: 'src/app.ts', content: 'export const answer = 41\nexport const name = "ä𝒳"\n' })
  await call('write_file', { path: 'src/deep/er/util.ts', content: `${numbered(300)}` })
  await call('write_file', { path: 'crlf.txt', content: 'one\r\ntwo\r\nthree\r\n' })
  await call('write_file', { path: '.gitignore', content: '*.log\n/out/\n' })
  await call('write_file', { path: 'noise.log', content: 'ignored\n' })
  await call('write_file', { path: '.env', content: 'TOKEN=1\n' })
  await call('write_file', { path: '../outside', content: 'x' })
  await call('write_file', { path: 'src/app.ts', content: 'stale\n', expectedSha256: '0'.repeat(64) })
  const read = await call('read_file', { path: 'src/app.ts', lineNumbers: true })
  const edited = await call('edit_file', {
    path: 'src/app.ts',
    oldText: '41',
    newText: '42',
    expectedSha256: read.sha256,
    reason: 'the answer',
  })
  await call('edit_file', { path: 'crlf.txt', oldText: 'one\ntwo', newText: 'eins\nzwei' })
  await call('edit_file', { path: 'src/deep/er/util.ts', oldText: 'nothing like it', newText: '' })
  await call('edit_file', { path: 'src/deep/er/util.ts', oldText: 'line 1', newText: 'line one' })
  const range = await call('read_file', { path: 'src/deep/er/util.ts', startLine: 100, maxLines: 5 })
  await call('replace_range', {
    path: 'src/deep/er/util.ts',
    startLine: 101,
    endLine: 103,
    newText: 'three lines\nbecome two\n',
    expectedSha256: range.sha256,
  })
  await call('append_file', { path: 'notes/log.md', content: '# Log\n' })
  await call('append_file', { path: 'docs/log.md', content: 'no\n' })
  await call('write_file', { path: 'docs/readme.md', content: 'asked and allowed\n' })
  await call('create_directory', { path: 'empty/inside' })
  await call('copy_file', { path: 'src/app.ts', to: 'src/copy.ts' })
  const moved = await call('move_file', { path: 'notes/log.md', to: 'notes/moved.md' })
  await call('move_file', { path: 'notes/moved.md', to: 'crlf.txt' })
  await call('delete_file', { path: 'src/copy.ts' })
  await call('delete_file', { path: 'src' })
  await call('list_directory', { path: '.', maxDepth: 4 })
  await call('list_directory', { path: 'src/ap' })
  await call('find_files', { pattern: '**/*.ts' })
  await call('search_text', { query: 'line 2[0-9]5', mode: 'regex', contextLines: 1 })
  await call('search_text', { query: 'Ä𝒳', mode: 'literal', caseSensitive: false })
  await call('search_text', { query: '(a', mode: 'regex' })
  await call('file_info', { path: 'src/app.ts' })
  await call('file_info', { path: '.env' })
  const patch = [
    '--- a/src/app.ts',
    '+++ b/src/app.ts',
    '@@ -1,2 +1,3 @@',
    '-export const answer = 42',
    '+export const answer = 43',
    '+export const more = true',
    ' export const name = "ä𝒳"',
    '--- /dev/null',
    '+++ b/src/new.ts',
    '@@ -0,0 +1 @@',
    '+export {}',
    '',
  ].join('\n')
  await call('apply_patch', { patch, dryRun: true })
  const patched = await call('apply_patch', { patch })
  await call('apply_patch', { patch })
  await call('diff_workspace', {})
  await call('read_file', { path: String(patched.artifactUri) })
  await call('no_such_tool', {})
  await call('read_file', { path: 'src/app.ts', startLine: 'one' })

  const before = workspace.checkpoint('before')
  await call('write_file', { path: 'late.txt', content: 'late\n' })
  messages.push({ undo: await workspace.undo(String(moved.callId)) })
  messages.push({ undo: await workspace.undo(String(edited.callId)) })
  messages.push({ rollback: await workspace.rollback(before.id) })
  await call('list_directory', { path: '.', maxDepth: 4 })
  await call('diff_workspace', { statOnly: true })
  messages.push({ explain: await workspace.explain('write_file', { path: 'docs/x', content: '' }) })
  messages.push({ git: await gitResults(workspace.git) })
  await call('write_file', { path: 'late.txt', content: 'later\n' })
  await call('diff_workspace', {})
  messages.push({ records: workspace.auditRecords(), verified: workspace.verifyAudit() })
  await workspace.close()
  return messages.map((one) => JSON.stringify(one, withoutTimesOfFiles)).join('\n')
}

/** Collects results of a repository. The id of a commit covers every byte below it. */
async function gitResults(repository: Repository | undefined): Promise<unknown> {
  if (repository === undefined) return undefined
  await repository.init()
  const added = await repository.add('.')
  const commit = await repository.commit({ message: 'told' })
  return { added, commit, log: await repository.log(), status: await repository.status() }
}

function withoutTimesOfFiles(key: string, value: unknown): unknown {
  return key === 'modifiedAt' ? undefined : value
}

function numbered(lines: number): string {
  return Array.from({ length: lines }, (_, i) => `line ${i}\n`).join('')
}
