import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'

import { generateText, stepCountIs } from 'ai'
import Database from 'libsql'
import { Volume } from 'memfs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { acpClient } from '../src/adapters/acp/index.ts'
import { aiSdkSandbox, aiSdkTools } from '../src/adapters/ai-sdk/index.ts'
import { deepagentsBackend, deepagentsSandbox } from '../src/adapters/deepagents/index.ts'
import {
  anthropicTools,
  geminiTools,
  llamaIndexTools,
  modelTools,
  nativeTools,
  openAiChatTools,
  openAiTools,
  toJsonSchema,
  toModelText,
} from '../src/adapters/json-schema/index.ts'
import { bashToolSandbox, justBashFs } from '../src/adapters/just-bash/index.ts'
import { langchainFileStore, langchainTools } from '../src/adapters/langchain/index.ts'
import { mastraFilesystem, mastraSandbox, mastraTools } from '../src/adapters/mastra/index.ts'
import { createMcpServer } from '../src/adapters/mcp/index.ts'
import { mcpHandler } from '../src/adapters/mcp-http/index.ts'
import { placeClientRoots } from '../src/adapters/mcp-roots/index.ts'
import { openAiEditor, openAiShell } from '../src/adapters/openai-agents/index.ts'
import { hasWebTools, registerWebTools } from '../src/adapters/webmcp/index.ts'
import { reportMarkdown } from '../src/audit/report-text.ts'
import { callbackSink, memorySink } from '../src/audit/sinks.ts'
import { spanSink } from '../src/audit/span-sink.ts'
import { durableObject } from '../src/backends/durable-object/index.ts'
import { indexedDb } from '../src/backends/indexeddb/index.ts'
import { github, httpIndex, lazy, zip } from '../src/backends/lazy/index.ts'
import { memfs } from '../src/backends/memfs/index.ts'
import { memory } from '../src/backends/memory/index.ts'
import { nodeBackend } from '../src/backends/node/index.ts'
import { objectStore, r2 } from '../src/backends/object-store/index.ts'
import { overlay } from '../src/backends/overlay/index.ts'
import { postgres, sqlDatabase, sqlite } from '../src/backends/sql/index.ts'
import { anthropic } from '../src/dialects/anthropic/index.ts'
import { codex } from '../src/dialects/codex/index.ts'
import { deepagents } from '../src/dialects/deepagents/index.ts'
import { createPathMapping, defineDialectTool } from '../src/dialects/define.ts'
import { fileReadWrite } from '../src/dialects/file-read-write/index.ts'
import { gemini } from '../src/dialects/gemini/index.ts'
import { mastra } from '../src/dialects/mastra/index.ts'
import { mcpFilesystem } from '../src/dialects/mcp-filesystem/index.ts'
import { namedRoots } from '../src/dialects/named-roots/index.ts'
import { patchAndDiff } from '../src/dialects/patch-and-diff/index.ts'
import { pythonHarness } from '../src/dialects/python-harness/index.ts'
import { snakeCase } from '../src/dialects/snake-case/index.ts'
import { redact } from '../src/files/secrets/index.ts'
import { git } from '../src/git/index.ts'
import { createWorkspace, mounts, type Path, readOnly } from '../src/index.ts'
import { diffLines, unifiedDiff } from '../src/patch/diff.ts'
import { mergeLines } from '../src/patch/merge-lines.ts'
import { planPatch } from '../src/patch/plan.ts'
import { quoteName } from '../src/patch/quoted-name.ts'
import { compileGlob } from '../src/paths/glob.ts'
import { directoryParking } from '../src/policy/directory-parking.ts'
import { lintPolicy } from '../src/policy/lint.ts'
import { compilePolicy } from '../src/policy/policy.ts'
import { findMatches } from '../src/search/matches.ts'
import { compileQuery } from '../src/search/query.ts'
import { analyzeCommand } from '../src/shells/analysis/index.ts'
import { bash } from '../src/shells/bash/index.ts'
import { type NodeShellOptions, nodeShell } from '../src/shells/node/index.ts'
import { webcontainer } from '../src/shells/webcontainer/index.ts'
import { recordFixture } from '../src/testing/fixtures.ts'
import { backendContract, faulty, shellContract, testClock, testWorkspace } from '../src/testing/index.ts'
import { call, scriptedModel } from '../src/testing/scripted-model.ts'
import { matchers } from '../src/testing/vitest.ts'
import * as ui from '../src/ui/index.ts'
import { execWorkspace, joinTools } from '../src/workspace/exec-workspace.ts'
import { parseRecording, replay } from '../src/workspace/replay.ts'
import { isLong } from './counts.ts'

const top = join(import.meta.dirname, '..')
let temporary = ''

/** A bucket with the methods of the binding, of which creating a backend calls none. */
const BUCKET = { get() {}, put() {}, delete() {}, list() {} }

/** The variables that examples in docstrings can use. */
async function setup(): Promise<Record<string, unknown>> {
  const files = memory({ 'src/app.ts': 'export const answer = 41\n' })
  const directory = mkdtempSync(join(temporary, 'docs-'))
  return {
    ...{ compileGlob, compilePolicy, compileQuery, createMcpServer, createWorkspace, diffLines, findMatches },
    ...{ callbackSink, lintPolicy, mergeLines, ...ui },
    ...{
      backendContract,
      shellContract,
      ...{ expect, faulty, matchers, testClock, testWorkspace, files: { 'src/app.ts': 'export const answer = 41\n' } },
      // Without `record`, it would not record if the environment variable `CI` is set.
      recordFixture: (file: string, ...more: unknown[]) =>
        recordFixture(join(directory, file), ...(more as [never, never]), { record: 'missing' }),
      ...{ github, httpIndex, lazy, zip },
      memfs,
      memory,
      memorySink,
      spanSink,
      aiSdkTools,
      bash,
      call,
      generateText,
      stepCountIs,
      createPathMapping,
      defineDialectTool,
      anthropic,
      codex,
      deepagents,
      ...{ execWorkspace, joinTools },
      gemini,
      mastra,
      mcpFilesystem,
      pythonHarness,
      ...{ fileReadWrite, namedRoots, patchAndDiff, snakeCase },
      z,
      scriptedModel,
      model: scriptedModel(function* () {
        return (yield* call('Let me look.', 'read_file', { path: 'src/app.ts' })).ok ? 'Done.' : 'I may not.'
      }),
      webcontainer,
      git,
      analyzeCommand,
      mcpHandler,
      ...{ placeClientRoots, pathToFileURL, readOnly },
      mounts,
      overlay,
      parseRecording,
      planPatch,
      quoteName,
      redact,
      replay,
      reportMarkdown,
      ...{ anthropicTools, nativeTools, geminiTools, openAiChatTools, openAiTools, modelTools, toModelText },
      ...{ acpClient, aiSdkSandbox, bashToolSandbox, deepagentsBackend, deepagentsSandbox, justBashFs },
      ...{ mastraFilesystem, mastraSandbox, openAiEditor, openAiShell },
      ...{ langchainFileStore, langchainTools, llamaIndexTools, mastraTools, hasWebTools, registerWebTools },
      toJsonSchema,
      unifiedDiff,
      Volume,
    },
    ...{ durableObject, objectStore, r2, env: { BUCKET }, DurableObject: class {} },
    ...{ indexedDb, sqlDatabase, sqlite, postgres, DatabaseSync: MemoryDatabase, PGlite },
    nodeBackend: () => nodeBackend(directory, { stateDir: `${directory}-state` }),
    nodeShell: (options: NodeShellOptions) =>
      nodeShell({ ...options, root: directory, stateDir: `${directory}-state` }),
    it: (_name: string, run: () => Promise<void>) => run(),
    path: 'x' as Path,
    directory,
    directoryParking: () => directoryParking(`${directory}-waiting`),
    token: `ghp_${'a1B2'.repeat(9)}`,
    workspace: await createWorkspace({ backend: files, policy: 'autonomous' }),
    StdioServerTransport: InMemoryTransport,
  }
}

interface Example {
  readonly name: string
  readonly code: string
}

/** Stands for `DatabaseSync`, which Node has from version 22. */
class MemoryDatabase extends Database {
  constructor() {
    super(':memory:')
  }
}

/** The `@example` blocks in `src/`. */
function docstringExamples(): Example[] {
  const src = join(top, 'src')
  return readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .flatMap((entry) => {
      const file = join(entry.parentPath, entry.name)
      const name = relative(src, file)
      const examples = [...readFileSync(file, 'utf8').matchAll(/@example\n((?:\s*\*(?!\/)(?! @).*\n)+)/g)]
      return examples.map(([, block = ''], index) => ({ name: `${name} ${index + 1}`, code: plain(block) }))
    })
}

function plain(block: string): string {
  return block.replace(/^\s*\* ?/gm, '').replace(/^```(?:ts)?$/gm, '')
}

const importLine = /^import \{ (.+) \} from '(.+)'$/gm

/** The modules of subpaths that export other functions under names of `setup()`. */
const modules: Readonly<Record<string, () => Promise<Readonly<Record<string, unknown>>>>> = {
  'wardspace/checks': () => import('../src/checks/index.ts'),
  'wardspace/core': () => import('../src/workspace/core.ts'),
  'wardspace/tools': () => import('../src/tools/entry.ts'),
}

/** The values that an example imports, by name. */
async function importsOf(code: string): Promise<Readonly<Record<string, unknown>>> {
  const values: Record<string, unknown> = {}
  for (const [, names = '', specifier = ''] of code.matchAll(importLine)) {
    const module = (await modules[specifier]?.()) ?? expect.unreachable(`An example imports ${specifier}`)
    for (const name of names.split(', ')) values[name] = module[name] ?? expect.unreachable(`${specifier}: ${name}`)
  }
  return values
}

describe('the examples in docstrings', () => {
  beforeAll(() => {
    temporary = mkdtempSync(join(tmpdir(), 'wardspace-docs-'))
  })
  afterAll(() => {
    rmSync(temporary, { recursive: true, force: true })
  })

  it('exist', () => {
    expect(docstringExamples().length).toBeGreaterThan(10)
  })

  // PGlite takes seconds to start. In `npm test`, the contract of SQL backends does that once.
  const quick = docstringExamples().filter(({ code }) => isLong || !code.includes('PGlite'))
  it.each(quick)('$name runs', async ({ code }) => {
    const values = { ...(await setup()), ...(await importsOf(code)) }
    const names = Object.entries(values).filter(([name]) => !code.includes(`const ${name} =`))
    const AsyncFunction = (async () => {}).constructor as new (
      ...parts: string[]
    ) => (...values: unknown[]) => Promise<void>
    const body = code.replace(importLine, '')
    await new AsyncFunction(...names.map(([name]) => name), body)(...names.map(([, value]) => value))
  })
})
