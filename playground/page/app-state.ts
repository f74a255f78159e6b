import { signal } from '@preact/signals'
import { isTouch } from '../../src/elements/parts/touch.ts'
import type { Scenario } from '../agent/types.ts'
import { filesOf } from '../projects/files-of.ts'
import { importFromDrop } from '../projects/import-folder.ts'
import { openProjects } from '../projects/index.ts'
import { samples } from '../projects/samples.ts'
import type {
  Elsewhere,
  OpenProject,
  Progress,
  ProjectInfo,
  ProjectOptions,
  ProjectSource,
  Storage,
} from '../projects/types.ts'
import { loadScenarios } from '../session/load-agent.ts'
import { lastEndpoint } from '../session/model.ts'
import { hasOwnPolicy, ownWork, policyName, settingsOf } from '../session/own-work.ts'
import { openProjectSession, type ProjectSession } from '../session/project-session.ts'
import { announce } from '../ui/announce.tsx'
import { focusView } from '../ui/focus-view.ts'
import { followAgent } from './follow-agent.ts'
import { page } from './page-state.ts'

export const projects = openProjects()

/** A long operation in progress, such as opening, unpacking or cloning a project. */
export interface Operation {
  readonly title: string
  readonly progress: Progress | undefined
  readonly stop: AbortController | undefined
}

/** An error or a notice in a person's words, with what to do about it. */
export interface Trouble {
  readonly text: string
  readonly action?: { readonly label: string; readonly act: () => void }
  readonly onDismiss?: () => void
}

export const app = {
  /** The open project, or undefined. */
  projectSession: signal<ProjectSession | undefined>(undefined),
  operation: signal<Operation | undefined>(undefined),
  /** What went wrong with the last operation. */
  trouble: signal<Trouble | undefined>(undefined),
  /** What the person may want to know, and do something about. */
  notice: signal<Trouble | undefined>(undefined),
  /** What an import left out. */
  warnings: signal<{ readonly about: string; readonly texts: readonly string[] }>({ about: '', texts: [] }),
  list: signal<readonly ProjectInfo[]>([]),
  /** State of the open project in another tab or in the storage. */
  elsewhere: signal<Exclude<Elsewhere['kind'], 'changed'> | undefined>(undefined),
}

/** Default storage of new projects. */
export const defaultStorage: Storage =
  typeof navigator !== 'undefined' && 'storage' in navigator && 'locks' in navigator ? 'opfs' : 'memory'

/** Runs a long operation and shows its progress. Returns `undefined` and shows the error if it fails. */
export async function showProgress<T>(
  title: string,
  stop: AbortController | undefined,
  act: (onProgress: (progress: Progress) => void) => Promise<T>,
): Promise<T | undefined> {
  app.trouble.value = undefined
  app.operation.value = { title, progress: undefined, stop }
  try {
    return await act((progress) => {
      app.operation.value = { title, progress, stop }
    })
  } catch (error) {
    if (stop?.signal.aborted !== true)
      app.trouble.value = { text: error instanceof Error ? error.message : String(error) }
    return undefined
  } finally {
    app.operation.value = undefined
  }
}

export async function listProjects(): Promise<void> {
  app.list.value = await projects.list()
}

interface OpenOptions {
  readonly takeOver?: boolean
  /** Stores something beside the files before they are shown. */
  readonly carry?: (kept: OpenProject['kept']) => Promise<void>
}

/** Opens a project and closes the previous one. */
export async function openProject(id: string, { carry, ...options }: OpenOptions = {}): Promise<void> {
  await showProgress('Opening the project', undefined, async () => {
    const previous = app.projectSession.value
    if (previous?.project.info.id === id) await closeProjectSession()
    const project = await projects.open(id, options)
    await carry?.(project.kept)
    if (app.projectSession.value !== undefined) await closeProjectSession()
    const scenario = await firstScenario(project.info.sample)
    app.projectSession.value = await openProjectSession(project, {
      pick: { kind: 'scripted', scenario: scenario?.id ?? '' },
      ...(scenario === undefined ? {} : { settings: settingsOf(scenario) }),
    })
    showFirst(app.projectSession.value)
    app.elsewhere.value = undefined
    app.notice.value = undefined
    project.onElsewhere(({ kind }) => {
      if (kind !== 'changed') app.elsewhere.value = kind
    })
    announce(`Opened ${project.info.name}`)
    await listProjects()
  })
}

let endFollowing: (() => void) | undefined

/** Shows what the person was at in a project; in a new one the first screen. */
function showFirst(projectSession: ProjectSession): void {
  const { conversation, files } = projectSession
  const isNew = conversation.items.value.length === 0 && files.all.value.length === 0
  page.stage.value = isNew ? 'start' : 'editor'
  page.tabs.value = isNew ? ['start'] : []
  page.isStageUp.value = isNew
  page.call.value = undefined
  page.change.value = undefined
  page.run.value = undefined
  endFollowing = followAgent(projectSession)
}

/** Creates a project and opens it. `onCreated` is called when it is stored, before it is shown. */
export async function createProject(
  source: ProjectSource,
  options: ProjectOptions,
  onCreated?: () => void,
  carry?: OpenOptions['carry'],
): Promise<void> {
  const stop = new AbortController()
  const created = await showProgress(`Creating ${options.name}`, stop, (onProgress) =>
    projects.create(source, options, { onProgress, signal: stop.signal }),
  )
  if (created === undefined) {
    const isRemote = source.kind === 'git' || source.kind === 'github'
    if (isRemote && app.trouble.value !== undefined)
      app.trouble.value = {
        ...app.trouble.value,
        action: { label: 'Try again', act: () => void createProject(source, options, onCreated) },
      }
    return
  }
  const { length } = created.warnings
  const about = `${length === 1 ? 'One file was' : `${length} files were`} left out of the project`
  app.warnings.value = { about, texts: created.warnings }
  onCreated?.()
  await openProject(created.info.id, { ...(carry && { carry }) })
}

/** Copies a project, and opens the copy. */
export async function duplicateProject({ id, name }: ProjectInfo): Promise<void> {
  const copy = `${name} copy`
  const open = app.projectSession.value?.project
  if (open?.info.id === id) {
    const storage = open.info.storage === 'directory' ? defaultStorage : open.info.storage
    return createProject({ kind: 'files', files: filesOf(open.backend) }, { name: copy, storage })
  }
  const stop = new AbortController()
  const created = await showProgress(`Copying ${name}`, stop, (onProgress) =>
    projects.duplicate(id, copy, { onProgress, signal: stop.signal }),
  )
  if (created !== undefined) await openProject(created.info.id)
}

/** Stores the open project again, as a new one, after the browser has removed what is stored of it. */
export async function storeAgain({ project, conversation, copyTo }: ProjectSession): Promise<void> {
  const { id, name } = project.info
  await conversation.stop()
  await createProject(
    { kind: 'files', files: filesOf(project.backend) },
    { name, storage: 'opfs' },
    () => projects.forget(id),
    copyTo,
  )
}

/** Removes a project. If it is the open one, opens another. */
export async function removeProject(id: string): Promise<void> {
  const isOpen = app.projectSession.value?.project.info.id === id
  if (isOpen) await closeProjectSession()
  await projects.remove(id)
  await listProjects()
  if (isOpen) await openFirst(new URLSearchParams())
}

/** Creates a project from files that were dropped onto the page. */
export async function createFromDrop(transfer: DataTransfer): Promise<void> {
  const imported = await importFromDrop(transfer)
  if (imported !== undefined) await createProject(imported.source, { name: imported.name, storage: defaultStorage })
}

/**
 * Creates a project from the one in the address and opens it. Returns false when the address contains none, or it cannot be
 * opened. Removes it from the address, so that a reload opens the new project again.
 */
export async function openShared(): Promise<boolean> {
  const { hash, pathname, search } = location
  if (!hash.startsWith('#project=')) return false
  history.replaceState(null, '', pathname + search)
  const before = app.projectSession.value
  await showProgress('Opening the shared project', undefined, async () => {
    const { MAX_SHARED_BYTES, sharedProject } = await import('../projects/share-link.ts')
    const shared = sharedProject(hash)
    if (shared === undefined) return
    const source = { kind: 'zip', file: shared.zip, maxBytes: MAX_SHARED_BYTES } as const
    const { info } = await projects.create(source, { name: shared.name, storage: defaultStorage })
    await openProject(info.id)
  })
  return app.projectSession.value !== before
}

/** Opens the initial project: the requested sample, the most recently opened project, or the first sample. */
export async function openFirst(query: URLSearchParams): Promise<void> {
  if (await openShared()) return
  const { value: trouble } = app.trouble
  const loss = await describeLoss()
  await openLast(query)
  // What went wrong with a shared project, or is gone, stays to be read.
  app.trouble.value ??= trouble ?? loss
}

/** Describes what the browser has removed since the last visit. */
async function describeLoss(): Promise<Trouble | undefined> {
  const lost = await projects.lost()
  if (lost.length === 0) return undefined
  const names = lost.map(({ name }) => `“${name}”`).join(', ')
  return {
    text: `The browser has removed ${names} from its storage, as it may do when space is short or site data is cleared. If you have exported a copy, import it.`,
    action: {
      label: 'Import a copy',
      act() {
        page.dialog.value = 'projects'
      },
    },
    onDismiss() {
      for (const { id } of lost) projects.forget(id)
    },
  }
}

async function openLast(query: URLSearchParams): Promise<void> {
  await listProjects()
  const storage = (query.get('storage') as Storage | null) ?? defaultStorage
  const sample = samples.find(({ id }) => id === query.get('sample'))
  const last = app.list.value[0]
  if (sample === undefined && last !== undefined) await openProject(last.id)
  else {
    const first = sample ?? samples[0]
    const source: ProjectSource = first === undefined ? { kind: 'empty' } : { kind: 'sample', id: first.id }
    await createProject(source, { name: first?.title ?? 'Empty project', storage }, () => {
      // A reload at any later moment opens this project again and not another one.
      if (storage === 'opfs') history.replaceState(null, '', location.pathname)
    })
  }
}

/** Opens a project of a sample that suits: the open one, the last opened one, or else a new one. Returns undefined if that fails. */
async function openSample(
  id: string,
  suits: (projectSession: ProjectSession) => boolean,
): Promise<ProjectSession | undefined> {
  const { info } = app.projectSession.value?.project ?? {}
  const opened = (): ProjectSession | undefined => {
    const { value } = app.projectSession
    return value?.project.info.sample === id && suits(value) ? value : undefined
  }
  const others = app.list.value.filter((one) => one.sample === id && one.id !== info?.id)
  if (opened() === undefined && others[0] !== undefined) await openProject(others[0].id)
  if (opened() === undefined) {
    const { length } = app.list.value.filter(({ sample }) => sample === id)
    const title = samples.find((one) => one.id === id)?.title ?? id
    const name = length === 0 ? title : `${title} ${length + 1}`
    await createProject({ kind: 'sample', id }, { name, storage: info?.storage ?? defaultStorage })
  }
  return opened()
}

async function scenariosOf(
  id: string,
): Promise<readonly [scenario: Scenario | undefined, ofSample: readonly Scenario[]]> {
  const all = await loadScenarios()
  const scenario = all.find((one) => one.id === id)
  return [scenario, all.filter(({ sample }) => sample === scenario?.sample)]
}

/** Opens an empty conversation with the script of a scenario. */
function pickScenario({ conversation }: ProjectSession, scenario: string): void {
  conversation.clear()
  conversation.pick.value = { kind: 'scripted', scenario }
}

/** Chooses a scenario in a list, and opens its project. A policy of the person stays, with a notice. */
export async function chooseScenario(id: string): Promise<void> {
  const [scenario, ofSample] = await scenariosOf(id)
  if (scenario === undefined) return
  const projectSession = await openSample(scenario.sample, () => true)
  if (projectSession === undefined) return
  const { session } = projectSession
  const settings = settingsOf(scenario)
  pickScenario(projectSession, id)
  app.notice.value = undefined
  const apply = async (): Promise<void> => {
    app.notice.value = undefined
    await session.change(settings)
  }
  if (hasOwnPolicy(session.settings.value, ofSample)) {
    const [its, yours] = [settings.policy, session.settings.value.policy].map(policyName)
    app.notice.value = {
      text: `This scenario uses its own policy: ${its}. Yours stays: ${yours}.`,
      action: { label: 'Use its policy', act: () => void apply() },
    }
  } else await apply()
  // Another project that has opened took the focus away.
  if (document.activeElement === document.body) focusView('[role="combobox"][aria-label="Scenario"]')
}

let isStarting = false

/**
 * Starts a scenario and runs it, on the files of its sample as they were first opened and with its own policy. What the person
 * has made of the sample stays, and the scenario runs in another project. A second press meanwhile starts nothing.
 */
export async function runScenario(id: string): Promise<void> {
  if (isStarting) return
  isStarting = true
  try {
    await startRun(id)
  } finally {
    isStarting = false
  }
}

async function startRun(id: string): Promise<void> {
  const [scenario, ofSample] = await scenariosOf(id)
  if (scenario === undefined) return
  const { conversation: before } = app.projectSession.value ?? {}
  if (before?.isWorking.value === true) await before.stop()
  let notice: Trouble | undefined
  const projectSession = await openSample(scenario.sample, (candidate) => {
    const own = ownWork(candidate, ofSample)
    if (own.length > 0) notice ??= keptNotice(candidate.project.info, own, scenario)
    return own.length === 0 && candidate.writable.value
  })
  if (projectSession === undefined) return
  const { session, following, conversation } = projectSession
  pickScenario(projectSession, id)
  await session.change(settingsOf(scenario))
  app.notice.value = notice
  const [first] = session.history.value
  if (projectSession.changed.value.size > 0 && first !== undefined) {
    const { ok } = await session.moveTo(first.id)
    if (ok) app.notice.value ??= { text: 'The changes of the run before were taken back. The history has them.' }
  }
  page.agent.value = true
  page.phone.value = 'agent'
  page.isStageUp.value = false
  following.turn(true)
  // What was pressed leaves the stage. A field with the focus would bring up a keyboard on a screen.
  focusView('wardspace-chat', isTouch() ? '[role="log"]' : '#composer')
  void conversation.send(scenario.prompt)
}

/** Says that the person's project stays as it is while a scenario runs in another one. */
function keptNotice({ id, name }: ProjectInfo, own: readonly string[], { workspace }: Scenario): Trouble {
  return {
    text: `“${name}” keeps ${own.join(' and ')}. The scenario runs in another project, with its own policy: ${policyName(workspace.policy)}.`,
    action: { label: `Back to ${name}`, act: () => void openProject(id) },
  }
}

/** Lets the person enter a model of their own. */
export function useOwnModel(): void {
  const projectSession = app.projectSession.value
  if (projectSession === undefined) return
  if (projectSession.conversation.pick.value.kind !== 'endpoint') {
    projectSession.conversation.pick.value = lastEndpoint()
  }
  page.dialog.value = 'settings'
}

async function closeProjectSession(): Promise<void> {
  const projectSession = app.projectSession.value
  endFollowing?.()
  endFollowing = undefined
  app.projectSession.value = undefined
  await projectSession?.close()
}

async function firstScenario(sample: string | undefined): Promise<Scenario | undefined> {
  const all = await loadScenarios()
  return all.find((one) => one.sample === sample) ?? all[0]
}
