import type { Path } from 'wardspace'
import { createTerminal, type SavedTerminal, type Terminal, type TerminalFiles } from 'wardspace/ui'
import { elsewhere } from './current-workspace.ts'
import { sentenceOfAbsent } from './terminal-words.ts'
import type { Session } from './types.ts'

/** Opens the person's terminal over a session. It also shows the commands of the agent. */
export function openTerminal(
  session: Pick<Session, 'call' | 'callTimeline' | 'lines' | 'project' | 'workspace'>,
  saved?: SavedTerminal,
): Terminal {
  return createTerminal({
    workspace: session.workspace.peek(),
    run: { callTool: (tool, input, { signal } = {}) => session.call(tool, input, signal && { signal }) },
    saved,
    timeline: session.callTimeline,
    stream: session.lines,
    files: filesOf(session.project),
    explainAbsent: sentenceOfAbsent,
    explainFailure: ({ message }) =>
      message === elsewhere.message
        ? `${elsewhere.message}: no change by this line is kept. ${elsewhere.hint}`
        : undefined,
  })
}

/** The files of a project as its owner sees them. */
export function filesOf({ backend }: Pick<Session['project'], 'backend'>): TerminalFiles {
  return {
    list: (path) => backend.list(path as Path).catch(() => []),
    read: async (path) => {
      const { bytes } = await backend.read(path as Path).catch(() => ({ bytes: new Uint8Array() }))
      return new TextDecoder().decode(bytes)
    },
  }
}
