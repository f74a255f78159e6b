import { diffOfChanges } from '../call/change-diff.ts'
import type { KnownChange } from '../call/state/call.ts'
import { type Failure, ToolError } from '../errors.ts'
import { stateAt } from '../storage/versions.ts'
import { createWorkspace } from '../workspace/create-workspace.ts'
import { requireAuditFile } from './audit-file.ts'
import { dialectOf } from './dialect.ts'
import { auditOf, configOf, requireValidValues } from './options.ts'
import { openPersistentOverlay } from './overlay-state.ts'
import { actionsOf, parseWords, unknownAction } from './parse-words.ts'
import { inCommandLineWords } from './refusals.ts'
import { oneRoot, rootsOf } from './roots.ts'

/** `wardspace overlay [show | accept | discard]`: shows, accepts or discards the changes of sessions with `--overlay`. */
export async function overlay(words: string[]): Promise<number> {
  const { values, positionals } = parseWords('overlay', words, 1)
  const [action = 'show'] = positionals
  if (!actionsOf.overlay.includes(action as never)) throw unknownAction('overlay', action)
  if (values.merge === true && action !== 'accept')
    throw new TypeError(`--merge has no effect on "overlay ${action}"; use it with "overlay accept"`)
  const root = oneRoot(values.root)
  await requireValidValues(values)
  const draft = openPersistentOverlay(root)
  try {
    if (action === 'discard') await draft.discard()
    if (action === 'show') {
      const changes: KnownChange[] = []
      for (const change of await draft.pending()) {
        changes.push({ change, before: await stateAt(draft.lower, change.path) })
      }
      if (values.json === true) {
        const pending = changes.map(({ change }) => ({ path: change.path, to: change.to?.type ?? 'absent' }))
        process.stdout.write(`${JSON.stringify({ ok: true, pending })}\n`)
      } else process.stdout.write(changes.length === 0 ? 'No changes are pending.\n' : diffOfChanges(changes))
    }
    if (action !== 'accept') return 0
    const dialect = await dialectOf(values.dialect)
    const { policy, audit } = await configOf(values, dialect)
    if (audit !== undefined) requireAuditFile(audit, rootsOf(values.root))
    const options = { backend: draft, policy, run: { actor: 'cli' }, ...(await auditOf(audit)) }
    const workspace = await (dialect === undefined
      ? createWorkspace(options)
      : createWorkspace({ ...options, dialect }))
    const isMerge = values.merge === true
    const result = inCommandLineWords(
      await workspace.commit({ reason: 'accepted on the command line', merge: isMerge }),
    )
    await workspace.close()
    process.stdout.write(`${JSON.stringify(result, null, values.json === true ? undefined : 2)}\n`)
    if (!result.ok && (result as Failure).code === 'WRITE_CONFLICT')
      process.stderr.write(`${conflictAdvice(isMerge)}\n`)
    return result.ok ? 0 : 1
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    process.stderr.write(`wardspace: ${error.code}: ${error.message}\n`)
    return 1
  } finally {
    await draft.close()
  }
}

function conflictAdvice(isMerge: boolean): string {
  return isMerge
    ? 'Change the files in the root or discard the overlay, and accept again'
    : 'wardspace overlay accept --merge merges the changes of both sides'
}
