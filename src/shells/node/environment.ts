/** What of the caller's environment a command may know. Everything else may be a secret. */
const passed = ['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ'] as const

const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'

/** Names every process that a command starts, whatever becomes of its group. */
export const MARK = 'WARDSPACE_COMMAND'

export interface EnvironmentOptions {
  readonly home: string
  readonly temporary: string
  readonly shell: string
  /** What the embedding program adds, then what the call does. */
  readonly added: readonly (Readonly<Record<string, string>> | undefined)[]
  /** The command's own name. */
  readonly mark: string
}

/** The whole environment of a command: an allowlist, never the caller's own. */
export function environment({ home, temporary, shell, added, mark }: EnvironmentOptions): Record<string, string> {
  const env: Record<string, string> = { PATH, LANG: 'C.UTF-8' }
  for (const name of passed) {
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
