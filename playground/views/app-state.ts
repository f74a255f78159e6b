import { signal } from '@preact/signals'
import type { PolicyInput } from 'wardspace'
import type { Scenario } from '../agent/types.ts'
import { importFromDrop } from '../projects/import-folder.ts'
import { openProjects } from '../projects/index.ts'
import { samples } from '../projects/samples.ts'
import type { Created, Progress, ProjectInfo, ProjectSource, Storage } from '../projects/types.ts'
import { loadScenarios } from '../session/load-agent.ts'
import { openProjectSession, type ProjectSession } from '../session/project-session.ts'
import { announce } from '../ui/announce.tsx'

export const projects = openProjects()

/** What is long and under way: opening a project, unpacking, cloning. */
export interface Doing {
  readonly title: string
  readonly progress: Progress | undefined
  readonly stop: AbortController | undefined
}

export const app = {
  /** The open project; undefined while none is. */
  projectSession: signal<ProjectSession | undefined>(undefined),
  doing: signal<Doing | undefined>(undefined),
  /** Why the last thing could not be done. */
  trouble: signal<string | undefined>(undefined),
  /** What was left out when a project was made. */
  warnings: signal<readonly string[]>([]),
  list: signal<readonly ProjectInfo[]>([]),
  /** What another tab does with the open project. */
  elsewhere: signal<'taken' | 'free' | undefined>(undefined),
}

/** Where new projects are stored unless the person says otherwise. */
export const usualStorage: Storage =
  typeof navigator !== 'undefined' && 'storage' in navigator && 'locks' in navigator ? 'opfs' : 'memory'

/** Does something long, tells how far it is, and what went wrong. */
export async function during<T>(
  title: string,
  stop: AbortController | undefined,
  act: (tell: (progress: Progress) => void) => Promise<T>,
): Promise<T | undefined> {
  app.trouble.value = undefined
  app.doing.value = { title, progress: undefined, stop }
  try {
    return await act((progress) => {
      app.doing.value = { title, progress, stop }
    })
  } catch (error) {
    if (stop?.signal.aborted !== true) app.trouble.value = error instanceof Error ? error.message : String(error)
    return undefined
  } finally {
    app.doing.value = undefined
  }
}

export async function listProjects(): Promise<void> {
  app.list.value = await projects.list()
}

/** Opens a project, and closes the one that was open. */
export async function openProject(id: string, options: { readonly takeOver?: boolean } = {}): Promise<void> {
  await during('Opening the project', undefined, async () => {
    const before = app.projectSession.value
    if (before?.project.info.id === id) await closeProjectSession()
    const project = await projects.open(id, options)
    if (app.projectSession.value !== undefined) await closeProjectSession()
    const scenario = await firstScenario(project.info.sample)
    app.projectSession.value = await openProjectSession(project, {
      pick: { kind: 'scripted', scenario: scenario?.id ?? '' },
      ...(scenario === undefined ? {} : { settings: settingsOf(scenario) }),
    })
    app.elsewhere.value = undefined
    project.onElsewhere(({ kind }) => {
      if (kind !== 'changed') app.elsewhere.value = kind
    })
    announce(`Opened ${project.info.name}`)
    await listProjects()
  })
}

/** Makes a project and opens it. */
export async function createProject(
  source: ProjectSource,
  how: { readonly name: string; readonly storage: Storage },
): Promise<void> {
  const stop = new AbortController()
  const made = await during(`Making ${how.name}`, stop, (onProgress) =>
    projects.create(source, how, { onProgress, signal: stop.signal }),
  )
  if (made === undefined) return
  app.warnings.value = (made as Created).warnings
  await openProject(made.info.id)
}

/** Makes a project of what was dropped onto the page. */
export async function createFromDrop(dropped: DataTransfer): Promise<void> {
  const given = await importFromDrop(dropped)
  if (given !== undefined) await createProject(given.source, { name: given.name, storage: usualStorage })
}

/** A project to begin with: the one that was open last, else the first sample. */
export async function openFirst(wanted: URLSearchParams): Promise<void> {
  await listProjects()
  const storage = (wanted.get('storage') as Storage | null) ?? usualStorage
  const sample = samples.find(({ id }) => id === wanted.get('sample'))
  const last = app.list.value[0]
  if (sample === undefined && last !== undefined) await openProject(last.id)
  else {
    const first = sample ?? samples[0]
    const source: ProjectSource = first === undefined ? { kind: 'empty' } : { kind: 'sample', id: first.id }
    await createProject(source, { name: first?.title ?? 'Empty project', storage })
  }
}

/** Brings a scenario on: its project, its policy, its words. */
export async function startScenario(id: string): Promise<void> {
  const scenario = (await loadScenarios()).find((one) => one.id === id)
  if (scenario === undefined) return
  const { info } = app.projectSession.value?.project ?? {}
  if (info?.sample !== scenario.sample) {
    const known = app.list.value.find(({ sample }) => sample === scenario.sample)
    if (known !== undefined) await openProject(known.id)
    else {
      const sample = samples.find((one) => one.id === scenario.sample)
      const source: ProjectSource = { kind: 'sample', id: scenario.sample }
      await createProject(source, { name: sample?.title ?? scenario.sample, storage: info?.storage ?? usualStorage })
    }
  }
  const projectSession = app.projectSession.value
  if (projectSession === undefined) return
  projectSession.conversation.clear()
  projectSession.conversation.pick.value = { kind: 'scripted', scenario: id }
  await projectSession.session.change(settingsOf(scenario))
}

async function closeProjectSession(): Promise<void> {
  const projectSession = app.projectSession.value
  app.projectSession.value = undefined
  await projectSession?.close()
}

async function firstScenario(sample: string | undefined): Promise<Scenario | undefined> {
  const all = await loadScenarios()
  return all.find((one) => one.sample === sample) ?? all[0]
}

function settingsOf({ workspace }: Scenario): { policy: PolicyInput; mode: 'act' | 'plan' } {
  return { policy: workspace.policy, mode: workspace.mode ?? 'act' }
}
