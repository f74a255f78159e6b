import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Path, type Tool } from '../../src/index.ts'
import { type Permission, permissions } from '../../src/policy/permissions.ts'
import type { PolicyInput } from '../../src/policy/schema.ts'
import { defineTool, type GuardedFiles } from '../../src/tools/author.ts'

const CONTENT = 'CONTENT-OF-THE-FILE'
const all = { includeHidden: true, includeIgnored: true }

/** The ways to read through the context of a tool, and what each one shows of a file. */
const ways: Readonly<
  Record<
    string,
    { shows: 'content' | 'entry' | 'names' | 'a whole tree'; use(files: GuardedFiles, path: Path): unknown }
  >
> = {
  stat: { shows: 'entry', use: (files, path) => files.stat(path) },
  read: { shows: 'content', use: async (files, path) => text((await files.read(path, 1000)).bytes) },
  readRange: {
    shows: 'content',
    use: async (files, path) => text((await files.readRange(path, { start: 0, end: 100 })).bytes),
  },
  document: { shows: 'content', use: async (files, path) => (await files.document(path, 1000)).text },
  'bytes in the filter of a scan': {
    shows: 'content',
    use: async (files, path) => {
      let fileText = ''
      const filter = (_: Path, bytes: Uint8Array) => {
        fileText += text(bytes)
        return false
      }
      await files.scan([path], filter, () => true)
      return fileText
    },
  },
  'visit of a scan': {
    shows: 'content',
    use: async (files, path) => {
      let fileText = ''
      const visit = (_: Path, bytes: Uint8Array) => {
        fileText += text(bytes)
        return true
      }
      await files.scan([path], () => true, visit)
      return fileText
    },
  },
  ...Object.fromEntries(
    (['list', 'search', 'diff', 'memory'] as const).map((kind) => [
      `walk ${kind}`,
      {
        shows: 'names' as const,
        use: async (files: GuardedFiles) => {
          const paths: string[] = []
          for await (const { path } of files.walk('d' as Path, kind, all)) paths.push(path)
          return paths
        },
      },
    ]),
  ),
  visible: { shows: 'names', use: (files) => files.visible('d' as Path, all, () => true) },
  candidates: { shows: 'names', use: (files) => files.candidates('d' as Path, all) },
  notes: { shows: 'names', use: (files) => files.notes('d' as Path) },
  allEntries: {
    shows: 'a whole tree',
    use: async (files, path) =>
      (await files.allEntries(path.replace(/\/[^/]*$/, '') as Path, 100)).map(({ path }) => path),
  },
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

const paths = { ordinary: 'd/open/a.txt', secret: 'd/.env', hidden: 'd/private/h.txt' } as const

const content: readonly Permission[] = [
  ...(['file:read', 'file:search', 'file:diff', 'memory:read', 'memory:write'] as const),
  ...(['file:write:replace', 'file:append', 'file:move', 'file:copy', 'file:patch:apply'] as const),
]
const changesTree = (permission: Permission) =>
  permission.startsWith('file:') && !/^file:(list|info|read|search|diff)$/.test(permission)

const policies: Readonly<Record<string, PolicyInput>> = {
  deniedPaths: { preset: 'autonomous', deniedPaths: ['d/private/**'], memory: { path: 'd' } },
  'a rule that denies reading only': {
    preset: 'autonomous',
    rules: [{ name: 'private', action: 'deny', permissions: ['file:view', 'memory:read'], paths: ['d/private/**'] }],
    memory: { path: 'd' },
  },
}

/** Opens a workspace with a tool that reads in the requested way, by one permission. */
async function openReader(policy: PolicyInput, permission: Permission, recursive: boolean) {
  const reader = defineTool({
    name: 'reader',
    title: 'Reader',
    description: 'Reads in one way.',
    input: z.strictObject({ way: z.string(), path: z.string() }),
    output: z.object({ seen: z.string() }),
    permission: 'file:read',
    mutates: false,
    idempotent: true,
    plan: ({ path }) => [{ permission, path: recursive ? 'd' : path, recursive }],
    async draft({ way, path }, { files }) {
      const view = JSON.stringify((await ways[way]?.use(files, path as Path)) ?? null)
      return { summary: 'Read', result: () => ({ seen: view }) }
    },
  })
  const backend = memory(Object.fromEntries(Object.values(paths).map((name) => [name, `${CONTENT}\n`])))
  return createWorkspace({ backend, policy, extraTools: [reader] as Tool[] })
}

const cases = Object.keys(policies).flatMap((policy) =>
  permissions
    .filter((permission) => !permission.startsWith('git:'))
    .flatMap((permission) => [true, false].map((recursive) => ({ policy, permission, recursive }))),
)

describe('an own tool reads only by an access whose permission fits', () => {
  it.each(cases)('$permission, recursive: $recursive, with $policy', async ({ policy, permission, recursive }) => {
    const workspace = await openReader(policies[policy] as PolicyInput, permission, recursive)
    for (const [way, { shows }] of Object.entries(ways)) {
      for (const [kind, path] of Object.entries(paths)) {
        const label = `${way} of the ${kind} file`
        const result = await workspace.callTool('reader', { way, path })
        const view = result.ok ? String(result.seen) : JSON.stringify(result)
        const isAllowed = kind === 'ordinary' && content.includes(permission)
        expect(view.includes(CONTENT), label).toBe(shows === 'content' && isAllowed)
        if (shows === 'content') {
          expect(result.ok, label).toBe(isAllowed)
          const read = workspace.auditRecords().at(-1)?.pathsRead ?? []
          if (isAllowed && !way.includes('filter')) expect(read, label).toContain(path)
        }
        if (shows === 'entry' && kind === 'ordinary') expect(result.ok, label).toBe(true)
        // Only the existence of a secret file is shown.
        if (shows === 'entry' && kind === 'secret') expect(view, label).not.toContain('modifiedAt')
        if (shows === 'names') {
          expect(result.ok && !recursive, `${label}: a walk needs a recursive access`).toBe(false)
          if (result.ok) expect(view, label).not.toContain('h.txt')
        }
        // Policy hides a file beside the secret one.
        if (shows === 'a whole tree')
          expect(result.ok, label).toBe(recursive && changesTree(permission) && kind === 'ordinary')
        if (
          shows === 'entry' &&
          kind === 'hidden' &&
          !(recursive && changesTree(permission)) &&
          !isOpen(policy, permission)
        ) {
          expect(result, label).toMatchObject({ ok: false, code: expect.stringMatching(/^(POLICY|COMMAND)_DENIED$/) })
        }
      }
    }
  })

  /** The second policy hides the file from views, not from the calls that plan to change it or to run a command there. */
  function isOpen(policy: string, permission: Permission): boolean {
    return (
      policy !== 'deniedPaths' && !/^file:(list|info|read|search|diff)$|^memory:read$|^command:|^plan:/.test(permission)
    )
  }
})
