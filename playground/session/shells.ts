import type { WorkspaceOptions } from 'wardspace'
import { bash } from 'wardspace/shells/bash'

/** The shell that commands run in. */
export function openShell(): NonNullable<WorkspaceOptions['shell']> {
  return bash()
}
