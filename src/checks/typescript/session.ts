import type { CheckContext, Finding } from '../../call/state/checks.ts'
import { ToolError } from '../../errors.ts'
import { createPacer } from '../../util/pacer.ts'
import type { CancellationToken, Compiler, ParsedConfig } from './api.ts'
import { LoadedFiles, type ReadLib } from './loaded-files.ts'
import { Project, type ProjectCheck } from './project.ts'

/** The compiler and what it knows about the files of a workspace, between its checks. */
export class Session {
  readonly #compiler: Compiler
  readonly #loaded: LoadedFiles
  readonly #projects = new Map<string | undefined, Project>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(compiler: Compiler, readLib: ReadLib) {
    this.#compiler = compiler
    this.#loaded = new LoadedFiles(readLib)
  }

  /** Checks the projects of changed files, after the checks that run. `configs`: the projects, instead of those that are found. */
  async check(context: CheckContext, configs: readonly string[]): Promise<readonly Finding[]> {
    const deadline = performance.now() + context.timeoutMs
    const checked = this.#last.then(() => this.#checkNow(context, configs, deadline))
    this.#last = checked.catch(() => {})
    return checked
  }

  async #checkNow(
    { changed, files, signal, timeoutMs }: CheckContext,
    configs: readonly string[],
    deadline: number,
  ): Promise<readonly Finding[]> {
    const turn = createPacer()
    const token = tokenUntil(this.#compiler, signal, deadline)
    const late = () => new ToolError('COMMAND_TIMEOUT', `did not end within ${timeoutMs} ms`)
    const pace = async () => {
      await turn()
      if (signal.aborted || performance.now() > deadline) throw late()
    }
    const paths = new Set(changed.map(({ path }) => `/${path}`))
    const check: ProjectCheck = { files, loaded: this.#loaded, changed: paths, token, pace }
    try {
      await this.#loaded.refresh(files, pace)
      const findings: Finding[] = []
      for (const [project, config] of await this.#projectsOf(check, configs)) {
        findings.push(...(await project.check(check, config)))
      }
      const isChanged = ({ path = '' }: Finding) => Number(paths.has(`/${path}`))
      return findings.sort((a, b) => isChanged(b) - isChanged(a))
    } catch (error) {
      if (error instanceof this.#compiler.OperationCanceledException) throw late()
      throw error
    }
  }

  /** Returns the projects that the changed files belong to. */
  async #projectsOf(check: ProjectCheck, configs: readonly string[]): Promise<Map<Project, ParsedConfig>> {
    const projects = new Map<Project, ParsedConfig>()
    for (const path of configs) {
      const project = this.#projectAt(`/${path}`)
      projects.set(project, await project.config(check))
    }
    if (configs.length > 0) return projects
    const filesOf = new Map<string | undefined, string[]>()
    for (const path of check.changed) {
      const config = await this.#configAbove(check, path)
      filesOf.set(config, [...(filesOf.get(config) ?? []), path])
    }
    for (const [path, changed] of filesOf) {
      if (path === undefined) await this.#addUnconfigured(check, changed, projects)
      else await this.#addWithReferences(check, path, changed, projects)
    }
    return projects
  }

  async #addUnconfigured(
    check: ProjectCheck,
    changed: readonly string[],
    projects: Map<Project, ParsedConfig>,
  ): Promise<void> {
    const roots = changed.filter((path) => /\.[cm]?tsx?$/.test(path))
    if (roots.length === 0) return
    const project = this.#projectAt(undefined)
    project.addRoots(roots)
    projects.set(project, await project.config(check))
  }

  /** A configuration may only refer to those that have the files. */
  async #addWithReferences(
    check: ProjectCheck,
    path: string,
    changed: readonly string[],
    projects: Map<Project, ParsedConfig>,
    visited = new Set<string>(),
  ): Promise<void> {
    if (visited.has(path)) return
    visited.add(path)
    const project = this.#projectAt(path)
    const config = await project.config(check)
    const { fileNames, projectReferences = [] } = config
    if (fileNames.length > 0 || projectReferences.length === 0) projects.set(project, config)
    if (changed.every((file) => fileNames.includes(file))) return
    for (const { path: at } of projectReferences) {
      const referenced = at.endsWith('.json') ? at : `${at}/tsconfig.json`
      await this.#addWithReferences(check, referenced, changed, projects, visited)
    }
  }

  #projectAt(path: string | undefined): Project {
    const project = this.#projects.get(path) ?? new Project(this.#compiler, path)
    this.#projects.set(path, project)
    return project
  }

  /** Returns the path of the nearest configuration in the directories above a file. */
  async #configAbove({ files, loaded, pace }: ProjectCheck, path: string): Promise<string | undefined> {
    const { fileExists } = loaded.host(this.#compiler)
    for (;;) {
      const found = configsAbove(path).find(fileExists)
      if (loaded.isComplete) return found
      await loaded.loadMissed(files, pace)
    }
  }
}

function configsAbove(path: string): string[] {
  const found: string[] = []
  for (let end = path.lastIndexOf('/'); end !== -1; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1)) {
    const directory = path.slice(0, end)
    found.push(`${directory}/tsconfig.json`, `${directory}/jsconfig.json`)
  }
  return found
}

function tokenUntil(
  { OperationCanceledException }: Compiler,
  signal: AbortSignal,
  deadline: number,
): CancellationToken {
  const isCancellationRequested = () => signal.aborted || performance.now() > deadline
  return {
    isCancellationRequested,
    throwIfCancellationRequested() {
      if (isCancellationRequested()) throw new OperationCanceledException()
    },
  }
}
