import type { ScriptedCall } from './model-server.ts'
import type { Row } from './rows.ts'

/** A framework whose own tools work on a workspace, with the versions that are tested. */
export interface DoorRow extends Omit<Row, 'kind' | 'present'> {
  /** What the model calls: tools of the framework. `write` changes `n.txt` to 42, and asks; `run` shows the file. */
  readonly calls: Readonly<Record<'read' | 'refuse' | 'write', ScriptedCall>> & {
    readonly list?: ScriptedCall
    readonly run?: ScriptedCall
  }
  /** What the framework gets for the refused call. Default: the code of the refusal. */
  readonly refused?: RegExp
  /** Lines after those of the page that change `n.txt` again, with `stop.signal`, which aborts when the call asks. */
  readonly cancel: string
}

const shellCall = (command: string): ScriptedCall => ({
  ...{ name: 'shell', native: 'shell_call' },
  input: { action: { commands: [command], timeout_ms: null, max_output_length: null } },
})
const patchCall = (operation: object): ScriptedCall => ({
  ...{ name: 'apply_patch', native: 'apply_patch_call', input: { operation } },
})
const bashCall = (command: string): ScriptedCall => ({ name: 'bash', input: { command } })

/** The frameworks of `docs/guide/sandboxes.md`. */
export const doorRows: readonly DoorRow[] = [
  {
    name: 'deepagents',
    block: 'deepagents',
    packages: {
      deepagents: '1.14.1',
      langchain: '1.5.14',
      '@langchain/core': '1.4.0',
      '@langchain/anthropic': '1.5.11',
    },
    runsInNode20: true,
    calls: {
      list: { name: 'ls', input: { path: '/' } },
      read: { name: 'read_file', input: { file_path: '/n.txt' } },
      refuse: { name: 'read_file', input: { file_path: '/.env' } },
      write: { name: 'edit_file', input: { file_path: '/n.txt', old_string: '41', new_string: '42' } },
      run: { name: 'execute', input: { command: 'cat n.txt' } },
    },
    cancel: `
      const backend = deepagentsSandbox(workspace, { signal: stop.signal })
      const other = createDeepAgent({ model: 'anthropic:claude-sonnet-5-5', backend })
      await other.invoke({ messages: [{ role: 'user', content: 'Again.' }] })`,
  },
  {
    name: 'AI SDK 7',
    block: 'ai-sdk-7',
    packages: { ai: '7.0.173', '@ai-sdk/anthropic': '4.0.105', zod: '4.6.7' },
    runsInNode20: false,
    calls: {
      list: { name: 'list', input: { path: '.' } },
      read: { name: 'read', input: { path: 'n.txt' } },
      refuse: { name: 'read', input: { path: '.env' } },
      write: { name: 'write', input: { path: '/workspace/n.txt', content: '42\n' } },
      run: { name: 'run', input: { command: 'cat n.txt' } },
    },
    cancel: `
      const model = anthropic('claude-sonnet-5-5')
      const sandbox = aiSdkSandbox(workspace)
      await generateText({
        model, tools, experimental_sandbox: sandbox, stopWhen: stepCountIs(20), prompt: 'Again.', abortSignal: stop.signal,
      })`,
  },
  {
    name: 'Mastra',
    block: 'mastra',
    packages: { '@mastra/core': '1.71.0' },
    runsInNode20: false,
    calls: {
      list: { name: 'mastra_workspace_list_files', input: { path: '.' } },
      read: { name: 'mastra_workspace_read_file', input: { path: 'n.txt' } },
      refuse: { name: 'mastra_workspace_read_file', input: { path: '.env' } },
      write: { name: 'mastra_workspace_edit_file', input: { path: 'n.txt', old_string: '41', new_string: '42' } },
      run: { name: 'mastra_workspace_execute_command', input: { command: 'cat n.txt' } },
    },
    cancel: `
      const filesystem = mastraFilesystem(workspace, { FileNotFoundError, signal: stop.signal })
      const other = new Agent({
        ...{ id: 'other', name: 'Other', instructions: 'Edit files.', model: 'anthropic/claude-sonnet-5-5' },
        workspace: new Workspace({ filesystem }),
      })
      await other.generate('Again.', { maxSteps: 20 })`,
  },
  {
    name: 'OpenAI Agents',
    block: 'openai-agents',
    packages: { '@openai/agents': '0.20.0' },
    runsInNode20: false,
    calls: {
      list: shellCall('ls'),
      read: shellCall('cat n.txt'),
      refuse: patchCall({ type: 'create_file', path: '.env', diff: '+A=1' }),
      write: patchCall({ type: 'update_file', path: 'n.txt', diff: '@@\n-41\n+42' }),
      run: shellCall('cat n.txt'),
    },
    cancel: `
      const editor = openAiEditor(workspace, { signal: stop.signal })
      const shell = openAiShell(workspace, { signal: stop.signal })
      const other = new Agent({ name: 'Other', model: 'gpt-5', tools: [applyPatchTool({ editor }), shellTool({ shell })] })
      await run(other, 'Again.', { maxTurns: 20 })`,
  },
  {
    name: 'LangChain',
    block: 'langchain-files',
    packages: {
      ...{ langchain: '1.5.14', '@langchain/core': '1.4.0', '@langchain/classic': '1.0.50' },
      '@langchain/anthropic': '1.5.11',
    },
    runsInNode20: true,
    calls: {
      read: { name: 'read_file', input: { file_path: 'n.txt' } },
      refuse: { name: 'read_file', input: { file_path: '/.env' } },
      write: { name: 'write_file', input: { file_path: 'n.txt', text: '42\n' } },
    },
    cancel: `
      const store2 = langchainFileStore(workspace, { signal: stop.signal })
      const tools = [new ReadFileTool({ store: store2 }), new WriteFileTool({ store: store2 })]
      const other = createAgent({ model: 'anthropic:claude-sonnet-5-5', tools })
      await other.invoke({ messages: [{ role: 'user', content: 'Again.' }] })`,
  },
  {
    name: 'bash-tool',
    block: 'bash-tool',
    packages: { 'bash-tool': '1.3.19', ai: '6.0.326', '@ai-sdk/anthropic': '3.0.138' },
    runsInNode20: true,
    calls: {
      list: bashCall('ls'),
      read: { name: 'readFile', input: { path: 'n.txt' } },
      refuse: { name: 'readFile', input: { path: '.env' } },
      write: { name: 'writeFile', input: { path: 'n.txt', content: '42\n' } },
      run: bashCall('cat n.txt'),
    },
    cancel: `
      const sandbox = bashToolSandbox(workspace, { signal: stop.signal })
      const other = await createBashTool({ sandbox, promptOptions: { toolPrompt: '' } })
      const model = anthropic('claude-sonnet-5-5')
      await generateText({ model, tools: other.tools, stopWhen: stepCountIs(20), prompt: 'Again.' })`,
  },
  {
    name: 'just-bash',
    block: 'just-bash',
    packages: { 'just-bash': '3.4.2', 'bash-tool': '1.3.19', ai: '6.0.326', '@ai-sdk/anthropic': '3.0.138' },
    runsInNode20: true,
    calls: {
      list: bashCall('ls'),
      read: bashCall('cat n.txt'),
      refuse: bashCall('cp .env copy'),
      write: bashCall('echo 42 > n.txt'),
      run: bashCall('grep 42 n.txt'),
    },
    refused: /EACCES: permission denied/,
    cancel: `
      const filesystem = justBashFs(workspace, { signal: stop.signal })
      const mounted = new MountableFs({ mounts: [{ mountPoint: '/workspace', filesystem }] })
      await new Bash({ fs: mounted, cwd: '/workspace', defenseInDepth: false }).exec('echo 42 > n.txt')`,
  },
]
