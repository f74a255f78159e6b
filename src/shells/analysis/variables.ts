/** Whether a variable controls which programs later commands start, so that no line may set it. */
export function isDangerousVariable(name: string): boolean {
  return (
    exact.has(name) ||
    prefixes.some((prefix) => name.startsWith(prefix)) ||
    (name.startsWith('GIT_') && !harmlessGit.test(name)) ||
    /(PAGER|EDITOR|ASKPASS)$|^CMAKE_\w+_LAUNCHER$/.test(name) ||
    /^npm_config_(script_?-?shell|node_?-?options|node_?-?gyp|init_?-?module|git|shell|editor|viewer|globalconfig|userconfig|prefix)$/i.test(
      name,
    )
  )
}

const exact = new Set(
  `PATH IFS ENV HOME CDPATH SHELL SHELLOPTS FPATH FIGNORE GLOBIGNORE PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND EXECIGNORE
  VISUAL BROWSER LESSOPEN LESSCLOSE LESS LESSEDIT FCEDIT
  NODE_PATH NODE_REPL_EXTERNAL_MODULE PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONBREAKPOINT PYTHONINSPECT PYTHONWARNINGS
  PERL5OPT PERL5LIB PERLLIB PERL5DB RUBYOPT RUBYLIB GEM_PATH GEM_HOME BUNDLE_GEMFILE PYTHONUSERBASE
  PHPRC PHP_INI_SCAN_DIR JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH MAVEN_OPTS GRADLE_OPTS
  MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC CARGO_HOME GOFLAGS GOTOOLDIR
  TAR_OPTIONS RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH SVN_SSH ZIPOPT UNZIP XZ_OPT GZIP AWKPATH AWKLIBPATH GREP_OPTIONS
  XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME TERMINFO TERMCAP OPENSSL_CONF OPENSSL_ENGINES GCONV_PATH LOCPATH
  GETCONF_DIR HOSTALIASES MALLOC_CHECK_ COMPILER_PATH GCC_EXEC_PREFIX VIMINIT EXINIT VIM MYVIMRC EMACSLOADPATH
  HGRCPATH DOCKER_HOST DOCKER_CONFIG KUBECONFIG RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND
  COMSPEC PATHEXT PROFILE ZDOTDIR HISTFILE POSIXLY_CORRECT NODE_REPL_HISTORY BAT_OPTS
  BAT_CONFIG_PATH MANOPT PSQLRC WGETRC SYSTEM_WGETRC CURL_HOME HGMERGE CCACHE_PREFIX CCACHE_CONFIGPATH GOCACHEPROG GOAUTH
  GOROOT GOENV CARGO RUSTDOC RUSTFMT RUSTUP_HOME RUSTUP_TOOLCHAIN DOTNET_STARTUP_HOOKS NUGET_PLUGIN_PATHS OPENSSL_MODULES
  AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE ESBUILD_BINARY_PATH SWC_BINARY_PATH CHROME_BIN npm_execpath
  npm_node_execpath CMAKE_TOOLCHAIN_FILE`.split(/\s+/),
)

const prefixes = [
  'LD_',
  'DYLD_',
  'BASH',
  'COMP_',
  'CARGO_BUILD_',
  'CARGO_TARGET_',
  'CARGO_ALIAS_',
  'LESSKEY',
  'LIBRARY_PATH',
  'LUA_INIT',
  'LUA_PATH',
  'LUA_CPATH',
  'ERL_',
  'ELIXIR_',
  'R_PROFILE',
  'R_ENVIRON',
  'FZF_',
  'SSH_SK_',
  'CORECLR_',
  'ANSIBLE_',
  'CLOUDSDK_',
]

const harmlessGit =
  /^GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|TERMINAL_PROMPT|OPTIONAL_LOCKS|TRACE|SHA|COMMIT|BRANCH|TAG|REF|HASH|URL|VERSION|LFS_SKIP_SMUDGE|MERGE_AUTOEDIT)$/

/** Variables whose value is a command with arguments: `CC='gcc -m32' make`. */
export const commandVariables: ReadonlySet<string> = new Set(
  'CC CXX CPP LD AR AS RANLIB STRIP NM OBJCOPY FC F77 CXXCPP YACC LEX MAKE INSTALL PKG_CONFIG TEX PYTHON NODE CMP DIFF GREP'.split(
    ' ',
  ),
)

/** Whether the options of Node only set sizes, warnings and similar values. */
export function isHarmlessNodeOptions(value: string): boolean {
  return value.split(/\s+/).every((option) => option === '' || harmlessNodeOption.test(option))
}

const harmlessNodeOption =
  /^--(max[-_]old[-_]space[-_]size=\d+|max[-_]semi[-_]space[-_]size=\d+|experimental-vm-modules|experimental-strip-types|experimental-test-coverage|no-warnings|no-deprecation|trace-warnings|trace-deprecation|enable-source-maps|openssl-legacy-provider|unhandled-rejections=\w+|expose-gc|dns-result-order=\w+|no-experimental-[\w-]+|stack-trace-limit=\d+)$/

/** Variables of the shell that hold a number unless a line assigns another value. */
export const numericVariables: ReadonlySet<string> = new Set(
  'LINENO SECONDS RANDOM SRANDOM EPOCHSECONDS UID EUID PPID OPTIND SHLVL COLUMNS LINES'.split(' '),
)

/** The variables among these that a shell takes over from its environment. */
export const inheritedVariables: ReadonlySet<string> = new Set(['UID', 'EUID', 'COLUMNS', 'LINES'])

/** Variables that the shell itself sets to texts. */
export const shellTextVariables: ReadonlySet<string> = new Set(
  '_ PWD OLDPWD DIRSTACK REPLY MAPFILE OPTARG COPROC'.split(' '),
)

/** Variables whose values the shell evaluates as arithmetic when they are assigned. */
export const evaluatedVariables: ReadonlySet<string> = new Set(['RANDOM', 'SRANDOM', 'HISTCMD', 'OPTIND', 'SECONDS'])
