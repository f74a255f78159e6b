import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type PolicyInput, type WorkspaceRun } from '../../src/index.ts'
import { unifiedDiff } from '../../src/patch/unified-diff.ts'
import { type Path, parsePath, ROOT } from '../../src/paths/logical-path.ts'
import type { ApprovalRequest } from '../../src/policy/approval.ts'
import { compilePaths } from '../../src/policy/match.ts'
import { createPattern, proposePaths } from '../../src/ui/approval-pattern.ts'
import { changedWords } from '../../src/ui/changed-words.ts'
import { textBefore } from '../../src/ui/changes-source.ts'
import {
  type Controller,
  createApprovals,
  createChanges,
  createConversation,
  createEditor,
  createFiles,
  createHistory,
  createMessageDraft,
  createPolicyEditor,
  createTerminal,
  createTimeline,
  type Files,
  trackCalls,
} from '../../src/ui/index.ts'
import { readList } from '../../src/ui/read-list.ts'

const files = { 'a.txt': 'one\n', 'dos.txt': 'a\r\nb\r\n', 'src/b.txt': 'b\n', '.env': 'TOKEN=planted-secret\n' }

async function open(policy: PolicyInput = 'autonomous') {
  const backend = memory(files)
  const workspace = await createWorkspace({ backend, policy })
  return { backend, workspace }
}

/** Writes a file as an agent does, which reads it first. */
async function write(workspace: Awaited<ReturnType<typeof open>>['workspace'], path: string, content: string) {
  await workspace.call('read_file', { path })
  expect(await workspace.call('write_file', { path, content })).toMatchObject({ ok: true })
}

/** The texts of all files of a backend without directories. */
async function allTexts(backend: ReturnType<typeof memory>): Promise<Record<string, string>> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const texts: Record<string, string> = {}
  for (const { name, type } of await backend.list(ROOT)) {
    if (type === 'file') texts[name] = decoder.decode((await backend.read(name as Path)).bytes)
  }
  return texts
}

describe('every controller', () => {
  it('has a snapshot that stays the same object between changes, and tells listeners at once and after each change', async () => {
    const { workspace } = await open()
    const timeline = createTimeline()
    const controllers: Record<string, Controller<object>> = {
      approvals: createApprovals(),
      changes: createChanges({ workspace }),
      conversation: createConversation({ respond: async ({ say }) => say('Yes') }),
      editor: createEditor({ workspace }),
      files: createFiles({ workspace }),
      history: createHistory(workspace),
      policy: createPolicyEditor({ policy: 'readOnly', onApply: () => {} }),
      terminal: createTerminal({ workspace }),
      timeline,
    }
    await (controllers.files as ReturnType<typeof createFiles>).refresh()
    await (controllers.changes as ReturnType<typeof createChanges>).refresh()
    for (const [name, controller] of Object.entries(controllers)) {
      const { subscribe } = controller
      const seen: object[] = []
      const stop = subscribe((snapshot) => seen.push(snapshot))
      expect(seen, name).toEqual([controller.snapshot])
      expect(controller.snapshot, name).toBe(seen[0])
      stop()
    }
    const seen: number[] = []
    const stop = timeline.subscribe(({ entries }) => seen.push(entries.length))
    await trackCalls(workspace, { timeline }).call('read_file', { path: 'a.txt' })
    stop()
    await trackCalls(workspace, { timeline }).call('read_file', { path: 'a.txt' })
    expect(seen).toEqual([0, 1, 1])
  })
})

describe('trackCalls', () => {
  it('keeps every other member of the run, and records a call that throws as done', async () => {
    const { workspace } = await open()
    const timeline = createTimeline()
    const run = trackCalls(workspace, { timeline })
    expect(run.tools).toBe(workspace.tools)
    expect(run.mode).toBe('act')
    const failing = trackCalls<Pick<WorkspaceRun, 'callTool'>>(
      { callTool: () => Promise.reject(new Error('lost')) },
      { timeline },
    )
    await expect(failing.callTool('read_file', {})).rejects.toThrow('lost')
    expect(timeline.snapshot.entries.map(({ state }) => state)).toEqual(['done'])
  })

  it('asks for approvals, answers like ones by a pattern, and lets go of a stopped call', async () => {
    const { workspace } = await open('supervised')
    const [timeline, approvals] = [createTimeline(), createApprovals()]
    const run = trackCalls(workspace, { timeline, approvals })
    const stop = new AbortController()
    const stopped = run.call('delete_file', { path: 'a.txt' }, { signal: stop.signal })
    await expect.poll(() => approvals.snapshot.pending.length).toBe(1)
    expect(timeline.snapshot.entries[0]?.state).toBe('waiting')
    const [question] = approvals.snapshot.pending
    stop.abort()
    expect(await stopped).toMatchObject({ code: 'ABORTED' })
    expect(approvals.snapshot.pending).toEqual([])
    // A late answer of a second click has no effect.
    question?.answer('allow')
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ ok: true })
  })
})

describe('createPattern', () => {
  const access = (path: string) => ({ permission: 'file:write:modify', path, asked: path }) as const
  const request = (path: string) =>
    ({ tool: 'edit_file', accesses: [access(path)], risks: [], verdict: { rules: [] } }) as unknown as ApprovalRequest
  const pattern = (paths: string) => createPattern({ request: request('src/a.js'), actor: 'agent' }, paths)

  it.each(['src', './src', 'src/', 'src, docs', '**/src', '.', 's*', 'src/a.js', 'src/deep', '{src,lib}', 'src/*'])(
    'covers for %s what it covers in a policy',
    (paths) => {
      const policy = compilePaths(readList(paths), 'paths')
      for (const path of ['src/a.js', 'src/deep/b.js', 'srcs/a.js', 'lib/src/c.js', 'a.md', 'src']) {
        expect(pattern(paths).covers(request(path)), path).toBe(policy.matches(path))
      }
    },
  )

  it('takes paths as a policy does: several with commas, and braces', () => {
    const covered = (paths: string) =>
      ['src/a.js', 'src/b.ts', 'lib/deep/c.js', 'a.md'].filter((path) => pattern(paths).covers(request(path)))
    expect(covered('src/*.js, lib/**')).toEqual(['src/a.js', 'lib/deep/c.js'])
    expect(covered('src/*.{js,ts}')).toEqual(['src/a.js', 'src/b.ts'])
    expect(covered('')).toEqual([])
  })

  it.each(['a,b', '[a]', '{x,y}', 'a*', '(b)', '!c', 'd+@(e|f)', 'q?', 'plain'])(
    'covers the call for which it is proposed, in the folder %s',
    (folder) => {
      const own = request(`src/${folder}/a.js`)
      const proposed = createPattern({ request: own, actor: 'agent' }, proposePaths(own))
      expect(proposed.covers(own)).toBe(true)
      expect(proposed.covers(request(`src/${folder}/b.js`))).toBe(true)
      expect(proposed.covers(request('src/other/a.js'))).toBe(false)
    },
  )

  it.each([
    ['/src/*', 'it is absolute'],
    ['src/*, ../x', 'it climbs with ..'],
    ['src\\a.js', 'a backslash escapes nothing there'],
    ['src/[a', 'starts no valid list'],
  ])('says why %s is no path', (paths, reason) => {
    expect(() => pattern(paths)).toThrow(reason)
  })
})

describe('createFiles', () => {
  it('shows what the policy shows, and follows changes', async () => {
    const { workspace } = await open({ preset: 'autonomous', deniedPaths: ['src'] })
    const tree = createFiles({ workspace })
    await tree.refresh()
    const names = () => tree.snapshot.rows.map(({ path }) => path)
    expect(names()).toEqual(['.env', 'a.txt', 'dos.txt'])
    expect(tree.snapshot.rows[0]).toMatchObject({ isProtected: true })
    await write(workspace, 'lib/c.txt', 'c\n')
    await expect.poll(names).toEqual(['lib', '.env', 'a.txt', 'dos.txt'])
    await tree.toggle('lib')
    expect(names()).toEqual(['lib', 'lib/c.txt', '.env', 'a.txt', 'dos.txt'])
    await tree.toggle('lib')
    expect(names()).not.toContain('lib/c.txt')
    tree.close()
    await write(workspace, 'later.txt', '')
    expect(names()).not.toContain('later.txt')
  })
})

describe('the actions on files', () => {
  const start = { 'a.txt': 'one\n', 'b.txt': 'two\n' }
  const acts: Readonly<Record<string, (files: Files) => Promise<boolean>>> = {
    'creates a file': (files) => files.create('file', 'new.txt'),
    'renames a file': (files) => files.move('a.txt', 'c.txt'),
    'copies a file': (files) => files.copy('a.txt', ''),
    'deletes a file': (files) => files.remove('a.txt'),
    'replaces a file': async (files) => !(await files.move('a.txt', 'b.txt')) && files.replace(),
    'pastes a cut file': (files) => {
      files.setClipboard({ path: 'a.txt', isCut: true })
      return files.paste('').then(() => files.move('a.txt', 'd.txt'))
    },
  }

  it.each(Object.entries(acts))('%s by guarded calls, and takes that back', async (_, act) => {
    const backend = memory(start)
    const workspace = await createWorkspace({ backend, policy: 'supervised' })
    const files = createFiles({ workspace })
    expect(await act(files)).toBe(true)
    expect(await allTexts(backend)).not.toEqual(start)
    expect(await files.undo()).toBe(true)
    expect(await allTexts(backend)).toEqual(start)
    expect(files.snapshot.notice).toEqual({ text: 'Taken back', isRefused: false, callId: undefined })
  })

  it('say why they are refused, and change nothing', async () => {
    const backend = memory(start)
    const workspace = await createWorkspace({ backend, policy: { preset: 'autonomous', deniedPaths: ['b.txt'] } })
    await workspace.call('write_file', { path: 'src/c.txt', content: '' })
    const files = createFiles({ workspace })
    const acts = [files.remove('src'), files.remove('b.txt'), files.create('file', 'a.txt'), files.move('src', 'src/d')]
    expect(await Promise.all(acts)).toEqual([false, false, false, false])
    expect(await files.move('a.txt', 'b.txt')).toBe(false)
    expect(await files.replace()).toBe(false)
    expect(files.snapshot.notice?.isRefused).toBe(true)
    expect(await allTexts(backend)).toEqual(start)
  })
})

describe('createEditor', () => {
  it('keeps line ends, and keeps the texts of other files as drafts', async () => {
    const { workspace } = await open()
    const editor = createEditor({ workspace })
    await editor.open('dos.txt')
    expect(editor.snapshot).toMatchObject({ text: 'a\nb\n', readOnly: undefined })
    editor.edit('a\nnew\n')
    await editor.open('a.txt')
    expect(editor.snapshot).toMatchObject({ text: 'one\n', isChanged: false, drafts: ['dos.txt'] })
    await editor.open('dos.txt')
    expect(editor.snapshot).toMatchObject({ text: 'a\nnew\n', isChanged: true })
    await editor.save()
    expect(editor.snapshot).toMatchObject({ isChanged: false, drafts: [], trouble: undefined })
    expect(await workspace.call('read_file', { path: 'dos.txt' })).toMatchObject({ content: 'a\r\nnew\r\n' })
  })

  it.each(['own', 'theirs'] as const)(
    'overwrites nothing that changed meanwhile before the person chooses %s',
    async (choice) => {
      const { workspace } = await open()
      const editor = createEditor({ workspace })
      await editor.open('a.txt')
      editor.edit('mine\n')
      await write(workspace, 'a.txt', 'theirs\n')
      await expect.poll(() => editor.snapshot.conflict).toBe('theirs\n')
      await editor.save()
      expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'theirs\n' })
      editor.resolve(choice)
      expect(editor.snapshot).toMatchObject({ conflict: undefined, text: choice === 'own' ? 'mine\n' : 'theirs\n' })
      await editor.save()
      const content = choice === 'own' ? 'mine\n' : 'theirs\n'
      expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ content })
    },
  )

  it('notices at saving a change that nobody reported, and shows a draft of an old version as a conflict', async () => {
    const { workspace, backend } = await open()
    const other = await createWorkspace({ backend, policy: 'autonomous' })
    const editor = createEditor({ workspace })
    await editor.open('a.txt')
    editor.edit('mine\n')
    await write(other, 'a.txt', 'theirs\n')
    await editor.save()
    expect(editor.snapshot).toMatchObject({ conflict: 'theirs\n', text: 'mine\n', isChanged: true })
    await editor.open('dos.txt')
    await editor.open('a.txt')
    expect(editor.snapshot).toMatchObject({ conflict: 'theirs\n', text: 'mine\n' })
  })

  it('does not save a text over a file that can no longer be changed', async () => {
    const { workspace, backend } = await open()
    const editor = createEditor({ workspace })
    await editor.open('a.txt')
    editor.edit('mine\n')
    await write(workspace, 'a.txt', 'mixed\r\nends\n')
    await expect.poll(() => editor.snapshot.conflict).toBeDefined()
    editor.resolve('own')
    await editor.save()
    expect(editor.snapshot).toMatchObject({ isChanged: true, readOnly: expect.any(String), text: 'mine\n' })
    expect((await allTexts(backend))['a.txt']).toBe('mixed\r\nends\n')
  })

  it('takes changes of a file that the person has not edited, and shows nothing of a hidden one', async () => {
    const { workspace } = await open({ preset: 'autonomous', deniedPaths: ['src'] })
    const editor = createEditor({ workspace })
    await editor.open('a.txt')
    await write(workspace, 'a.txt', 'two\n')
    await expect.poll(() => editor.snapshot.text).toBe('two\n')
    for (const path of ['.env', 'src/b.txt']) {
      await editor.open(path)
      expect(editor.snapshot).toMatchObject({ text: '', isLoading: false })
      expect(editor.snapshot.readOnly).toBeDefined()
      editor.edit('over it')
      await editor.save()
      expect(editor.snapshot).toMatchObject({ text: '', isChanged: false })
    }
  })
})

describe('createChanges', () => {
  it('follows changes with the difference of the chosen file, and shows no secret one', async () => {
    const { workspace } = await open()
    const changes = createChanges({ workspace })
    await write(workspace, 'a.txt', 'two\n')
    await write(workspace, 'new.txt', 'new\n')
    await changes.select('new.txt')
    expect(changes.snapshot.files.map(({ path, status }) => [path, status])).toEqual([
      ['a.txt', 'modified'],
      ['new.txt', 'added'],
    ])
    expect(changes.snapshot.patch).toContain('+new')
    await workspace.call('delete_file', { path: 'new.txt' })
    await expect.poll(() => changes.snapshot.selected).toBe('a.txt')
    await expect.poll(() => changes.snapshot.patch).toContain('+two')
    await changes.select('.env')
    expect(changes.snapshot.selected).toBe('a.txt')
  })
})

describe('the review of changes', () => {
  const start = {
    'a.txt': 'one\ntwo\nthree\n',
    'dos.txt': '\ufeffa\r\nb\r\nc\r\n',
    'end.txt': 'one\ntwo',
    'gone.txt': 'gone\n',
    'old.txt': 'a\nb\nc\nd\n',
  }

  it('takes back every kind of change through guarded calls, and brings each back', async () => {
    const backend = memory(start)
    const workspace = await createWorkspace({ backend, policy: 'autonomous' })
    const changes = createChanges({ workspace })
    await write(workspace, 'a.txt', 'ONE\ntwo\nTHREE\n')
    await write(workspace, 'dos.txt', 'a\r\nB\r\nc\r\n')
    await write(workspace, 'end.txt', 'one\nTWO')
    await workspace.call('delete_file', { path: 'gone.txt' })
    await workspace.call('move_file', { path: 'old.txt', to: 'new.txt' })
    await workspace.call('write_file', { path: 'added.txt', content: 'added' })
    await changes.refresh()
    const all = changes.snapshot.files.map(({ path, status }) => `${status} ${path}`)
    expect(all).toEqual([
      ...['modified a.txt', 'added added.txt', 'modified dos.txt', 'modified end.txt', 'deleted gone.txt'],
      'renamed new.txt',
    ])
    const present = () => allTexts(backend)
    for (const { path, status } of changes.snapshot.files) {
      await changes.select(path)
      const { file } = changes.snapshot
      const hunk = file?.hunks[0]
      const before = await present()
      const outcome = hunk && file && (await changes.revert(file, hunk))
      expect(outcome, path).toEqual(status === 'renamed' ? undefined : { callId: expect.any(String) })
      if (outcome === undefined || !('callId' in outcome)) continue
      expect(await present(), path).not.toEqual(before)
      expect(await changes.undo(outcome.callId), path).toHaveProperty('callId')
      expect(await present(), path).toEqual(before)
    }
    await changes.refresh()
    for (const { path } of changes.snapshot.files) {
      await changes.select(path)
      const { file } = changes.snapshot
      expect(file && (await changes.revertFile(file)), path).toHaveProperty('callId')
    }
    expect(await present()).toEqual(start)
    await changes.refresh()
    expect(changes.snapshot.files).toEqual([])
  })

  it('shows marks in place of secrets, and does not write them over the secrets', async () => {
    const key = `ghp_${'a1B2'.repeat(9)}`
    const backend = memory({ 'a.txt': `${key}\none\n` })
    const workspace = await createWorkspace({ backend, policy: 'autonomous' })
    const changes = createChanges({ workspace })
    await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
    await changes.select('a.txt')
    const { file, patch } = changes.snapshot
    expect(JSON.stringify(changes.snapshot)).not.toContain(key)
    expect(patch).toContain('[REDACTED:github-token')
    expect(file && (await changes.revertFile(file))).toHaveProperty('trouble')
    expect(await allTexts(backend)).toEqual({ 'a.txt': `${key}\ntwo\n` })
  })

  it('does not take back a change of a file that has changed since, and keeps marks until then', async () => {
    const { workspace } = await open()
    const changes = createChanges({ workspace })
    await write(workspace, 'a.txt', 'two\n')
    await changes.select('a.txt')
    const { file } = changes.snapshot
    const [hunk] = file?.hunks ?? []
    if (file === undefined || hunk === undefined) throw new Error('no change')
    changes.accept(file, hunk, true)
    changes.view(file, true)
    expect(changes.keep()).toMatchObject({
      accepted: [expect.stringMatching(/^a\.txt /)],
      viewed: { 'a.txt': file.version },
    })
    await write(workspace, 'a.txt', 'three\n')
    expect(await changes.revert(file, hunk)).toEqual({
      trouble: expect.stringMatching(/^Changed meanwhile /),
    })
    await changes.refresh()
    expect(changes.snapshot.files[0]?.version).not.toBe(file.version)
  })
})

describe('textBefore', () => {
  it('returns the text that a patch starts from, for any two texts', () => {
    const text = fc
      .array(fc.constantFrom('a\n', 'b\n', 'a\r\n', '\n', '-- x\n', '+y\n', 'last'), { maxLength: 12 })
      .map((lines) => lines.join(''))
    const path = parsePath('a.txt')
    fc.assert(
      fc.property(text, text, (before, after) => {
        const patch = unifiedDiff({ path, text: before }, { path, text: after }).text
        expect(textBefore(after, patch)).toBe(before)
        if (patch !== '') expect(textBefore(`x${after}`, patch)).not.toBe(before)
      }),
      { numRuns: 300 },
    )
  })
})

describe('changedWords', () => {
  it('names the words that differ, line by line, with the space between two of them', () => {
    const changed = (before: string, after: string) =>
      changedWords([before], [after]).map((lines, side) =>
        (lines[0] ?? []).map(([from, to]) => (side === 0 ? before : after).slice(from, to)),
      )
    expect(changed('return Math.floor(x)\n', 'return Math.round(x)\n')).toEqual([['floor'], ['round']])
    expect(changed('a b c d\n', 'a x y d\n')).toEqual([['b c'], ['x y']])
    expect(changed('same\n', 'same\r\n').flat()).toEqual(['\n', '\r\n'])
    expect(changedWords([], ['a\n'])).toEqual([[], []])
  })
})

describe('createHistory', () => {
  it('goes back and forth over every change, and back to a change by others', async () => {
    const { workspace } = await open()
    const history = createHistory(workspace)
    await write(workspace, 'a.txt', 'two\n')
    await write(workspace, 'a.txt', 'three\n')
    const text = async () => (await workspace.call('read_file', { path: 'a.txt' })) as { content?: string }
    const [start, second, third] = history.snapshot.points
    for (const [point, content] of [
      [start, 'one\n'],
      [third, 'three\n'],
      [second, 'two\n'],
    ] as const) {
      await history.moveTo(point?.id ?? '')
      expect(history.snapshot).toMatchObject({ position: point?.id, trouble: undefined })
      expect(await text()).toMatchObject({ content })
    }
    expect(history.snapshot.points).toHaveLength(3)
    workspace.notifyExternalChange(['a.txt'])
    expect(history.snapshot.position).toBeUndefined()
    await history.moveTo('no such point')
    expect(history.snapshot.trouble).toBeDefined()
  })
})

describe('createTerminal', () => {
  it('says that a workspace without a shell runs no commands', async () => {
    const { workspace } = await open()
    const terminal = createTerminal({ workspace })
    await terminal.run('ls')
    expect(terminal.snapshot).toMatchObject({ isRunning: false, lines: [{ command: 'ls', isRunning: false }] })
    expect(terminal.snapshot.lines[0]?.refused).toHaveLength(1)
    const explaining = createTerminal({ workspace, explainFailure: ({ code }) => `No commands here: ${code}` })
    await explaining.run('ls')
    expect(explaining.snapshot.lines[0]?.refused).toEqual(['No commands here: SHELL_UNAVAILABLE'])
  })
})

describe('createConversation', () => {
  it('sends what was queued one by one, and shows why an answer ended', async () => {
    const conversation = createConversation({
      async respond({ items, say }) {
        const last = items.at(-1)
        await Promise.resolve()
        if (last?.kind === 'person' && last.text === 'fail') throw new Error('The model cannot be reached')
        for (const piece of ['an', 'swer']) say(piece)
      },
    })
    const first = conversation.send('one')
    await conversation.send('fail')
    await conversation.send('three')
    expect(conversation.snapshot.queue).toEqual([{ text: 'fail' }, { text: 'three' }])
    await first
    const texts = conversation.snapshot.items.map((item) => ('text' in item ? item.text : item.entry))
    expect(texts).toEqual(['one', 'answer', 'fail', 'The model cannot be reached', 'three', 'answer'])
    expect(conversation.snapshot).toMatchObject({ isWorking: false, queue: [] })
  })

  it('takes nothing more of an answer that was stopped', async () => {
    let sayLater = (_: string): void => {}
    const conversation = createConversation({
      respond: ({ say, signal }) => {
        sayLater = say
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
      },
    })
    const sent = conversation.send('one')
    sayLater('partly')
    conversation.stop()
    await sent
    sayLater(' more')
    expect(conversation.snapshot.items.at(-1)).toMatchObject({ kind: 'agent', text: 'partly' })
  })
})

describe('createMessageDraft', () => {
  it('keeps what was written while an earlier message is changed or one of the queue is taken back', async () => {
    const sent: unknown[] = []
    let release = (): void => {}
    const conversation = createConversation({
      respond: ({ items, attachments }) => {
        sent.push([items.map((item) => ('text' in item ? item.text : '')), attachments.map(({ name }) => name)])
        return new Promise((resolve) => {
          release = resolve
        })
      },
    })
    const kept = new Map([['message', 'from before']])
    const drafts = {
      get: (field: string) => kept.get(field) ?? '',
      set: (field: string, text: string) => void kept.set(field, text),
    }
    const draft = createMessageDraft(conversation, {
      drafts,
      attach: async ({ name }) => ({ kind: 'text', name, text: '' }),
    })
    expect(draft.snapshot.text).toBe('from before')
    await draft.attach([new File([], 'a.txt')])
    draft.send()
    expect(draft.snapshot).toMatchObject({ text: '', attachments: [] })
    draft.write('two')
    draft.send()
    draft.write('three')
    draft.takeBack(0)
    expect([draft.snapshot.text, conversation.snapshot.queue]).toEqual(['two\n\nthree', []])
    draft.write('two')
    const [{ id } = { id: '' }] = conversation.snapshot.items
    draft.edit(id)
    expect(draft.snapshot).toMatchObject({ text: 'from before', replaces: id })
    draft.send()
    expect(sent.length, 'while the agent works').toBe(1)
    draft.write('half')
    draft.cancelEdit()
    expect(draft.snapshot.text).toBe('two')
    draft.edit(id)
    expect(draft.snapshot.text, 'goes on with what was written').toBe('half')
    release()
    await expect.poll(() => conversation.snapshot.isWorking).toBe(false)
    draft.write('other')
    draft.send()
    await expect.poll(() => sent.length).toBe(2)
    expect([sent, draft.snapshot.text, kept.get('message')]).toEqual([
      [
        [['from before'], ['a.txt']],
        [['other'], []],
      ],
      'two',
      'two',
    ])
    release()
  })
})

describe('createPolicyEditor', () => {
  it('keeps the policy in force if it cannot be applied', async () => {
    const editor = createPolicyEditor({ policy: 'readOnly', onApply: () => Promise.reject(new Error('No storage')) })
    editor.edit('{ "preset": "autonomous" }')
    await editor.apply()
    expect(editor.snapshot).toMatchObject({ trouble: 'No storage', isChanged: true, isApplying: false })
    editor.edit('{ "preset": "none such" }')
    await editor.apply()
    expect(editor.snapshot.fault).toContain('preset')
    editor.reset()
    expect(JSON.parse(editor.snapshot.text)).toEqual({ preset: 'readOnly' })
  })
})
