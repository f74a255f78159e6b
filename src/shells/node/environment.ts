/** Variables copied from the environment of the caller. All others may contain secrets. */
const PASSED_VARIABLES = ['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ'] as const

const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'

/** Variable that identifies every process of a command, also one that leaves the process group. */
export const MARK = 'WARDSPACE_COMMAND'

export interface EnvironmentOptions {
  readonly home: string
  readonly temporary: string
  readonly shell: string
  /** Variables of the embedding program, then those of the call. Later ones win. */
  readonly extra: readonly (Readonly<Record<string, string>> | undefined)[]
  /** Unique name of the command. */
  readonly mark: string
}

/** Returns the complete environment of a command. Variables of the caller are passed on only from an allowlist. */
export function createEnvironment({
  home,
  temporary,
  shell,
  extra: added,
  mark,
}: EnvironmentOptions): Record<string, string> {
  const env: Record<string, string> = { PATH, LANG: 'C.UTF-8' }
  for (const name of PASSED_VARIABLES) {
    const value = process.env[name]
    if (value !== undefined && value !== '') env[name] = value
  }
  return Object.assign(
    env,
    { HOME: home, TMPDIR: temporary, SHELL: shell, TERM: 'dumb', USER: 'agent', LOGNAME: 'agent' },
    ...added,
    { [MARK]: mark },
  )
}
