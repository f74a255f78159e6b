import { Bash, type IFileSystem, MountableFs } from 'just-bash'
import { type AcpClient, acpClient } from '../../dist/adapters/acp/index.js'
import { aiSdkSandbox } from '../../dist/adapters/ai-sdk/index.js'
import { deepagentsBackend, deepagentsSandbox } from '../../dist/adapters/deepagents/index.js'
import { bashToolSandbox, justBashFs } from '../../dist/adapters/just-bash/index.js'
import { langchainFileStore } from '../../dist/adapters/langchain/index.js'
import { mastraFilesystem, mastraSandbox } from '../../dist/adapters/mastra/index.js'
import { openAiEditor, openAiShell } from '../../dist/adapters/openai-agents/index.js'
import type { ApproveHandler, Workspace } from '../../dist/index.js'
import { PLAN, WORD } from '../policy/ways/tree.ts'
import type {
  AiSdkProtocol,
  BashToolProtocol,
  DeepagentsProtocol,
  LangChainFileStoreProtocol,
  MastraFilesystemProtocol,
  MastraSandboxProtocol,
  OpenAiEditorProtocol,
  OpenAiShellProtocol,
} from './protocols.ts'

/** A target of the functions, with the options that all of them take. */
type Target = Pick<Workspace, 'files' | 'callTool' | 'explainTool'>
export interface DoorOptions {
  readonly signal?: AbortSignal
  readonly approve?: ApproveHandler
}

/** A target for the names of the uses. */
export const unused = { files: {}, callTool: async () => ({}) } as unknown as Target

/** What each framework can do, in the same words. An operation rejects, or resolves to what the framework gets. */
export interface DoorOperations {
  list?(path: string): Promise<unknown>
  read?(path: string): Promise<unknown>
  /** Replaces a file of one line, or creates it. */
  write(path: string, text: string): Promise<unknown>
  run?(line: string): Promise<unknown>
  /** The object that the framework gets. Each of its methods is in `changes` or in `views`, or does not touch files. */
  readonly object: object
  readonly touchesNoFiles?: readonly string[]
  /** Uses that change something below `docs` of the tree of the ways. The first word is the method. */
  readonly changes: Readonly<Record<string, () => Promise<unknown>>>
  /** Uses that show something below `private`, after a comma what shows it, if it is not the word in the files. */
  readonly views: Readonly<Record<string, () => Promise<unknown>>>
}

/** A function that opens a workspace for a framework. */
export interface Door {
  /** The name of the function. */
  readonly name: string
  /** The page that describes it, if it is not that of the frameworks. */
  readonly page?: string
  open(target: Target, options?: DoorOptions): DoorOperations
}

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (content: Uint8Array | null | undefined) => new TextDecoder().decode(content ?? undefined)

function deepagents(backend: DeepagentsProtocol): DoorOperations {
  return {
    object: backend,
    list: async (path) => backend.ls(path),
    read: async (path) => backend.read(path),
    write: async (path, content) => backend.write(path, content),
    changes: {
      'write of a new file': async () => backend.write('/docs/new.md', 'n'),
      'write over a file': async () => backend.write('/docs/a.md', 'n'),
      edit: async () => backend.edit('/docs/a.md', 'one', '1'),
      'delete of a file': async () => backend.delete('/docs/a.md'),
      'delete of a directory': async () => backend.delete('/docs/b'),
      uploadFiles: async () => backend.uploadFiles([['/docs/new.md', bytes('n')]]),
    },
    views: {
      read: async () => backend.read(`/${PLAN}`),
      readRaw: async () => backend.readRaw(`/${PLAN}`),
      'ls, deep.md': async () => backend.ls('/private/d'),
      'glob, deep.md': async () => backend.glob('**/*.md'),
      'glob of an absolute pattern, deep.md': async () => backend.glob('/private/**/*.md'),
      grep: async () => backend.grep(WORD),
      'grep with a glob': async () => backend.grep(WORD, '/private', '*.md'),
      downloadFiles: async () => text((await backend.downloadFiles([`/${PLAN}`]))[0]?.content),
      'edit that fails': async () => backend.edit(`/${PLAN}`, 'the word is zanzibaR', 'x'),
    },
  }
}

function aiSdk(sandbox: AiSdkProtocol): DoorOperations {
  const path = 'docs/a.md'
  const stream = () => new Blob(['n']).stream() as ReadableStream<Uint8Array>
  return {
    object: sandbox,
    list: async (path) => sandbox.listDirectory({ path }),
    read: async (path) => sandbox.readTextFile({ path }),
    write: async (path, content) => sandbox.writeTextFile({ path, content }),
    run: async (command) => sandbox.run({ command }),
    changes: {
      writeFile: async () => sandbox.writeFile({ path, content: stream() }),
      writeBinaryFile: async () => sandbox.writeBinaryFile({ path, content: bytes('n') }),
      writeTextFile: async () => sandbox.writeTextFile({ path: 'docs/n/new.md', content: 'n' }),
      'writeTextFile of an absolute path': async () =>
        sandbox.writeTextFile({ path: '/workspace/docs/a.md', content: 'n' }),
      deleteFile: async () => sandbox.deleteFile({ path }),
      run: async () => sandbox.run({ command: 'rm docs/a.md' }),
      'run elsewhere': async () => sandbox.run({ command: 'rm a.md', workingDirectory: '/workspace/docs' }),
      spawn: async () => (await sandbox.spawn({ command: 'rm docs/a.md' })).wait(),
    },
    views: {
      readFile: async () => new Response(await sandbox.readFile({ path: PLAN })).text(),
      readBinaryFile: async () => text(await sandbox.readBinaryFile({ path: PLAN })),
      readTextFile: async () => sandbox.readTextFile({ path: PLAN, startLine: 1, endLine: 1 }),
      'stat, size': async () => sandbox.stat({ path: 'private/d/deep.md' }),
      'listDirectory, deep.md': async () => sandbox.listDirectory({ path: 'private/d' }),
      run: async () => sandbox.run({ command: `cat ${PLAN}` }),
      spawn: async () => new Response((await sandbox.spawn({ command: `cat ${PLAN}` })).stdout).text(),
    },
  }
}

function editor(editor: OpenAiEditorProtocol, { files }: Target): DoorOperations {
  const type = { create: 'create_file', update: 'update_file', delete: 'delete_file' } as const
  const update = async (path: string, diff: string, moveTo?: string) =>
    editor.updateFile({ type: type.update, path, diff, moveTo })
  return {
    object: editor,
    write: async (path, content) =>
      path === 'n.txt'
        ? update(path, `@@\n-41\n+${content.trim()}`)
        : editor.createFile({ type: type.create, path, diff: `+${content}` }),
    changes: {
      createFile: async () => editor.createFile({ type: type.create, path: 'docs/new.md', diff: '+n' }),
      updateFile: async () => update('/workspace/docs/a.md', '@@\n-one\n+1\n two'),
      'updateFile that moves away': async () => update('docs/a.md', '@@\n-one\n+1', 'src/a.md'),
      'updateFile that moves there': async () => update('src/x.md', '@@\n-x\n+y', 'docs/x.md'),
      deleteFile: async () => editor.deleteFile({ type: type.delete, path: 'docs/a.md' }),
    },
    views: {
      'updateFile that moves the file': async () => [
        await update(PLAN, '@@\n-the word is zanzibar\n+the word is  zanzibar', 'src/p.md'),
        await files.readText('src/p.md'),
      ],
    },
  }
}

class FileNotFoundError extends Error {}

function mastra(filesystem: MastraFilesystemProtocol): DoorOperations {
  return {
    object: filesystem,
    touchesNoFiles: ['getInstructions'],
    list: async (path) => filesystem.readdir(path),
    read: async (path) => filesystem.readFile(path, { encoding: 'utf8' }),
    write: async (path, content) => filesystem.writeFile(path, content),
    changes: {
      writeFile: async () => filesystem.writeFile('/docs/new.md', 'n'),
      'writeFile over a file': async () => filesystem.writeFile('docs/a.md', bytes('n')),
      appendFile: async () => filesystem.appendFile('docs/a.md', 'n'),
      deleteFile: async () => filesystem.deleteFile('docs/a.md'),
      copyFile: async () => filesystem.copyFile('src/x.md', 'docs/x.md'),
      'moveFile away': async () => filesystem.moveFile('docs/a.md', 'src/a.md'),
      'moveFile onto': async () => filesystem.moveFile('src/x.md', 'docs/a.md'),
      mkdir: async () => filesystem.mkdir('docs/n'),
      rmdir: async () => filesystem.rmdir('docs', { recursive: true }),
    },
    views: {
      readFile: async () => filesystem.readFile(PLAN, { encoding: 'utf8' }),
      'readFile of bytes': async () => text((await filesystem.readFile(`/${PLAN}`)) as Uint8Array),
      'readdir, deep.md': async () => filesystem.readdir('private/d'),
      'readdir of everything, deep.md': async () => filesystem.readdir('.', { recursive: true }),
      grep: async () =>
        filesystem.grep({ pattern: 'zanz[i]bar', path: '.', caseSensitive: true, includeHidden: false }),
      'exists, true': async () => filesystem.exists('private/d/deep.md'),
      'stat, size': async () => filesystem.stat('private/d/deep.md'),
      copyFile: async () => {
        await filesystem.copyFile(PLAN, 'src/p.md')
        return filesystem.readFile('src/p.md', { encoding: 'utf8' })
      },
    },
  }
}

function justBash(filesystem: IFileSystem): DoorOperations {
  const fs = new MountableFs({ mounts: [{ mountPoint: '/workspace', filesystem }] })
  const bash = new Bash({ fs, cwd: '/workspace', defenseInDepth: false })
  return {
    object: filesystem,
    touchesNoFiles: ['resolvePath', 'getAllPaths', 'link', 'utimes'],
    list: async (path) => filesystem.readdir(path),
    read: async (path) => filesystem.readFile(path),
    write: async (path, content) => filesystem.writeFile(path, content),
    changes: {
      writeFile: async () => filesystem.writeFile('/docs/new.md', 'n'),
      appendFile: async () => filesystem.appendFile('/docs/a.md', bytes('n')),
      mkdir: async () => filesystem.mkdir('/docs/n/m', { recursive: true }),
      rm: async () => filesystem.rm('/docs/a.md'),
      'rm of a directory': async () => filesystem.rm('/docs', { recursive: true, force: true }),
      cp: async () => filesystem.cp('/src/x.md', '/docs/x.md'),
      'mv away': async () => filesystem.mv('/docs/a.md', '/src/a.md'),
      'mv onto': async () => filesystem.mv('/src/x.md', '/docs/a.md'),
      symlink: async () => filesystem.symlink('a.md', '/docs/l'),
      chmod: async () => filesystem.chmod('/docs/a.md', 0o700),
      'exec of rm': async () => bash.exec('rm docs/a.md'),
      'exec of mv': async () => bash.exec('mv docs/a.md src/'),
      'exec of sed': async () => bash.exec("sed -i 's/one/1/' docs/a.md"),
    },
    views: {
      readFile: async () => filesystem.readFile(`/${PLAN}`),
      readFileBuffer: async () => text(await filesystem.readFileBuffer(`/${PLAN}`)),
      'exists, true': async () => filesystem.exists('/private/d/deep.md'),
      'stat, size': async () => filesystem.stat('/private/d/deep.md'),
      'lstat, size': async () => filesystem.lstat('/private/d/deep.md'),
      'readdir, deep.md': async () => filesystem.readdir('/private/d'),
      'readdirWithFileTypes, deep.md': async () => filesystem.readdirWithFileTypes?.('/private/d'),
      'realpath, answer': async () => filesystem.realpath('/private/d/deep.md'),
      readlink: async () => {
        await filesystem.symlink('../private/plan.md', '/src/l')
        return [await filesystem.readlink('/src/l'), await filesystem.readFile('/src/l')]
      },
      'exec of cat': async () => bash.exec(`cat ${PLAN}`),
      'exec of grep': async () => bash.exec(`grep -rh ${WORD.slice(0, 4)} .`),
      'exec of ls, deep.md': async () => bash.exec('ls -R .'),
    },
  }
}

function bashTool(sandbox: BashToolProtocol): DoorOperations {
  return {
    object: sandbox,
    list: (path) => sandbox.executeCommand(`ls ${path}`),
    read: (path) => sandbox.readFile(path),
    write: (path, content) => sandbox.writeFiles([{ path, content }]),
    run: (line) => sandbox.executeCommand(line),
    changes: {
      writeFiles: async () => sandbox.writeFiles([{ path: '/workspace/docs/new.md', content: 'n' }]),
      'writeFiles of several': async () =>
        sandbox.writeFiles([
          { path: 'src/n.md', content: 'n' },
          { path: '/workspace/docs/a.md', content: Buffer.from('n') },
        ]),
      executeCommand: async () => sandbox.executeCommand('cd "/workspace" && rm docs/a.md'),
    },
    views: {
      readFile: async () => sandbox.readFile(`/workspace/${PLAN}`),
      executeCommand: async () => sandbox.executeCommand(`cat ${PLAN}`),
    },
  }
}

function commands(object: object, method: string, run: (line: string) => Promise<unknown>): DoorOperations {
  return {
    object,
    touchesNoFiles: ['snapshot', 'getInstructions'],
    list: (path) => run(`ls ${path}`),
    read: (path) => run(`cat ${path}`),
    write: (path, content) => run(`echo ${content.trim()} > ${path}`),
    run,
    changes: { [method]: () => run('rm docs/a.md') },
    views: { [method]: () => run(`cat ${PLAN}`) },
  }
}

function langchain(store: LangChainFileStoreProtocol): DoorOperations {
  return {
    object: store,
    read: (path) => store.readFile(path),
    write: (path, content) => store.writeFile(path, content),
    changes: {
      'writeFile of a new file': () => store.writeFile('docs/n/new.md', 'n'),
      'writeFile over a file': () => store.writeFile('/docs/a.md', 'n'),
    },
    views: {
      readFile: () => store.readFile(PLAN),
      'readFile of an absolute path': () => store.readFile(`/${PLAN}`),
    },
  }
}

function acp(client: AcpClient): DoorOperations {
  const sessionId = 's'
  const path = '/workspace/docs/a.md'
  const inRoot = (path: string) => (path === '../n.txt' ? path : `/workspace/${path}`)
  const run = async (command: string, more: object = {}) => {
    const terminal = await client.answer('terminal/create', { sessionId, command, ...more })
    const ended = await client.answer('terminal/wait_for_exit', { sessionId, ...terminal })
    const { output } = await client.answer('terminal/output', { sessionId, ...terminal })
    await client.answer('terminal/release', { sessionId, ...terminal })
    return { output, ...ended }
  }
  const write = (path: string, content: string) =>
    client.answer('fs/write_text_file', { sessionId, path: inRoot(path), content })
  const read = (path: string, more: object = {}) =>
    client.answer('fs/read_text_file', { sessionId, path: inRoot(path), ...more })
  return {
    object: client,
    touchesNoFiles: ['capabilities', 'addTo', 'close'],
    read,
    write,
    run,
    changes: {
      'answer to fs/write_text_file': () => write('docs/a.md', 'n'),
      'answer to fs/write_text_file of a new file': () => write('docs/n/new.md', 'n'),
      'answer to terminal/create': () => run('rm docs/a.md'),
      'answer to terminal/create with arguments': () => run('rm', { args: [path] }),
      'answer to terminal/create elsewhere': () =>
        run('bash', { args: ['-c', 'rm a.md'], cwd: '/workspace/docs', env: [{ name: 'A', value: "it's" }] }),
    },
    views: {
      'answer to fs/read_text_file': () => read(PLAN),
      'answer to fs/read_text_file from a line on': () => read(PLAN, { line: 1, limit: 1 }),
      'answer to terminal/create': () => run(`cat ${PLAN}`),
    },
  }
}

/** The functions of `docs/guide/sandboxes.md` and of the pages that they name. */
export const doors: readonly Door[] = [
  { name: 'deepagentsBackend', open: (target, options) => deepagents(deepagentsBackend(target, options)) },
  {
    name: 'deepagentsSandbox',
    open(target, options) {
      const sandbox = deepagentsSandbox(target, options)
      const { object, changes, views, ...operations } = deepagents(sandbox)
      return {
        ...operations,
        object: sandbox,
        run: (line) => sandbox.execute(line),
        changes: {
          'write below the root of commands': () => sandbox.write('/workspace/docs/a.md', 'n'),
          execute: () => sandbox.execute('rm docs/a.md'),
        },
        views: {
          'read below the root of commands': () => sandbox.read(`/workspace/${PLAN}`),
          execute: () => sandbox.execute(`cat ${PLAN}`),
        },
      }
    },
  },
  { name: 'aiSdkSandbox', open: (target, options) => aiSdk(aiSdkSandbox(target, options)) },
  { name: 'openAiEditor', open: (target, options) => editor(openAiEditor(target, options), target) },
  {
    name: 'openAiShell',
    open(target, options) {
      const shell: OpenAiShellProtocol = openAiShell(target, options)
      return commands(shell, 'run', (line) => shell.run({ commands: [line] }))
    },
  },
  {
    name: 'mastraFilesystem',
    open: (target, options) => mastra(mastraFilesystem(target, { ...options, FileNotFoundError })),
  },
  {
    name: 'mastraSandbox',
    open(target, options) {
      const sandbox: MastraSandboxProtocol = mastraSandbox(target, options)
      return commands(sandbox, 'executeCommand', (line) => sandbox.executeCommand(line))
    },
  },
  { name: 'langchainFileStore', open: (target, options) => langchain(langchainFileStore(target, options)) },
  { name: 'justBashFs', open: (target, options) => justBash(justBashFs(target, options)) },
  { name: 'acpClient', page: 'acp.md', open: (target, options) => acp(acpClient(target, options)) },
  { name: 'bashToolSandbox', open: (target, options) => bashTool(bashToolSandbox(target, options)) },
]
