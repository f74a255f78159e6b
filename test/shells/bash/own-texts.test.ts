import { getCommandNames } from 'just-bash'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../../dist/backends/memory/index.js'
import { createWorkspace } from '../../../dist/index.js'
import { bash } from '../../../dist/shells/bash/index.js'

/** What only the interpreter's own package has: its names, options, packages, documentation and environments. */
const foreign =
  /just-?bash|BashEnv|\bBash\(|executionLimits|npm install|\(apt\)|\(brew\)|mongodb|liblzma|vercel|browser|CPython|Emscripten|\bcurl\b/i

describe('the commands of bash(), as published', () => {
  const names = getCommandNames()
  const helps = [
    ...names.flatMap((name) => [`${name} --help`, `help ${name}`]),
    'help',
    'cat /proc/version',
    'uname -a',
  ]
  const files = {
    'a.txt': 'one\n',
    'helps.sh': `${helps.map((line) => `${line} 2>&1 < /dev/null`).join('\n')}\n`,
    'calls.sh': 'f() { f; }\nf\n',
    'sources.sh': 'source sources.sh\n',
  }
  const endless = Object.keys(files).filter((name) => name.endsWith('.sh') && name !== 'helps.sh')
  const open = () => createWorkspace({ backend: memory(files), policy: 'autonomous', shell: bash({ worker: false }) })
  let workspace: Awaited<ReturnType<typeof open>>
  beforeAll(async () => {
    workspace = await open()
  })
  afterAll(() => workspace.close())

  it.each([
    'bash helps.sh',
    'tar -cJf a.txz a.txt',
    'tar --zstd -cf a.tzst a.txt',
    'tar -caf a.tar.xz a.txt',
    'tar -caf a.tar.zst a.txt',
    ...['python', 'python3', 'sqlite3', 'js-exec'].map((name) => `${name} a.txt`),
    'while true; do true; done 2>&1 | cat',
    ...endless.flatMap((name) => [`bash ${name}`, `bash ${name} 2>&1 | cat`, `timeout 20 sh ${name} 2> e; cat e`]),
  ])('%s says nothing about another package', async (command) => {
    const result = await workspace.callTool('run_command', { command, timeoutMs: 60_000 })
    const text = JSON.stringify(result).replaceAll(command, '')
    expect(text.length).toBeGreaterThan(20)
    expect(foreign.exec(text)?.[0]).toBeUndefined()
  })
})
