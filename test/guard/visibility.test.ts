import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Path, type PolicyInput, type Workspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { everyNth, times } from '../counts.ts'
import * as generate from '../policy/generate.ts'
import { hiddenCallsAnywhere, hiddenCallsAt } from '../tools/table.ts'

const visible = {
  'README.md': '# Project\n',
  'src/app.ts': 'export const answer = 41\n',
  'src/util.ts': 'export const zeroth = 0\n',
  'docs/guide.md': 'guide\n',
}

/** Names and texts that must not be revealed to an agent. */
const hidden = {
  'src/helper.ts': 'export const zanzibar = 1\n',
  'src/private/plan.md': 'zanzibar\n',
  'private/notes.md': 'zanzibar\n',
  'docs/guides.md': 'zanzibar\n',
  'private/deep/er/list.csv': 'zanzibar,1\n',
}

const policies: Readonly<Record<string, PolicyInput>> = {
  'by deniedPaths': { preset: 'autonomous', deniedPaths: ['src/helper.ts', '**/private', 'docs/guides.md'] },
  'by an allowlist': {
    preset: 'autonomous',
    allowedPaths: ['*.md', 'src/*.ts', 'docs/guide.md', 'new/**'],
    rules: [{ name: 'not the helper', action: 'deny', paths: ['src/helper.ts'] }],
  },
  'by rules alone': {
    preset: 'autonomous',
    rules: [{ name: 'closed', action: 'deny', paths: ['src/helper.ts', '**/private/**', 'docs/guides.md'] }],
  },
}

/** Every input of `test/tools/table.ts` that could show a hidden file. */
const calls = [...hiddenCallsAnywhere(), ...Object.keys(hidden).flatMap(hiddenCallsAt)]

async function answers(
  inputs: typeof calls,
  tree: Readonly<Record<string, string>>,
  policy: PolicyInput,
): Promise<Map<string, string>> {
  const match = new Map<string, string>()
  for (const [name, input] of inputs) {
    // One workspace per call, so that no call shows effects of an earlier one.
    const workspace = await createWorkspace({
      backend: memory(tree),
      policy,
      shell: bash(),
      clock: () => 1_000_000,
      ids: () => 'run',
    })
    const result = await workspace.callTool(name, input)
    match.set(`${name} ${JSON.stringify(input)}`, JSON.stringify({ ...result, durationMs: 0, modifiedAt: 0 }))
    await workspace.close()
  }
  return match
}

describe('a hidden path', () => {
  it.each(Object.entries(policies))('%s: results are equal whether it exists or not', async (_, policy) => {
    // In `npm test`, the policies share the inputs.
    const inputs = everyNth(calls, 3, Object.values(policies).indexOf(policy))
    const without = await answers(inputs, visible, policy)
    const withHidden = await answers(inputs, { ...visible, ...hidden }, policy)
    expect(without.size).toBeGreaterThan(times(40, 100))
    const different = [...without]
      .filter(([call, answer]) => withHidden.get(call) !== answer)
      .map(([call, answer]) => `${call}\n  absent: ${answer}\n  there:  ${withHidden.get(call)}`)
    expect(different.join('\n')).toBe('')
    for (const answer of withHidden.values()) expect(answer).not.toMatch(/zanzibar = 1|zanzibar,1/)
  })

  it.each([
    ...Object.entries(policies),
    ...(['file:view', 'file:read', 'file:list'] as const).map((permission): [string, PolicyInput] => [
      `by a rule on ${permission} alone`,
      {
        preset: 'autonomous',
        rules: [{ name: 'no', action: 'deny', permissions: [permission], paths: Object.keys(hidden) }],
      },
    ]),
  ])('%s: no refusal to move, copy or delete the directory around it names it', async (_, policy) => {
    const ways: Readonly<Record<string, (workspace: Workspace, path: string) => Promise<unknown>>> = {
      move_file: (workspace, path) => workspace.callTool('move_file', { path, to: 'new/to' }),
      copy_file: (workspace, path) => workspace.callTool('copy_file', { path, to: 'new/to' }),
      'files.rename': ({ files }, path) => files.rename(path, 'new/to'),
      'files.copy': ({ files }, path) => files.copy(path, 'new/to'),
      'files.delete': ({ files }, path) => files.delete(path, { recursive: true }),
      'files.batch': ({ files }, path) => files.batch((batch) => batch.rename(path, 'new/to')),
    }
    for (const [path, text] of Object.entries(hidden)) {
      for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
        const around = path.slice(0, at)
        for (const [way, act] of Object.entries(ways)) {
          const backend = memory({ ...visible, [path]: text })
          const workspace = await createWorkspace({ backend, policy })
          const answer = await act(workspace, around).catch((error: Error) => ({ ok: false, message: error.message }))
          expect(JSON.stringify(answer), `${way} of ${around}`).not.toContain(path.slice(path.lastIndexOf('/') + 1))
          expect((await backend.read(path as Path)).bytes, `${way} of ${around}`).toEqual(
            new TextEncoder().encode(text),
          )
          await workspace.close()
        }
      }
    }
  })

  it.each(Object.entries(policies))('%s: no way shows it as the target of a link', async (_, policy) => {
    const paths = Object.keys(hidden)
    const links = Object.fromEntries(paths.map((path, at) => [`new/l${at}`, { link: `../${path}` }]))
    const workspace = await createWorkspace({
      backend: memory({ ...visible, ...hidden, ...links }),
      policy,
      shell: bash(),
    })
    const fs = createFs(workspace)
    const at = 'new/l0'
    const answers = [
      ...[
        ...[
          'ls -lR new',
          `readlink ${at}`,
          `readlink -f ${at}`,
          `file ${at}`,
          `stat ${at}`,
          `cat ${at}`,
          'cp -r new new/b',
        ],
        ...['find new -ls', 'tar cf - new', `node -e "console.log(require('fs').readlinkSync('${at}'))"`],
      ].map((command) => workspace.callTool('run_command', { command })),
      ...[() => workspace.files.readLink(at), () => workspace.files.realPath(at), () => fs.promises.readlink(at)].map(
        (act) => act().catch((error: Error) => error.message),
      ),
      workspace.callTool('file_info', { path: at }),
    ]
    const shown = JSON.stringify(await Promise.all(answers))
    expect(shown).toContain('l0')
    for (const path of paths) expect(shown).not.toContain(path.slice(path.lastIndexOf('/') + 1))
    await workspace.close()
  })

  it.each(Object.entries(policies))('%s: no diff shows that it changed', async (_, policy) => {
    const diffs: string[] = []
    for (const path of ['src/app.ts', ...Object.keys(hidden)]) {
      const backend = memory({ ...visible, ...hidden })
      const workspace = await createWorkspace({ backend, policy, clock: () => 1_000_000, ids: () => 'run' })
      const bytes = new TextEncoder().encode('changed\n')
      await backend.commit([{ path: path as Path, expect: 'any', to: { type: 'file', bytes } }], {
        durability: 'relaxed',
      })
      diffs.push(JSON.stringify(await workspace.call('diff_workspace', {})))
      await workspace.close()
    }
    const [shown, ...others] = diffs
    expect(shown).toContain('+changed')
    const unchanged = await createWorkspace({
      backend: memory(visible),
      policy,
      clock: () => 1_000_000,
      ids: () => 'run',
    })
    expect(new Set(others)).toEqual(new Set([JSON.stringify(await unchanged.call('diff_workspace', {}))]))
  })
})

describe('the verdict on a call', () => {
  it('does not depend on the spelling of a path', async () => {
    const spelling = fc.array(fc.constantFrom('./', '/', 'x/../', './/', 'src/./../'), { minLength: 1, maxLength: 4 })
    const entry = fc.constantFrom('read_file', 'write_file', 'delete_file', 'list_directory')
    await fc.assert(
      fc.asyncProperty(generate.policies, generate.paths, spelling, entry, async (policy, path, pieces, tool) => {
        const withArgs = { name: 'args', action: 'ask', args: { path: ['src/**', 'docs/*'] } } as const
        const workspace = await createWorkspace({
          backend: memory(),
          policy: { ...policy, rules: [...(policy.rules ?? []), withArgs] },
        })
        const parts = path.split('/')
        const at = pieces.length % parts.length
        // Without a leading slash, which would be another path.
        const odd = at === 0 ? pieces.map((piece) => (piece === '/' ? './' : piece)) : pieces
        const spelled = [...parts.slice(0, at), odd.join('') + parts.slice(at).join('/')].join('/')
        const content = tool === 'write_file' ? { content: 'x' } : {}
        expect(await workspace.explain(tool, { path: spelled, ...content })).toEqual(
          await workspace.explain(tool, { path, ...content }),
        )
        await workspace.close()
      }),
      { numRuns: times(50, 200) },
    )
  })
})
