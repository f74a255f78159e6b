import { redact } from 'wardspace/tool'
import {
  type ChangedFile,
  type Changes,
  type ChangesSource,
  commentsInWords,
  createChanges,
  type ReviewComment,
  type SavedReview,
} from 'wardspace/ui'
import { sha256Of } from '../projects/sha256.ts'
import { changedFiles, contentOfChange } from './changes.ts'
import type { Conversation } from './conversation.ts'
import { followed } from './followed.ts'
import { textOf } from './text.ts'
import type { Session } from './types.ts'

export interface ReviewParts {
  readonly session: Session
  readonly conversation: Pick<Conversation, 'send'>
}

/** Larger files are shown by their sizes only: their comparison would take too long. */
const MAX_COMPARED = 16_000_000

/** Creates the review of all changes since the project was first opened here, as the owner of the files. */
export function openReview({ session, conversation }: ReviewParts, saved?: SavedReview): Changes {
  return createChanges({
    workspace: followed(session),
    run: {
      // The owner of the files saves what the policy for agents refuses.
      callTool: (tool, input) => (tool === 'write_file' ? session.callAsOwner : session.call)(tool, input),
    },
    source: sourceOf(session),
    saved,
    async onComments(comments) {
      void conversation.send(await messageOf(session, comments))
    },
  })
}

/** The changes in the history of a session, which also has those of secret files. */
function sourceOf({ project, workspace }: Session): ChangesSource {
  const history = () => workspace.peek().history()
  return {
    async list() {
      const files = changedFiles(history()).map(({ path, status, from, version }): ChangedFile => {
        const counts = { insertions: undefined, deletions: undefined, binary: false }
        return {
          ...{ path, version, ...counts, status: status === 'changed' ? 'modified' : status },
          ...(from !== undefined && { oldPath: from }),
        }
      })
      return { files, since: 'the project was first opened here' }
    },
    async read({ path, oldPath, status }) {
      const file = { path, from: oldPath ?? path, status: status === 'modified' ? 'changed' : status } as const
      const { before, after } = await contentOfChange(project, history(), file)
      const bytes = [before?.length ?? null, after?.length ?? null] as const
      const known = { bytes, sha256: after === undefined ? null : await sha256Of(after) }
      if ((bytes[0] ?? 0) + (bytes[1] ?? 0) > MAX_COMPARED) return known
      const [from, to] = [before, after].map((bytes) => (bytes === undefined ? '' : textOf(bytes)?.text))
      return {
        ...known,
        ...(from === undefined || to === undefined
          ? { data: [before ?? null, after ?? null] }
          : { text: { before: from, after: to } }),
      }
    },
  }
}

/** Returns the message to the agent. It quotes only what the agent may read. */
async function messageOf({ workspace }: Session, comments: readonly ReviewComment[]): Promise<string> {
  const readable = new Set<string>()
  for (const path of new Set(comments.map((comment) => comment.path))) {
    const reading = await workspace.value.explain('read_file', { path })
    if (reading.ok && reading.verdict.decision === 'allow') readable.add(path)
  }
  return commentsInWords(comments, (path, text) => (readable.has(path) ? redact(text).text : undefined))
}
