import type { LostProject, ProjectInfo } from './types.ts'

const NAME = 'wardspace-playground-projects'

/** The stored projects as local storage knows them. The browser may remove the storage of files without it. */
export function rememberedProjects(): readonly LostProject[] {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? '[]') as readonly LostProject[]
  } catch {
    return []
  }
}

export function rememberProject({ id, name }: ProjectInfo): void {
  remember([...others(id), { id, name }])
}

export function forgetProject(id: string): void {
  remember(others(id))
}

function others(id: string): readonly LostProject[] {
  return rememberedProjects().filter((project) => project.id !== id)
}

function remember(projects: readonly LostProject[]): void {
  try {
    localStorage.setItem(NAME, JSON.stringify(projects))
  } catch {
    // Without local storage, a loss is not noticed.
  }
}
