/** Returns the reason why inline code is refused. Code that is not understood is refused. */
type CodeCheck = (code: string) => string | undefined

/**
 * Allows JavaScript without words and constructs that could reach another process or run code from a string. It may load
 * listed modules by literal name, and files of the workspace by relative name.
 */
export const checkJavaScript: CodeCheck = (code) => {
  if (/\\[uxU0-7]/.test(code)) return 'an escape may hide any text'
  const bare = takeLoaders(withoutTexts(code))
  // A text may become code in a module of the workspace that the code writes and loads.
  const { names, rest: codeWithoutImports } = bare.names.some(isWorkspaceModule) ? takeLoaders(code) : bare
  const unlisted = names.find((name) => !SAFE_MODULE.test(name) && !isWorkspaceModule(name))
  if (unlisted !== undefined) return `the module ${JSON.stringify(unlisted)} is not on the list`
  const word =
    /\b(require|import|eval|Function|AsyncFunction|constructor|prototype|__proto__|child_process|binding|_linkedBinding|dlopen|mainModule|module|globalThis|global|Reflect|Proxy|Worker|worker_threads|cluster|vm|repl|inspector|spawn|spawnSync|exec|execSync|execFile|execFileSync|fork|kill|getBuiltinModule|Deno|Bun|WebAssembly|with|setTimeout|setInterval|GeneratorFunction|getOwnPropertyDescriptors?|getPrototypeOf|defineProperty|SharedArrayBuffer)\b/.exec(
      withoutPatternCalls(
        withoutConstantPatternCalls(codeWithoutImports.replace(CONSTRUCTOR, '$1').replace(TIMER, '')),
      ),
    )
  if (word !== null) return `${JSON.stringify(word[0])} may reach other processes`
  for (const [, member = ''] of codeWithoutImports.matchAll(/\bprocess\b\s*(\??\.\s*\w+)?/g)) {
    if (
      !/^\.(version|versions|platform|arch|argv|env|cwd|exit|exitCode|pid|uptime|memoryUsage|hrtime|stdout|stderr|stdin|title|release|execPath|nextTick)$/.test(
        member,
      )
    ) {
      return 'process may reach other processes'
    }
  }
  return namesComputed(codeWithoutImports) ? 'a computed name may be any name' : undefined
}

/** The definition of a constructor in a class. */
const CONSTRUCTOR = /([{;}]\s*)constructor(?=\s*\([^()]*\)\s*\{)/g

/** A timer with a function. Node refuses a text, which other runtimes run. */
const TIMER = /\bset(Timeout|Interval)(?=\s*\(\s*(async\s*)?(\(|function\b|[A-Za-z_$][\w$]*\s*(=>|,)))/g

/**
 * Removes the calls of `exec` on a pattern that is written in place, as in `(/a/.exec('b'))`. Only where a slash begins a pattern
 * and cannot be a division or the end of a comment.
 */
function withoutPatternCalls(code: string): string {
  if (/\/\*|`/.test(code)) return code
  return code.replace(
    /(^|[(,=:[!&|?;{])(\s*)\/(?:[^/\\\n['"`]|\\[^\n'"`]|\[(?:[^\]\\\n'"`]|\\[^\n'"`])*\])+\/[dgimsuvy]*\.exec(?=\()/g,
    '$1$2a',
  )
}

const CONSTANT_PATTERN =
  /\bconst\s+([A-Za-z_]\w*)\s*=\s*\/(?:[^/\\\n['"`*]|\\[^\n'"`]|\[(?:[^\]\\\n'"`]|\\[^\n'"`])*\])(?:[^/\\\n['"`]|\\[^\n'"`]|\[(?:[^\]\\\n'"`]|\\[^\n'"`])*\])*\/[dgimsuvy]*(?=[ \t]*(?:[;,]|$|\n\s*[A-Za-z_}]))/g

/**
 * Removes the calls of `exec` on a constant pattern, as in `const p = /a/; p.exec('b')`. The code must use the name for nothing but
 * members of the pattern: then it has no other binding of the name, and what looks like its declaration is one or the name is unbound.
 */
function withoutConstantPatternCalls(code: string): string {
  // A comment may separate the name from an object that it is a member of.
  if (/\/[/*]/.test(code)) return code
  const declarations = [...code.matchAll(CONSTANT_PATTERN)]
  return [...new Set(declarations.map(([, name = '']) => name))].reduce((rest, name) => {
    const declared = declarations.filter(([, other]) => other === name).length
    const uses = code.match(new RegExp(`(?<![\\p{ID_Continue}$])${name}(?![\\p{ID_Continue}$])`, 'gu'))?.length
    const call = `(?<![\\p{ID_Continue}$.]|\\.\\s+)${name}\\.`
    const members =
      code.match(new RegExp(`${call}(?:(?:exec|test)\\(|(?:lastIndex|source|flags)\\b)`, 'gu'))?.length ?? 0
    return uses === declared + members ? rest.replace(new RegExp(`${call}exec\\(`, 'gu'), `${name}(`) : rest
  }, code)
}

const SAFE_MODULE =
  /^(node:)?(fs|fs\/promises|path|url|util|assert|assert\/strict|crypto|os|events|zlib|querystring|string_decoder|timers|timers\/promises|perf_hooks|punycode|buffer|stream|stream\/promises|readline|readline\/promises)$|^(@[\w.-]+\/)?[\w-][\w.-]*\/package\.json$/

const isWorkspaceModule = (name: string): boolean => /^\.{1,2}\/[\w./@-]+$/.test(name)

/** Returns the names of the modules that the code loads, and the code without the loaders. */
function takeLoaders(code: string): { readonly names: readonly string[]; readonly rest: string } {
  const names: string[] = []
  const take = (_: string, __: string, name: string): string => {
    names.push(name)
    return ''
  }
  // An import without code after it has no use. The whole name has to be known: `require('a'.concat(b))` loads another module.
  const called = code
    .replace(/\b(?:require|import)\s*\(\s*(['"`])([^'"`]*)\1(?=\s*\))/g, take)
    .replace(/\bimport\s*(['"])([^'"]*)\1(?=\s*(?:;|$))/gm, take)
    .replace(
      /(?<=(?:^|[;\n])[ \t]{0,40})import\s[\w$*{}\s,]{1,500}?\bfrom\s{0,9}(['"])([^'"]*)\1(?=[ \t]*[;\n]\s*\S)/gm,
      take,
    )
  if (!/\bexport\b/.test(called)) return { names, rest: called }
  // `from` loads a module only in a declaration, and never as the name of a function: `Buffer.from('a')`.
  const rest = called.replace(/\bfrom\s*(?:(['"])([^'"]*)\1|\/[/*])/g, (_, quotes, name = '') => take(_, quotes, name))
  return { names, rest }
}

/**
 * Removes the contents of strings that can be neither the name of a module or member nor code. Code in which the ends of
 * strings are ambiguous stays as it is: patterns, comments and templates may contain quotes.
 */
function withoutTexts(code: string): string {
  const token = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"|[^'"]+/y
  const tokens: string[] = []
  // Stops at a quote that does not end.
  for (let match = token.exec(code); match !== null; match = token.exec(code)) tokens.push(match[0])
  const isText = (text: string): boolean => /^['"]/.test(text)
  const bare = tokens.map((text) => (isText(text) ? "''" : text)).join('')
  if (tokens.join('') !== code || /[/`\\]|<!--|-->|#!/.test(bare)) return code
  return tokens
    .map((text, index) => {
      const isName = /(\[\s*|\b(require|import|from)\b\s*(\(\s*)?)$/.test(tokens[index - 1] ?? '')
      return !isText(text) || isName || /^\s*[:\]]/.test(tokens[index + 1] ?? '') ? text : "''"
    })
    .join('')
}

/** Whether brackets may access a computed member. The character before them tells a member from a list. */
function namesComputed(code: string): boolean {
  const tight = code.replace(/\s+|\?\./g, '')
  // A comment between an object and its brackets may end in any character.
  const hasComments = /\/[/*]/.test(tight)
  // A difference is a number, which names no member that gives access to others.
  const literal = /\[(?:\d+|'[\w.@/-]*'|"[\w.@/-]*"|[ijkn]|[A-Za-z_$][\w$.]*-\d+)?\]/y
  for (const { index } of tight.matchAll(/\[/g)) {
    literal.lastIndex = index
    if (literal.test(tight)) continue
    // After a reserved word, brackets are a list and not a member.
    if (!hasComments && /(^|[;{}(])(const|var|return)$/.test(tight.slice(Math.max(0, index - 7), index))) continue
    const before = tight.charAt(index - 1)
    if (hasComments || !/^[(,=:[?&|;<>!~+*%^-]?$/.test(before)) return true
    // After a comma, it may also be a computed property name.
    if (before === ',' && tight.includes(']:', index)) return true
  }
  return false
}

/** Modules of Python that neither run a text nor use one as the name of a function. */
const TEXT_MODULE =
  /^(json|sys|re|math|datetime|time|calendar|itertools|random|statistics|decimal|fractions|hashlib|base64|textwrap|csv|pathlib|glob|fnmatch|uuid|html|unicodedata)$/

/**
 * Empties the plain texts in Python code: they are data as long as nothing runs a text or looks up a name. Code stays as it is
 * if it opens a file, which may be a module, or if it has a text with braces, whose fields may name attributes, a prefix, a
 * backslash or a triple quote.
 */
function withoutPythonTexts(code: string): string {
  if (/[\\#]|'''|"""|\b(open|Path|pathlib|write\w*)\b/.test(code)) return code
  const texts = /'[^'\n]*'|"[^"\n]*"/g
  const bare = code.replace(texts, "''")
  const hasFields = code.match(texts)?.some((text) => /[{}]/.test(text))
  return hasFields || /[A-Za-z0-9_]''|["]/.test(bare) || /'(?!')(?<!'')/.test(bare) ? code : bare
}

/** Removes the import of `os`, and its members that start nothing, from code that uses one of them. */
function withoutSafeOs(code: string): string {
  if (!/\bos\.\w/.test(code.replace(/\bimport\b[^;\n]*/g, ''))) return code
  return code
    .replace(/\bimport\b([^;\n]*)/g, (_, names: string) => `import${names.replace(/\bos(\.path)?(?=\s*(,|$))/g, '')}`)
    .replace(SAFE_OS, '')
}

const SAFE_OS =
  /(?<![\w.]\s{0,9})os\.(?:(?:getcwd|listdir|environ|getenv|sep|linesep|getpid|cpu_count|walk|stat|scandir|makedirs|mkdir|uname)\b|path\.(?:exists|join|abspath|basename|dirname|isfile|isdir|islink|getsize|getmtime|realpath|relpath|normpath|split|splitext|expanduser)\b)/g

/** Allows Python with listed modules and without words that give access to others. */
export const checkPython: CodeCheck = (code) => {
  if (/\\[uxUN0-7]/.test(code)) return 'an escape may hide any text'
  const plain = code.replace(/\.__(version|file|name|doc)__\b(?!\s*\()/g, '')
  if (plain.includes('__')) return 'names with __ give access to everything'
  const safe = new Set(
    'json sys re math cmath datetime time calendar collections itertools functools random statistics decimal fractions hashlib hmac base64 binascii struct textwrap difflib pprint csv io pathlib glob fnmatch zlib uuid secrets html unicodedata enum dataclasses typing heapq bisect copy locale tomllib configparser ast os xml platform yaml numpy pandas'.split(
      ' ',
    ),
  )
  let plainImports = true
  for (const [, from, names = ''] of code.matchAll(/(?:\bfrom\s+([\w.]+)\s+)?\bimport\b([^;\n]*)/g)) {
    const modules = from === undefined ? names.split(',').map((name) => name.trim().replace(/\s.*/s, '')) : [from]
    if (!modules.every((name) => TEXT_MODULE.test(name))) plainImports = false
    if (from === 'os' || from?.startsWith('os.') === true) return 'the module "os" is not on the list'
    const odd = modules.find((name) => !safe.has(name.replace(/\..*/s, '')))
    if (odd !== undefined) return `the module ${JSON.stringify(odd)} is not on the list`
  }
  const word =
    /\b(os|subprocess|system|popen\w*|spawn\w*|exec\w*|eval|compile|getattr|setattr|delattr|globals|locals|vars|dir|breakpoint|input|modules|importlib|imp|runpy|pty|ctypes|cffi|builtins|posix|nt|codecs|pickle|marshal|shelve|code|codeop|pdb|multiprocessing|threading|concurrent|asyncio|signal|socket|urllib|http|webbrowser|attrgetter|methodcaller|get_field|fork\w*|kill\w*|loader|load_module|find_spec|gi_frame|f_globals|f_builtins|tb_frame|shutil|tempfile|query|read_pickle|full_load|unsafe_load|load_all|UnsafeLoader|Loader|ctypeslib|f2py|distutils|testing|loads?_pickle|memmap|settrace|setprofile|addaudithook|_\w+|sh|help|license|copyright|credits)\b/.exec(
      withoutSafeOs(plainImports ? withoutPythonTexts(plain).replace(/\bre\.compile\b/g, 're') : plain),
    )
  if (word !== null) return `${JSON.stringify(word[0])} may reach other processes`
  return undefined
}

/** Allows only a plain substitution in Perl, as in `perl -pe 's/a/b/g'`. */
export const checkPerl: CodeCheck = (code) => {
  const plain =
    /^\s*(s|y|tr)\/((?:[^/\\$@]|\\[^\n]|\$(?=\/|\||\)))*)\/((?:[^/\\$@]|\\[^\n]|\$[1-9&])*)\/([gimsx]*)\s*(?:;\s*)?$/
  if (!plain.test(code)) return 'only a plain substitution is analyzed in Perl'
  return /\(\?\??\{/.test(code) ? 'a pattern may contain code' : undefined
}

/** Allows awk without constructs that start commands, read from them or pipe to them. */
export const checkAwk: CodeCheck = (code) => {
  // After a value, a slash is a division; elsewhere it starts a pattern.
  let afterValue = false
  const token = /\s+|#[^\n]*|"(?:[^"\\\n]|\\[\s\S])*"|\d[\w.]*|\.\d+|([A-Za-z_]\w*)|\|\||&&|\+\+|--|[\s\S]/y
  // Every character belongs to a token, so the loop ends only at the end of the code.
  for (let match = token.exec(code); match !== null; match = token.exec(code)) {
    const [text, name] = match
    if (/^(\s+|#[^\n]*)$/.test(text)) {
      if (text.includes('\n')) afterValue = false
      continue
    }
    if (name !== undefined) {
      if (/^(system|getline|PROCINFO|SYMTAB|FUNCTAB)$/.test(name)) return `${JSON.stringify(name)} may start commands`
      afterValue = !/^(in|return|exit|delete|else|do|case|print|printf)$/.test(name)
    } else if (text === '/') {
      if (afterValue) {
        afterValue = false
        continue
      }
      // Implementations of awk differ on a slash in a bracket expression.
      const pattern = /^\/((?:[^/\\\n[]|\\[^\n]|\[[^\]/|"\\\n]+\])*)\//.exec(
        code.slice(match.index, match.index + 2000),
      )
      if (pattern === null) return 'it contains a pattern that is not plain'
      token.lastIndex = match.index + pattern[0].length
      afterValue = true
    } else if (text === '|') {
      return 'a pipe starts a command'
    } else if (text === '@') {
      return '@ loads code or calls by name'
    } else if (text === '"') {
      return 'it contains a string that does not end'
    } else if (/^"\/inet|^"\/dev/.test(text) && !/^"\/dev\/(null|stderr|stdout)"$/.test(text)) {
      return 'it opens a connection'
    } else {
      afterValue = /^("|\d|\.\d|[)\]$]$|\+\+|--)/.test(text)
    }
  }
  return undefined
}

/** Parses the commands of a sed script. Refuses `e`, `w` and everything that does not parse. */
export const checkSed: CodeCheck = (script) => {
  const address =
    /\s*(?:(?:\d+(?:~\d+)?|\$|\/(?:[^/\\\n[]|\\[^\n]|\[[^\]/\n]+\])*\/[IM]*)(?:\s*,\s*(?:[+~]?\d+|\$|\/(?:[^/\\\n[]|\\[^\n]|\[[^\]/\n]+\])*\/[IM]*))?)?\s*!?\s*/y
  for (let at = 0; at < script.length; ) {
    const gap = /[\s;{}]*/y
    gap.lastIndex = at
    gap.exec(script)
    at = gap.lastIndex
    if (at >= script.length) break
    if (script[at] === '#') {
      const end = script.indexOf('\n', at)
      at = end === -1 ? script.length : end
      continue
    }
    address.lastIndex = at
    // The address may be empty.
    address.exec(script)
    at = Math.max(at, address.lastIndex)
    const command = script.charAt(at)
    at += 1
    if (/[\s;{}]/.test(command) || command === '') continue
    if (/[pPdDnNgGhHxqQ=lzF]/.test(command)) {
      const pattern = /\s*(?:\d+\s*)?(?=[;}\n]|$)/y
      pattern.lastIndex = at
      if (pattern.exec(script) === null) return 'it does not parse'
      at = pattern.lastIndex
    } else if (/[aic]/.test(command)) {
      // The text continues to the end of its line, and over lines that end in a backslash.
      const pattern = /(?:[^\\\n]|\\[\s\S])*/y
      pattern.lastIndex = at
      pattern.exec(script)
      at = pattern.lastIndex
    } else if (/[btT:]/.test(command)) {
      const pattern = /\s*(?:[\w.-]+\s*)?(?=[;}\n]|$)/y
      pattern.lastIndex = at
      if (pattern.exec(script) === null) return 'it does not parse'
      at = pattern.lastIndex
    } else if (command === 's' || command === 'y') {
      const end = endOfParts(script, at)
      if (end === undefined) return 'it contains a substitution that does not parse'
      const flags = /[gpIiMm\d]*\s*(?=[;}\n]|$)/y
      flags.lastIndex = end
      if (flags.exec(script) === null) return 'a flag of a substitution may start a command or write a file'
      at = flags.lastIndex
    } else {
      return `${JSON.stringify(command)} may start a command or reach a file`
    }
  }
  return undefined
}

/** Returns the position after `s` or `y`. Refuses a delimiter in brackets, on which implementations of sed differ. */
function endOfParts(script: string, start: number): number | undefined {
  const delimiter = script[start]
  if (delimiter === undefined || /[\s\\\w;{}]/.test(delimiter)) return undefined
  let at = start + 1
  for (let parts = 0; parts < 2; at++) {
    const char = script[at]
    if (char === undefined) return undefined
    if (char === '\\') at += 1
    else if (char === '\n' && parts === 0) return undefined
    else if (char === '[' && parts === 0) {
      const close = /\[\^?\]?(?:\[:\w+:\]|[^\]\n])*\]/y
      close.lastIndex = at
      const match = close.exec(script)
      if (match !== null) {
        if (match[0].replace(/\\[^\]]/g, '').includes(delimiter)) return undefined
        at = close.lastIndex - 1
      }
    } else if (char === delimiter) parts += 1
  }
  return at
}
