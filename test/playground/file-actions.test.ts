import { describe, expect, it } from 'vitest'
import { ToolError } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { memoryByteStore } from '../../playground/projects/byte-store.ts'
import { filesOf } from '../../playground/projects/files-of.ts'
import { createOpenFiles } from '../../playground/session/open-files.ts'
import { openSession } from '../../playground/session/open-session.ts'
import { openTree } from '../../playground/session/tree.ts'
import type { WorkspaceSettings } from '../../playground/session/types.ts'
import { nameOfCopy } from '../../src/ui/file-paths.ts'
import type { Files } from '../../src/ui/index.ts'

const files = {
  'a.txt': 'one\n',
  'b.txt': 'two\n',
  '.env': 'TOKEN=planted-secret\n',
  'package-lock.json': '{}\n',
  'src/x.js': 'let x\n',
  'src/deep/y.js': 'let y\n',
  'src/.env': 'KEY=value\n',
  'node_modules/m/index.js': '1\n',
}

/** Opens a project. It is writable, or another tab has it: from the start, or taken by `take()`. */
async function open(settings: Partial<WorkspaceSettings>, isElsewhere = false) {
  const stored = memory(files)
  const backend: typeof stored = {
    ...stored,
    commit: (changes, options) =>
      project.writable ? stored.commit(changes, options) : Promise.reject(new ToolError('READ_ONLY', 'Cannot change')),
  }
  const project = { info: { id: 'p', name: 'P' }, backend, kept: memoryByteStore(), writable: true }
  await backend.commit([{ path: 'src/link' as never, expect: 'absent', to: { type: 'link', target: '../a.txt' } }], {
    durability: 'relaxed',
  })
  project.writable = !isElsewhere
  const session = await openSession(project, { settings, writable: !isElsewhere })
  const take = () => {
    project.writable = false
  }
  const opened = createOpenFiles(session)
  const actions = openTree({ session, files: opened })
  const state = async () => {
    const all: string[] = []
    for await (const { path, bytes, target, mode, isDirectory } of filesOf(backend)) {
      all.push(`${path} ${target ?? new TextDecoder().decode(bytes)} ${mode} ${isDirectory}`)
    }
    return all.sort()
  }
  return { session, opened, actions, state, take }
}

/** What a person can do to files, with the paths that are there afterwards or not. */
const acts: Readonly<Record<string, (actions: Files) => Promise<boolean>>> = {
  'creates a file in a new folder': (actions) => actions.create('file', 'new/sub/file.txt'),
  'creates a folder': (actions) => actions.create('directory', 'new'),
  'renames a file': (actions) => actions.move('a.txt', 'c.txt'),
  'renames a secret file': (actions) => actions.move('.env', '.env.local'),
  'moves a folder': (actions) => actions.move('src', 'lib/src'),
  'copies a folder': (actions) => actions.copy('src', ''),
  'copies a lockfile': (actions) => actions.copy('package-lock.json', ''),
  'deletes a file': (actions) => actions.remove('a.txt'),
  'deletes a secret file': (actions) => actions.remove('.env'),
  'deletes a link': (actions) => actions.remove('src/link'),
  'deletes a folder with secrets and links': (actions) => actions.remove('src'),
  'deletes a folder of packages': (actions) => actions.remove('node_modules'),
  'replaces a file': async (actions) => !(await actions.move('a.txt', 'b.txt')) && actions.replace(),
}

const settings: Readonly<Record<string, Partial<WorkspaceSettings>>> = {
  'that allows all': { policy: 'autonomous' },
  'that asks': { policy: 'supervised' },
  'that only reads': { policy: 'readOnly' },
  'in plan mode': { policy: 'supervised', mode: 'plan' },
  'that denies these paths': { policy: { preset: 'autonomous', deniedPaths: ['*.txt', 'src/**', 'new/**'] } },
}

describe('the person’s actions on files', () => {
  for (const [name, workspace] of Object.entries(settings)) {
    it(`are carried out, recorded and undone under a policy ${name}`, async () => {
      for (const [what, act] of Object.entries(acts)) {
        const { session, actions, state } = await open(workspace)
        const before = await state()
        expect(await act(actions), `${what}: ${actions.snapshot.notice?.text}`).toBe(true)
        expect(await state(), what).not.toEqual(before)
        expect(session.timeline.value.at(-1), what).toMatchObject({ actor: 'person', state: 'done' })
        expect(session.timeline.value.at(-1)?.record, what).toMatchObject({ phase: 'outcome', actor: 'person' })
        expect(await actions.undo(), `${what}: ${actions.snapshot.notice?.text}`).toBe(true)
        expect(await state(), what).toEqual(before)
        expect(session.settings.value, what).toMatchObject(workspace)
        expect(session.workspace.value.verifyAudit(), what).toMatchObject({ ok: true })
        await session.close()
      }
    })
  }

  it.each([true, false])(
    'are refused with that reason where another tab has the project (from the start: %s)',
    async (isElsewhere) => {
      for (const [name, workspace] of Object.entries(settings)) {
        const { session, actions, state, take } = await open(workspace, isElsewhere)
        take()
        const before = await state()
        const texts: Record<string, string | undefined> = {}
        for (const [what, act] of Object.entries(acts)) {
          expect(await act(actions), `${what}, policy ${name}`).toBe(false)
          texts[what] = actions.snapshot.notice?.text
        }
        const reason = 'Another tab has the project. Take it over to save.'
        expect(texts, name).toEqual(Object.fromEntries(Object.keys(acts).map((what) => [what, reason])))
        expect(await state(), name).toEqual(before)
        await session.close()
      }
    },
  )

  it('are refused with a reason if they cannot be carried out, and change nothing', async () => {
    const { session, actions, state } = await open({ policy: 'autonomous' })
    const before = await state()
    const refused: Readonly<Record<string, () => Promise<boolean>>> = {
      'a.txt” exists already': () => actions.create('file', 'a.txt'),
      'into itself': () => actions.move('src', 'src/deep/src'),
      'cannot be copied into itself': () => actions.copy('src', 'src/deep'),
      '.git': () => actions.create('file', '.git/config'),
    }
    for (const [reason, act] of Object.entries(refused)) {
      expect(await act()).toBe(false)
      expect(actions.snapshot.notice).toMatchObject({ isRefused: true, text: expect.stringContaining(reason) })
    }
    expect(await actions.move('a.txt', 'src')).toBe(false)
    expect(actions.snapshot.question).toEqual({ path: 'a.txt', to: 'src', type: 'directory' })
    expect(await state()).toEqual(before)
    await session.close()
  })

  it('of several files wait while the agent is working', async () => {
    const { session, actions, state } = await open({ policy: 'supervised' })
    const before = await state()
    const question = session.agentRun.value.call('append_file', { path: 'a.txt', content: 'x' })
    await expect.poll(() => session.approvals.value.length).toBe(1)
    expect(await actions.remove('src')).toBe(false)
    expect(actions.snapshot.notice?.text).toContain('The agent is working')
    session.approvals.value[0]?.answer({ deny: 'no', by: 'person' })
    await question
    expect(await state()).toEqual(before)
    expect(await actions.remove('src')).toBe(true)
    await session.close()
  })

  it('at the same time continue one history', async () => {
    const { session, actions, state } = await open({ policy: 'readOnly' })
    const before = await state()
    await Promise.all([actions.remove('src'), actions.remove('a.txt'), actions.move('b.txt', 'c.txt')])
    expect(session.workspace.value.history().entries).toHaveLength(3)
    await session.moveTo(session.history.value[0]?.id ?? '')
    expect(await state()).toEqual(before)
    await session.close()
  })

  it('take tabs and drafts along, back with the undo, and never drop a draft', async () => {
    const { session, opened, actions } = await open({ policy: 'autonomous' })
    await opened.open('src/x.js')
    opened.edit('src/x.js', 'mine')
    await opened.open('b.txt')
    opened.edit('b.txt', 'my text')
    await actions.move('src', 'lib')
    const drafts = () => opened.all.value.map(({ path, draft, theirs }) => [path, draft, theirs])
    expect(drafts()).toEqual([
      ['lib/x.js', 'mine', undefined],
      ['b.txt', 'my text', undefined],
    ])
    await actions.undo()
    expect(drafts()[0]).toEqual(['src/x.js', 'mine', undefined])
    await actions.move('a.txt', 'b.txt')
    expect(await actions.replace()).toBe(false)
    expect(actions.snapshot.notice?.text).toContain('text that is not saved')
    await actions.remove('b.txt')
    expect(drafts()[1]?.[1]).toBe('my text')
    await session.close()
  })

  it('name copies as people do', () => {
    expect(['a.txt', '.env', 'Makefile', 'a.test.ts'].map((name) => nameOfCopy(name, 1))).toEqual([
      'a copy.txt',
      '.env copy',
      'Makefile copy',
      'a.test copy.ts',
    ])
    expect(nameOfCopy('a.txt', 2)).toBe('a copy 2.txt')
  })
})
