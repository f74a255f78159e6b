import { dirname } from 'node:path'
import { git } from '../../dist/git/index.js'
import { createWorkspace, type Workspace, type WorkspaceRun } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import type { Backend } from '../../dist/storage/kit.js'
import { type Label, type LabelPolicy, labelNames } from '../../src/policy/labels.ts'
import { fileCommands } from '../shells/bash/file-commands.ts'
import { writeFiles } from '../write-files.ts'
import { TOKEN, tree } from './label-tree.ts'

/** Ways to move content through a workspace. The tests try them with each label and each sink. */

export const ceilings: Readonly<Record<string, Label>> = { 'pub/': 'public', 'mid/': 'internal' }

export const labelsFor = (label: Label): LabelPolicy => ({
  sources: [{ label, paths: ['conf/**'] }],
  sinks: [
    { name: 'published', ceiling: 'public', paths: ['pub/**'] },
    { name: 'shared', ceiling: 'internal', paths: ['mid/**'] },
  ],
})

/** One shell for all workspaces: its process is started once. */
const shell = bash({ worker: false, commands: fileCommands })

export const closeShell = (): Promise<void> => shell.close()

export const rank = (label: unknown): number => labelNames.indexOf(label as Label)

/** The functions that a way uses to make calls in a run. Every result is recorded. */
export interface Steps {
  readonly workspace: Workspace
  readonly run: WorkspaceRun
  tool(name: string, input: object): Promise<Record<string, unknown>>
  line(command: string): Promise<Record<string, unknown>>
  /** Starts a line in the background, and waits for its end. */
  background(command: string): Promise<void>
  /** Records a result that did not come from `tool` or `line`. */
  keep<T>(result: T): T
}

/** Moves the content of one path to another, if policy allows it. */
export interface Way {
  readonly name: string
  /** Whether it starts a script, which takes much longer than a line. */
  readonly isScript?: boolean
  act(steps: Steps, from: string, to: string): Promise<unknown>
}

const line = (template: string): Way => ({
  name: template,
  isScript: template.startsWith('node'),
  act: (steps, from, to) => steps.line(fill(template, from, to)),
})

export function fill(template: string, from: string, to: string): string {
  return template
    .replaceAll('SRCDIR', dirname(from))
    .replaceAll('DSTDIR', dirname(to))
    .replaceAll('SRC', from)
    .replaceAll('DST', to)
}

/** Lines that copy or move SRC to DST. */
const lines: readonly string[] = [
  'cp SRC DST',
  'mv SRC DST',
  'ln SRC DST',
  'ln -s ../SRC DST',
  'ln -s ../SRC tmp/link; cp tmp/link DST',
  'ln -s ../SRC tmp/link; mv tmp/link DST',
  'cat SRC > DST',
  'cat SRC >> DST',
  'cat < SRC > DST',
  'cat SRC | tee DST',
  'cat SRC | tee -a DST > /dev/null',
  'cat SRC | sed s/second/2/ | sort > DST',
  'head -1 SRC > DST',
  'sed -n 1,9p SRC > DST',
  'awk "{ print }" SRC > DST',
  'awk "{ print > \\"DST\\" }" SRC',
  'sort -o DST SRC',
  'grep -h . SRC > DST',
  'x=$(cat SRC); echo "$x" > DST',
  'x=$(< SRC); echo "$x" > DST',
  'read x < SRC; echo "$x" > DST',
  'while read x; do echo "$x"; done < SRC > DST',
  'mapfile -t a < SRC; set -- "$(printf "%s" "$a")"; echo "$1" > DST',
  'cat <<END > DST\n$(cat SRC)\nEND',
  'cat <<< "$(cat SRC)" > DST',
  'cat <(cat SRC) > DST',
  'cat SRC | xargs echo > DST',
  'echo SRC | xargs cat > DST',
  'echo SRC DST | xargs cp',
  'echo SRC DST | xargs mv',
  'take SRC DST',
  'move SRC DST',
  'show SRC | save DST',
  'show-bytes SRC | add DST',
  'save DST "$(show SRC)"',
  'find SRCDIR -name "*.txt" -exec cat {} \\; > DST',
  'find SRCDIR -maxdepth 1 -name "*.txt" -exec cp {} DST \\;',
  'find SRCDIR -maxdepth 1 -name "*.txt" -exec mv {} DST \\;',
  'f() { cat "$1"; }; f SRC > DST',
  'cat SRCDIR/*.txt > DST',
  'bash -c "cat SRC > DST"',
  'eval "cp SRC DST"',
  'cp SRC /tmp/x; cp /tmp/x DST',
  'mv SRC /tmp/x; mv /tmp/x DST',
  'cp SRC tmp/b.txt; mv tmp/b.txt DST',
  'mv SRC tmp/b.txt; mv tmp/b.txt DST',
  'mv SRC tmp/b.txt; cat tmp/b.txt > DST',
  'mv SRC tmp/b.txt; cp tmp/b.txt SRC; mv tmp/b.txt DST',
  'cp -r SRCDIR DSTDIR/d',
  'mv SRCDIR DSTDIR/d',
  'cp -r SRCDIR tmp/d; mv tmp/d DSTDIR/d',
  'mv SRCDIR tmp/d; mv tmp/d/* DSTDIR/',
  'mv DSTDIR tmp/old; mv SRCDIR DSTDIR',
  'ln -s ../SRCDIR DSTDIR/d',
  'tar -cf tmp/t.tar SRC; mv tmp/t.tar DST',
  'tar -cf - SRC | tar -xf - -C DSTDIR',
  'tar -cf tmp/t.tar SRCDIR; cd DSTDIR; tar -xf ../tmp/t.tar',
  'gzip -c SRC > tmp/x.gz; gunzip -c tmp/x.gz > DST',
  'base64 SRC | base64 -d > DST',
  'split -l 1 SRC DST',
  'x=$(head -1 SRC); sed -n "p" notes.txt > DST; echo "$x" >> DST',
  'cat SRC > tmp/s.txt; sed -i s/second/2/ tmp/s.txt; mv tmp/s.txt DST',
  'bash -c "mv SRC DST"',
  'paste notes.txt SRC > DST',
  'cp -p SRC DST',
  'mv -f SRC DST',
  'mkdir tmp/m; mv SRC tmp/m/; mv tmp/m/* DST',
  'if [ -f SRC ]; then mv SRC DST; fi',
  'for f in SRCDIR/*.txt; do mv "$f" DST; done',
  'cat notes.txt SRC | paste - > DST',
  'join SRC SRC > DST',
  'diff notes.txt SRC > DST',
  'cp notes.txt DST; cat SRC | while read l; do echo $l >> DST; done',
  'cat SRC > DST &',
  '{ cat SRC; } > DST',
  '(cd SRCDIR && cat *.txt) > DST',
  '{ cd SRCDIR; cat *.txt; } >> DST',
  'trap "cat SRC > DST" EXIT',
  '(trap "mv SRC DST" EXIT)',
  'x=$(trap "cat SRC" EXIT); echo "$x" > DST',
  'x=$(cat SRC); trap \'echo "$x" > DST\' EXIT; exit 3',
  'exec 3< SRC; cat <&3 > DST',
  'exec 3> DST; cat SRC >&3',
  'printf "%s" "$(cat SRC)" > DST',
  'mv SRC notes.txt; cp notes.txt DST',
  'rev SRC | rev > DST',
  'tac SRC > DST',
]

/** Calls of `node:fs` that copy or move SRC to DST. */
const scripts: readonly string[] = [
  "fs.writeFileSync('DST', fs.readFileSync('SRC'))",
  "fs.appendFileSync('DST', fs.readFileSync('SRC', 'utf8'))",
  "fs.copyFileSync('SRC', 'DST')",
  "fs.renameSync('SRC', 'DST')",
  "fs.renameSync('SRC', 'tmp/n.txt'); fs.renameSync('tmp/n.txt', 'DST')",
  "fs.cpSync('SRCDIR', 'DSTDIR/d', { recursive: true })",
  "fs.renameSync('SRCDIR', 'DSTDIR/d')",
  "fs.symlinkSync('../SRC', 'DST')",
  "fs.promises.readFile('SRC').then((b) => fs.promises.writeFile('DST', b))",
  "fs.promises.rename('SRC', 'DST')",
  "fs.promises.cp('SRC', 'DST')",
]
const scriptLines = scripts.map((script) => `node -e "const fs = require('fs'); ${script}"`)

const toolWays: readonly Way[] = [
  { name: 'copy_file', act: (steps, path, to) => steps.tool('copy_file', { path, to: `${to}.copy` }) },
  { name: 'move_file', act: (steps, path, to) => steps.tool('move_file', { path, to: `${to}.moved` }) },
  {
    name: 'copy_file of the directory',
    act: (steps, from, to) => steps.tool('copy_file', { path: dirname(from), to: `${dirname(to)}/d` }),
  },
  {
    name: 'move_file of the directory',
    act: (steps, from, to) => steps.tool('move_file', { path: dirname(from), to: `${dirname(to)}/d` }),
  },
  {
    name: 'copy_file of a link',
    async act(steps, from, to) {
      await steps.line(`ln -s ../${from} tmp/l`)
      return steps.tool('copy_file', { path: 'tmp/l', to: `${dirname(to)}/l` })
    },
  },
  {
    name: 'move_file by a link',
    async act(steps, from, to) {
      await steps.line(`ln -s ../${dirname(from)} tmp/l`)
      return steps.tool('move_file', { path: from.replace(/^.*\//, 'tmp/l/'), to: `${to}.moved` })
    },
  },
  ...(['write_file', 'append_file'] as const).map(
    (name): Way => ({
      name: `read_file, ${name}`,
      async act(steps, from, to) {
        const { content } = await steps.tool('read_file', { path: from })
        return steps.tool(name, { path: `${to}.new`, content: String(content ?? '') })
      },
    }),
  ),
  {
    name: 'search_text, write_file',
    async act(steps, _, to) {
      const matches = await steps.tool('search_text', { query: TOKEN })
      return steps.tool('write_file', { path: `${to}.new`, content: JSON.stringify(matches) })
    },
  },
  {
    name: 'search_text with context, edit_file',
    async act(steps, _, to) {
      const matches = await steps.tool('search_text', { query: 'second|first', mode: 'regex', contextLines: 3 })
      await steps.tool('read_file', { path: `${dirname(to)}/index.txt` })
      return steps.tool('edit_file', {
        path: `${dirname(to)}/index.txt`,
        oldText: 'hello',
        newText: JSON.stringify(matches),
      })
    },
  },
  {
    name: 'apply_patch that moves',
    act: (steps, from, to) =>
      steps.tool('apply_patch', {
        patch: `*** Begin Patch\n*** Update File: ${from}\n*** Move to: ${to}.moved\n@@\n second\n+third\n*** End Patch\n`,
      }),
  },
  {
    name: 'apply_patch that renames',
    act: (steps, from, to) =>
      steps.tool('apply_patch', {
        patch: `diff --git a/${from} b/${to}.moved\nsimilarity index 100%\nrename from ${from}\nrename to ${to}.moved\n`,
      }),
  },
  {
    name: 'apply_patch that copies',
    act: (steps, from, to) =>
      steps.tool('apply_patch', {
        patch: `diff --git a/${from} b/${to}.moved\nsimilarity index 100%\ncopy from ${from}\ncopy to ${to}.moved\n`,
      }),
  },
  {
    name: 'diff_workspace, write_file',
    async act(steps, from, to) {
      await steps.tool('append_file', { path: from, content: 'more\n' })
      const { diff } = (await steps.workspace.run().call('diff_workspace', {}).then(steps.keep)) as {
        diff?: string
      }
      return steps.tool('write_file', { path: `${to}.new`, content: diff ?? '' })
    },
  },
  {
    name: 'the artifact of a deletion, write_file',
    async act(steps, from, to) {
      const { artifactUri } = await steps.tool('delete_file', { path: from })
      const { content } = await steps.tool('read_file', { path: artifactUri ?? 'artifact://a/b' })
      return steps.tool('write_file', { path: `${to}.new`, content: String(content ?? '') })
    },
  },
  {
    name: 'the artifact of an undo by the workspace, read_file',
    async act(steps, from, to) {
      const { callId } = await steps.tool('delete_file', { path: from })
      const undone = steps.keep(await steps.workspace.undo(String(callId))) as { artifactUri?: string }
      const uri = undone.artifactUri ?? 'artifact://a/b'
      const { content } = steps.keep(await steps.workspace.call('read_file', { path: uri })) as { content?: string }
      return steps.keep(await steps.workspace.call('write_file', { path: `${to}.new`, content: content ?? '' }))
    },
  },
  {
    name: 'a note',
    async act(steps, from, to) {
      const { content } = await steps.tool('read_file', { path: from })
      await steps.tool('memory_store', { id: 'n', content: String(content ?? '') })
      const other = steps.workspace.run()
      const note = steps.keep(await other.callTool('memory_get', { id: 'n' })) as { content?: string }
      steps.keep(await other.callTool('memory_search', { query: TOKEN }))
      return steps.keep(await other.call('write_file', { path: `${to}.new`, content: note.content ?? '' }))
    },
  },
]

/** Git, undo, forks and overlays. */
const storeWays: readonly Way[] = [
  ...[
    'git show HEAD:SRC > DST',
    'git checkout HEAD -- SRC && mv SRC DST',
    'echo x >> SRC; git diff > DST',
    'rm SRC; git diff HEAD > DST',
    'mv SRC DST; git add -A; git commit -qm moved; mv DST SRC; git checkout HEAD -- DST',
    'mv SRC DST; git add -A; git commit -qm moved; git checkout -q -b b HEAD; git checkout -q main',
    'mv SRC tmp/g.txt; git add -A; git commit -qm moved; rm tmp/g.txt; git restore tmp/g.txt; mv tmp/g.txt DST',
    'git show > DST',
    'echo x >> SRC; git commit -qam two; git format-patch --stdout HEAD~1 > DST',
  ].map(
    (template): Way => ({
      name: template,
      async act(steps, from, to) {
        await steps.workspace.run().call('run_command', { command: 'git init -q && git add -A && git commit -qm one' })
        return steps.line(fill(template, from, to))
      },
    }),
  ),
  {
    name: 'git restores what another command stored under the name of a sink',
    async act(steps, from, to) {
      await steps.line(fill('git init -q; mv SRC DST; git add -A; git commit -qm one; mv DST SRC', from, to))
      const other = steps.workspace.run()
      return steps.keep(await other.call('run_command', { command: `git checkout HEAD -- ${to}` }))
    },
  },
  {
    name: 'the message of a commit',
    async act(steps, from, to) {
      await steps.line(fill('git init -q; git add -A; git commit -qm "$(cat SRC)"', from, to))
      const other = steps.workspace.run()
      return steps.keep(await other.call('run_command', { command: `git log | tee ${to}` }))
    },
  },
  {
    name: 'undo of a copy, and undo of the undo',
    async act(steps, from, to) {
      const { callId } = await steps.line(`cp ${from} tmp/u.txt`)
      const undone = steps.keep(await steps.workspace.undo(String(callId))) as { callId?: string }
      steps.keep(await steps.workspace.undo(String(undone.callId)))
      const other = steps.workspace.run()
      return steps.keep(await other.call('run_command', { command: `mv tmp/u.txt ${to}` }))
    },
  },
  {
    name: 'rollback of a move',
    async act(steps, from, to) {
      await steps.line(`mv ${from} tmp/u.txt`)
      const { id } = steps.workspace.checkpoint()
      const other = steps.workspace.run()
      steps.keep(await other.call('delete_file', { path: 'tmp/u.txt' }))
      steps.keep(await steps.workspace.rollback(id))
      const third = steps.workspace.run()
      return steps.keep(await third.call('move_file', { path: 'tmp/u.txt', to: `${to}.moved` }))
    },
  },
  {
    name: 'a fork of a run that has read',
    async act(steps, from, to) {
      const { content } = steps.keep(await steps.workspace.call('read_file', { path: from })) as { content?: string }
      const fork = await steps.workspace.fork()
      steps.keep(await fork.call('write_file', { path: `${to}.new`, content: content ?? '' }))
      steps.keep(await fork.commit())
    },
  },
  {
    name: 'a copy in a fork that is committed',
    async act(steps, from, to) {
      const fork = await steps.workspace.fork()
      steps.keep(await fork.call('run_command', { command: `mv ${from} tmp/f.txt; cp tmp/f.txt tmp/g.txt` }))
      steps.keep(await fork.commit())
      const other = steps.workspace.run()
      return steps.keep(await other.call('run_command', { command: `mv tmp/f.txt ${to}; cp tmp/g.txt ${to}` }))
    },
  },
]

const backgroundLines = [
  'cat SRC',
  'cp SRC DST',
  'mv SRC DST',
  'cat SRC > DST',
  'mv SRCDIR DSTDIR/d',
  'cat SRC | tee DST',
  'mv SRC tmp/bg.txt',
  'cat SRC; exit 3',
  ...scriptLines.slice(0, 4),
]
const backgroundWays = backgroundLines.map(
  (template): Way => ({
    name: `start_command ${template}`,
    isScript: template.startsWith('node'),
    act: (steps, from, to) => steps.background(fill(template, from, to)),
  }),
)

const lineWays = [...lines, ...scriptLines].map(line)

/** Ways in one call or a few, each starting from a new run. */
export const ways: readonly Way[] = [...toolWays, ...lineWays, ...storeWays, ...backgroundWays]

/** Ways that need only their two paths, so they can be chained. */
export const hops: readonly Way[] = [...toolWays.slice(0, 2), ...lineWays, ...backgroundWays]

/** A tree on the disk. */
export async function writeTree(root: string): Promise<void> {
  writeFiles(root, tree)
}

export interface Leaks {
  /** Places that labelled content reached, and results that showed it, although its label forbids that. */
  readonly leaks: readonly string[]
  /** Whether the content is in more places than before or was shown, which proves that the way works. */
  readonly isEffective: boolean
}

/** Tries ways one after another, each in its own run, and searches their results and files for the token. */
export async function tryWays(
  legs: readonly { readonly way: Way; readonly from: string; readonly to: string }[],
  label: Label,
  backend: Backend,
): Promise<Leaks> {
  const leaks: string[] = []
  let showing = 0
  const keep = <T>(result: T): T => {
    const text = JSON.stringify(result)
    if (!text.includes(TOKEN)) return result
    showing += 1
    const { label: own } = result as { label?: Label }
    if (rank(own) < rank(label)) leaks.push(`shown as ${own}: ${text.slice(0, 300)}`)
    return result
  }
  const workspace = await createWorkspace({
    backend,
    policy: { preset: 'autonomous', labels: labelsFor(label), memory: { path: 'memory' } },
    shell: { ...shell, close: async () => {} },
    git: git(),
    tools: 'full',
    run: { id: 'main' },
  })
  try {
    for (const [index, { way, from, to }] of legs.entries()) {
      const run = workspace.run({ id: `leg${index}` })
      await way.act(stepsOf(workspace, run, keep), from, to)
    }
    const files = await filesOf(backend)
    for (const [path, text] of files) {
      if (!text.includes(TOKEN)) continue
      for (const [prefix, ceiling] of Object.entries(ceilings)) {
        if (path.startsWith(prefix) && rank(label) > rank(ceiling)) leaks.push(`content in ${path}`)
      }
      if (path.startsWith('.git/') || path.startsWith('conf/')) continue
      const reader = workspace.run()
      keep(await reader.call('read_file', { path }))
      await reader.close()
    }
    const copies = [...files].filter(([path, text]) => !/^(conf|\.git)\//.test(path) && text.includes(TOKEN))
    return { leaks, isEffective: copies.length > 0 || showing > 0 }
  } finally {
    await workspace.close()
  }
}

/** The tree of a workspace with labelled content that no way accesses. */
export const freeTree = { ...tree, 'free/x.txt': 'FREE\nsecond\n', 'free/deep/y.txt': 'FREE\n' }

/** Tries a way with content that has no label. Returns every label above public, and whether the content reached the sink. */
export async function tryFreeWay(way: Way, backend: Backend): Promise<{ labels: unknown[]; isEffective: boolean }> {
  const labels: unknown[] = []
  const workspace = await createWorkspace({
    ...{ backend, policy: { preset: 'autonomous', labels: labelsFor('restricted') }, git: git(), tools: 'full' },
    shell: { ...shell, close: async () => {} },
  })
  const keep = <T>(result: T): T => {
    const { label } = result as { label?: Label }
    if (label !== undefined && label !== 'public') labels.push(result)
    return result
  }
  try {
    const run = workspace.run({ id: 'free' })
    await way.act(stepsOf(workspace, run, keep), 'free/x.txt', 'pub/out.txt')
    keep(await run.call('write_file', { path: 'pub/last.txt', content: 'last' }))
    const files = await filesOf(backend)
    const copies = [...files].filter(([path, text]) => !path.startsWith('free/') && text.includes('FREE'))
    return {
      labels,
      isEffective: files.has('pub/last.txt') && (copies.length > 0 || /^start_command cat SRC(;|$)/.test(way.name)),
    }
  } finally {
    await workspace.close()
  }
}

function stepsOf(workspace: Workspace, run: WorkspaceRun, keep: Steps['keep']): Steps {
  const tool = async (name: string, input: object) =>
    keep((await run.callTool(name, input)) as unknown as Record<string, unknown>)
  return {
    workspace,
    run,
    keep,
    tool,
    line: (command) => tool('run_command', { command }),
    async background(command) {
      const { id } = await tool('start_command', { command })
      for (let i = 0; i < 2000; i++) {
        const { state } = await tool('check_command', { id })
        if (state !== 'running') return
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    },
  }
}

/** Returns every file and link with its content. The content of a link is that of its target. */
async function filesOf(backend: Backend, directory = '', followsLinks = true): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for (const { name, type } of await backend.list(directory as never)) {
    const path = directory === '' ? name : `${directory}/${name}`
    if (type === 'directory')
      for (const [inner, text] of await filesOf(backend, path, followsLinks)) files.set(inner, text)
    else if (type === 'file' || followsLinks) {
      try {
        const target = await backend.canonical(path as never)
        const stat = await backend.stat(target)
        if (stat?.type === 'directory')
          for (const text of (await filesOf(backend, target, false)).values())
            files.set(path, `${files.get(path) ?? ''}${text}`)
        else if (stat?.type === 'file') files.set(path, new TextDecoder().decode((await backend.read(target)).bytes))
      } catch {
        // A dangling link.
      }
    }
  }
  return files
}
