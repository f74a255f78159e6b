import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyPatch, parsePatch } from 'diff'
import { memory } from '../dist/backends/memory/index.js'
import { createWorkspace, type PolicyInput, type ToolName } from '../dist/index.js'
import { unifiedDiff } from '../src/patch/diff.ts'
import type { LogicalPath } from '../src/paths/logical-path.ts'
import { makeCorpus } from './corpus.ts'
import { heading, medians, report } from './measure.ts'

const MIB = 1024 * 1024

/** A patch of 5 MB over 1,000 files against `git apply --check` and jsdiff, which only parses and applies texts, and a hunk that matches nowhere against a fixed time. */
export async function benchPatch(): Promise<void> {
  heading('Patches')
  const corpus = makeCorpus(1000, { smallest: 4096 })
  try {
    const files = corpus.files()
    const { patch, count } = changesOf(files, 5_000_000)
    writeFileSync(join(corpus.root, 'changes.patch'), patch)
    const original = memory(files)
    const size = `${(patch.length / MIB).toFixed(1)} MiB over ${count} files`
    const git = () => {
      const { status, stderr } = spawnSync('git', ['apply', '--check', 'changes.patch'], { cwd: corpus.root })
      if (status !== 0) throw new Error(String(stderr).slice(0, 500))
    }
    // Without diff_workspace, its hash is not computed.
    const apply = async (tools: readonly ToolName[]) => {
      const workspace = await createWorkspace({ backend: original.fork?.() ?? original, policy, limits, tools })
      const answer = await workspace.call('apply_patch', { patch })
      if (!answer.ok) throw new Error(JSON.stringify(answer).slice(0, 500))
    }
    const ours = () => apply(['apply_patch'])
    const hashed = () => apply(['apply_patch', 'diff_workspace'])
    const texts = new Map(Object.entries(files).map(([path, bytes]) => [`a/${path}`, new TextDecoder().decode(bytes)]))
    const jsdiff = () => {
      for (const part of parsePatch(patch)) {
        if (part.hunks.length > 0 && applyPatch(texts.get(part.oldFileName ?? '') ?? '', part) === false)
          throw new Error(`jsdiff cannot apply ${part.oldFileName}`)
      }
    }
    const times = await medians(9, { ours, hashed, git, jsdiff })
    report(`apply_patch in memory, ${size}, git apply --check`, times.ours, times.git, 2, { goal: 0.6 })
    report(`the same, jsdiff`, times.ours, times.jsdiff, Number.POSITIVE_INFINITY)
    report('the same with newWorkspaceDiffSha256, git apply --check', times.hashed, times.git, 9, { goal: 1 })
    await rejected()
  } finally {
    corpus.remove()
  }
}

const limits = {
  patchFiles: 1_000_000,
  patchInsertions: 100_000_000,
  patchDeletions: 100_000_000,
  patchBytes: 100 * MIB,
}

const policy: PolicyInput = {
  preset: 'autonomous',
  rules: [
    {
      name: 'every file',
      action: 'allow',
      permissions: ['file:patch:apply'],
      paths: ['**'],
      overrides: ['generated', 'vendored', 'lockfile', 'secret'],
    },
  ],
}

/** Creates a patch of the requested size that changes some lines of every file. */
function changesOf(files: Readonly<Record<string, Uint8Array>>, bytes: number): { patch: string; count: number } {
  const texts = Object.entries(files).map(([path, content]) => [path, new TextDecoder().decode(content)] as const)
  const sections: string[] = []
  let left = bytes
  for (const [i, [path, text]] of texts.entries()) {
    const share = left / (texts.length - i)
    let section = ''
    // Reduces the changes until they fit with their context lines.
    for (let step = 8; section === '' || (section.length > share && step < text.length); step *= 2)
      section = everyLine(path as LogicalPath, text, step)
    if (section === '') throw new Error(`Nothing to change in ${path}`)
    sections.push(section)
    left -= section.length
  }
  return { patch: sections.join(''), count: sections.length }
}

function everyLine(path: LogicalPath, text: string, step: number): string {
  const lines = text.split('\n')
  const which = Math.min(step, lines.length)
  const changed = lines.map((line, at) => (at % which === which >> 1 ? `${line.slice(0, 200)} // changed` : line))
  return unifiedDiff({ path, text }, { path, text: changed.join('\n') }).text
}

async function rejected(): Promise<void> {
  const lines = Array.from({ length: 5000 }, (_, i) => `    const value${i} = compute(${i % 10})\n`)
  const workspace = await createWorkspace({ backend: memory({ 'a.ts': lines.join('') }), policy })
  const context = lines.slice(2499, 2502).map((line) => ` ${line}`)
  const patch = `--- a/a.ts\n+++ b/a.ts\n@@ -2500,4 +2500,4 @@\n${context.join('')}-nothing like it\n+x\n`
  const { hunk, jsdiff } = await medians(9, {
    hunk: () => workspace.call('apply_patch', { patch }),
    jsdiff: () => applyPatch(lines.join(''), patch),
  })
  report('apply_patch, a hunk that fits nowhere, 5,000 lines, of 50 ms', hunk, 50, 1)
  report('the same, jsdiff, which searches the same context', hunk, jsdiff, Number.POSITIVE_INFINITY)
}
