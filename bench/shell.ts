import { Bash, InMemoryFs } from 'just-bash'
import { memory } from '../dist/backends/memory/index.js'
import { createWorkspace } from '../dist/index.js'
import { bash } from '../dist/shells/bash/index.js'
import { makeCorpus } from './corpus.ts'
import { heading, median, medians, report } from './measure.ts'

const COUNT = 5000

/** Commands through the complete pipeline: searches against those of just-bash, and the cost of an empty command. */
export async function benchShell(): Promise<void> {
  const corpus = makeCorpus(COUNT)
  try {
    const files = corpus.files()
    heading(`Commands over ${corpus.count} files, ${(corpus.bytes / 2 ** 20).toFixed(0)} MiB in memory`)
    const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous', shell: bash() })
    const theirs = new InMemoryFs(
      Object.fromEntries(Object.entries(files).map(([path, bytes]) => [`/w/${path}`, bytes])),
    )
    const limits = { maxTraversalWork: 1e9, maxWorkUnits: 1e9, maxInputBytes: 2 ** 33, maxLiveBytes: 2 ** 33 }
    const own = async (command: string) => {
      const result = await workspace.call('run_command', { command })
      if (!result.ok) throw new Error(result.message)
    }
    const bare = () => new Bash({ fs: theirs, cwd: '/w', defenseInDepth: false, executionLimits: limits })
    for (const line of ['rg zqxjkv', 'rg useCapture', 'grep -r zqxjkv .', 'grep -r useCapture .']) {
      const { ours, reference } = await medians(1, { ours: () => own(line), reference: () => bare().exec(line) })
      report(line, ours, reference, 0.2)
    }
    const times: number[] = []
    for (let i = 0; i < 3000; i++) {
      const started = performance.now()
      await own('true')
      times.push(performance.now() - started)
    }
    report('a command that does nothing, the first 1,000, in ms', median(times.slice(0, 1000)), 1, 2.2)
    report('the same after 2,000 others', median(times.slice(2000)), 1, 2, { goal: 1.5 })
    await workspace.close()
  } finally {
    corpus.remove()
  }
}
