import * as z from 'zod/mini'
import type { Tool } from '../../tools/define-tool.ts'

/**
 * Creates a tool that accesses the null device. It reaches no path, so policy evaluates the tool alone, and the call is
 * recorded like any other.
 */
export function createNullDeviceCall(access: 'read' | 'write'): Tool {
  return access === 'write'
    ? createPathlessCall('write_file', 'file:write:replace', 'Discarded the content: /dev/null keeps nothing')
    : createPathlessCall('read_file', 'file:read', 'Read /dev/null, which is empty')
}

/** Creates a tool for a tool of a dialect that answers without any call. */
export function createAnswerCall(name: string): Tool {
  return createPathlessCall(name, 'file:info', `Answered ${name}`)
}

function createPathlessCall(name: string, permission: Tool['permission'], summary: string): Tool {
  const mutates = permission === 'file:write:replace'
  return {
    ...{ name, title: name, description: '', input: z.object({}), output: z.object({}) },
    ...{ permission, mutates, idempotent: true },
    plan: () => [],
    draft: async () => ({ summary, result: () => ({}) }),
  }
}
