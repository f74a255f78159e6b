import { signal } from '@preact/signals'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWorkspace, type Failure, type Path, type Success, ToolError } from 'wardspace'
import { reportMarkdown } from 'wardspace/audit'
import { memory } from 'wardspace/backends/memory'
import { scenarioById } from '../../playground/agent/scenarios/index.ts'
import type { Agent } from '../../playground/agent/types.ts'
import { memoryByteStore } from '../../playground/projects/byte-store.ts'
import { OPEN_CONVERSATION, openArchive } from '../../playground/session/archive.ts'
import { createAutosave } from '../../playground/session/autosave.ts'
import {
  changedPaths,
  changeOfFile,
  changesOfCall,
  contentOfChange,
  contentOfVersion,
  hasChangesOf,
} from '../../playground/session/changes.ts'
import { createConversation, type LoadedAgent, type SavedConversation } from '../../playground/session/conversation.ts'
import { editorOf } from '../../playground/session/editor.ts'
import { loadAgent, loadScenarios } from '../../playground/session/load-agent.ts'
import { createOpenFiles, type OpenFiles } from '../../playground/session/open-files.ts'
import { openSession } from '../../playground/session/open-session.ts'
import { settingsOf } from '../../playground/session/own-work.ts'
import { pastFiles } from '../../playground/session/past-files.ts'
import { createPathFacts } from '../../playground/session/path-facts.ts'
import { reportsOf, summarizeTurn } from '../../playground/session/run-summary.ts'
import { openTerminal } from '../../playground/session/terminal.ts'
import { endHead, turnsOf } from '../../playground/session/turn-words.ts'
import type { Session, WorkspaceSettings } from '../../playground/session/types.ts'
import { openTyping } from '../../playground/session/typing.ts'
import { sha256 } from '../../src/files/hash/sha256.ts'
import { bytesOf } from '../../src/testing/backend/case.ts'
import { times } from '../counts.ts'
import { filesOf } from './agent/setup.ts'

const files = {
  'a.txt': 'one\n',
  'dos.txt': '\ufeffa\r\nb\r\n',
  '.env': 'TOKEN=planted-secret\n',
  'src/x.js': 'let x\n',
}

function project(backend = memory(files), kept = memoryByteStore()) {
  return { info: { id: 'p', name: 'P' }, backend, kept }
}

async function open(settings: Partial<WorkspaceSettings> = { policy: 'autonomous' }, from = project()) {
  return { from, session: await openSession(from, { settings }) }
}

async function textOf({ backend }: ReturnType<typeof project>, path: string): Promise<string | undefined> {
  const stat = await backend.stat(path as never)
  return stat === undefined
    ? undefined
    : new TextDecoder('utf-8', { ignoreBOM: true }).decode((await backend.read(path as never)).bytes)
}

const append = (session: Session, content: string) =>
  session.agentRun.value.call('append_file', { path: 'a.txt', content })

describe('a session', () => {
  it('keeps history, audit, timeline and position over a change of policy and a reload', async () => {
    const { from, session } = await open()
    await append(session, 'two\n')
    await session.change({ policy: { preset: 'autonomous', deniedPaths: ['src'] } })
    expect(await session.agentRun.value.call('read_file', { path: 'src/x.js' })).toMatchObject({
      code: 'POLICY_DENIED',
    })
    await append(session, 'three\n')
    await session.close()

    const again = await openSession(from)
    expect(again.settings.value.policy).toMatchObject({ deniedPaths: ['src'] })
    expect(again.timeline.value.map(({ tool, state }) => [tool, state])).toEqual([
      ['append_file', 'done'],
      ['read_file', 'done'],
      ['append_file', 'done'],
    ])
    expect(again.history.value.map(({ label }) => label)).toEqual([
      'As it was opened',
      'Appended to a.txt',
      'Appended to a.txt',
    ])
    expect(again.position.value).toBe(again.history.value[2]?.id)
    expect(again.workspace.value.verifyAudit()).toMatchObject({ ok: true, count: 5 })

    const [opened, , last] = again.history.value
    expect(await again.moveTo(opened?.id ?? '')).toMatchObject({ ok: true })
    expect(await textOf(from, 'a.txt')).toBe('one\n')
    expect(await again.moveTo(last?.id ?? '')).toMatchObject({ ok: true })
    expect(await textOf(from, 'a.txt')).toBe('one\ntwo\nthree\n')
    expect(again.history.value).toHaveLength(3)
    await again.close()
  })

  it('returns to the state before a step back, even without a checkpoint', async () => {
    const { from, session } = await open()
    await append(session, 'two\n')
    // A call of the workspace itself creates no checkpoint.
    await session.workspace.value.call('append_file', { path: 'a.txt', content: 'unnoted\n' })
    expect(session.position.value).toBeUndefined()
    await session.moveTo(session.history.value[0]?.id ?? '')
    expect(await textOf(from, 'a.txt')).toBe('one\n')
    await session.moveTo(session.history.value.at(-1)?.id ?? '')
    expect(await textOf(from, 'a.txt')).toBe('one\ntwo\nunnoted\n')
    await session.close()
  })

  it('restores the last of several states that are chosen at once', async () => {
    const { from, session } = await open()
    await append(session, 'two\n')
    await append(session, 'three\n')
    const [opened, second, last] = session.history.value.map(({ id }) => id)
    const calls = session.timeline.value.length
    const results = await Promise.all([opened, last, second].map((id = '') => session.moveTo(id)))
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true])
    expect([session.position.value, session.target.value]).toEqual([second, undefined])
    expect(await textOf(from, 'a.txt')).toBe('one\ntwo\n')
    expect(session.timeline.value).toHaveLength(calls + 2)
    await session.close()
  })

  it('knows the files of each point, and changes none of them', async () => {
    const { from, session } = await open()
    await append(session, 'two\n')
    await session.agentRun.value.call('move_file', { path: 'src/x.js', to: 'src/y.js' })
    await session.agentRun.value.call('write_file', { path: 'new.txt', content: 'new\n' })
    const history = session.workspace.value.history()
    const seen = session.history.value.map(({ id }) => pastFiles(history, id))
    const [opened] = seen
    expect(seen.map((past) => past?.files.map(({ path, status }) => `${path} ${status}`))).toEqual([
      ['a.txt changed', 'new.txt added', 'src/y.js renamed'],
      ['new.txt added', 'src/y.js renamed'],
      ['new.txt added'],
      [],
    ])
    const [file] = opened?.files ?? []
    const { before } = await contentOfChange(from, opened?.since ?? history, file ?? { path: '', status: 'added' })
    expect(new TextDecoder().decode(before)).toBe('one\n')
    expect(opened?.isComplete).toBe(true)
    expect(pastFiles(history, 'no such point')).toBeUndefined()
    await session.close()
  })

  it('refuses an invalid policy and changes nothing', async () => {
    const { session } = await open()
    const before = session.workspace.value
    await expect(session.change({ policy: { rule: [] } as never })).rejects.toThrow('"rule" is unknown')
    expect(session.workspace.value).toBe(before)
    expect(session.settings.value.policy).toBe('autonomous')
    expect(await append(session, 'two\n')).toMatchObject({ ok: true })
    await session.close()
  })

  it('asks the user to approve calls of the agent, but not their own', async () => {
    const { from, session } = await open({ policy: 'supervised' })
    expect(await session.save('a.txt', 'mine\n', null)).toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(await session.save('new.txt', 'mine\n', null)).toMatchObject({ ok: true })
    const question = append(session, 'two\n')
    await expect.poll(() => session.approvals.value.length).toBe(1)
    expect(session.timeline.value.at(-1)?.state).toBe('waiting')
    expect(session.approvals.value[0]?.request.diff).toContain('+two')
    session.approvals.value[0]?.answer({ deny: 'not now', by: 'person' })
    expect(await question).toMatchObject({ code: 'APPROVAL_DENIED' })
    expect(session.approvals.value).toEqual([])
    const again = append(session, 'two\n')
    await expect.poll(() => session.approvals.value.length).toBe(1)
    session.approvals.value[0]?.answer({ allow: 'once', by: 'person' })
    expect(await again).toMatchObject({ ok: true })
    expect(session.timeline.value.at(-1)?.record?.approvals).toMatchObject([{ how: 'once', by: 'person' }])
    expect(await textOf(from, 'a.txt')).toBe('one\ntwo\n')
    await session.close()
  })

  it('withdraws the question of an aborted call', async () => {
    const { session } = await open({ policy: 'supervised' })
    const stop = new AbortController()
    const asked = session.agentRun.value.call('append_file', { path: 'a.txt', content: 'x' }, { signal: stop.signal })
    await expect.poll(() => session.approvals.value.length).toBe(1)
    stop.abort()
    expect(await asked).toMatchObject({ code: 'ABORTED' })
    expect(session.approvals.value).toEqual([])
    await session.close()
  })

  it.each(['readOnly', 'plan'] as const)(
    'lets the owner save and step back under %s, but not an agent',
    async (kind) => {
      const settings = kind === 'plan' ? { policy: 'autonomous', mode: 'plan' } : { policy: 'readOnly' }
      const { from, session } = await open(settings as Partial<WorkspaceSettings>)
      expect(await session.save('b.txt', 'mine\n', null)).toMatchObject({ ok: true })
      expect(await textOf(from, 'b.txt')).toBe('mine\n')
      expect((await append(session, 'two\n')).ok).toBe(false)
      expect(await session.moveTo(session.history.value[0]?.id ?? '')).toMatchObject({ ok: true })
      expect(await textOf(from, 'b.txt')).toBeUndefined()
      expect(session.settings.value).toMatchObject(settings)
      expect((await append(session, 'two\n')).ok).toBe(false)
      expect(session.workspace.value.verifyAudit()).toMatchObject({ ok: true })
      await session.close()
    },
  )

  it('stores no content that the policy protects', async () => {
    const { from, session } = await open()
    await session.agentRun.value.call('read_file', { path: '.env' })
    await session.agentRun.value.call('run_command', { command: 'cat .env; grep -r TOKEN .' })
    await session.call('run_command', { command: 'base64 .env' })
    await session.close()
    for (const name of await from.kept.names()) {
      expect(JSON.stringify(await from.kept.load(name)), name).not.toContain('planted-secret')
    }
  })
})

describe('the changes', () => {
  it('are available by file and by call, with the content of each version', async () => {
    const { from, session } = await open()
    const first = await append(session, 'two\n')
    await append(session, 'three\n')
    await session.agentRun.value.call('delete_file', { path: 'src/x.js' })
    await session.agentRun.value.call('write_file', { path: 'n.txt', content: 'n' })
    const history = session.workspace.value.history()
    expect([...changedPaths(history)]).toEqual([
      ['a.txt', 'changed'],
      ['src/x.js', 'deleted'],
      ['n.txt', 'added'],
    ])
    const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes)
    const whole = await changeOfFile(from, session.workspace.value, 'a.txt')
    expect([text(whole?.before), text(whole?.after)]).toEqual(['one\n', 'one\ntwo\nthree\n'])
    const [of] = await changesOfCall(from, session.workspace.value, first.ok ? first.callId : '')
    expect([text(of?.before), text(of?.after)]).toEqual(['one\n', 'one\ntwo\n'])
    const sha256 = first.ok ? String(first.newSha256) : ''
    expect(text(await contentOfVersion(from, history, 'a.txt', sha256))).toBe('one\ntwo\n')
    expect(await contentOfVersion(from, history, 'a.txt', '0'.repeat(64))).toBeUndefined()
    await session.undo(first.ok ? first.callId : '')
    expect(changedPaths(session.workspace.value.history()).get('a.txt')).toBe('changed')
    await session.close()
  })
})

describe('a run that is taken back', () => {
  /** A run that changes a file and adds one in a new folder, and what the person does after it. */
  async function afterRun(act: (session: Session) => Promise<Success | Failure>) {
    const { from, session } = await open(
      { policy: 'readOnly' },
      project(memory({ 'a.txt': 'one\n2\n3\n', 'b.txt': 'b\n' })),
    )
    await session.change({ policy: 'autonomous' })
    await session.checkpoint('before')
    const point = session.history.value.at(-1)?.id ?? ''
    const { id } = session.agentRun.value
    const { call } = session.agentRun.value
    const calls = [
      await call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'ONE' }),
      await call('write_file', { path: 'new/x.txt', content: 'x' }),
    ]
    const callIds = new Set(calls.map((result) => (result.ok ? result.callId : '')))
    await session.change({ policy: 'readOnly' })
    expect(await act(session)).toMatchObject({ ok: true })
    const hasChanges = () => hasChangesOf(session.workspace.value.history(), callIds)
    expect(hasChanges()).toBe(true)
    const result = await session.takeBack(id, point)
    return { result, session, hasChanges, read: (path: string) => textOf(from, path) }
  }

  it('keeps what the person did in other files and in the new folder', async () => {
    const { result, session, hasChanges, read } = await afterRun(async (session) => {
      await session.callAsOwner('write_file', { path: 'new/mine.txt', content: 'mine' })
      return session.callAsOwner('append_file', { path: 'b.txt', content: 'mine\n' })
    })
    expect(result).toMatchObject({ ok: true, kept: ['new'] })
    expect(await Promise.all(['a.txt', 'b.txt', 'new/x.txt', 'new/mine.txt'].map(read))).toEqual([
      ...['one\n2\n3\n', 'b\nmine\n', undefined, 'mine'],
    ])
    expect(hasChanges()).toBe(false)
    // The step is one state of the history like any other.
    expect(session.history.value.at(-1)).toMatchObject({ label: 'Took back a run', id: session.position.value })
    await session.close()
  })

  it.each([
    ['elsewhere', { oldText: '3', newText: 'three' }, 'ONE\n2\nthree\n'],
    ['in the same lines', { oldText: 'ONE', newText: 'uno' }, 'uno\n2\n3\n'],
  ])('is refused as a whole if the person changed its file %s', async (_, edit, text) => {
    const { result, session, hasChanges, read } = await afterRun((session) =>
      session.callAsOwner('edit_file', { path: 'a.txt', ...edit }),
    )
    expect(result).toMatchObject({ code: 'WRITE_CONFLICT', paths: ['a.txt'] })
    expect(await read('a.txt')).toBe(text)
    expect(await read('new/x.txt')).toBe('x')
    expect(hasChanges()).toBe(true)
    await session.close()
  })
})

describe('an open file', () => {
  it('shows the last state of the file, in whatever order its reads end', async () => {
    const acts = fc.array(fc.constantFrom('change', 'open', 'revert', 'edit', 'save'), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), acts, async (order, others) => {
        let disk = 'first'
        const later = order.scheduleFunction(async <T>(value: T) => value)
        const backend = {
          stat: async () => ({ type: 'file' }),
          read: async () => later({ bytes: bytesOf(disk) }),
        }
        const changed = (text: string) => {
          disk = text
          return opened.refresh()
        }
        const save: Session['save'] = async (_, content, expected) => {
          if (sha256(bytesOf(disk)) !== expected) return later({ ok: false, code: 'WRITE_CONFLICT' } as Failure)
          void changed(content)
          return later({ ok: true, newSha256: sha256(bytesOf(content)) } as unknown as Success)
        }
        const opened = createOpenFiles({ project: { backend }, save } as unknown as Session)
        const act = async (name: (typeof others)[number], at: number) => {
          await later(name)
          if (name === 'change') await changed(`change ${at}`)
          else if (name === 'edit') opened.edit('a.txt', `edit ${at}`)
          else await opened[name]('a.txt')
        }
        await order.waitFor(Promise.all([opened.open('a.txt'), ...['change' as const, ...others].map(act)]))
        const [file] = opened.all.value
        expect(file?.theirs?.text?.text ?? file?.base?.text).toBe(disk)
        expect(file?.theirs?.sha256 ?? file?.sha256).toBe(sha256(bytesOf(disk)))
      }),
      { numRuns: times(100, 20_000) },
    )
  })

  it('is saved byte for byte, and reports an outside change as a conflict with both texts', async () => {
    const { from, session } = await open()
    const opened = createOpenFiles(session)
    await opened.open('dos.txt')
    const file = () => opened.all.value[0]
    expect(file()?.base).toEqual({ text: '\ufeffa\r\nb\r\n', lineEnd: '\r\n' })
    opened.edit('dos.txt', '\ufeffa\r\nb\r\nc\r\n')
    await opened.save('dos.txt')
    expect(await textOf(from, 'dos.txt')).toBe('\ufeffa\r\nb\r\nc\r\n')
    expect(file()?.draft).toBeUndefined()

    opened.edit('dos.txt', 'mine')
    await session.call('run_command', { command: 'echo theirs > dos.txt' })
    await opened.save('dos.txt')
    expect(file()).toMatchObject({ draft: 'mine', theirs: { text: { text: 'theirs\n' } } })
    expect(await textOf(from, 'dos.txt')).toBe('theirs\n')
    // The file changes again. The answer to the first conflict does not apply to the second.
    await session.call('run_command', { command: 'echo again > dos.txt' })
    await opened.settle('dos.txt', 'mine and theirs')
    expect(file()).toMatchObject({ draft: 'mine and theirs', theirs: { text: { text: 'again\n' } } })
    await opened.settle('dos.txt', 'all')
    expect(await textOf(from, 'dos.txt')).toBe('all')
    expect(file()).toMatchObject({ draft: undefined, theirs: undefined })
    await session.close()
  })

  it('is edited with line feeds, and saved with its own line ends, also after a conflict and a reload', async () => {
    const { from, session } = await open()
    const edit = async (opened: OpenFiles) => {
      const editor = editorOf(opened, signal(true), () => session.workspace.value.history())
      await editor.open('dos.txt')
      return editor
    }
    const first = createOpenFiles(session)
    const before = await edit(first)
    expect(before.snapshot).toMatchObject({ text: '\ufeffa\nb\n', isChanged: false, conflict: undefined })
    before.edit('\ufeffa\nmine\n')
    expect(first.all.value[0]?.draft).toBe('\ufeffa\r\nmine\r\n')
    await session.call('run_command', { command: "printf 'theirs\\r\\n' > dos.txt" })
    const again = createOpenFiles(session)
    await again.restore(first.keep())
    const editor = await edit(again)
    expect(editor.snapshot).toMatchObject({ text: '\ufeffa\nmine\n', conflict: 'theirs\n', isChanged: true })
    editor.edit('\ufeffa\nmine\ntheirs\n')
    await editor.save()
    expect(await textOf(from, 'dos.txt'), 'nothing is written before the person chooses').toBe('theirs\r\n')
    editor.resolve('own')
    await expect.poll(() => editor.snapshot).toMatchObject({ conflict: undefined, isChanged: false })
    expect(await textOf(from, 'dos.txt')).toBe('\ufeffa\r\nmine\r\ntheirs\r\n')
    await session.close()
  })

  it.each(['from the start', 'later'])(
    'is not changed while another tab has the project, %s, which is said',
    async (when) => {
      const { from } = await open()
      let writable = when === 'later'
      const backend: typeof from.backend = {
        ...from.backend,
        commit: (changes, options) =>
          writable
            ? from.backend.commit(changes, options)
            : Promise.reject(new ToolError('READ_ONLY', 'Cannot change')),
      }
      const taken = {
        ...from,
        backend,
        get writable() {
          return writable
        },
      }
      const session = await openSession(taken, { settings: { policy: 'autonomous' }, writable })
      const opened = createOpenFiles(session)
      const editor = editorOf(opened, signal(writable), () => session.workspace.value.history())
      await editor.open('a.txt')
      writable = false
      editor.edit('mine')
      await editor.save()
      const words = /^Another tab has the project\b.*\. Take it over to save\.$/
      if (when === 'later') expect(editor.snapshot.trouble).toMatch(words)
      else expect(editor.snapshot).toMatchObject({ isChanged: true, readOnly: expect.any(String), trouble: undefined })
      const terminal = openTerminal(session)
      await terminal.run('rm a.txt; ls')
      expect(terminal.snapshot.lines[0]?.refused[0]).toMatch(
        when === 'later' ? words : 'Blocked: a.txt is read-only here',
      )
      await terminal.run('echo fine')
      expect(terminal.snapshot.lines[1]).toMatchObject({ refused: [], exitCode: 0 })
      const change = { label: 'x', changes: [] } as never
      expect(await session.changeFiles(change)).toMatchObject({ message: 'Another tab has the project' })
      expect(await textOf(from, 'a.txt')).toBe('one\n')
      terminal.close()
      await session.close()
    },
  )

  it.each([
    ['Revert', 'true'],
    ['the choice of a changed file', 'echo theirs > a.txt'],
    ['the choice of a deleted file', 'rm a.txt'],
  ])('gives a draft back that %s has dropped, also one that was restored', async (_way, change) => {
    const { session } = await open()
    const typed = createOpenFiles(session)
    await typed.open('a.txt')
    typed.edit('a.txt', 'mine')
    await session.call('run_command', { command: change })
    await typed.refresh()
    const restored = createOpenFiles(session)
    await restored.restore(typed.keep())
    for (const opened of [typed, restored]) {
      const editor = editorOf(opened, signal(true), () => session.workspace.value.history())
      const { snapshot } = editor
      expect(snapshot).toMatchObject({ text: 'mine', isChanged: true })
      if (snapshot.conflict === undefined) await editor.discard()
      else editor.resolve('theirs')
      await expect.poll(() => editor.snapshot.isChanged).toBe(false)
      editor.edit('a later text')
      opened.close('a.txt')
      opened.notice.value?.action.act()
      await expect.poll(() => editor.snapshot).toEqual(snapshot)
      opened.notice.value?.action.act()
      await expect.poll(() => editor.snapshot.text).toBe('a later text')
    }
    await session.close()
  })

  it('that Revert has dropped is offered again after a reload, until the person has it back or dismisses it', async () => {
    const { from, session } = await open()
    const openPage = async () => {
      const autosave = createAutosave(from, true)
      return {
        autosave,
        ...(await openTyping({ ...from, info: { storage: 'opfs' } }, session, autosave)),
      }
    }
    for (const isWanted of [true, false]) {
      const before = await openPage()
      await before.files.open('a.txt')
      before.files.edit('a.txt', 'mine')
      await before.files.revert('a.txt')
      await before.autosave.close()
      const after = await openPage()
      const { notice } = after.files
      expect(notice.value?.text).toContain('a.txt')
      if (isWanted) notice.value?.action.act()
      else notice.value = undefined
      await expect.poll(() => notice.value).toBeUndefined()
      await after.autosave.close()
      const last = await openPage()
      expect(last.files.notice.value).toBeUndefined()
      expect(last.files.all.value.map(({ draft }) => draft)).toEqual([isWanted ? 'mine' : undefined])
      await last.files.revert('a.txt')
      await last.autosave.close()
    }
    await session.close()
  })

  it.each([
    ['changed by the agent', (session: Session) => append(session, 'theirs')],
    [
      'deleted by a command or action of yours',
      (session: Session) => session.call('run_command', { command: 'rm a.txt' }),
    ],
    [
      'changed by another tab or program',
      ({ project: { backend } }: Session) =>
        backend.commit([{ path: 'a.txt' as Path, expect: 'any', to: { type: 'file', bytes: bytesOf('theirs') } }], {
          durability: 'relaxed',
        }),
    ],
  ])('says in a conflict that it was %s', async (what, change) => {
    const { session } = await open()
    await append(session, 'an earlier change')
    const opened = createOpenFiles(session)
    const editor = editorOf(opened, signal(true), () => session.workspace.value.history())
    await editor.open('a.txt')
    editor.edit('mine')
    await change(session)
    await opened.refresh()
    expect(editor.snapshot.conflictCause).toBe(`has been ${what}`)
    await session.close()
  })

  it('with a draft can be saved after it was deleted; without a draft it shows the deletion', async () => {
    const { from, session } = await open()
    const opened = createOpenFiles(session)
    await opened.open('a.txt')
    await opened.open('src/x.js')
    opened.edit('a.txt', 'mine\n')
    await session.call('run_command', { command: 'rm a.txt src/x.js' })
    await opened.refresh()
    expect(opened.all.value[1]).toMatchObject({ base: undefined, sha256: undefined })
    expect(opened.all.value[0]?.theirs).toEqual({ text: undefined, sha256: undefined })
    await opened.settle('a.txt', 'mine\n')
    expect(await textOf(from, 'a.txt')).toBe('mine\n')
    await session.close()
  })
})

describe('the conversations of a project', () => {
  it('continue with what their runs have read, also after a reload, and none is lost', async () => {
    const from = project()
    const policy = {
      preset: 'autonomous',
      labels: { sources: [{ label: 'confidential', paths: ['src/**'] }] },
    } as const
    const openBoth = async () => {
      const { session } = await open({ policy }, from)
      const archive = await openArchive(from)
      const conversation = createConversation(session, {
        kept: await from.kept.load<SavedConversation>(OPEN_CONVERSATION),
        pick: { kind: 'scripted', scenario: '' },
        load: async () => ({
          createAgent: readingAgent(session),
          tools: () => session.workspace.value,
          instructions: async () => '',
          contentOf: async (_, text) => text,
        }),
        loadScenarios: async () => [],
        archive,
      })
      return { session, conversation, label: () => session.agentRun.value.taint.label() }
    }

    const first = await openBoth()
    await first.conversation.send('Read src/x.js')
    expect(first.label()).toBe('confidential')
    first.conversation.clear()
    await first.conversation.send('Read a.txt')
    expect(first.label()).toBe('public')
    await expect.poll(() => first.conversation.archive.all.value.map(({ title }) => title)).toEqual(['Read src/x.js'])
    await from.kept.save(OPEN_CONVERSATION, first.conversation.save())
    first.conversation.close()
    await first.session.close()

    const again = await openBoth()
    const [other] = again.conversation.archive.all.value
    expect(again.label()).toBe('public')
    await again.conversation.open(other?.id ?? '')
    expect(again.label()).toBe('confidential')
    expect(again.conversation.items.value[0]).toMatchObject({ text: 'Read src/x.js' })
    expect(again.conversation.archive.all.value.map(({ title }) => title)).toEqual(['Read a.txt'])
    // The open conversation is stored before the other one leaves the archive.
    expect(await from.kept.load<SavedConversation>(OPEN_CONVERSATION)).toMatchObject({
      items: [{ text: 'Read src/x.js' }],
    })
    again.conversation.close()
    await again.session.close()
  })
})

it('a run that is played step by step ends with the card of the whole run', async () => {
  const scenario = scenarioById('keep-a-secret')
  const cards = []
  for (const isStepwise of [false, true]) {
    const from = project(memory(await filesOf(scenario.sample)))
    const { session } = await open(settingsOf(scenario), from)
    const parts = { load: loadAgent, loadScenarios, archive: await openArchive(from), pace: 0 }
    const pick = { kind: 'scripted', scenario: scenario.id } as const
    const conversation = createConversation(session, { kept: undefined, pick, ...parts })
    await conversation.send(scenario.prompt, isStepwise)
    let steps = 1
    for (; conversation.canContinue.value; steps++) await conversation.next()
    const [turn] = turnsOf(conversation.items.value)
    const summary = summarizeTurn(turn?.steps ?? [], session.audit.value, session.timeline.value)
    cards.push({
      head: endHead(turn?.items ?? []),
      items: turn?.items,
      ...summary,
      at: undefined,
      callIds: turn?.steps,
    })
    expect(summary?.refused).toBeGreaterThan(0)
    expect(steps > 1).toBe(isStepwise)
    conversation.close()
    await session.close()
  }
  expect(cards[1]).toEqual(cards[0])
})

it('the report has one row for each call that the card counts as blocked', async () => {
  const { session } = await open({ policy: { preset: 'autonomous', readOnlyPaths: ['dos.txt'] } })
  const call = (command: string) => session.agentRun.value.callTool('run_command', { command }, { step: command })
  const commands = ['f=dos.txt; cat .env; cat .env; cat a.txt > $f', 'cat a.txt', 'cat .env', 'sudo ls']
  for (const command of commands) await call(command)
  const [report] = reportsOf(session.audit.value).filter(({ actor }) => actor === 'agent')
  const summary = summarizeTurn(commands, session.audit.value, session.timeline.value)
  expect(report?.forbidden).toHaveLength(summary?.refused ?? 0)
  expect(report?.forbidden.map(({ paths }) => paths)).toEqual([['.env', 'dos.txt'], ['.env'], ['.']])
  expect(report && reportMarkdown(report)).toContain('| .env, dos.txt |')
  await session.close()
})

it('a message is stored before the agent receives it', async () => {
  const from = project()
  const { session } = await open(undefined, from)
  let stored: SavedConversation | undefined
  const conversation = createConversation(session, {
    kept: undefined,
    pick: { kind: 'scripted', scenario: '' },
    load: async () => ({
      createAgent: (options) => ({
        ...readingAgent(session)(options),
        async send() {
          stored = await from.kept.load<SavedConversation>(OPEN_CONVERSATION)
          return 'finished'
        },
      }),
      tools: () => session.workspace.value,
      instructions: async () => '',
      contentOf: async (_, text) => text,
    }),
    loadScenarios: async () => [],
    archive: await openArchive(from),
    store: () => from.kept.save(OPEN_CONVERSATION, conversation.save()),
  })
  await conversation.send('Read a.txt')
  expect(stored).toMatchObject({ items: [{ kind: 'person', text: 'Read a.txt' }], unsent: { text: 'Read a.txt' } })
  conversation.close()
  await session.close()
})

it.each([
  [false, [], 'Interrupted while the agent was answering: the page was closed or reloaded, or another tab took over'],
  [true, [], 'The agent was at work in another tab when this one was opened'],
  [
    false,
    [{ kind: 'call', id: '1', tool: 'edit_file', input: { path: 'a.js' } }],
    'Interrupted while waiting for your approval of editing a.js: the page was closed or reloaded, or another tab took over',
  ],
] as const)(
  'a run that had not ended when it was stored, with the project in another tab: %j',
  async (isElsewhere, items, text) => {
    const { from, session } = await open()
    const conversation = createConversation(session, {
      kept: {
        ...{ items, messages: undefined, isWorking: true, isAsking: items.length > 0 },
        pick: { kind: 'scripted', scenario: '' },
      },
      pick: { kind: 'scripted', scenario: '' },
      load: () => new Promise(() => {}),
      loadScenarios: async () => [],
      archive: await openArchive(from),
      isElsewhere,
    })
    expect(conversation.items.value).toEqual([...items, { kind: 'end', text }])
    conversation.close()
    await session.close()
  },
)

it('the time of a task is that of its latest try, and lasts over a reload', async () => {
  const { from, session } = await open()
  const steps = [100, 20, 5, 3]
  const options = async () => ({
    pick: { kind: 'scripted', scenario: '' } as const,
    load: async (): Promise<LoadedAgent> => ({
      createAgent: (agent) => {
        const step = async () => {
          const ms = steps.shift() ?? 0
          const total = { steps: 1, inputTokens: 0, outputTokens: 0, ms: 1_000 }
          agent.onEvent?.({
            type: 'usage',
            inputTokens: 0,
            outputTokens: 0,
            ms,
            total,
            context: { tokens: 0, limit: 1 },
          })
          return 'finished' as const
        }
        return { ...readingAgent(session)(agent), send: step, retry: step, resume: step }
      },
      tools: () => session.workspace.value,
      instructions: async () => '',
      contentOf: async (_, text) => text,
    }),
    loadScenarios: async () => [],
    archive: await openArchive(from),
  })
  const conversation = createConversation(session, { ...(await options()), kept: undefined })
  await conversation.send('Read a.txt')
  expect(conversation.taskMs.value).toBe(100)
  await conversation.retry()
  expect(conversation.taskMs.value).toBe(20)
  await conversation.resume()
  expect(conversation.taskMs.value).toBe(25)
  const later = createConversation(session, { ...(await options()), kept: conversation.save() })
  expect(later.taskMs.value).toBe(25)
  await later.send('Read b.txt')
  expect(later.taskMs.value).toBe(3)
  for (const one of [conversation, later]) one.close()
  await session.close()
})

/** An agent that reads the file which the message names. */
function readingAgent(session: Session): LoadedAgent['createAgent'] {
  return ({ conversation, onEvent }) => {
    let messages = conversation?.messages ?? []
    const agent: Agent = {
      isWorking: false,
      canContinue: false,
      get conversation() {
        return { messages, usage: { steps: 0, inputTokens: 0, outputTokens: 0, ms: 0 } }
      },
      async send(content) {
        messages = [...messages, { role: 'user', content }]
        onEvent?.({ type: 'conversation' })
        await session.agentRun.value.call('read_file', { path: String(content).replace('Read ', '') })
        return 'finished'
      },
      rewind() {},
      resume: async () => 'finished',
      next: async () => 'finished',
      retry: async () => 'finished',
      stop: async () => {},
    }
    return agent
  }
}

it.each(['supervised', 'autonomous', 'readOnly'] as const)(
  'a lock says what no approval changes, under the policy %s, in plan mode too',
  async (policy) => {
    const files = { 'a.txt': '', '.env': '', 'package-lock.json': '', 'dist/a.js': '', '.git/config': '' }
    for (const mode of ['act', 'plan'] as const) {
      const approve = () => ({ allow: 'once' }) as const
      const workspace = await createWorkspace({ backend: memory(files), policy, mode, approve })
      const facts = createPathFacts(workspace)
      for (const path of Object.keys(files)) {
        await expect.poll(() => facts.of(path, 'file', 0)).toBeDefined()
        const run = workspace.run()
        if (mode === 'plan') await run.callTool('submit_plan', { plan: 'All' })
        const read = await run.call('read_file', { path })
        const write = await run.call('write_file', { path, content: '', mode: 'REPLACE_EXISTING' })
        const lock = /^The agent (cannot open it|can read it, and not change it)/
        expect([path, mode, facts.of(path, 'file', 0)?.lock?.match(lock)?.[1]]).toEqual([
          path,
          mode,
          !read.ok ? 'cannot open it' : !write.ok ? 'can read it, and not change it' : undefined,
        ])
      }
      await workspace.close()
    }
  },
)
