import { memory } from '../../../src/backends/memory/index.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import { webcontainer } from '../../../src/shells/webcontainer/index.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'

export interface WithoutOptions {
  readonly bootTimeoutMs?: number
  readonly apiKey?: string
}

/** Runs commands in the fallback shell. */
export async function without(options: WithoutOptions, tries = 1) {
  const shell = webcontainer({ ...options, fallback: bash({ worker: false }) })
  const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', shell })
  const results: unknown[] = []
  for (let i = 0; i < tries; i++) {
    results.push(await workspace.call('run_command', { command: 'cat a.txt > b.txt; cat b.txt' }))
  }
  const started = await workspace.call('start_command', { command: 'cp b.txt c.txt; echo done' })
  const { id } = started as unknown as { id: string }
  let output = ''
  for (;;) {
    const progress = (await workspace.call('check_command', { id })) as unknown as Record<string, string>
    output += `${progress.stdout}${progress.stderr}`
    if (progress.state === 'ended') break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const { capabilities } = shell
  const state = await shell.ready()
  const read = await workspace.call('read_file', { path: 'c.txt' })
  await workspace.close()
  return { results, told: output, state, capabilities, read }
}

/** The API of the page that does not have the package. */
Object.assign(globalThis, { api: { fallback: without } })
