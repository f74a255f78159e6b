import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { didYouMean } from '../util/check-options.ts'

const usage = `wardspace: a workspace that an AI agent can be trusted with

  wardspace demo [DIR]            play an agent over DIR, which does not change (default: on a copy of the
                                  current directory in memory)
  wardspace tools                 list the tools
  wardspace call NAME [JSON]      call one tool; exit code 0 for ok, 1 for a refusal
  wardspace mcp                   serve the tools over stdio, or with --http PORT over HTTP (Model Context Protocol)
  wardspace acp -- AGENT [ARG...] start an agent of the Agent Client Protocol for an editor, with its requests for
                                  files, terminals and permissions answered by the workspace
  wardspace approve [ID [ANSWER]] list the calls waiting in --parked DIR, or answer one: yes, run (for the run), or
                                  the reason for a denial
  wardspace overlay [ACTION]      show, accept or discard the changes of --overlay; accept --merge merges them with changes that
                                  others made to the same files since
  wardspace report FILE           what the runs in an audit file did: --run ID, --markdown, --json
  wardspace replay FILE           repeat a recording (call and mcp make one with --record FILE) on the root, which
                                  does not change, and print the first step with another result
  wardspace audit verify FILE...  check that audit files are complete; exit code 1 if not. --head HASH: the last record;
                                  --after HASH: the record before the first, if older files are kept elsewhere
  wardspace policy check          print what the policy leaves open and what in it has no effect; exit code 1 if there is
                                  something
  wardspace policy explain TOOL PATH|COMMAND|JSON
                                  print the verdict on a call, with every rule that applies; the call is not made

  --root DIR          the directory to work in (default: the current one); several appear side by side under their
                      names, or as --root NAME=DIR
  --policy P          readOnly, supervised, autonomous, or a .json, .toml or .yaml file (default:
                      wardspace.config.json|toml|yaml in the root or the current directory; one of these is required)
  --overlay           keep all changes separate until they are accepted (mcp and call)
  --ask               ask for approvals on stderr, answered on stdin (call and demo; the default of call in a terminal)
  --plan              refuse every change until a plan is approved (mcp)
  --parked DIR        keep calls that wait for an approval in a directory outside the root (mcp and call)
  --shell S           run commands: bash (over the guarded files), node (processes in a sandbox, on Linux), or none (the
                      default) (mcp and call)
  --git               let the git commands of --shell bash write the repository: commit, branch, checkout (mcp and call)
  --read-only         register no tool that changes anything
  --dialect D         the names and results of another system's tools, such as mcp-filesystem, or a module of your own,
                      such as ./mine.js, which runs with the rights of this command (tools, call, mcp, approve, policy and
                      replay)
  --http PORT         serve over HTTP at /mcp; 0 takes a free port (mcp, as the next four)
  --host HOST         the address to listen on (default: 127.0.0.1); another one needs a token
  --token-file FILE   file with the bearer token of the clients, instead of the environment variable WARDSPACE_TOKEN
                      (default: a new token, printed on stderr)
  --allowed-host H    another host name (or name:port) that clients may use
  --allowed-origin O  an origin whose pages may use the server
  --audit FILE        append the audit records to a JSONL file outside the root
  --record FILE       record the calls with their results, for replay, in a file outside the root (mcp and call)
  --json              print plain JSON

  wardspace --version prints the version
`

type Command = (words: string[]) => Promise<number>

/** Loaders of the commands. A command takes its words and returns the exit code: 0 for success, 1 for a refusal. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  acp: async () => (await import('./acp.ts')).acp,
  approve: async () => (await import('./approve.ts')).approve,
  audit: async () => (await import('./audit.ts')).audit,
  call: async () => (await import('./call.ts')).call,
  demo: async () => (await import('./demo.ts')).demo,
  mcp: async () => (await import('./mcp.ts')).mcp,
  overlay: async () => (await import('./overlay.ts')).overlay,
  policy: async () => (await import('./policy.ts')).policy,
  replay: async () => (await import('./replay.ts')).replay,
  report: async () => (await import('./report.ts')).report,
  tools: async () => (await import('./tools.ts')).tools,
}

/**
 * Ends the program if its output cannot be written. Says why, except where the reader has stopped, as in
 * `wardspace demo | head`.
 */
export function handleOutputError({ code, message }: NodeJS.ErrnoException): void {
  const reason = code === 'ENOSPC' ? 'no space is left on the device' : (code ?? message)
  if (code !== 'EPIPE') process.stderr.write(`wardspace: Cannot write the output: ${reason}\n`)
  process.exit(2)
}

/** Runs the command that the words name, and returns its exit code. */
export async function program([name = 'help', ...words]: readonly string[]): Promise<number> {
  const isHelp = (word: string | undefined) => word === '--help' || word === '-h'
  // Words after `--` are not options, so a `--help` there belongs to the input.
  const options = words.includes('--') ? words.slice(0, words.indexOf('--')) : words
  const isCommand = Object.hasOwn(commands, name)
  const [topic] = name === 'help' ? words : []
  try {
    if (topic !== undefined && !isHelp(topic) && !Object.hasOwn(commands, topic)) throw unknownCommand(topic)
    if (name === 'help' || isHelp(name) || (isCommand && options.some(isHelp))) {
      process.stdout.write(usage)
      return 0
    }
    if (name === '--version' || name === '-v') {
      if (words[0] !== undefined) throw new TypeError(`Unexpected argument "${words[0]}"`)
      process.stdout.write(`${version()}\n`)
      return 0
    }
    const command = isCommand ? commands[name] : undefined
    if (command === undefined) throw unknownCommand(name)
    return await (await command())(words)
  } catch (error) {
    /* v8 ignore next -- @preserve: nothing here throws a value other than an Error */
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`wardspace: ${message}\n`)
    // Misconfiguration and wrong usage are always TypeErrors.
    if (error instanceof TypeError) process.stderr.write('See: wardspace help\n')
    return 2
  }
}

function unknownCommand(name: string): TypeError {
  const isTool = /^[a-z]+_[a-z_]+$/.test(name)
  const help = isTool
    ? `; a tool is called with: wardspace call ${name}`
    : didYouMean(name, ['help', ...Object.keys(commands)], 'the commands are')
  return new TypeError(`There is no command "${name}"${help}`)
}

/** Returns the version of the package. */
function version(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}
