import type { Workspace } from '../workspace/types.ts'

/** A workspace with a policy, for its verdicts only: it carries out and records nothing. */
export type PolicyTrial = Pick<Workspace, 'explainTool' | 'close'>

/** What a policy makes of a file for an agent. */
export type FileState = 'open' | 'asks' | 'read-only' | 'hidden'

/** A file that another policy treats differently. */
export interface FileEffect {
  readonly path: string
  readonly before: FileState
  readonly after: FileState
}

/** The files that another policy treats differently. */
export interface PolicyEffect {
  readonly files: readonly FileEffect[]
  /** The files that were compared. */
  readonly compared: number
  /** Whether the project has more files than were compared. */
  readonly isPart: boolean
}

/** Files to compare at most, so that the page answers soon. */
const MAX_FILES = 1000
/** Files after which the page gets a turn. */
const TURN = 20

/** Compares what the policies of two trials make of the files at these paths, by the verdicts of the engine. Closes the trials. */
export async function effectOf(
  paths: AsyncIterable<string>,
  old: PolicyTrial,
  next: PolicyTrial,
  isStale: () => boolean = () => false,
): Promise<PolicyEffect | undefined> {
  try {
    const files: FileEffect[] = []
    let compared = 0
    for await (const path of paths) {
      if (compared === MAX_FILES) return { files, compared, isPart: true }
      if (compared++ % TURN === 0) await new Promise((resolve) => setTimeout(resolve))
      if (isStale()) return undefined
      const [was, becomes] = [await stateOf(old, path), await stateOf(next, path)]
      if (was !== becomes) files.push({ path, before: was, after: becomes })
    }
    return { files, compared, isPart: false }
  } finally {
    await old.close()
    await next.close()
  }
}

/** Returns what a policy makes of a file: its verdicts on reading and on replacing it. */
async function stateOf(workspace: Pick<Workspace, 'explainTool'>, path: string): Promise<FileState> {
  const decide = async (tool: string, input: object) => {
    const explanation = await workspace.explainTool(tool, { path, ...input })
    return explanation.ok ? explanation.verdict.decision : 'deny'
  }
  const read = await decide('read_file', {})
  if (read === 'deny') return 'hidden'
  const write = await decide('write_file', { content: '', mode: 'REPLACE_EXISTING' })
  if (write === 'deny') return 'read-only'
  return read === 'ask' || write === 'ask' ? 'asks' : 'open'
}
