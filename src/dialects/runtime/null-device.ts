import * as z from 'zod/mini'
import type { Tool } from '../../tools/define-tool.ts'

/**
 * Creates a tool that accesses the null device. It reaches no path, so policy evaluates the tool alone, and the call is
 * recorded like any other.
 */
export function createNullDeviceCall(access: 'read' | 'write'): Tool {
  const isWrite = access === 'write'
  const name = isWrite ? 'write_file' : 'read_file'
  return {
    name,
    title: name,
    description: '',
    input: z.object({}),
    output: z.object({}),
    permission: isWrite ? 'file:write:replace' : 'file:read',
    mutates: isWrite,
    idempotent: true,
    plan: () => [],
    draft: async () => ({
      summary: isWrite ? 'Discarded the content: /dev/null keeps nothing' : 'Read /dev/null, which is empty',
      result: () => ({}),
    }),
  }
}
