import { aliases, type Call, type Inspectors, refuseOptions, refuseUnclear } from './inspector.ts'
import { isLong } from './options.ts'
import { type Argument, knownText, mayBeOption } from './words.ts'

/** Programs whose options can start a command, or whose arguments name files that they write. */
export const programs: Inspectors = {
  ...aliases('tar gtar bsdtar', { inspect: inspectTar }),
  rsync: { inspect: (call) => refuseLong(call, ['rsh', 'rsync-path', 'early-input', 'config', 'dparam'], /^-[^-]*e/) },
  ...aliases('scp sftp', { inspect: (call) => refuseLong(call, [], /^-[^-]*[SoFDJ]/) }),
  ssh: { inspect: inspectSsh },
  ...aliases('ssh-copy-id sshfs mosh autossh rsh rlogin telnet', { inspect: refuseAll }),
  ...aliases('socat nc ncat netcat', { inspect: refuseAll }),
  sort: { inspect: (call) => refuseLong(call, ['compress-program']) },
  gsort: { inspect: (call) => refuseLong(call, ['compress-program']) },
  split: { inspect: (call) => refuseLong(call, ['filter']) },
  zip: { inspect: (call) => refuseLong(call, ['unzip-command', 'test'], /^-[^-]*T/) },
  cpio: { inspect: (call) => refuseLong(call, ['rsh-command', 'to-command']) },
  install: { inspect: (call) => refuseLong(call, ['strip-program']) ?? noteWrites(call) },
  rg: { inspect: (call) => refuseLong(call, ['pre', 'hostname-bin']) },
  ag: { inspect: (call) => refuseLong(call, ['pager']) },
  ack: { inspect: (call) => refuseLong(call, ['pager', 'ackrc']) },
  bat: { inspect: (call) => refuseLong(call, ['pager']) },
  fzf: { inspect: (call) => refuseLong(call, ['bind', 'preview', 'listen', 'with-shell']) },
  go: { inspect: (call) => refuseOptions(call, /^--?(exec|toolexec|vettool|overlay|modfile|C)(=|$)/) },
  cargo: { inspect: (call) => refuseOptions(call, /^--(config|exec)(=|$)/) },
  ...aliases('gcc g++ cc c++ clang clang++', {
    inspect: (call) => refuseOptions(call, /^-(wrapper|B|fplugin|specs|Xclang|fuse-ld)|^@|^--(plugin|specs)/),
  }),
  ...aliases('bazel bazelisk', {
    inspect: (call) => refuseOptions(call, /^--(run_under|workspace_status_command|test_env=PATH|script_path)/),
  }),
  ...aliases('mvn mvnw', { inspect: (call) => refuseOptions(call, /^-Dexec\.|^exec:exec/) }),
  ...aliases('pip', { inspect: (call) => refuseOptions(call, /^--(editor|python)(=|$)|^config$/) }),
  ...aliases('gradle gradlew', { inspect: (call) => refuseOptions(call, /^(-I|--init-script)/) }),
  ...aliases('docker podman', {
    inspect: (call) =>
      call.args.some((word) => /^(run|create|exec)$/.test(knownText(word))) ? refuseOptions(call, /^$/) : undefined,
  }),
  wget: { inspect: (call) => refuseLong(call, ['use-askpass', 'execute', 'config'], /^-[^-]*e/) ?? noteWrites(call) },
  // No option of curl starts a command, so a URL may be in a variable.
  curl: { inspect: (call) => refuseLong(call, ['config'], /^-[^-]*K/, ({ splits }) => splits) ?? noteWrites(call) },
  tee: { inspect: noteWrites },
  ...aliases('cp mv ln dd patch sponge truncate touch unzip', { inspect: noteWrites }),
  dpkg: { inspect: (call) => refuseLong(call, ['pre-invoke', 'post-invoke', 'status-logger']) },
  'dpkg-architecture': { inspect: (call) => refuseOptions(call, /^-[^-]*c|^--command/) },
  ...aliases('xdg-open open start wslview sensible-browser x-www-browser', { inspect: refuseAll }),
  rename: { inspect: refuseAll },
  'git-shell': { inspect: refuseAll },
  tcpdump: { inspect: (call) => refuseOptions(call, /^-[^-]*z/) },
  nmap: { inspect: (call) => refuseLong(call, ['script', 'interactive']) },
  ...aliases('tex latex pdflatex xelatex lualatex', {
    inspect: (call) => refuseOptions(call, /^--?(shell-escape|enable-write18|output-directory)/),
  }),
  ctags: { inspect: (call) => refuseLong(call, ['options', '_xformat', 'libexec-dir']) },
}

function refuseAll(call: Call): undefined {
  call.walk.analysis.deny(
    'HIDDEN_COMMAND',
    `${call.name}: it starts other commands in ways that are not analyzed`,
    call.at,
  )
  return undefined
}

/** Refuses these long options and their abbreviations, and short options that match a pattern. */
function refuseLong(call: Call, long: readonly string[], short?: RegExp, unknown = mayBeOption): undefined {
  for (const argument of call.args) {
    const { literal } = argument
    if (literal === '--') return undefined
    if (literal === undefined ? unknown(argument) : isLong(argument, long) || short?.test(literal) === true)
      return refuseUnclear(call, argument)
  }
  return undefined
}

/** Adds the files that a command may write. The same line must not run them. */
function noteWrites(call: Call): undefined {
  for (const [index, { literal }] of call.args.entries()) {
    if (literal === undefined) continue
    const value = /^(?:of=|-[oO]|--output=|--output-document=)(.+)/s.exec(literal)?.[1]
    const last = index === call.args.length - 1
    if (value !== undefined) call.walk.analysis.addWritten(value, call.scope)
    else if (
      !literal.startsWith('-') &&
      (last ||
        ['tee', 'touch'].includes(call.plain) ||
        /^-[a-zA-Z]*[oO]$|^--output/.test(knownText(call.args[index - 1])))
    ) {
      call.walk.analysis.addWritten(literal, call.scope)
    }
    // Without a file name, a download gets the name in its URL.
    if (['curl', 'wget'].includes(call.plain) && /^https?:/.test(literal))
      call.walk.analysis.addWritten(literal.slice(literal.lastIndexOf('/') + 1) || 'index.html', call.scope)
  }
  return undefined
}

function inspectTar(call: Call): undefined {
  const { walk, scope, args } = call
  for (const [index, argument] of args.entries()) {
    const { literal } = argument
    if (literal === '--') return undefined
    if (literal === undefined) {
      if (mayBeOption(argument)) return refuseUnclear(call, argument)
      continue
    }
    const program =
      /^(?:-I|--use-compress-program=)(.+)/s.exec(literal)?.[1] ??
      (/^(-I|--use-compress-program)$/.test(literal) ? args[index + 1]?.literal : undefined)
    if (program !== undefined) {
      walk.source(program, { ...scope, dialect: 'sh', via: [...scope.via, 'tar'], stdin: undefined }, argument.at)
      continue
    }
    // After a dash, the rest of a word may be a file name. In a first word without a dash, every letter is an option.
    const starts = literal.startsWith('-') ? /^-(?!-)[^fC]*[IF]/.test(literal) : index === 0 && /[IF]/.test(literal)
    if (starts) return refuseUnclear(call, argument)
    if (
      isLong(argument, [
        'checkpoint-action',
        'to-command',
        'use-compress-program',
        'rsh-command',
        'rmt-command',
        'info-script',
        'new-volume-script',
        'index-file',
      ])
    )
      return refuseUnclear(call, argument)
  }
  return undefined
}

function inspectSsh(call: Call): undefined {
  const { walk, scope, args, at } = call
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    if (literal === undefined) return refuseUnclear(call, argument)
    if (/^-[ilpb]$/.test(literal)) {
      i += 1
      if (args[i]?.splits === true) return refuseUnclear(call, args[i] as Argument)
    } else if (literal === '-o') {
      i += 1
      if (
        !/^(StrictHostKeyChecking|BatchMode|ConnectTimeout|ServerAliveInterval|ServerAliveCountMax|LogLevel|Port|User|IdentitiesOnly)=/i.test(
          knownText(args[i]),
        )
      )
        return refuseUnclear(call, args[i] ?? argument)
    } else if (literal.startsWith('-')) {
      if (!/^-[46aCfNnqTtvx]+$|^-p\d+$/.test(literal)) return refuseUnclear(call, argument)
    } else {
      const words = args.slice(i + 1)
      const unexpected = words.find((word) => word.literal === undefined)
      if (unexpected !== undefined) return refuseUnclear(call, unexpected)
      if (words.length > 0)
        walk.source(
          words.map(knownText).join(' '),
          { ...scope, dialect: 'sh', cwds: undefined, via: [...scope.via, 'ssh'], stdin: undefined },
          at,
        )
      else walk.analysis.deny('HIDDEN_COMMAND', 'ssh runs code from its standard input', at)
      return undefined
    }
  }
  return undefined
}
