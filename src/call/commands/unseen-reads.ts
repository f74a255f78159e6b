import { namedCommits } from '../../git/commit-history.ts'
import { openReader } from '../../git/reader.ts'
import { gitFiles } from '../../git/repository-files.ts'
import { GIT_DIRECTORY, ROOT } from '../../paths/logical-path.ts'
import { type ContentLabel, higher } from '../../policy/taint.ts'
import type { Shell, ShellCommand } from '../../shells/types.ts'
import { visibleFiles } from '../../storage/walk.ts'
import { labelOfCommits } from '../commit-labels.ts'
import type { WorkspaceState } from '../state/workspace-state.ts'

const everything = { includeHidden: true, includeIgnored: true }
const unrestricted = { see: () => true, enter: () => true, revision: 'all' }

/**
 * The highest label that any line of a shell has received. Where accesses are not guarded, a line can leave content outside of
 * the workspace, where the next one finds it.
 */
const receivedBefore = new WeakMap<Shell, ContentLabel>()

/**
 * Returns a shell that counts every file as read that a line could read, if nobody sees what its lines read: without a sandbox,
 * also those in the commits of the repository. The policy has labels.
 */
export function countUnseenReads(shell: Shell, workspace: WorkspaceState): Shell {
  const { guarded, confined } = shell.capabilities
  if (guarded) return shell
  const countReadable = async ({ noteReadable, visibility }: ShellCommand) => {
    const visible = confined && visibility !== undefined ? visibility : unrestricted
    const files = await visibleFiles(workspace.backend, ROOT, { filters: everything, ...visible, links: false })
    for (const path of files) noteReadable?.(path)
    if (confined) return
    const reader = openReader(workspace.backend)
    const commits = await namedCommits(gitFiles(workspace.backend), reader.objects)
    const { label } = await labelOfCommits(workspace, reader, [...commits])
    noteReadable?.(GIT_DIRECTORY, label)
  }
  const { name, capabilities } = shell
  return {
    ...{ name, capabilities },
    judge: (line, options) => shell.judge(line, options),
    async run(command) {
      await countReadable(command)
      return shell.run(command)
    },
    ...(shell.start === undefined
      ? {}
      : {
          async start(command) {
            await countReadable(command)
            return (shell as Required<Shell>).start(command)
          },
        }),
    close: () => shell.close(),
  }
}

/** Returns what a new line of a shell may have received before it reads anything. */
export function receivedByShell(shell: Shell | undefined): ContentLabel | undefined {
  return shell && receivedBefore.get(shell)
}

/** Records what a line of a shell has received, if the shell could keep it. */
export function noteReceivedByShell(shell: Shell | undefined, content: ContentLabel | undefined): void {
  if (shell === undefined || content === undefined || shell.capabilities.guarded) return
  receivedBefore.set(shell, higher(content, receivedBefore.get(shell)))
}
