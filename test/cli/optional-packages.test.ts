import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const top = join(import.meta.dirname, '../..')
let home: string

/** Copies the package with its dependencies, and only some of the optional packages. */
async function install(name: string, others: readonly string[] = []): Promise<string> {
  const modules = join(home, name, 'node_modules')
  await cp(join(top, 'dist'), join(modules, 'wardspace/dist'), { recursive: true })
  await cp(join(top, 'package.json'), join(modules, 'wardspace/package.json'))
  const { dependencies } = JSON.parse(await readFile(join(top, 'package.json'), 'utf8')) as { dependencies: object }
  for (const each of [...Object.keys(dependencies), ...others]) {
    await mkdir(dirname(join(modules, each)), { recursive: true })
    await symlink(join(top, 'node_modules', each), join(modules, each))
  }
  return join(home, name)
}

function run(directory: string, ...words: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd: directory }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'wardspace-optional-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

it('a missing optional package is named, with the command that installs it', async () => {
  const bare = await install('bare')
  await writeFile(
    join(bare, 'try.mjs'),
    `import { createWorkspace } from 'wardspace'
     import 'wardspace/ai-sdk'
     import 'wardspace/testing/scripted-model'
     import { memory } from 'wardspace/backends/memory'
     import { bash } from 'wardspace/shells/bash'
     import { webcontainer } from 'wardspace/shells/webcontainer'
     // The parts of a page that the shell checks.
     globalThis.document = {}
     globalThis.crossOriginIsolated = true
     const told = []
     for (const shell of [bash(), webcontainer({ fallback: false })]) {
       const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', shell })
       const { code, message, hint } = await workspace.call('run_command', { command: 'echo x' })
       told.push({ code, message, hint })
       await workspace.close()
     }
     console.log(JSON.stringify(told))`,
  )
  const half = await install('half', ['just-bash'])
  await writeFile(
    join(half, 'try.mjs'),
    `import { createWorkspace } from 'wardspace'
     import { memory } from 'wardspace/backends/memory'
     import { bash } from 'wardspace/shells/bash'
     const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', shell: bash() })
     console.log(JSON.stringify(await workspace.call('run_command', { command: 'node -e 1' })))
     await workspace.close()`,
  )
  const main = 'node_modules/wardspace/dist/cli/main.js'
  const [shells, scripts, command] = await Promise.all([
    run(bare, 'try.mjs'),
    run(half, 'try.mjs'),
    run(bare, main, 'mcp', '--shell', 'bash', '--policy', 'autonomous'),
  ])
  expect(JSON.parse(shells.stdout || shells.stderr)).toEqual([
    {
      code: 'SHELL_UNAVAILABLE',
      message: 'bash() needs the package just-bash, which cannot be loaded',
      hint: expect.stringMatching(/npm install just-bash$/),
    },
    {
      code: 'SHELL_UNAVAILABLE',
      message: 'webcontainer() needs the package @webcontainer/api, which cannot be loaded',
      hint: expect.stringMatching(/npm install @webcontainer\/api$/),
    },
  ])
  expect(scripts.stdout).toContain('quickjs-emscripten')
  expect(command).toMatchObject({ code: 2, stderr: expect.stringMatching(/just-bash.*npm install just-bash/) })
})
