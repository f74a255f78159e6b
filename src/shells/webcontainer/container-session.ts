import type { Path } from '../../paths/logical-path.ts'
import type { AcquiredContainer, WebContainer } from './client.ts'
import { containerCall } from './container-call.ts'
import { type ContainerProcess, startProcess, type Terminal } from './container-process.ts'
import type { FileTree } from './file-tree.ts'
import { createMirror, type Mirror } from './mirror.ts'
import { TRIAL, TRIAL_CODE, TRIAL_DIRECTORY, unwrapped, type Wrapper, wrappers } from './wrapper-scripts.ts'

/** The workspace's place in the container's working directory. */
export const WORKSPACE = 'workspace'
/** Beside it: what commands tell about themselves, and what is tried. */
const ASIDE = '.wardspace'

/** A container that is set up to run lines over a workspace. */
export interface ContainerSession {
  readonly container: WebContainer
  readonly mirror: Mirror
  /** Whether the directory in which a line ends is told. */
  readonly tellsCwd: boolean
  /** Whether symbolic links are in the container. */
  readonly links: boolean
  /** Where the workspace stands, as commands see it. */
  readonly root: string
  start(command: SessionCommand): Promise<RunningLine>
  /** Ends everything in it. */
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
  /** The absolute directory in which it has ended, where it told. */
  finalCwd(): Promise<string | undefined>
}

export interface SessionOptions {
  readonly graceMs: number
  readonly maxBytes: number
}

const encoder = new TextEncoder()

/** Sets a container up, and tries what it can. @throws ToolError `SHELL_UNAVAILABLE` */
export async function openContainerSession(
  { container, release }: AcquiredContainer,
  options: SessionOptions,
): Promise<ContainerSession> {
  const { graceMs, maxBytes } = options
  const { fs, workdir } = container
  const place = (path: string) => `${workdir.replace(/\/$/, '')}/${path}`
  for (const path of [WORKSPACE, ASIDE]) await containerCall('make a directory', fs.mkdir(path, { recursive: true }))
  const links = await keepsLinks(container)
  const wrapper = await wrapperFor()
  const mirror = createMirror({ container, directory: WORKSPACE, links, maxBytes })

  async function start(command: SessionCommand, how: Wrapper): Promise<RunningLine> {
    const report = `${ASIDE}/${crypto.randomUUID()}`
    const script = how.wrap(command.line, place(report))
    const { env, terminal, onOutput } = command
    const cwd = command.cwd === '' ? WORKSPACE : `${WORKSPACE}/${command.cwd}`
    const running = await startProcess(container, { script, cwd, env, terminal, onOutput }, graceMs)
    return {
      ...running,
      async finalCwd() {
        const told = await containerCall('read a file', fs.readFile(report, 'utf8')).catch(() => undefined)
        if (told === undefined) return undefined
        await fs.rm(report, { force: true }).catch(() => {})
        return told.replace(/\n$/, '')
      },
    }
  }

  /** How lines are wrapped so that they tell where they end. */
  async function wrapperFor(): Promise<Wrapper> {
    for (const one of wrappers) {
      const trial = await start({ line: TRIAL, cwd: '' as Path, env: {}, terminal: { cols: 80, rows: 24 } }, one)
      const timer = setTimeout(trial.kill, TRIAL_MS)
      const code = await trial.ended
      clearTimeout(timer)
      if ((await trial.finalCwd()) === TRIAL_DIRECTORY && code === TRIAL_CODE) return one
    }
    return unwrapped
  }

  return {
    container,
    mirror,
    tellsCwd: wrapper !== unwrapped,
    links,
    root: place(WORKSPACE),
    start: (command) => start(command, wrapper),
    release,
  }
}

/** How long a trial may take, in milliseconds. */
const TRIAL_MS = 10_000

/** Whether a link that is mounted comes back as one. */
async function keepsLinks(container: WebContainer): Promise<boolean> {
  const directory = `${ASIDE}/links`
  const tree = { 'a.txt': { file: { contents: encoder.encode('a') } }, link: { file: { symlink: 'a.txt' } } }
  try {
    await containerCall('make a directory', container.fs.mkdir(directory, { recursive: true }))
    await containerCall('take a link', container.mount(tree, { mountPoint: directory }))
    const told = (await containerCall('export its files', container.export(directory, { format: 'json' }))) as FileTree
    const { link } = told
    return link !== undefined && 'file' in link && 'symlink' in link.file && link.file.symlink === 'a.txt'
  } catch {
    // It refuses them, or tells no tree at all.
    return false
  } finally {
    await container.fs.rm(directory, { recursive: true, force: true }).catch(() => {})
  }
}
