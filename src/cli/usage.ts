import { type CommandName, optionsOf } from './parse-words.ts'

const usage = `wardspace: a workspace that an AI agent can be trusted with

  wardspace help [COMMAND]        list everything, or what one command takes
  wardspace demo [DIR]            play an agent over DIR, which does not change (default: on a copy of the
                                  current directory in memory)
  wardspace tools                 list the tools
  wardspace call NAME [JSON]      call one tool; exit code 0 for ok, 1 for a refusal
  wardspace mcp                   serve the tools over stdio, or with --http PORT over HTTP (Model Context Protocol)
  wardspace acp -- AGENT [ARG...] start an agent of the Agent Client Protocol for an editor, with its requests for
                                  files, terminals and permissions answered by the workspace
  wardspace approve [ID [ANSWER]] list the calls waiting in --parked DIR, or answer one: yes, run (for the run), or
                                  the reason for a denial
  wardspace overlay [ACTION]      show, accept or discard the changes of --overlay
  wardspace report FILE           show what the runs in an audit file did
  wardspace replay FILE           repeat a recording (call and mcp make one with --record FILE) on the root, which
                                  does not change, and print the first step with another result
  wardspace audit verify FILE...  check that audit files are complete; exit code 1 if not
  wardspace policy check          print what the policy leaves open and what in it has no effect; exit code 1 if there is
                                  something
  wardspace policy explain TOOL PATH|COMMAND|JSON
                                  print the verdict on a call, with every rule that applies; the call is not made

  --root DIR          the directory to work in (default: the current one); several appear side by side under their
                      names, or as --root NAME=DIR
  --policy P          readOnly, supervised, autonomous, or a .json, .toml or .yaml file (default:
                      wardspace.config.json|toml|yaml in the root or the current directory; one of these is required)
  --overlay           keep all changes separate until they are accepted
  --ask               ask for approvals on stderr, answered on stdin (the default of call in a terminal)
  --plan              refuse every change until a plan is approved
  --parked DIR        keep calls that wait for an approval in a directory outside the root
  --shell S           run commands: bash (over the guarded files), node (processes in a sandbox, on Linux), or none (the
                      default)
  --git               let the git commands of --shell bash write the repository: commit, branch, checkout
  --read-only         register no tool that changes anything
  --dialect D         the names and results of another system's tools, such as mcp-filesystem, or a module of your own,
                      such as ./mine.js, which runs with the rights of this command
  --http PORT         serve over HTTP at /mcp; 0 takes a free port
  --host HOST         the address to listen on (default: 127.0.0.1); another one needs a token
  --token-file FILE   file with the bearer token of the clients, instead of the environment variable WARDSPACE_TOKEN
                      (default: a new token, printed on stderr)
  --allowed-host H    another host name (or name:port) that clients may use
  --allowed-origin O  an origin whose pages may use the server
  --audit FILE        append the audit records to a JSONL file outside the root
  --record FILE       record the calls with their results, for replay, in a file outside the root
  --json              print plain JSON
  --head HASH         the hash of the last record, which shows that none is missing at the end
  --after HASH        the hash of the record before the first, if older files are kept elsewhere
  --run ID            only this run
  --markdown          print Markdown
  --merge             merge the changes of the overlay with changes that others made to the same files since

  wardspace --version prints the version
`

/** Returns the help of all commands, or of one: its rows, and those of the options that it takes. */
export function usageOf(command?: CommandName): string {
  if (command === undefined) return usage
  // A row continues on the lines that are indented further.
  const rows = usage.split(/\n(?= {0,2}\S|\n)/)
  const options: readonly string[] = optionsOf[command]
  const ofCommand = rows.filter((row) => row.startsWith(`  wardspace ${command} `))
  const ofOptions = rows.filter((row) => options.includes(/^ {2}--([a-z-]+)/.exec(row)?.[1] ?? ''))
  return `${[...ofCommand, '', ...ofOptions].join('\n')}\n`
}
