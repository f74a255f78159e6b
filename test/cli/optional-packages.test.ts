import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../counts.ts'

const top = join(import.meta.dirname, '../..')
/** A directory with a copy of the package, and no other one. */
let bare: string

function run(...words: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd: bare }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

beforeAll(async () => {
  bare = await mkdtemp(join(tmpdir(), 'wardspace-optional-'))
  const copy = join(bare, 'node_modules/wardspace')
  await cp(join(top, 'dist'), join(copy, 'dist'), { recursive: true })
  await cp(join(top, 'package.json'), join(copy, 'package.json'))
})
afterAll(() => rm(bare, { recursive: true, force: true }))

const main = 'node_modules/wardspace/dist/cli/main.js'

describe('a missing optional package', () => {
  it('is named, with the command that installs it', async () => {
    await writeFile(
      join(bare, 'try.mjs'),
      `import { createWorkspace } from 'wardspace'
       import 'wardspace/ai-sdk'
       import 'wardspace/mcp'
       import 'wardspace/mcp-http'
       import 'wardspace/testing/scripted-model'
       import { memfs } from 'wardspace/backends/memfs'
       import { memory } from 'wardspace/backends/memory'
       import { git } from 'wardspace/git'
       import { webcontainer } from 'wardspace/shells/webcontainer'
       // The parts of a page that the shell checks.
       globalThis.document = {}
       globalThis.crossOriginIsolated = true
       const told = []
       const shell = webcontainer({ fallback: false })
       const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', shell })
       const { code, message, hint } = await workspace.call('run_command', { command: 'echo x' })
       told.push({ code, message, hint })
       await workspace.close()
       const note = ({ code, message, details }) => told.push({ code, message, hint: details?.hint })
       const withGit = await createWorkspace({ backend: memory(), policy: 'autonomous', git: git() })
       await withGit.git.init().catch(note)
       delete globalThis.Buffer
       await withGit.git.init().catch(note)
       try {
         memfs()
       } catch (error) {
         note(error)
       }
       console.log(JSON.stringify(told))`,
    )
    const { stdout, stderr } = await run('try.mjs')
    const missing = (code: string, user: string, name: string) => ({
      code,
      message: `${user} needs the package ${name}, which is not installed`,
      hint: expect.stringMatching(new RegExp(`npm install ${name}$`)),
    })
    expect(JSON.parse(stdout || stderr)).toEqual([
      missing('SHELL_UNAVAILABLE', 'webcontainer()', '@webcontainer/api'),
      missing('BACKEND_ERROR', 'git', 'isomorphic-git'),
      missing('BACKEND_ERROR', 'git on this platform', 'buffer'),
      { message: 'memfs() needs a Volume of the package memfs: npm install memfs, then memfs(new Volume())' },
    ])
  })
})

describe('bash() without any optional package', () => {
  it.runIf(isLong)('runs commands and scripts', async () => {
    await writeFile(
      join(bare, 'try.mjs'),
      `import { createWorkspace } from 'wardspace'
       import { memory } from 'wardspace/backends/memory'
       import { bash } from 'wardspace/shells/bash'
       const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', shell: bash() })
       const command = 'echo x | gzip | zcat; node -e "console.log(6 * 7)"'
       console.log((await workspace.call('run_command', { command })).stdout)
       await workspace.close()`,
    )
    expect(await run('try.mjs')).toMatchObject({ stdout: 'x\n42\n\n', stderr: '' })
  })
})

describe('the command line without any optional package', () => {
  it.runIf(isLong)('reads policies in TOML and YAML', async () => {
    await writeFile(join(bare, 'p.toml'), "preset = 'readOnly'\n")
    await writeFile(join(bare, 'p.yaml'), 'preset: readOnly\n')
    for (const file of ['p.toml', 'p.yaml']) {
      expect(await run(main, 'tools', '--policy', file)).toMatchObject({ code: 0, stderr: '' })
    }
  })

  it('serves MCP with the shell bash: its commands, scripts, databases and git', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' })
    const words = [main, 'mcp', '--policy', 'autonomous', '--shell', 'bash', '--git', '--root', 'project']
    await mkdir(join(bare, 'project'))
    await client.connect(new StdioClientTransport({ command: process.execPath, args: words, cwd: bare }))
    const outputs: Readonly<Record<string, string>> = {
      "printf 'b\\na\\n' | sort | tee sorted.txt": 'a\nb\n',
      'tar -cf x.tar sorted.txt && tar -tf x.tar && rm x.tar': 'sorted.txt\n',
      "echo 'a: 1' | yq .a": '1\n',
      'sqlite3 :memory: "select 6 * 7"': '42\n',
      'node -e "console.log(require(\'node:path\').sep, 6 * 7)"': '/ 42\n',
      'git init -q && git add sorted.txt && git commit -q -m first && git log --format=%s': 'first\n',
    }
    const seen: Record<string, unknown> = {}
    for (const command of Object.keys(outputs)) {
      const { structuredContent } = await client.callTool({ name: 'run_command', arguments: { command } })
      const { stdout, stderr } = structuredContent as { readonly stdout: string; readonly stderr: string }
      seen[command] = stdout + stderr
    }
    await client.close()
    expect(seen).toEqual(outputs)
  })
})
