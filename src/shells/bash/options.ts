import type { OwnCommand } from './own-command.ts'

/** The surroundings of commands besides the files, and the thread in which they run. */
export interface BashOptions {
  /**
   * Absolute path under which commands see the workspace: their home and first working directory. Default: the name that the
   * dialect of the workspace has for its root, or `/workspace`.
   */
  readonly root?: string
  /** Returns random bytes for `/dev/urandom`. Default: the platform's. */
  readonly random?: (bytes: number) => Uint8Array
  /** Variables of every command's environment. */
  readonly env?: Readonly<Record<string, string>>
  /**
   * Commands of one's own, by name. A name that the shell has already means the own command, but the built-ins of bash, such as
   * `cd`, cannot be replaced. Policy judges them by name, as any command.
   *
   * @example
   * const shell = bash({
   *   commands: {
   *     async count(args, { fs }) {
   *       const lines = (await fs.readFile(args[0] ?? 'a.txt')).split('\n').length - 1
   *       return `${lines}\n`
   *     },
   *   },
   * })
   * const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\nb\n' }), policy: 'autonomous', shell })
   * const result = await workspace.call('run_command', { command: 'count a.txt' })
   * if (result.ok) console.log(result.stdout) // 2
   */
  readonly commands?: Readonly<Record<string, OwnCommand>>
  /**
   * On platforms with Web Workers, such as browsers, commands run in one, which can be ended. A build that does not find
   * the worker's file creates the worker here, from `wardspace/shells/bash-thread`. In Node, commands run in a child process
   * that is kept warm. `false` runs commands in the thread of the caller, which a command can then keep busy beyond its time
   * limit, or end.
   */
  readonly worker?: (() => Worker) | false
}
