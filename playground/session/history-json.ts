import type { JournalEntry, WorkspaceHistory } from 'wardspace'
import { fromBase64, toBase64 } from '../projects/base64.ts'

/** Converts a history to JSON, with the bytes of files as base64. */
export function historyToJson(history: WorkspaceHistory): unknown {
  return {
    ...history,
    entries: history.entries.map((entry) => ({
      ...entry,
      changes: entry.changes?.map(({ before, ...change }) => ({
        ...change,
        before: before?.type === 'file' ? { ...before, bytes: toBase64(before.bytes) } : before,
      })),
    })),
  }
}

/** Restores a history from its JSON. Returns `undefined` for any other value. */
export function historyFromJson(json: unknown): WorkspaceHistory | undefined {
  const history = json as WorkspaceHistory | undefined
  if (history?.version !== 1 || !Array.isArray(history.entries)) return undefined
  return {
    ...history,
    entries: history.entries.map(({ changes, ...entry }: JournalEntry) => ({
      ...entry,
      changes: changes?.map(({ before, ...change }) => ({
        ...change,
        before: before?.type === 'file' ? { ...before, bytes: fromBase64(before.bytes as unknown as string) } : before,
      })),
    })),
  }
}
