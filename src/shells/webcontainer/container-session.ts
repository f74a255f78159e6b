import type { Path } from '../../paths/logical-path.ts'
import type { AcquiredContainer, WebContainer } from './client.ts'
import { containerCall } from './container-call.ts'
import { type ContainerProcess, startProcess, type Terminal } from './container-process.ts'
import type { FileTree } from './file-tree.ts'
import { createMirror, type Mirror } from './mirror.ts'
import { TRIAL, TRIAL_CODE, TRIAL_DIRECTORY, unwrapped, type Wrapper, wrappers } from './wrapper-scripts.ts'

/** Directory of the workspace in the container's working directory. */
export const WORKSPACE = 'workspace'
/** Directory beside the workspace for reports of commands and for trials. */
const PRIVATE_DIRECTORY = '.wardspace'

/** A container that is ready to run lines over a workspace. */
export interface ContainerSession {
  readonly container: WebContainer
  readonly mirror: Mirror
  /** The shell reports the directory in which a line ends. */
  readonly tellsCwd: boolean
  /** The container keeps symbolic links. */
  readonly links: boolean
  /** Absolute path of the workspace, as commands see it. */
  readonly root: string
  start(command: SessionCommand): Promise<RunningLine>
  /** Ends everything in the container. */
  release(): void
}

export interface SessionCommand {
  readonly line: string
  readonly cwd: Path
  readonly env: Readonly<Record<string, string>>
  readonly terminal: Terminal
  readonly onOutput?: ((text: string) => void) | undefined
}

export interface RunningLine extends ContainerProcess {
  /** Returns the absolute directory in which the line ended, if it was reported. */
  finalCwd(): Promise<string | undefined>
}

export interface SessionOptions {
  readonly graceMs: number
  readonly maxBytes: number
}

const encoder = new TextEncoder()

/** Prepares a container, and tests what its shell and its files support. @throws ToolError `SHELL_UNAVAILABLE` */
export async function openContainerSession(
  { container, release }: AcquiredContainer,
  options: SessionOptions,
): Promise<ContainerSession> {
  const { graceMs, maxBytes } = options
  const { fs, workdir } = container
  const absolute = (path: string) => `${workdir.replace(/\/$/, '')}/${path}`
  for (const path of [WORKSPACE, PRIVATE_DIRECTORY])
    await containerCall('make a directory', fs.mkdir(path, { recursive: true }))
  const links = await keepsLinks(container)
  const wrapper = await chooseWrapper()
  const mirror = createMirror({ container, directory: WORKSPACE, links, maxBytes })

  async function start(command: SessionCommand, lineWrapper: Wrapper): Promise<RunningLine> {
    const report = `${PRIVATE_DIRECTORY}/${crypto.randomUUID()}`
    const script = lineWrapper.wrap(command.line, absolute(report))
    const { env, terminal, onOutput } = command
    const cwd = command.cwd === '' ? WORKSPACE : `${WORKSPACE}/${command.cwd}`
    const running = await startProcess(container, { script, cwd, env, terminal, onOutput }, graceMs)
    return {
      ...running,
      async finalCwd() {
        const directory = await containerCall('read a file', fs.readFile(report, 'utf8')).catch(() => undefined)
        if (directory === undefined) return undefined
        await fs.rm(report, { force: true }).catch(() => {})
        return directory.replace(/\n$/, '')
      },
    }
  }

  /** Returns the first wrapper that makes a line report its directory. */
  async function chooseWrapper(): Promise<Wrapper> {
    for (const candidate of wrappers) {
      const trial = await start({ line: TRIAL, cwd: '' as Path, env: {}, terminal: { cols: 80, rows: 24 } }, candidate)
      const timer = setTimeout(trial.kill, TRIAL_MS)
      const code = await trial.ended
      clearTimeout(timer)
      if ((await trial.finalCwd()) === TRIAL_DIRECTORY && code === TRIAL_CODE) return candidate
    }
    return unwrapped
  }

  return {
    container,
    mirror,
    tellsCwd: wrapper !== unwrapped,
    links,
    root: absolute(WORKSPACE),
    start: (command) => start(command, wrapper),
    release,
  }
}

/** Time limit of a trial, in milliseconds. */
const TRIAL_MS = 10_000

/** Whether a mounted link is exported as a link. */
async function keepsLinks(container: WebContainer): Promise<boolean> {
  const directory = `${PRIVATE_DIRECTORY}/links`
  const tree = { 'a.txt': { file: { contents: encoder.encode('a') } }, link: { file: { symlink: 'a.txt' } } }
  try {
    await containerCall('make a directory', container.fs.mkdir(directory, { recursive: true }))
    await containerCall('take a link', container.mount(tree, { mountPoint: directory }))
    const exported = (await containerCall(
      'export its files',
      container.export(directory, { format: 'json' }),
    )) as FileTree
    const { link } = exported
    return link !== undefined && 'file' in link && 'symlink' in link.file && link.file.symlink === 'a.txt'
  } catch {
    // The container refuses links, or does not export a tree.
    return false
  } finally {
    await container.fs.rm(directory, { recursive: true, force: true }).catch(() => {})
  }
}
