import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { createWorkspace, type Failure, type Success } from 'wardspace'
import { callbackSink } from 'wardspace/audit'
import { handoverOf } from '../projects/handover.ts'
import type { OpenProject } from '../projects/types.ts'
import { createAutosave } from './autosave.ts'
import { changedPaths, type FileChange } from './changes.ts'
import { type Conversation, createConversation, type SavedConversation } from './conversation.ts'
import { loadAgent, loadScenarios } from './load-agent.ts'
import type { ModelPick } from './model.ts'
import { createOpenFiles, type OpenFiles, type SavedFiles } from './open-files.ts'
import { openSession, type SessionOptions } from './open-session.ts'
import { createSearch, type Search } from './search.ts'
import { createTree, type FileTree } from './tree.ts'
import { createTypedTexts, type TypedTexts } from './typed-texts.ts'
import type { Session } from './types.ts'

/** State of one open project, as displayed on the page. */
export interface ProjectSession {
  readonly project: OpenProject
  /** False once another tab has taken over the project. This tab then only displays it. */
  readonly writable: ReadonlySignal<boolean>
  readonly session: Session
  readonly tree: FileTree
  readonly files: OpenFiles
  /** The texts of fields that the person has not sent or applied. */
  readonly texts: TypedTexts
  readonly search: Search
  readonly conversation: Conversation
  /** Changes since the project was first opened here, by path. */
  readonly changed: ReadonlySignal<ReadonlyMap<string, FileChange['status']>>
  /** Makes a read-only call for the display. It appears neither in the timeline nor in the audit. */
  look(tool: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<Success | Failure>
  close(): Promise<void>
}

export interface ProjectSessionOptions extends SessionOptions {
  /** The model for a project without saved data. */
  readonly pick: ModelPick
}

/** What the person has typed and not saved or sent. */
interface SavedTyping {
  readonly files: SavedFiles
  readonly texts: Readonly<Record<string, string>>
}

export async function openProjectSession(
  project: OpenProject,
  options: ProjectSessionOptions,
): Promise<ProjectSession> {
  const session = await openSession(project, { ...options, writable: project.writable })
  const viewer = await createWorkspace({
    backend: { ...project.backend, close: async () => {} },
    policy: 'readOnly',
    audit: callbackSink(() => {}),
    limits: { callsPerMinute: 1_000_000, cacheBytes: 16 * 1024 * 1024 },
    run: { id: 'viewer', actor: 'person' },
  })
  const tree = createTree(project.backend)
  const handover = handoverOf(project.info.id)
  const typed = (handover.load() ?? (await project.kept.load('typed'))) as SavedTyping | undefined
  const files = createOpenFiles(session)
  const texts = createTypedTexts(typed?.texts)
  if (typed !== undefined) await files.restore(typed.files)
  const look: ProjectSession['look'] = (tool, input, options) => viewer.callTool(tool, input, options)
  const savedConversation = (await project.kept.load('conversation')) as SavedConversation | undefined
  const conversation = createConversation(session, {
    kept: savedConversation,
    pick: options.pick,
    load: loadAgent,
    loadScenarios,
  })
  const autosave = createAutosave(project, project.writable)
  autosave.follow(
    'conversation',
    [conversation.changes, conversation.items, conversation.pick, conversation.isWorking],
    conversation.save,
  )
  const keepTyped = (): SavedTyping => ({ files: files.keep(), texts: texts.all.value })
  autosave.follow('typed', [files.all, files.active, texts.all], keepTyped)

  const again = () => Promise.all([tree.refresh(), files.refresh()])
  const endLooking = effect(() => {
    session.revision.value
    void again()
  })
  const writable = signal(project.writable)
  const stopElsewhere = project.onElsewhere((event) => {
    if (event.kind === 'changed') void again()
    if (event.kind !== 'taken') return
    writable.value = false
    // Save during the event: afterwards the other tab writes.
    void autosave.flush()
    void session.flush()
    void conversation.stop()
  })
  const isStored = project.info.storage !== 'memory'
  const leaving = () => {
    if (!isStored || !writable.value) return
    handover.save(keepTyped())
    void saveAll()
  }
  /** The handover is newer than what is saved until everything is. */
  async function saveAll(): Promise<void> {
    await Promise.all([autosave.flush(), session.flush()])
    if (autosave.trouble.value === undefined) handover.clear()
  }
  if (project.writable) await project.kept.save('typed', keepTyped()).then(handover.clear)
  globalThis.addEventListener?.('pagehide', leaving)
  /** A project in memory ends with its tab, so the browser asks first. */
  const asking = (event: Event) => {
    if (!isStored && files.all.value.some(({ draft }) => draft !== undefined)) event.preventDefault()
  }
  globalThis.addEventListener?.('beforeunload', asking)

  return {
    project,
    writable,
    session,
    tree,
    files,
    texts,
    search: createSearch(look),
    conversation,
    changed: computed(() => {
      session.revision.value
      return changedPaths(session.workspace.value.history())
    }),
    look,
    async close() {
      globalThis.removeEventListener?.('pagehide', leaving)
      globalThis.removeEventListener?.('beforeunload', asking)
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
