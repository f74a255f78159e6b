import { checkVariable } from './assignments.ts'
import type { CwdAfter } from './cwd.ts'
import { aliases, type Call, type Inspector, type Inspectors, refuseAlways, refuseUnclear } from './inspector.ts'
import { type OptionTable, readOptions } from './options.ts'
import { type Argument, knownText, literalArgument } from './words.ts'

/** Without a command, these start a shell that runs its standard input. */
const startsShell: Inspector = {
  transparent: true,
  inspect(call) {
    if (call.args.length > 0) return start(call, call.args, { flags: '' }, skip(0))
    return call.walk.run(
      [literalArgument('sh', call.at)],
      { ...call.scope, via: [...call.scope.via, call.plain] },
      call.at,
    )
  },
}

/** Commands that only start the command in their arguments. */
export const wrappers: Inspectors = {
  env: transparent(
    { flags: 'i0v', valued: 'u', longFlags: ['ignore-environment', 'null', 'debug'], longValued: ['unset'] },
    (call, operands) => skipAssignments(call, operands),
  ),
  nice: {
    transparent: true,
    inspect(call) {
      const [first, ...others] = call.args
      // Obsolete syntax: nice -10 command.
      const args = /^-\d+$/.test(knownText(first)) ? others : call.args
      return start(call, args, { flags: '', valued: 'n', longValued: ['adjustment'] }, skip(0))
    },
  },
  ionice: transparent({ flags: 't', valued: 'cn', longFlags: ['ignore'], longValued: ['class', 'classdata'] }, skip(0)),
  nohup: transparent({ flags: '' }, skip(0)),
  time: transparent(
    { flags: 'pvqa', valued: 'f', longFlags: ['portability', 'verbose', 'quiet'], longValued: ['format'] },
    skip(0),
  ),
  timeout: transparent(
    {
      flags: 'vfp',
      valued: 'sk',
      longFlags: ['foreground', 'preserve-status', 'verbose'],
      longValued: ['signal', 'kill-after'],
    },
    skip(1),
  ),
  gtimeout: transparent(
    { flags: 'v', valued: 'sk', longFlags: ['foreground', 'preserve-status'], longValued: ['signal', 'kill-after'] },
    skip(1),
  ),
  stdbuf: transparent({ flags: '', valued: 'ioe', longValued: ['input', 'output', 'error'] }, skip(0)),
  setsid: transparent({ flags: 'cfw', longFlags: ['ctty', 'fork', 'wait'] }, skip(0)),
  command: {
    transparent: true,
    inspect(call) {
      // With -v, it only looks a name up, whatever the words after it.
      if (/^-p*[vV][pvV]*$/.test(knownText(call.args[0]))) return undefined
      return start(call, call.args, { flags: 'pvV' }, (_, operands, optionNames) =>
        optionNames.some((name) => 'vV'.includes(name)) ? [] : operands,
      )
    },
  },
  builtin: transparent({ flags: '' }, skip(0)),
  exec: transparent({ flags: 'cl', valued: 'a' }, skip(0)),
  chronic: transparent({ flags: 've' }, skip(0)),
  unbuffer: transparent({ flags: 'p' }, skip(0)),
  catchsegv: transparent({ flags: '' }, skip(0)),
  ...aliases('fakeroot fakeroot-sysv fakeroot-tcp linux64 linux32 i386', startsShell),
  eatmydata: transparent({ flags: '' }, skip(0)),
  taskset: transparent({ flags: 'ac', longFlags: ['cpu-list', 'all-tasks'] }, skip(1)),
  prlimit: refuseAlways('the command that it starts cannot be determined from its options'),
  'cross-env': transparent({ flags: '' }, (call, operands) => skipAssignments(call, operands)),
  dotenv: transparent({ flags: 'c', valued: 'ev' }, skip(0)),
  busybox: transparent({ flags: '' }, skip(0)),
  toybox: transparent({ flags: '' }, skip(0)),
  'xvfb-run': transparent(
    { flags: 'a', valued: 's', longFlags: ['auto-servernum'], longValued: ['server-args'] },
    skip(0),
  ),
  ...aliases(
    `strace ltrace gdb lldb valgrind perf script screen tmux watch entr flock faketime rlwrap firejail bwrap proot runcon setarch choom chrt
    dbus-run-session dbus-launch logsave run-parts parallel expect unshare cgexec numactl daemonize nodemon watchexec torsocks proxychains
    proxychains4 ssh-agent at dtach abduco systemd-inhibit caffeinate sem ts-node-dev chokidar onchange mpirun mpiexec srun sbatch gnome-terminal
    xterm konsole lxterminal wine bash-static gpg-agent x86_64 uname26 i486 i586 i686 ppc ppc32 ppc64 s390 s390x mips mips32 mips64 sparc sparc32
    sparc64 alpha ia64 parisc parisc32 parisc64 aarch64 arm riscv64 ld.so fstab-decode heaptrack sotruss aa-exec cscope nsenter`,
    refuseAlways('it starts other commands in ways that are not analyzed'),
  ),
}

type SelectCommand = (
  call: Call,
  operands: readonly Argument[],
  optionNames: readonly string[],
) => readonly Argument[] | undefined

function transparent(table: OptionTable, selectCommand: SelectCommand): Inspector {
  return { transparent: true, inspect: (call) => start(call, call.args, table, selectCommand) }
}

/** Skips a number of operands before the command. */
function skip(count: number): SelectCommand {
  return (call, operands) => {
    const odd = operands.slice(0, count).find(({ literal }) => literal === undefined)
    return odd === undefined ? operands.slice(count) : refuseUnclear(call, odd)
  }
}

function start(
  call: Call,
  args: readonly Argument[],
  table: OptionTable,
  selectCommand: SelectCommand,
): CwdAfter | undefined {
  const read = readOptions(args, table)
  if ('unclear' in read) return refuseUnclear(call, read.unclear)
  const words = selectCommand(
    call,
    read.operands,
    read.options.map(({ name }) => name),
  )
  if (words === undefined || words.length === 0) return undefined
  const after = call.walk.run(words, { ...call.scope, via: [...call.scope.via, call.plain] }, call.at)
  // These start a built-in in the same shell: `builtin cd a`.
  return call.name === 'command' || call.name === 'builtin' ? after : undefined
}

/** Returns the words after `NAME=VALUE`. Refuses a word that may or may not be an assignment. */
export function skipAssignments(call: Call, operands: readonly Argument[]): readonly Argument[] | undefined {
  for (const [index, argument] of operands.entries()) {
    const text = argument.literal ?? argument.lead
    const equals = text.indexOf('=')
    if (equals === -1 || argument.splits) {
      return argument.literal === undefined ? refuseUnclear(call, argument) : operands.slice(index)
    }
    checkVariable(call.walk, text.slice(0, equals), argument.literal?.slice(equals + 1), call.scope, argument.at)
  }
  return []
}
