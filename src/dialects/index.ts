import type { Dialect } from '../dialect.ts'
import { anthropic } from './anthropic.ts'
import { codex } from './codex.ts'
import { deepagents } from './deepagents.ts'
import { exec } from './exec.ts'
import { fileReadWrite } from './file-read-write.ts'
import { gemini } from './gemini.ts'
import { mastra } from './mastra.ts'
import { mcpFilesystem } from './mcp-filesystem.ts'
import { namedRoots } from './named-roots.ts'
import { patchAndDiff } from './patch-and-diff.ts'
import { pythonHarness } from './python-harness.ts'
import { snakeCase } from './snake-case.ts'

/** Every dialect with its own paths, by name. To add one, add a line. */
export const dialects: Readonly<Record<string, () => Dialect>> = {
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
