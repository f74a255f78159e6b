import { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import { createWorkspace } from '../../workspace/create-workspace.ts'
import type { FileChange } from '../../workspace/files.ts'
import { check, same } from '../assert.ts'
import { faulty } from '../faulty.ts'
import { at, type BackendCase, type BackendSubject, change, commit, directory, file, offers } from './case.ts'

/** How long what must not be reported is waited for, and what must be, in milliseconds. */
const QUIET = 150
const MOST = 10_000

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function waitFor(label: string, condition: () => boolean): Promise<void> {
  const end = Date.now() + MOST
  while (!condition()) {
    check(Date.now() < end, `${label} was not reported within ${MOST} ms`)
    await pause(10)
  }
}

/** Skips a case if nothing can change the storage of the subject beside the backend. */
function offersWrites(subject: BackendSubject): string | undefined {
  if (subject.writeBeside === undefined) return 'the subject has no writeBeside'
  return offers('watch')(subject)
}

/** Reports of a watch: paths, or `undefined` for any. */
async function watched(subject: BackendSubject, path: string, recursive: boolean) {
  const reports: (readonly Path[] | undefined)[] = []
  const end = await subject.backend.watch?.(at(path), (paths) => reports.push(paths), { recursive })
  const has = (changed: string) => reports.some((paths) => paths === undefined || paths.includes(at(changed)))
  return { reports, has, end: () => end?.() }
}

/** Watching: own commits, and what others change. */
export const watchCases: readonly BackendCase[] = [
  {
    name: 'a workspace that is watched reports each own commit once, with its paths and its call',
    async test({ backend }) {
      const limits = { callsPerMinute: 10_000 }
      // The backend belongs to the case.
      const lasting = { ...faulty(backend, []), close: async () => undefined }
      const workspace = await createWorkspace({ backend: lasting, policy: 'autonomous', limits })
      const { files } = workspace
      await files.makeDirectory('d')
      const seen: FileChange[] = []
      const changes = await files.watch('.')
      const reading = (async () => {
        for await (const one of changes) seen.push(one)
      })()
      const acts: readonly (readonly [act: () => Promise<unknown>, paths: readonly string[]])[] = [
        [() => files.write('d/a.txt', 'a'), ['d/a.txt']],
        [() => files.write('d/a.txt', 'b'), ['d/a.txt']],
        [() => files.rename('d/a.txt', 'b.txt'), ['b.txt', 'd/a.txt']],
        [() => files.makeDirectory('e'), ['e']],
        [() => files.delete('b.txt'), ['b.txt']],
      ]
      const calls: (string | undefined)[] = []
      for (const [act] of acts) {
        await act()
        calls.push(workspace.history().entries.at(-1)?.callId)
      }
      await waitFor('an own commit', () => seen.length >= acts.length)
      await pause(QUIET)
      const shown = seen.map(({ paths, callId, external }) => ({ paths: [...(paths ?? [])].sort(), callId, external }))
      const expected = acts.map(([, paths], i) => ({ paths, callId: calls[i], external: undefined }))
      same(shown, expected, 'reported changes')
      await workspace.close()
      await reading
    },
  },
  {
    name: 'watch does not report what the backend itself commits',
    unless: offers('watch'),
    async test(subject) {
      const { backend } = subject
      await commit(backend, change('d', directory), change('d/a', file('a')))
      const { reports, end } = await watched(subject, '', true)
      await commit(backend, change('d/a', file('b')), change('c', file('c')))
      await commit(backend, change('d/b', file('b')), { path: at('d/a'), expect: 'any', to: null })
      await pause(QUIET)
      same(reports, [], 'reports of own commits')
      end()
    },
  },
  {
    name: 'watch reports what others change, below the path or in the directory, until it ends',
    unless: offersWrites,
    async test(subject) {
      const { backend, writeBeside } = subject
      await commit(backend, change('d', directory), change('d/e', directory), change('other', directory))
      const below = await watched(subject, 'd', true)
      const direct = await watched(subject, 'd', false)
      await writeBeside?.('d/e/deep', 'x')
      await waitFor('a change below', () => below.has('d/e/deep'))
      await writeBeside?.('d/near', 'x')
      await waitFor('a change in the directory', () => below.has('d/near') && direct.has('d/near'))
      const isOutside = (paths: readonly Path[] | undefined) => paths?.some((path) => !path.startsWith('d/'))
      await writeBeside?.('other/x', 'x')
      await pause(QUIET)
      check(!below.reports.some(isOutside) && !direct.reports.some(isOutside), 'a change elsewhere was reported')
      const isDeep = direct.reports.some((paths) => paths?.includes(at('d/e/deep')))
      check(!isDeep, 'recursive: false reported a change below')
      below.end()
      direct.end()
      await pause(QUIET)
      const count = below.reports.length + direct.reports.length
      await writeBeside?.('d/late', 'x')
      await pause(QUIET)
      same(below.reports.length + direct.reports.length, count, 'reports after the end')
    },
  },
  {
    name: 'watch of what does not exist is NOT_FOUND',
    unless: offers('watch'),
    async test({ backend }) {
      const error = await backend
        .watch?.(at('none'), () => undefined)
        .then(
          () => undefined,
          (reason: unknown) => reason,
        )
      check(error instanceof ToolError && error.code === 'NOT_FOUND', 'expected NOT_FOUND')
    },
  },
]
