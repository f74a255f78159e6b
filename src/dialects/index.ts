import { anthropic } from './anthropic/index.ts'
import { codex } from './codex/index.ts'
import { deepagents } from './deepagents/index.ts'
import { exec } from './exec/index.ts'
import { fileReadWrite } from './file-read-write/index.ts'
import { gemini } from './gemini/index.ts'
import { mastra } from './mastra/index.ts'
import { mcpFilesystem } from './mcp-filesystem/index.ts'
import { namedRoots } from './named-roots/index.ts'
import { patchAndDiff } from './patch-and-diff/index.ts'
import { pythonHarness } from './python-harness/index.ts'
import type { DialectFactory } from './runtime/dialect-factory.ts'
import { snakeCase } from './snake-case/index.ts'

/** The built-in dialects by name. Without virtual roots, they have their default paths. */
export const dialects: Readonly<Record<string, DialectFactory>> = {
  'mcp-filesystem': mcpFilesystem,
  'python-harness': pythonHarness,
  anthropic,
  codex,
  deepagents,
  exec,
  gemini,
  mastra,
  'file-read-write': fileReadWrite,
  'snake-case': snakeCase,
  'patch-and-diff': patchAndDiff,
  'named-roots': namedRoots,
}
