import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { git } from '../../src/git/index.ts'
import { createWorkspace, type PolicyInput, type Workspace, type WorkspaceRun } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { Backend } from '../../src/storage/backend.ts'

/** Every way to change a path against one rule on `file:change`, each on a new tree. */

const tree = {
  'docs/a.md': 'one\ntwo\n',
  'docs/b/c.md': 'three\n',
  'src/x.md': 'x\n',
  'src/d/y.md': 'y\n',
  'change.patch': '--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n',
}

/** The rule applies to runs of this risk. A run without it prepares what a way needs. */
const risk = 'guarded'
const task = { text: 'x', risk }

interface Way {
  readonly name: string
  /** Uses the way. `free` is a run that the rule does not concern. */
  act(workspace: Workspace, free: WorkspaceRun, prepared: () => Promise<void>): Promise<unknown>
}

const patchOf = (body: string) => `*** Begin Patch\n${body}\n*** End Patch\n`
const tool = (name: string, input: object): Way => ({
  name: `${name} ${JSON.stringify(input)}`,
  act: (workspace) => workspace.callTool(name, input),
})

const toolWays: readonly Way[] = [
  tool('write_file', { path: 'docs/new.md', content: 'n' }),
  tool('write_file', { path: 'docs/deep/er/new.md', content: 'n' }),
  {
    name: 'write_file that replaces',
    async act(workspace) {
      const info = await workspace.call('file_info', { path: 'docs/a.md' })
      const expectedSha256 = info.ok ? (info.sha256 ?? undefined) : undefined
      return workspace.call('write_file', { path: 'docs/a.md', content: 'n', expectedSha256 })
    },
  },
  tool('edit_file', { path: 'docs/a.md', oldText: 'one', newText: '1' }),
  {
    name: 'replace_range',
    async act(workspace) {
      const info = await workspace.call('file_info', { path: 'docs/a.md' })
      const expectedSha256 = info.ok ? (info.sha256 ?? '') : ''
      return workspace.call('replace_range', {
        path: 'docs/a.md',
        startLine: 1,
        endLine: 1,
        newText: '1',
        expectedSha256,
      })
    },
  },
  tool('append_file', { path: 'docs/a.md', content: 'n' }),
  tool('append_file', { path: 'docs/new.md', content: 'n' }),
  tool('create_directory', { path: 'docs/new' }),
  tool('delete_file', { path: 'docs/a.md' }),
  tool('move_file', { path: 'docs/a.md', to: 'src/a.md' }),
  tool('move_file', { path: 'docs/b', to: 'src/b' }),
  tool('move_file', { path: 'docs', to: 'src/docs' }),
  tool('move_file', { path: 'src/x.md', to: 'docs/x.md' }),
  tool('move_file', { path: 'src/d', to: 'docs/d' }),
  tool('move_file', { path: 'docs/a.md', to: 'docs/z.md' }),
  tool('copy_file', { path: 'src/x.md', to: 'docs/x.md' }),
  tool('copy_file', { path: 'src', to: 'docs/src' }),
  tool('apply_patch', { patch: tree['change.patch'] }),
  tool('apply_patch', { patch: patchOf('*** Update File: docs/a.md\n@@\n-one\n+1') }),
  tool('apply_patch', { patch: patchOf('*** Add File: docs/new.md\n+n') }),
  tool('apply_patch', { patch: patchOf('*** Delete File: docs/a.md') }),
  tool('apply_patch', { patch: patchOf('*** Update File: docs/a.md\n*** Move to: src/a.md\n@@\n-one\n+1') }),
  tool('apply_patch', { patch: patchOf('*** Update File: src/x.md\n*** Move to: docs/x.md\n@@\n-x\n+1') }),
]

/** Lines that change something below docs, on their own. */
const lines: readonly string[] = [
  ...['echo n > docs/a.md', 'echo n >> docs/a.md', 'echo n > docs/new.md', 'echo n >| docs/a.md', ': > docs/a.md'],
  ...['echo n &> docs/new.md', 'echo n 2> docs/new.md', 'cat <<X > docs/new.md\nn\nX', 'cd docs && echo n > new.md'],
  ...['f=docs/a.md; echo n > "$f"', 'for f in docs/*.md; do echo n > $f; done', 'exec 3> docs/new.md; echo n >&3'],
  ...['cp src/x.md docs/a.md', 'cp src/x.md docs/', 'cp -r src docs/src', 'mv src/x.md docs/', 'mv docs/a.md src/'],
  ...['mv docs src/docs', 'mv src docs/', 'mv docs/a.md docs/z.md', 'mv docs/b src/b', 'mv src/x.md docs/a.md'],
  ...['rm docs/a.md', 'rm -rf docs', 'rm -rf docs/b', 'find docs -name a.md -delete', 'ls docs/*.md | xargs rm'],
  ...['find docs -name "*.md" -exec rm {} \\;', 'echo n | tee docs/a.md', 'echo n | tee -a docs/a.md', 'mkdir docs/n'],
  ...['mkdir -p docs/n/m', 'rm docs/b/c.md && rmdir docs/b', 'touch docs/new.md', 'ln -s ../src/x.md docs/l'],
  ...[
    'ln src/x.md docs/l',
    'ln -s docs l && echo n > l/a.md',
    'ln -s docs/a.md l && echo n > l',
    'sort -o docs/a.md src/x.md',
  ],
  ...["sed -i 's/one/1/' docs/a.md", 'awk \'BEGIN { print 1 > "docs/new.md" }\'', 'bash -c "echo n > docs/a.md"'],
  ...[
    '(cd docs; rm a.md)',
    'eval "rm docs/a.md"',
    'echo "rm docs/a.md" | bash',
    'env X=1 rm docs/a.md',
    'gzip docs/a.md',
  ],
  ...['tar -cf docs/t.tar src', 'split src/x.md docs/p', 'echo "rm docs/a.md" > s.sh; bash s.sh'],
]

/** Calls of `node:fs` that change something below docs. */
const nodeCalls: readonly string[] = [
  ...["writeFileSync('docs/a.md', 'n')", "writeFileSync('docs/new.md', 'n')", "appendFileSync('docs/a.md', 'n')"],
  ...["unlinkSync('docs/a.md')", "rmSync('docs', { recursive: true })", "renameSync('docs/a.md', 'src/a.md')"],
  ...["renameSync('src/x.md', 'docs/x.md')", "renameSync('docs', 'src/docs')", "copyFileSync('src/x.md', 'docs/x.md')"],
  ...[
    "cpSync('src', 'docs/src', { recursive: true })",
    "mkdirSync('docs/n')",
    "mkdirSync('docs/n/m', { recursive: true })",
  ],
  ...[
    "symlinkSync('../src/x.md', 'docs/l')",
    "truncateSync('docs/a.md', 1)",
    "createWriteStream('docs/new.md').end('n')",
  ],
  ...["promises.writeFile('docs/a.md', 'n').catch(() => {})", "writeFile('docs/a.md', 'n', () => {})"],
  ...[
    "promises.rm('docs/a.md').catch(() => {})",
    "const f = fs.openSync('docs/a.md', 'w'); fs.writeSync(f, 'n'); fs.closeSync(f)",
  ],
]
const nodeLines = nodeCalls.map((call) => {
  const program = call.startsWith('const') ? call : `fs.${call}`
  return `node -e "const fs = require('fs'); ${program}"`
})

const command = (line: string): Way => ({
  name: line,
  act: (workspace) => workspace.call('run_command', { command: line }),
})
const background = (line: string): Way => ({
  name: `start_command ${line}`,
  async act(workspace) {
    const started = await workspace.call('start_command', { command: line })
    if (!started.ok) return
    for (let i = 0; i < 200; i++) {
      const state = await workspace.call('check_command', { id: started.id })
      if (!state.ok || state.state !== 'running') return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  },
})

/** What a workspace does beside its tools. */
const operationWays: readonly Way[] = [
  {
    name: 'undo',
    async act(workspace, free, prepared) {
      const { callId } = (await free.call('append_file', { path: 'docs/a.md', content: 'n' })) as { callId: string }
      await prepared()
      return workspace.undo(callId)
    },
  },
  {
    name: 'undo of a deletion',
    async act(workspace, free, prepared) {
      const { callId } = (await free.call('delete_file', { path: 'docs/a.md' })) as { callId: string }
      await prepared()
      return workspace.undo(callId)
    },
  },
  {
    name: 'rollback',
    async act(workspace, free, prepared) {
      const { id } = workspace.checkpoint()
      await free.call('append_file', { path: 'docs/a.md', content: 'n' })
      await prepared()
      return workspace.rollback(id)
    },
  },
  ...[
    ['append_file', { path: 'docs/a.md', content: 'n' }],
    ['delete_file', { path: 'docs/a.md' }],
    ['move_file', { path: 'docs/b', to: 'src/b' }],
    ['create_directory', { path: 'docs/n' }],
  ].map(
    ([name, input]): Way => ({
      name: `commit of a fork after ${name}`,
      async act(workspace) {
        const fork = await workspace.fork({ id: 'fork', task })
        await fork.run({ id: 'inner' }).callTool(String(name), input)
        return fork.commit()
      },
    }),
  ),
]

const gitLines = [
  ...[
    'git checkout -- docs/a.md',
    'git checkout HEAD -- docs',
    'git restore docs/a.md',
    'git reset --hard',
    'git stash',
  ],
  ...['git rm -f docs/a.md', 'git mv docs/b/c.md docs/z.md', 'git apply change.patch', 'git checkout other'],
]
const gitWays: readonly Way[] = gitLines.map((line) => ({
  name: line,
  async act(workspace, free, prepared) {
    const before = 'git init -q && git add -A && git commit -qm one && git checkout -q -b other && echo o > docs/o.md'
    const result = await free.call('run_command', {
      command: `${before} && git add -A && git commit -qm two && git checkout -q - && echo edited > docs/b/c.md && rm docs/b/c.md`,
    })
    if (!result.ok) throw new Error(JSON.stringify(result))
    await prepared()
    return workspace.call('run_command', { command: line })
  },
}))

const ways: readonly Way[] = [
  ...toolWays,
  ...lines.map(command),
  ...nodeLines.map(command),
  ...operationWays,
  ...gitWays,
  ...['echo n > docs/a.md', 'rm docs/a.md', 'mv docs src/docs', 'mkdir docs/n', nodeLines[0] as string].map(background),
]

const policies: Readonly<Record<'deny' | 'ask' | 'none', PolicyInput>> = {
  deny: {
    preset: 'autonomous',
    rules: [{ name: 'docs are final', action: 'deny', permissions: ['file:change'], paths: ['docs/**'], risk: [risk] }],
  },
  ask: {
    preset: 'autonomous',
    rules: [{ name: 'docs are final', action: 'ask', permissions: ['file:change'], paths: ['docs/**'], risk: [risk] }],
  },
  none: 'autonomous',
}

async function snapshot(backend: Backend, directory = 'docs'): Promise<string> {
  const stat = await backend.stat(directory as never)
  if (stat === undefined) return `${directory} absent\n`
  if (stat.type === 'link') return `${directory} link ${await backend.readLink(directory as never)}\n`
  if (stat.type !== 'directory') {
    const { bytes } = await backend.read(directory as never)
    return `${directory} ${new TextDecoder().decode(bytes)}\n`
  }
  const names = (await backend.list(directory as never)).map(({ name }) => name).sort()
  let text = `${directory}/\n`
  for (const name of names) text += await snapshot(backend, `${directory}/${name}`)
  return text
}

interface Outcome {
  readonly before: string
  readonly after: string
  readonly asked: number
  readonly answer: unknown
}

async function tryWay(way: Way, policy: PolicyInput, backend: Backend): Promise<Outcome> {
  let asked = 0
  let before = await snapshot(backend)
  const workspace = await createWorkspace({
    backend,
    policy,
    shell: bash(),
    git: git(),
    approve: () => {
      asked += 1
      return { deny: 'no' }
    },
    run: { id: 'guarded', task },
  })
  const answer = await way.act(workspace, workspace.run({ id: 'free' }), async () => {
    before = await snapshot(backend)
  })
  const after = await snapshot(backend)
  await workspace.close().catch(() => {})
  return { before, after, asked, answer }
}

const counts = { changed: 0, tried: 0, asked: 0 }
afterAll(() => {
  console.log(
    `ways to change a path: ${ways.length} (${counts.changed} change it without a rule); tried against rules: ${counts.tried}, of them asked: ${counts.asked}`,
  )
})

describe('every way to change a path below docs', () => {
  it.each(ways)('$name', async (way) => {
    const free = await tryWay(way, policies.none, memory(tree))
    // A way that this shell does not have changes nothing with or without a rule.
    const changes = free.after !== free.before
    if (changes) counts.changed += 1
    for (const action of ['deny', 'ask'] as const) {
      const { before, after, asked } = await tryWay(way, policies[action], memory(tree))
      counts.tried += 1
      expect({ action, after }).toEqual({ action, after: before })
      if (action === 'ask' && changes) {
        expect(asked).toBeGreaterThan(0)
        counts.asked += 1
      }
    }
  })

  it('also holds in an overlay that is committed', async () => {
    for (const action of ['deny', 'ask'] as const) {
      const lower = memory(tree)
      const { before } = await tryWay(
        {
          name: 'commit',
          async act(workspace, free) {
            await free.call('append_file', { path: 'docs/a.md', content: 'n' })
            return workspace.commit()
          },
        },
        policies[action],
        overlay(lower),
      )
      expect(await snapshot(lower)).toBe(before)
    }
  })

  it('also holds on disk, for a part of the ways', async () => {
    const home = await mkdtemp(join(tmpdir(), 'wardspace-every-way-'))
    try {
      const some = ways.filter((_, index) => index % 9 === 0)
      for (const [index, way] of some.entries()) {
        for (const action of ['deny', 'ask'] as const) {
          const root = join(home, `${index}-${action}`)
          const { mkdir, writeFile } = await import('node:fs/promises')
          for (const [path, text] of Object.entries(tree)) {
            await mkdir(join(root, path, '..'), { recursive: true })
            await writeFile(join(root, path), text)
          }
          const { before, after } = await tryWay(way, policies[action], nodeBackend(root))
          expect({ way: way.name, action, after }).toEqual({ way: way.name, action, after: before })
        }
      }
      console.log(`ways tried on disk: ${some.length} × 2 rules`)
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  }, 60_000)
})
