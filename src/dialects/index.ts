import type { Dialect } from '../dialect.ts'
import { mcpFilesystem } from './mcp-filesystem.ts'

/** Every dialect with its own paths, by name. To add one, add a line. */
export const dialects: Readonly<Record<string, () => Dialect>> = {
  'mcp-filesystem': mcpFilesystem,
}
