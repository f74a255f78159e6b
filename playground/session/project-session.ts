import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { createWorkspace, type Failure, type Success, type Workspace } from 'wardspace'
import { callbackSink } from 'wardspace/audit'
import type { Changes, Files, SavedTerminal, Terminal } from 'wardspace/ui'
import type { OpenProject } from '../projects/types.ts'
import { OPEN_CONVERSATION, openArchive } from './archive.ts'
import { type Autosave, createAutosave } from './autosave.ts'
import { changedFiles, changedPaths, type FileChange } from './changes.ts'
import { createReviewLoader } from './changes-load.ts'
import { type Conversation, createConversation, type SavedConversation } from './conversation.ts'
import { createFollowing, type Following } from './following.ts'
import { loadAgent, loadScenarios } from './load-agent.ts'
import type { ModelPick } from './model.ts'
import type { OpenFiles } from './open-files.ts'
import { openSession, type SessionOptions } from './open-session.ts'
import type { Replacement } from './replacement.ts'
import { createSearch, type Search } from './search.ts'
import { snapshotSignal } from './snapshot-signal.ts'
import { openTerminal } from './terminal.ts'
import { openTree } from './tree.ts'
import type { TypedTexts } from './typed-texts.ts'
import type { Session } from './types.ts'
import { openTyping } from './typing.ts'

/** State of one open project, as displayed on the page. */
export interface ProjectSession {
  readonly project: OpenProject
  /** False once another tab has taken over the project. This tab then only displays it. */
  readonly writable: ReadonlySignal<boolean>
  readonly session: Session
  readonly tree: Files
  readonly files: OpenFiles
  /** The texts of fields that the person has not sent or applied. */
  readonly texts: TypedTexts
  readonly search: Search
  /** Search and replace in all files. Its code loads with the first call. */
  replacement(): Promise<Replacement>
  readonly conversation: Conversation
  /** Reason of the last failed save of what is stored beside the files; undefined after a successful one. */
  readonly trouble: ReadonlySignal<string | undefined>
  readonly terminal: Terminal
  /** What the agent works on now. */
  readonly following: Following
  /** Changes since the project was first opened here, by path. */
  readonly changed: ReadonlySignal<ReadonlyMap<string, FileChange['status']>>
  /** Number of changed files, as the review lists them: a renamed file counts once. */
  readonly changedCount: ReadonlySignal<number>
  /** The review of these changes. Its code loads with the first call. */
  review(): Promise<Changes>
  /** Makes a read-only call for the display. It appears neither in the timeline nor in the audit. */
  look(tool: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<Success | Failure>
  /** Saves all that is stored beside the files for a copy of the project. */
  copyTo(kept: OpenProject['kept']): Promise<void>
  close(): Promise<void>
}

export interface ProjectSessionOptions extends SessionOptions {
  /** The model for a project without saved data. */
  readonly pick: ModelPick
}

/** Opens a workspace for calls of the display, which are not recorded. */
function openViewer({ backend }: OpenProject): Promise<Workspace> {
  return createWorkspace({
    backend: { ...backend, close: async () => {} },
    policy: 'readOnly',
    audit: callbackSink(() => {}),
    limits: { callsPerMinute: 1_000_000, cacheBytes: 16 * 1024 * 1024 },
    run: { id: 'viewer', actor: 'person' },
  })
}

/** Opens the conversation with the agent and saves it. */
async function openConversation(
  { kept, writable }: OpenProject,
  session: Session,
  pick: ModelPick,
  autosave: Autosave,
): Promise<Conversation> {
  const saved = (await kept.load(OPEN_CONVERSATION)) as SavedConversation | undefined
  const archive = await openArchive({ kept })
  const store = async () => void (await Promise.all([autosave.flush(), session.flush()]))
  const conversation = createConversation(session, {
    kept: saved,
    pick,
    load: loadAgent,
    loadScenarios,
    archive,
    store,
    isElsewhere: !writable,
  })
  const { changes, items, pick: picked, isWorking, queue } = conversation
  autosave.follow(OPEN_CONVERSATION, [changes, items, picked, isWorking, queue, session.approvals], conversation.save)
  return conversation
}

/** Returns what a terminal has kept. Other versions have kept it in other ways. */
async function loadTerminal({ kept }: OpenProject): Promise<SavedTerminal | undefined> {
  const saved = (await kept.load('terminal')) as Partial<SavedTerminal> | undefined
  return saved === undefined ? undefined : { lines: saved.lines ?? [], history: saved.history ?? [] }
}

/** Returns a function whose first call makes the value that every call returns. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Calls a function when the page is closed or left. Returns a function that ends this. */
function onLeaving(act: () => void): () => void {
  globalThis.addEventListener?.('pagehide', act)
  return () => globalThis.removeEventListener?.('pagehide', act)
}

export async function openProjectSession(
  project: OpenProject,
  options: ProjectSessionOptions,
): Promise<ProjectSession> {
  const session = await openSession(project, { ...options, writable: project.writable })
  const viewer = await openViewer(project)
  const look: ProjectSession['look'] = (tool, input, options) => viewer.callTool(tool, input, options)
  const autosave = createAutosave(project, project.writable)
  const conversation = await openConversation(project, session, options.pick, autosave)
  const writable = signal(project.writable)
  const { files, texts, close: endTyping } = await openTyping(project, session, autosave)
  const terminal = openTerminal(session, await loadTerminal(project))
  autosave.follow('terminal', [snapshotSignal(terminal)], terminal.keep)
  const tree = openTree({ session, files })
  const following = createFollowing(session, conversation.isWorking)

  const review = createReviewLoader({ session, conversation }, autosave)
  const endLooking = effect(() => {
    session.revision.value
    void files.refresh()
  })
  const stopElsewhere = project.onElsewhere((event) => {
    if (event.kind === 'changed') void Promise.all([tree.refresh(), files.refresh()])
    if (event.kind !== 'taken') return
    writable.value = false
    // Save during the event: afterwards the other tab writes.
    void autosave.flush()
    void session.flush()
    conversation.cancelRetry()
    void conversation.stop()
  })
  const endLeaving = onLeaving(() => {
    void Promise.all([autosave.flush(), session.flush()])
    project.kept.handOver()
  })

  return {
    project,
    writable,
    session,
    tree,
    files,
    texts,
    search: createSearch(look),
    replacement: once(async () => (await import('./replacement.ts')).createReplacement({ session, files, look })),
    conversation,
    trouble: computed(() => session.trouble.value ?? autosave.trouble.value),
    terminal,
    following,
    changed: computed(() => {
      session.revision.value
      return changedPaths(session.workspace.value.history())
    }),
    changedCount: computed(() => {
      session.revision.value
      return changedFiles(session.workspace.value.history()).length
    }),
    review: review.load,
    look,
    async copyTo(kept) {
      await Promise.all([session.copyTo(kept), autosave.copyTo(kept), conversation.archive.copyTo(kept)])
    },
    async close() {
      await review.close()
      endLeaving()
      endTyping()
      following.close()
      terminal.close()
      tree.close()
      endLooking()
      stopElsewhere()
      await conversation.stop()
      conversation.close()
      await autosave.close()
      await session.close()
      await viewer.close()
      await project.close()
    },
  }
}
