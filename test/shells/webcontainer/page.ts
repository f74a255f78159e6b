import { memory } from '../../../src/backends/memory.ts'
import { bash } from '../../../src/shells/bash.ts'
import { webcontainer } from '../../../src/shells/webcontainer.ts'
import { shellContract } from '../../../src/testing/index.ts'
import { live } from './live.ts'
import { members } from './members.ts'
import { lacking, scenarios } from './scenarios.ts'

declare global {
  var WEBCONTAINER_API_IFRAME_URL: string | undefined
}

const frame = new URLSearchParams(location.search).get('frame')
if (frame !== null && frame !== '') globalThis.WEBCONTAINER_API_IFRAME_URL = frame

const contract = shellContract({
  name: 'webcontainer',
  create: () => ({
    shell: webcontainer({ fallback: false, bootTimeoutMs: 30_000, graceMs: 1000 }),
    backend: memory(),
    physical: '/workspace/home/wardspace',
  }),
  skip: {
    'the bits of a script are kept': 'a container tells no permission bits',
  },
})

/** What a test in Node may ask of the page. */
const api = {
  contractNames: () => contract.map(({ name }) => name),
  runCase: (name: string) => contract.find((one) => one.name === name)?.run(),
  scenarioNames: () => Object.keys(scenarios),
  runScenario: (name: string) => scenarios[name]?.(),
  runLacking: (name: string) => lacking[name]?.(),
  members,
  live,
  /** A command where there may be no container. */
  async fallback(options: { bootTimeoutMs?: number; apiKey?: string }, tries = 1) {
    const shell = webcontainer({ ...options, fallback: bash({ worker: false }) })
    const { createWorkspace } = await import('../../../src/workspace.ts')
    const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', shell })
    const started = performance.now()
    const results: unknown[] = []
    for (let i = 0; i < tries; i++)
      results.push(await workspace.call('run_command', { command: 'cat a.txt > b.txt; cat b.txt' }))
    const { id } = (await workspace.call('start_command', { command: 'cp b.txt c.txt; echo done' })) as unknown as {
      id: string
    }
    let told = ''
    for (;;) {
      const progress = (await workspace.call('check_command', { id })) as unknown as Record<string, string>
      told += `${progress.stdout}${progress.stderr}`
      if (progress.state === 'ended') break
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const { capabilities } = shell
    const state = await shell.ready()
    const read = await workspace.call('read_file', { path: 'c.txt' })
    await workspace.close()
    return { results, told, state, capabilities, read, ms: performance.now() - started }
  },
}

export type PageApi = typeof api
Object.assign(globalThis, { api })
