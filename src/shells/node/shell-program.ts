import { existsSync } from 'node:fs'
import { ToolError } from '../../errors.ts'

/** The program that reads the lines. */
export interface ShellProgram {
  readonly name: 'bash' | 'sh'
  readonly path: string
  readonly options: readonly string[]
}

/** Runs `$1` and writes its final directory to descriptor 3, which the output of the line cannot imitate. */
export const SCRIPT = `trap 'pwd -P >&3' EXIT; eval "$1"`

const programs: readonly ShellProgram[] = [
  { name: 'bash', path: '/bin/bash', options: ['--noprofile', '--norc'] },
  { name: 'bash', path: '/usr/bin/bash', options: ['--noprofile', '--norc'] },
  { name: 'sh', path: '/bin/sh', options: [] },
]

/** Finds bash or sh; without a name, bash comes first. @throws ToolError `SHELL_UNAVAILABLE` */
export function findShellProgram(requested: 'bash' | 'sh' | undefined): ShellProgram {
  const program = programs.find(({ name, path }) => (requested === undefined || name === requested) && existsSync(path))
  /* v8 ignore if -- @preserve: another platform: the tests need bash, and every POSIX system has /bin/sh */
  if (program === undefined)
    throw new ToolError('SHELL_UNAVAILABLE', `This system has no ${requested ?? 'POSIX shell'}`)
  return program
}
