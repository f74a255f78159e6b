import { errorHints } from '../../errors.ts'
import type { LogicalPath } from '../../paths/logical-path.ts'
import { looksBinary } from '../text/encoding.ts'
import { decodeCommentText, hasGeneratedMarker } from './generated-marker.ts'
import { kindByExtension, kindByName, type TextKind } from './kinds.ts'
import {
  alterName,
  foldName,
  isPlainName,
  isTrimmed,
  LAST_PLAIN,
  mayBeAltered,
  parseShortName,
  shortNameKey,
} from './name-spelling.ts'
import type { Classification, FileKind, Protection } from './types.ts'

/** One built-in protection. Names and patterns are lower case: `name`, `*.ext`, `*.word.*`, `head.*`, `parent/name`. */
interface ProtectionRow {
  readonly protection: Protection
  readonly reason: string
  readonly hint?: string
  readonly files?: string
  /** The directory itself and everything below it. */
  readonly directories?: string
  /** Names that the patterns of this row exclude. */
  readonly except?: string
  /** Source code with these names is not protected. */
  readonly sourcesApart?: true
}

/** All built-in protections. To add a protection, add a row. */
const protections: readonly ProtectionRow[] = [
  {
    protection: 'git',
    reason: "it is git's own data",
    hint: 'Use the git tools; .git is never read or written as files.',
    files: '.git',
    directories: '.git',
  },
  {
    protection: 'secret',
    reason: 'it is an environment file, which usually holds credentials',
    hint: 'Work without its values; .env.example may be read and changed.',
    files: '.env .env.* .envrc',
    except: '.env.example .env.sample .env.template',
  },
  {
    protection: 'secret',
    reason: 'it is a private key or a key store by its name',
    files: '*.pem *.key *.p12 *.pfx *.jks id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk',
  },
  {
    protection: 'secret',
    reason: 'it is in a directory of keys',
    files: '.ssh .gnupg',
    directories: '.ssh .gnupg',
  },
  {
    protection: 'secret',
    reason: 'it is a file of stored credentials',
    files: `.npmrc .netrc _netrc .pgpass .pypirc .htpasswd .git-credentials .aws/credentials .kube/config
      .docker/config.json .my.cnf .vault-token .cargo/credentials .cargo/credentials.toml .gem/credentials
      .config/gh/hosts.yml .config/gcloud/application_default_credentials.json`,
  },
  {
    protection: 'secret',
    reason: 'it contains secrets, according to its name',
    files: 'secrets.*',
    directories: 'secrets',
    sourcesApart: true,
  },
  {
    protection: 'secret',
    reason: 'it is a production configuration, which usually holds credentials',
    files: 'application-prod.yml application-prod.yaml application-prod.properties',
  },
  {
    protection: 'secret',
    reason: 'it is a shell history',
    files: `.bash_history .zsh_history .zhistory .sh_history .ksh_history .ash_history .history .histfile fish_history
      .python_history .node_repl_history .ts_node_repl_history .irb_history .pry_history .psql_history .mysql_history
      .sqlite_history .rediscli_history .mongo_history .dbshell .lesshst consolehost_history.txt`,
  },
  {
    protection: 'secret',
    reason: 'it is a password database of the system',
    files: 'etc/shadow etc/shadow- etc/gshadow etc/gshadow-',
  },
  {
    protection: 'generated',
    reason: 'it is in a directory of generated files',
    hint: 'Change the source that it is generated from and run the build or generator.',
    directories: 'target build dist generated-sources openapi/generated',
  },
  {
    protection: 'generated',
    reason: 'it is an installed dependency',
    hint: 'Change package.json and let the package manager install, or change the dependency at its source.',
    directories: 'node_modules',
  },
  {
    protection: 'generated',
    reason: 'it is a generated file by its name',
    hint: 'Change the source that it is generated from and run the generator.',
    files: '*.pb.go *.generated.*',
  },
  {
    protection: 'vendored',
    reason: 'it is a vendored copy of a dependency',
    hint: 'Change the dependency at its source and update the copy, or wrap it in your own code.',
    directories: 'vendor third_party bower_components jspm_packages site-packages',
  },
  {
    protection: 'lockfile',
    reason: 'it is a lockfile',
    hint: 'Change the manifest and run the package manager, which writes the lockfile.',
    files: `package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb deno.lock poetry.lock uv.lock
      pdm.lock pipfile.lock pixi.lock conda-lock.yml cargo.lock go.sum go.work.sum gemfile.lock composer.lock mix.lock
      rebar.lock pubspec.lock podfile.lock cartfile.resolved package.resolved packages.lock.json paket.lock
      gradle.lockfile flake.lock stack.yaml.lock cabal.project.freeze .terraform.lock.hcl chart.lock`,
  },
  {
    protection: 'binary',
    reason: 'it is binary',
    hint: errorHints.UNSUPPORTED_BINARY,
    files: `*.png *.jpg *.jpeg *.gif *.webp *.avif *.heic *.bmp *.ico *.icns *.tif *.tiff *.psd *.pdf *.zip *.gz *.tgz
      *.bz2 *.xz *.zst *.7z *.rar *.tar *.jar *.war *.class *.exe *.dll *.so *.dylib *.o *.a *.lib *.pdb *.wasm *.node
      *.pyc *.pyd *.woff *.woff2 *.ttf *.otf *.eot *.mp3 *.mp4 *.m4a *.m4v *.mov *.avi *.mkv *.webm *.ogg *.oga *.ogv
      *.wav *.flac *.sqlite *.sqlite3 *.db *.docx *.xlsx *.pptx *.odt *.ods *.odp *.epub *.iso *.dmg *.deb *.rpm *.apk
      *.parquet *.onnx *.safetensors *.npy *.npz *.bin`,
  },
]

/**
 * Classifies a file by its name alone. Pure. Ignores letter case and recognises every spelling that a disk maps to a
 * protected name. Fast for many paths in few directories (about 0.4 µs each), because directories are cached.
 */
export function classifyPath(path: LogicalPath): Classification {
  let slash = path.length - 1
  let plain = !isTrimmed(path.charCodeAt(slash))
  for (; slash >= 0; slash--) {
    const unit = path.charCodeAt(slash)
    if (unit === SLASH) break
    if (unit > LAST_PLAIN) plain = false
  }
  const directory = directoryOf(path, slash)
  const name = path.slice(slash + 1)
  let finding: Finding = judgeName(name.toLowerCase(), directory.folded)
  if (!plain) finding = stricter(finding, judgeSpellings(name, directory.folded))
  return stricter(finding, finding.isSource ? directory.always : directory.unlessSource).classification
}

/**
 * Whether a file is certainly not protected against reading. Never true for a protected file, true for most others, at a
 * fraction of the cost of {@link classifyPath}. For walks.
 */
export function isOrdinaryFile(path: LogicalPath): boolean {
  let slash = path.length - 1
  let dot = -1
  for (; slash >= 0; slash--) {
    const unit = path.charCodeAt(slash)
    if (unit === SLASH) break
    if (unit > LAST_PLAIN) return false
    if (unit === DOT && dot === -1) dot = slash
  }
  if (dot === -1 || headStarts.has(path.charCodeAt(slash + 1) | 0x20)) return false
  if (directoryOf(path, slash).unlessSource.rank >= strictness.secret) return false
  const ending = path.slice(dot)
  return surelyReadable.has(ending) || (mostlyReadable.has(ending) && !byName.has(path.slice(slash + 1).toLowerCase()))
}

/** Classifies a directory by its path: `DIRECTORY`, or the protection of the entries below it. */
export function classifyDirectory(path: LogicalPath): Classification {
  const { rank, classification } = judgeDirectory(path).unlessSource
  return rank === 0 ? directoryClassification : classification
}

/** Refines a classification by name with the content: binary bytes, or a comment that marks generated code. */
export function classifyContent(byName: Classification, bytes: Uint8Array): Classification {
  const { protection } = byName
  if (protection === 'git' || protection === 'secret') return byName
  if (looksBinary(bytes)) return protection === 'binary' ? byName : binaryVariant(byName)
  if (protection === 'binary') return unknownText
  if (protection !== undefined) return byName
  return hasGeneratedMarker(decodeCommentText(bytes), byName.kind) ? generatedByMarker : byName
}

/**
 * Returns the path that Windows or HFS+ stores for a path, if it differs (trailing dots and spaces, ignorable code points,
 * short names such as `git~1`, device names). A path whose stored form is protected is refused everywhere; a backend that
 * alters names refuses any path with such a form. For a device name, the returned form is not a valid path.
 */
export function normalizedName(path: LogicalPath): LogicalPath | undefined {
  if (!mayBeAltered(path)) return undefined
  const names = path.split('/').map((name) => alterName(name, expandShortName))
  const altered = names.filter((name) => name !== '').join('/')
  return altered === path ? undefined : (altered as LogicalPath)
}

/** The classification of a name, without the directories above it. */
interface Finding {
  readonly classification: Classification
  /** Strictness of its protection; 0 without protection. */
  readonly rank: number
  /** Whether it is source code, which some rows do not protect. */
  readonly isSource: boolean
}

/** The protections of the entries of a directory. */
interface DirectoryFinding {
  readonly folded: string
  readonly always: Finding
  /** At least as strict as `always`. */
  readonly unlessSource: Finding
}

const kinds: Readonly<Record<Protection, FileKind>> = {
  git: 'GIT_INTERNAL',
  secret: 'SECRET_LIKE',
  generated: 'GENERATED',
  vendored: 'VENDORED',
  lockfile: 'LOCKFILE',
  binary: 'BINARY',
  mode: 'UNKNOWN',
}

const strictness: Readonly<Record<Protection, number>> = {
  git: 6,
  secret: 5,
  generated: 4,
  vendored: 3,
  lockfile: 2,
  binary: 1,
  mode: 0,
}

function protectedFinding(row: ProtectionRow): Finding {
  const { protection, reason } = row
  const hint = row.hint ?? 'The file is protected as a secret; do not retry, work without its content.'
  const classification: Classification = Object.freeze({
    kind: kinds[protection],
    readable: protection !== 'git' && protection !== 'secret' && protection !== 'binary',
    writable: protection === 'binary',
    redacted: protection === 'secret',
    reason,
    protection,
    hint,
  })
  return { classification, rank: strictness[protection], isSource: false }
}

function ordinary(kind: FileKind, reason: string): Finding {
  const classification = Object.freeze({ kind, readable: true, writable: true, redacted: false, reason })
  return { classification, rank: 0, isSource: kind === 'TEXT_SOURCE' }
}

const textFindings: Readonly<Record<TextKind, Finding>> = {
  TEXT_SOURCE: ordinary('TEXT_SOURCE', 'it is source code by its name'),
  TEXT_CONFIG: ordinary('TEXT_CONFIG', 'it is configuration or data by its name'),
  TEXT_DOC: ordinary('TEXT_DOC', 'it is documentation by its name'),
}
const unknown = ordinary('UNKNOWN', 'its name says nothing about its content')
const unknownText = ordinary('UNKNOWN', 'it is text, although its name suggests otherwise').classification
const directoryClassification = ordinary('DIRECTORY', 'it is a directory').classification
const generatedByMarker = protectedFinding({
  protection: 'generated',
  reason: 'a comment at its top marks it as generated',
  hint: 'Change the source that it is generated from and run the generator.',
}).classification

function stricter(one: Finding, other: Finding): Finding {
  return other.rank > one.rank ? other : one
}

/** A protection of a name below certain directories; `''` means any directory. */
interface NameMatcher {
  readonly below: string
  readonly finding: Finding
  readonly sourcesApart: boolean
}

/** The facts about a whole name: the kind of unprotected files of that name, and the rows that contain it. */
interface NameFacts {
  readonly ordinary: Finding
  readonly matchers: readonly NameMatcher[]
}

// Lookup maps of the table: whole names, `head.*`, the words of `*.word.*`, and extensions.
const byName = new Map<string, NameFacts>()
const byHead = new Map<string, NameMatcher>()
const headStarts = new Set<number>()
const byWord = new Map<string, Finding>()
const byEnding = new Map<string, Finding>()
const byDirectory = new Map<string, NameMatcher[]>()
const excepted = new Set<string>()
const shortNames = new Map<string, string>()

for (const row of protections) {
  const finding = protectedFinding(row)
  const sourcesApart = row.sourcesApart === true
  for (const pattern of words(row.files)) {
    if (/^\*\..+\.\*$/.test(pattern)) byWord.set(pattern.slice(2, -2), finding)
    else if (pattern.startsWith('*.')) byEnding.set(pattern.slice(1), finding)
    else if (pattern.endsWith('.*')) {
      byHead.set(pattern.slice(0, -2), { below: '', finding, sourcesApart })
      headStarts.add(pattern.charCodeAt(0))
      shortNames.set(`${shortNameKey(pattern.slice(0, -2))}*`, pattern.slice(0, -2))
    } else {
      const [name, matcher] = nameMatcher(pattern, finding, sourcesApart)
      byName.set(name, { ordinary: unknown, matchers: [...(byName.get(name)?.matchers ?? []), matcher] })
    }
  }
  for (const pattern of words(row.directories)) {
    const [name, matcher] = nameMatcher(pattern, finding, sourcesApart)
    byDirectory.set(name, [...(byDirectory.get(name) ?? []), matcher])
  }
  for (const name of words(row.except)) excepted.add(name)
}

for (const [name, kind] of kindByName) {
  byName.set(name, { ordinary: textFindings[kind], matchers: byName.get(name)?.matchers ?? [] })
}

/** Extensions of text: those without a name that is protected against reading, and those with such names. */
const surelyReadable = new Set([...kindByExtension.keys()].map((extension) => `.${extension}`))
const mostlyReadable = new Set<string>()
for (const [ending, { rank }] of byEnding) if (rank >= strictness.secret) surelyReadable.delete(lastExtension(ending))
for (const [name, { matchers }] of byName) {
  const ending = lastExtension(name)
  if (!matchers.some(({ finding }) => finding.rank >= strictness.secret) || !surelyReadable.has(ending)) continue
  surelyReadable.delete(ending)
  mostlyReadable.add(ending)
}

function lastExtension(name: string): string {
  return name.slice(Math.max(0, name.lastIndexOf('.')))
}

function words(list: string | undefined): string[] {
  return list === undefined ? [] : list.split(/\s+/)
}

function nameMatcher(pattern: string, finding: Finding, sourcesApart: boolean): [name: string, matcher: NameMatcher] {
  for (const part of pattern.split('/')) {
    const key = shortNameKey(part)
    // Two names may share a short name. The first row is the stricter one.
    if (needsShortName(part) && !shortNames.has(key)) shortNames.set(key, part)
  }
  const slash = pattern.lastIndexOf('/')
  return [pattern.slice(slash + 1), { below: slash === -1 ? '' : pattern.slice(0, slash), finding, sourcesApart }]
}

function needsShortName(name: string): boolean {
  return !/^[^.]{1,8}(?:\.[^.]{1,3})?$/.test(name)
}

function expandShortName(name: string): string | undefined {
  const short = parseShortName(name)
  if (short === undefined) return undefined
  const whole = shortNames.get(`${short.stem}~${short.extension}`)
  if (whole !== undefined) return whole
  const head = shortNames.get(`${short.stem}~*`)
  return head === undefined || short.extension === '' ? undefined : `${head}.${short.extension}`
}

/** Classifies a folded name in a folded directory. */
function judgeName(name: string, directory: string): Finding {
  const start = name.indexOf('.')
  const ending = judgeEnding(start === -1 ? '' : name.slice(start))
  let result = ending.finding
  const facts = byName.get(name)
  if (facts !== undefined) {
    if (facts.ordinary !== unknown) result = stricter(facts.ordinary, result)
    for (const { below, finding } of facts.matchers) if (endsBelow(directory, below)) result = stricter(result, finding)
  }
  if (headStarts.has(name.charCodeAt(0))) {
    const dot = name.indexOf('.', 1)
    const head = dot === -1 ? undefined : byHead.get(name.slice(0, dot))
    if (head !== undefined && !excepted.has(name) && !(head.sourcesApart && result.isSource)) {
      result = stricter(result, head.finding)
    }
  }
  return ending.backup === 0 ? result : withOriginal(result, name.slice(0, -ending.backup), directory)
}

/** Protects a backup copy of a secret like the original. */
function withOriginal(copy: Finding, name: string, directory: string): Finding {
  const original = judgeName(name, directory)
  return original.rank === strictness.secret ? stricter(copy, original) : copy
}

function judgeSpellings(name: string, directory: string): Finding {
  const folded = foldName(alterName(name, expandShortName))
  const finding = judgeName(folded, directory)
  return folded.endsWith('~') ? withOriginal(finding, folded.slice(0, -1), directory) : finding
}

interface Ending {
  readonly finding: Finding
  /** Length of a suffix that only marks a backup copy. */
  readonly backup: number
}

const endings = new Map<string, Ending>()

/** Classifies all extensions of a name together. Cached, because a tree has few. */
function judgeEnding(ending: string): Ending {
  const cached = endings.get(ending)
  if (cached !== undefined) return cached
  let finding = unknown
  const parts = ending.split('.')
  const last = ending.slice(ending.lastIndexOf('.') + 1)
  const kind = kindByExtension.get(last)
  if (kind !== undefined) finding = textFindings[kind]
  for (let i = 1; i < parts.length; i++) {
    const word = i < parts.length - 1 ? byWord.get(parts[i] as string) : undefined
    // No row has more than two extensions.
    const tail = i >= parts.length - 2 ? byEnding.get(`.${parts.slice(i).join('.')}`) : undefined
    if (word !== undefined) finding = stricter(finding, word)
    if (tail !== undefined) finding = stricter(finding, tail)
  }
  const judged: Ending = { finding, backup: BACKUPS.has(last) ? last.length + 1 : 0 }
  remember(endings, ending, judged)
  return judged
}

const BACKUPS: ReadonlySet<string> = new Set(['bak', 'backup', 'old', 'orig', 'save', 'swp'])

const DOT = 0x2e
const SLASH = 0x2f

const rootDirectory: DirectoryFinding = { folded: '', always: unknown, unlessSource: unknown }
const directories = new Map<string, DirectoryFinding>()

let lastPath = ''
let last = rootDirectory

/** Returns the directory of a path. In a walk this is mostly the directory of the previous path, which needs no lookup. */
function directoryOf(path: string, slash: number): DirectoryFinding {
  if (slash === -1) return rootDirectory
  if (slash !== lastPath.length || !path.startsWith(lastPath)) {
    lastPath = path.slice(0, slash)
    last = judgeDirectory(lastPath)
  }
  return last
}

/** Returns the protections of the entries of a directory, by the names of all directories in its path. */
function judgeDirectory(path: string): DirectoryFinding {
  if (path === '') return rootDirectory
  const cached = directories.get(path)
  if (cached !== undefined) return cached
  const slash = path.lastIndexOf('/')
  const parent = slash === -1 ? rootDirectory : directories.get(path.slice(0, slash))
  let judged = parent ?? rootDirectory
  // Without a cached parent, a loop over all names from the root: no recursion for deep paths.
  if (parent === undefined) for (const name of path.split('/')) judged = descend(judged, name)
  else judged = descend(parent, path.slice(slash + 1))
  remember(directories, path, judged)
  return judged
}

function descend({ folded, always, unlessSource }: DirectoryFinding, name: string): DirectoryFinding {
  const lower = name.toLowerCase()
  const spelled = isPlainName(name) ? lower : foldName(alterName(name, expandShortName))
  // An unusual name is also looked up unchanged, because some disks alter nothing.
  for (const candidate of spelled === lower ? [lower] : [lower, spelled]) {
    for (const { below, finding, sourcesApart } of byDirectory.get(candidate) ?? []) {
      if (!endsBelow(folded, below)) continue
      if (!sourcesApart) always = stricter(always, finding)
      unlessSource = stricter(unlessSource, finding)
    }
  }
  const joined = folded === '' || spelled === '' ? folded + spelled : `${folded}/${spelled}`
  return { folded: joined, always, unlessSource }
}

function endsBelow(directory: string, below: string): boolean {
  if (below === '') return true
  return directory.endsWith(below) && (directory.length === below.length || directory.at(-below.length - 1) === '/')
}

/** Adds a cache entry. Empties a full cache, because untrusted names must not make it grow without bound. */
function remember<V>(memory: Map<string, V>, key: string, value: V): void {
  if (memory.size >= 10_000) memory.clear()
  memory.set(key, value)
}

const binaryVariants = new Map<Classification, Classification>()

/** Returns a classification for binary content: not readable as text, with the same protection if it has one. */
function binaryVariant(byName: Classification): Classification {
  const cached = binaryVariants.get(byName)
  if (cached !== undefined) return cached
  const variant: Classification = Object.freeze({
    ...byName,
    kind: 'BINARY',
    readable: false,
    ...(byName.protection === undefined
      ? { reason: 'it is binary', protection: 'binary', hint: errorHints.UNSUPPORTED_BINARY }
      : {}),
  })
  // Bounded, because classifications by name are shared objects, one per row. Others are not cached.
  if (binaryVariants.size < 100) binaryVariants.set(byName, variant)
  return variant
}
