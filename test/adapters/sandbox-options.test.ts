import { describe, expect, it } from 'vitest'
import { aiSdkSandbox } from '../../src/adapters/ai-sdk/index.ts'
import { deepagentsBackend } from '../../src/adapters/deepagents/index.ts'
import { bashToolSandbox, justBashFs } from '../../src/adapters/just-bash/index.ts'
import { langchainFileStore } from '../../src/adapters/langchain/index.ts'
import { mastraFilesystem, mastraSandbox } from '../../src/adapters/mastra/index.ts'
import { openAiEditor, openAiShell } from '../../src/adapters/openai-agents/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'

class FileNotFoundError extends Error {}

const workspace = await createWorkspace({
  backend: memory({ 'n.txt': 'one\ntwo\n', 'd/x.txt': 'x' }),
  policy: { preset: 'autonomous', limits: { callsPerMinute: 100_000 } },
})
const path = 'n.txt'
const line = { command: 'ls' }
const operation = { path, diff: '+x' }

/** The arguments of each method before its options, its options, and wrong ones. `undefined`: it has none. */
type Uses = Readonly<
  Record<string, undefined | readonly [before: readonly unknown[], options: object, ...wrong: readonly object[]]>
>

const noOptions = (...names: readonly string[]): Uses => Object.fromEntries(names.map((name) => [name, undefined]))

const subjects: readonly (readonly [name: string, object: object, uses: Uses])[] = [
  [
    'aiSdkSandbox',
    aiSdkSandbox(workspace),
    {
      readFile: [[], { path }, {}, { path: 5 }, { path, abortSignal: 1 }],
      readBinaryFile: [[], { path }, {}],
      readTextFile: [
        [],
        { path, startLine: 1, endLine: 1, encoding: 'utf-8' },
        ...[-5, 0, 0.5, '1', null].flatMap((value) => [
          { path, startLine: value },
          { path, endLine: value },
        ]),
        { path, encoding: 5 },
      ],
      writeFile: [[], { path, content: new Blob(['n']).stream() }, { path }, { path, content: 'n' }],
      writeBinaryFile: [[], { path, content: new Uint8Array([1]) }, { path }, { path, content: 'n' }],
      writeTextFile: [[], { path, content: 'n' }, { path }, { path, content: 5 }],
      stat: [[], { path }, {}],
      listDirectory: [[], { path: 'd' }, {}],
      deleteFile: [[], { path: 'none' }, {}],
      run: [[], line, {}, { ...line, stdin: 'x' }, { ...line, timeout: 5 }, { ...line, env: { A: '1' } }],
      spawn: [[], line, {}, { ...line, stdin: 'x' }, { ...line, stdin: true }],
    },
  ],
  [
    'mastraFilesystem',
    mastraFilesystem(workspace, { FileNotFoundError }),
    {
      readFile: [[path], { encoding: 'utf8' }, { encoding: 5 }],
      writeFile: [
        [path, 'n'],
        { recursive: true, overwrite: true, expectedMtime: undefined },
        { overwrite: 'no' },
        { expectedMtime: 5 },
        { mimeType: 'text/plain' },
      ],
      deleteFile: [['none'], { force: true }, { force: 1 }],
      copyFile: [[path, 'm.txt'], { overwrite: true }, { overwrite: 0 }],
      moveFile: [['m.txt', 'k.txt'], { overwrite: true }, { overwrite: 0 }],
      mkdir: [['e'], { recursive: true }, { recursive: 1 }],
      rmdir: [['none'], { recursive: true, force: true }, { recursive: 1 }],
      readdir: [['.'], { recursive: true, extension: ['.txt'], maxDepth: 3 }, { extension: 5 }, { recursive: 1 }],
      grep: [
        [],
        { pattern: 'o', path: '.', caseSensitive: true, includeHidden: false, maxCountPerFile: 1, contextLines: 0 },
        { pattern: 'o' },
        { pattern: 'o', path: '.', maxCountPerFile: 0 },
      ],
      ...noOptions('getInstructions', 'appendFile', 'exists', 'stat'),
    },
  ],
  [
    'mastraSandbox',
    mastraSandbox(workspace),
    {
      executeCommand: [
        ['ls', []],
        { timeout: 5000, cwd: '/workspace', env: {} },
        { timeout: '5' },
        { timeout: -1 },
        { cwd: 5 },
        { onStdout: 1 },
        { stdin: 'x' },
      ],
      ...noOptions('snapshot', 'getInstructions'),
    },
  ],
  [
    'justBashFs',
    justBashFs(workspace),
    {
      readFile: [['/n.txt'], { encoding: 'utf8' }, { encoding: 5 }],
      writeFile: [['/n.txt', 'n'], { encoding: null }, { mode: 5 }],
      appendFile: [['/n.txt', 'n'], { encoding: 'utf8' }, { flag: 'w' }],
      mkdir: [['/f'], { recursive: true }, { recursive: 1 }],
      rm: [['/none'], { force: true, recursive: true }, { force: 1 }],
      cp: [['/d', '/g'], { recursive: true }, { recursive: 1 }, { force: true }],
      ...noOptions('readFileBuffer', 'exists', 'stat', 'lstat', 'readdir', 'readdirWithFileTypes', 'mv', 'resolvePath'),
      ...noOptions('getAllPaths', 'chmod', 'symlink', 'link', 'readlink', 'realpath', 'utimes'),
    },
  ],
  [
    'openAiEditor',
    openAiEditor(workspace),
    {
      createFile: [[], { ...operation, path: 'new.txt', type: 'create_file' }, { path }, { ...operation, diff: 5 }],
      updateFile: [[], { path, diff: '@@\n n' }, { path }, { ...operation, moveTo: 5 }],
      deleteFile: [[], { path: 'none' }, {}, { path: 5 }],
    },
  ],
  [
    'openAiShell',
    openAiShell(workspace),
    {
      run: [
        [],
        { commands: [], timeoutMs: 5, maxOutputLength: 5 },
        {},
        { commands: 'ls' },
        { commands: [], timeoutMs: '5' },
      ],
    },
  ],
  // These take no options: what they take is checked below, or by the tools of the workspace.
  [
    'deepagentsBackend',
    deepagentsBackend(workspace),
    noOptions('ls', 'read', 'readRaw', 'write', 'edit', 'delete', 'glob', 'grep', 'uploadFiles', 'downloadFiles'),
  ],
  ['bashToolSandbox', bashToolSandbox(workspace), noOptions('executeCommand', 'readFile', 'writeFiles')],
  ['langchainFileStore', { ...langchainFileStore(workspace) }, noOptions('readFile', 'writeFile')],
]

describe.each(subjects)('%s()', (_, object, uses) => {
  const call = async (name: string, args: readonly unknown[]) => Reflect.get(object, name)(...args)

  it('has a row here for each method', () => {
    const methods = Object.entries(object).filter(
      ([name, value]) => typeof value === 'function' && !/^lc_|^_/.test(name),
    )
    expect(methods.map(([name]) => name).sort()).toEqual(Object.keys(uses).sort())
  })

  it('refuses unknown options and wrong values, and takes the right ones', async () => {
    for (const [name, use] of Object.entries(uses)) {
      if (use === undefined) continue
      const [before, options, ...wrong] = use
      for (const given of [{ ...options, unknwon: 1 }, ...wrong]) {
        await expect(call(name, [...before, given]), `${name} ${JSON.stringify(given)}`).rejects.toThrow(TypeError)
      }
      await expect(call(name, [...before, { ...options, unknwon: 1 }])).rejects.toThrow(`"unknwon" of `)
      await call(name, [...before, options])
    }
  })
})

describe('arguments of methods without options', () => {
  it('are refused as results where the framework gets results', async () => {
    const backend = deepagentsBackend(workspace)
    for (const [offset, limit] of [[-1], [0.5], ['1'], [0, -1], [0, 1.5]] as [number, number?][]) {
      expect(await backend.read('/d/x.txt', offset, limit), String([offset, limit])).toEqual({
        error: expect.stringContaining('INVALID_INPUT'),
      })
    }
    expect(await backend.grep('x', '/', null, -1)).toEqual({ error: expect.stringContaining('INVALID_INPUT') })
    expect(await backend.grep('x', '/', null, null)).toMatchObject({ truncated: false })
    expect(await backend.edit('/d/x.txt', 'x', 'y', 'yes' as never)).toEqual({
      error: expect.stringContaining('INVALID_INPUT'),
    })
    const sandbox = bashToolSandbox(workspace)
    for (const files of [[{ path }], [{ path, content: 5 }], [{ path, content: 'n', mode: 1 }], 'n']) {
      await expect(sandbox.writeFiles(files as never), JSON.stringify(files)).rejects.toThrow(TypeError)
    }
    // An encoding may stand in the place of the options.
    expect(await justBashFs(workspace).readFile('/d/x.txt', 'hex')).toBe('78')
  })
})
