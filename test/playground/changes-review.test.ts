import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from 'wardspace/backends/memory'
import { scenarios } from '../../playground/agent/scenarios/index.ts'
import { memoryByteStore } from '../../playground/projects/byte-store.ts'
import { changedFiles } from '../../playground/session/changes.ts'
import { openReview } from '../../playground/session/changes-review.ts'
import { openSession } from '../../playground/session/open-session.ts'
import { hasOwnChanges, hasOwnPolicy, settingsOf } from '../../playground/session/own-work.ts'
import { type ChangeHunk, hunksOf, linesOf, otherHunks, withoutChange } from '../../src/ui/changes-hunks.ts'
import { outputOf } from '../run-program.ts'

const text = fc
  .array(fc.constantFrom('a\n', 'b\n', 'a\r\n', '\n', 'last'), { maxLength: 14 })
  .map((lines) => lines.join(''))

/** The text after which only the changes that a function chooses are made. */
function withOnly(before: string, hunks: readonly ChangeHunk[], isMade: (hunk: ChangeHunk) => boolean): string {
  const lines = [...linesOf(before)]
  for (const hunk of hunks.toReversed()) {
    if (isMade(hunk)) lines.splice(hunk.oldStart, hunk.oldLines.length, ...hunk.newLines)
  }
  return lines.join('')
}

describe('withoutChange', () => {
  it('takes changes back in any order, and leaves what the others say', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, fc.infiniteStream(fc.nat()), async (before, after, numbers) => {
        const all = await hunksOf(before, after)
        expect(withOnly(before, all, () => true)).toBe(after)
        let hunks = all
        let now = after
        const reverted = new Set<string>()
        for (const number of numbers.take(all.length)) {
          const hunk = hunks[number % hunks.length]
          if (hunk === undefined || number % 3 === 0) continue
          now = withoutChange(now, hunk)
          hunks = otherHunks(hunks, hunk)
          reverted.add(hunk.id)
          expect(now).toBe(withOnly(before, all, ({ id }) => !reverted.has(id)))
        }
        expect(new Set(hunks.map(({ id }) => id))).toEqual(
          new Set(all.map(({ id }) => id).filter((id) => !reverted.has(id))),
        )
      }),
      { numRuns: 400 },
    )
  })

  const directory = mkdtempSync(join(tmpdir(), 'wardspace-hunks-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  it('equals git apply -R of the change alone', async () => {
    const line = fc.array(fc.constantFrom('one\n', 'two\n', 'three\n', 'four\r\n'), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(line, line, fc.nat(), async (before, after, number) => {
        const [from, to] = [before.join(''), after.join('')]
        const hunks = await hunksOf(from, to)
        const hunk = hunks[number % hunks.length]
        if (hunk === undefined) return
        writeFileSync(join(directory, 'x'), to)
        const patch = patchOf(to, hunk)
        outputOf('git', ['apply', '-R', '--unidiff-zero', '--whitespace=nowarn', '-'], {
          cwd: directory,
          input: patch,
          env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() },
        })
        expect(withoutChange(to, hunk)).toBe(readFileSync(join(directory, 'x'), 'utf8'))
      }),
      { numRuns: 40 },
    )
  })
})

/** The patch of one change in the file `x`, with all other lines as context. */
function patchOf(after: string, { newStart, oldLines, newLines }: ChangeHunk): string {
  const lines = linesOf(after)
  const [lead, trail] = [lines.slice(0, newStart), lines.slice(newStart + newLines.length)]
  const context = lead.length + trail.length
  const numbers = (count: number) => `${count === 0 ? 0 : 1},${count}`
  return [
    'diff --git a/x b/x\n--- a/x\n+++ b/x\n',
    `@@ -${numbers(context + oldLines.length)} +${numbers(context + newLines.length)} @@\n`,
    ...lead.map((line) => ` ${line}`),
    ...oldLines.map((line) => `-${line}`),
    ...newLines.map((line) => `+${line}`),
    ...trail.map((line) => ` ${line}`),
  ].join('')
}

async function open(files: Readonly<Record<string, string>>) {
  const backend = memory(files)
  const project = { info: { id: 'p', name: 'P' }, backend, kept: memoryByteStore() }
  const session = await openSession(project, { settings: { policy: 'autonomous' } })
  const sent: string[] = []
  const conversation = { send: async (message: string) => void sent.push(message) }
  const review = openReview({ session, conversation })
  const load = async (path: string) => {
    await review.refresh()
    await review.select(path)
    return review.snapshot.file
  }
  const call = (tool: string, input: unknown) => session.agentRun.value.callTool(tool, input)
  const read = async (path: string) =>
    (await backend.stat(path as never)) && new TextDecoder().decode((await backend.read(path as never)).bytes)
  return { session, review, load, sent, call, read }
}

describe('what the start of a scenario would replace', () => {
  const content = 'mine\n'
  type Opened = Awaited<ReturnType<typeof open>>
  const byPerson: Readonly<Record<string, (opened: Opened) => Promise<unknown>>> = {
    'a file of the terminal': ({ session }) => session.call('run_command', { command: 'echo mine > mine.txt' }),
    'a folder': ({ session }) => session.call('run_command', { command: 'mkdir mine' }),
    'a saved file': ({ session }) => session.save('new.txt', content, null),
    'files of the tree': ({ session }) => session.changeFiles({ remove: ['a.txt'], label: 'delete' }),
    'a repository': ({ session }) => session.call('run_command', { command: 'git init' }),
  }
  const policies = scenarios.map(settingsOf)

  it.each(Object.entries(byPerson))('%s is of the person, and what the agent did before is not', async (_, change) => {
    const opened = await open({ 'a.txt': 'a\n' })
    const { session, call } = opened
    const isOwn = (): boolean => hasOwnChanges(session.workspace.value.history())
    await call('write_file', { path: 'agent.txt', content: 'by the agent\n' })
    await session.beginTask('another task')
    await call('write_file', { path: 'second.txt', content: 'by the agent\n' })
    expect(isOwn()).toBe(false)
    expect(await change(opened)).toMatchObject({ ok: true })
    expect(isOwn()).toBe(true)
    const [first] = session.history.value
    await session.moveTo(first?.id ?? '')
    expect(isOwn()).toBe(false)
  })

  it('is a policy that no scenario has', () => {
    for (const settings of policies) expect(hasOwnPolicy(settings, scenarios), JSON.stringify(settings)).toBe(false)
    for (const { policy, mode } of policies) {
      const own = { policy: { preset: 'readOnly', deniedPaths: ['a'] }, mode } as const
      const otherMode = { policy, mode: mode === 'act' ? 'plan' : 'act' } as const
      for (const settings of [own, otherMode]) expect(hasOwnPolicy(settings, scenarios)).toBe(true)
    }
  })
})

describe('the review of changes', () => {
  const files = {
    'a.txt': Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join(''),
    'dos.txt': '\ufeffa\r\nb\r\nc\r\n',
    'old.txt': 'moves\n',
    'gone.txt': 'gone\n',
    '.env': 'TOKEN=planted-secret\n',
  }

  it('takes back one change through the guarded tools, and the undo brings it back', async () => {
    const { session, review, load, call, read } = await open(files)
    const before = files['a.txt']
    const after = before.replace('line 3\n', 'LINE 3\n').replace('line 20\n', '')
    await call('write_file', {
      path: 'a.txt',
      content: after,
      expectedSha256: (await call('file_info', { path: 'a.txt' })).sha256,
    })
    const file = await load('a.txt')
    const [first] = file?.hunks ?? []
    if (file === undefined || first === undefined) throw new Error('no change')
    review.accept(file, first, true)
    expect(review.keep().accepted).toEqual([`a.txt ${first.id}`])
    const outcome = await review.revert(file, first)
    expect(await read('a.txt')).toBe(before.replace('line 20\n', ''))
    expect(session.timeline.value.at(-1)).toMatchObject({ actor: 'person', tool: 'write_file' })
    expect(await review.revert(file, first)).toMatchObject({ trouble: expect.stringContaining('changed') })
    if ('trouble' in outcome) throw new Error(outcome.trouble)
    await review.undo(outcome.callId)
    expect(await read('a.txt')).toBe(after)
    await session.close()
  })

  it('lists added, deleted and renamed files and takes each of them back', async () => {
    const { session, review, load, call, read } = await open(files)
    await call('move_file', { path: 'old.txt', to: 'sub/new.txt' })
    await call('append_file', { path: 'sub/new.txt', content: 'more\n' })
    await call('delete_file', { path: 'gone.txt' })
    await call('write_file', { path: 'n.txt', content: 'n' })
    await call('append_file', { path: 'dos.txt', content: 'd\r\n' })
    expect(changedFiles(session.workspace.value.history())).toMatchObject([
      { path: 'dos.txt', status: 'changed' },
      { path: 'gone.txt', status: 'deleted' },
      { path: 'n.txt', status: 'added' },
      { path: 'sub/new.txt', status: 'renamed', from: 'old.txt' },
    ])
    await review.refresh()
    await review.count()
    const counted = review.snapshot.files.find(({ path }) => path === 'sub/new.txt')
    expect(counted).toMatchObject({ status: 'renamed', oldPath: 'old.txt', insertions: 1, deletions: 0 })
    for (const { path } of review.snapshot.files) {
      const file = await load(path)
      expect(file && (await review.revertFile(file)), path).not.toHaveProperty('trouble')
    }
    await review.refresh()
    expect(review.snapshot.files).toEqual([])
    for (const [path, content] of Object.entries(files))
      expect(await read(path), path).toBe(content.replace('\ufeff', ''))
    await session.close()
  })

  it('sends comments with path, lines and quoted text, and quotes no secret file', async () => {
    const { session, review, sent } = await open(files)
    review.comment({ path: 'a.txt', side: 'after', from: 4, to: 5, quote: 'line 3\nline 4\n', text: 'Why?' })
    review.comment({ path: '.env', side: 'after', from: 1, to: 1, quote: files['.env'], text: 'Remove it' })
    await review.send()
    expect(sent).toHaveLength(1)
    expect(sent[0]).toContain('`a.txt`, lines 4–5:\n> line 3\n> line 4\nWhy?')
    expect(sent[0]).toContain('`.env`, line 1:\nRemove it')
    expect(sent[0]).not.toContain('planted')
    expect(review.snapshot.comments).toEqual([])
    await session.close()
  })
})
