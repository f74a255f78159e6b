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
  /** Names that the patterns of this row do not mean. */
  readonly except?: string
  /** Source code of these names is ordinary. */
  readonly sourcesApart?: true
}

/** Every built-in protection. To add one, add a row. */
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
    reason: 'it lies in a directory of keys',
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
    reason: 'it holds secrets by its name',
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
    reason: 'it lies in a directory of generated files',
    hint: 'Change the source it is made from and run the build or generator.',
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
    hint: 'Change the source it is made from and run the generator.',
    files: '*.pb.go *.generated.*',
  },
  {
    protection: 'vendored',
    reason: 'it is a vendored copy of a dependency',
    hint: 'Change the dependency at its source and update the copy, or wrap it in code of your own.',
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
    hint: 'The file is not text; file_info describes it.',
    files: `*.png *.jpg *.jpeg *.gif *.webp *.avif *.heic *.bmp *.ico *.icns *.tif *.tiff *.psd *.pdf *.zip *.gz *.tgz
      *.bz2 *.xz *.zst *.7z *.rar *.tar *.jar *.war *.class *.exe *.dll *.so *.dylib *.o *.a *.lib *.pdb *.wasm *.node
      *.pyc *.pyd *.woff *.woff2 *.ttf *.otf *.eot *.mp3 *.mp4 *.m4a *.m4v *.mov *.avi *.mkv *.webm *.ogg *.oga *.ogv
      *.wav *.flac *.sqlite *.sqlite3 *.db *.docx *.xlsx *.pptx *.odt *.ods *.odp *.epub *.iso *.dmg *.deb *.rpm *.apk
      *.parquet *.onnx *.safetensors *.npy *.npz *.bin`,
  },
]

/**
 * What a file is by its name alone. Pure, in any letter case and any spelling that a disk maps to a protected name.
 * Fast on many paths of few directories (about 0.4 µs each): what a directory means is remembered.
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
  let found: Finding = judgeName(name.toLowerCase(), directory.folded)
  if (!plain) found = stricter(found, judgeSpellings(name, directory.folded))
  return stricter(found, found.isSource ? directory.always : directory.unlessSource).classification
}

/**
 * Whether a file is surely none that is protected against being read: never true of one that is, and true of most others,
 * at a fraction of the cost of {@link classifyPath}. For walks.
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

/** What a directory is by its path: `DIRECTORY`, or what it protects below it. */
export function classifyDirectory(path: LogicalPath): Classification {
  const { rank, classification } = judgeDirectory(path).unlessSource
  return rank === 0 ? directoryClassification : classification
}

/** The classification by name, refined by what the file holds: binary content, a generated-code marker in a comment. */
export function classifyContent(byName: Classification, bytes: Uint8Array): Classification {
  const { protection } = byName
  if (protection === 'git' || protection === 'secret') return byName
  if (looksBinary(bytes)) return protection === 'binary' ? byName : binaryVariant(byName)
  if (protection === 'binary') return unknownText
  if (protection !== undefined) return byName
  return hasGeneratedMarker(decodeCommentText(bytes), byName.kind) ? generatedByMarker : byName
}

/**
 * What Windows or HFS+ would make of a path (trailing dots and spaces, ignorable code points, short names such as
 * `git~1`, device names), where that is another one. A path whose altered form is protected is refused everywhere; a
 * backend that alters names refuses any path that has one. The form of a device name is no valid path.
 */
export function normalizedName(path: LogicalPath): LogicalPath | undefined {
  if (!mayBeAltered(path)) return undefined
  const names = path.split('/').map((name) => alterName(name, expandShortName))
  const altered = names.filter((name) => name !== '').join('/')
  return altered === path ? undefined : (altered as LogicalPath)
}

/** What a name means, before the directories above it are looked at. */
interface Finding {
  readonly classification: Classification
  /** How strict its protection is; 0 for none. */
  readonly rank: number
  /** Source code, which some rows leave alone. */
  readonly isSource: boolean
}

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
const unknownText = ordinary('UNKNOWN', 'it is text, whatever its name says').classification
const directoryClassification = ordinary('DIRECTORY', 'it is a directory').classification
const generatedByMarker = protectedFinding({
  protection: 'generated',
  reason: 'a comment at its top says that it is generated',
  hint: 'Change the source it is made from and run the generator.',
}).classification

function stricter(one: Finding, other: Finding): Finding {
  return other.rank > one.rank ? other : one
}

/** A matcher that also asks for the directories right above a name; `''` for any. */
interface Placed {
  readonly below: string
  readonly finding: Finding
  readonly sourcesApart: boolean
}

/** What is known of a whole name: how ordinary files of that name are, and the rows that name it. */
interface Named {
  readonly ordinary: Finding
  readonly placed: readonly Placed[]
}

// The table, turned into maps for what is looked up: whole names, `head.*`, the words of `*.word.*`, and extensions.
const byName = new Map<string, Named>()
const byHead = new Map<string, Placed>()
const headStarts = new Set<number>()
const byWord = new Map<string, Finding>()
const byEnding = new Map<string, Finding>()
const byDirectory = new Map<string, Placed[]>()
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
      const [name, placed] = place(pattern, finding, sourcesApart)
      byName.set(name, { ordinary: unknown, placed: [...(byName.get(name)?.placed ?? []), placed] })
    }
  }
  for (const pattern of words(row.directories)) {
    const [name, placed] = place(pattern, finding, sourcesApart)
    byDirectory.set(name, [...(byDirectory.get(name) ?? []), placed])
  }
  for (const name of words(row.except)) excepted.add(name)
}

for (const [name, kind] of kindByName) {
  byName.set(name, { ordinary: textFindings[kind], placed: byName.get(name)?.placed ?? [] })
}

/** The extensions of text: where no name that is protected against being read has it, and where some have. */
const surelyReadable = new Set([...kindByExtension.keys()].map((extension) => `.${extension}`))
const mostlyReadable = new Set<string>()
for (const [ending, { rank }] of byEnding) if (rank >= strictness.secret) surelyReadable.delete(lastExtension(ending))
for (const [name, { placed }] of byName) {
  const ending = lastExtension(name)
  if (!placed.some(({ finding }) => finding.rank >= strictness.secret) || !surelyReadable.has(ending)) continue
  surelyReadable.delete(ending)
  mostlyReadable.add(ending)
}

function lastExtension(name: string): string {
  return name.slice(Math.max(0, name.lastIndexOf('.')))
}

function words(list: string | undefined): string[] {
  return list === undefined ? [] : list.split(/\s+/)
}

function place(pattern: string, finding: Finding, sourcesApart: boolean): [name: string, placed: Placed] {
  for (const part of pattern.split('/')) {
    const key = shortNameKey(part)
    // Two names may share a short one: the row that comes first is the stricter.
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

/** What a folded name means in a folded directory. */
function judgeName(name: string, directory: string): Finding {
  const start = name.indexOf('.')
  const ending = judgeEnding(start === -1 ? '' : name.slice(start))
  let found = ending.finding
  const named = byName.get(name)
  if (named !== undefined) {
    if (named.ordinary !== unknown) found = stricter(named.ordinary, found)
    for (const { below, finding } of named.placed) if (endsBelow(directory, below)) found = stricter(found, finding)
  }
  if (headStarts.has(name.charCodeAt(0))) {
    const dot = name.indexOf('.', 1)
    const head = dot === -1 ? undefined : byHead.get(name.slice(0, dot))
    if (head !== undefined && !excepted.has(name) && !(head.sourcesApart && found.isSource)) {
      found = stricter(found, head.finding)
    }
  }
  return ending.backup === 0 ? found : withOriginal(found, name.slice(0, -ending.backup), directory)
}

/** A backup copy of a secret is one too. */
function withOriginal(found: Finding, name: string, directory: string): Finding {
  const original = judgeName(name, directory)
  return original.rank === strictness.secret ? stricter(found, original) : found
}

function judgeSpellings(name: string, directory: string): Finding {
  const folded = foldName(alterName(name, expandShortName))
  const found = judgeName(folded, directory)
  return folded.endsWith('~') ? withOriginal(found, folded.slice(0, -1), directory) : found
}

interface Ending {
  readonly finding: Finding
  /** How many letters at the end only say that this is a backup copy. */
  readonly backup: number
}

const endings = new Map<string, Ending>()

/** What all extensions of a name together mean; remembered, since a tree has few. */
function judgeEnding(ending: string): Ending {
  const known = endings.get(ending)
  if (known !== undefined) return known
  let finding = unknown
  const parts = ending.split('.')
  const last = ending.slice(ending.lastIndexOf('.') + 1)
  const kind = kindByExtension.get(last)
  if (kind !== undefined) finding = textFindings[kind]
  for (let i = 1; i < parts.length; i++) {
    const word = i < parts.length - 1 ? byWord.get(parts[i] as string) : undefined
    // No row has an ending of more than two extensions.
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

/** The directory of a path: most often that of the path before, which a walk sees without a look-up. */
function directoryOf(path: string, slash: number): DirectoryFinding {
  if (slash === -1) return rootDirectory
  if (slash !== lastPath.length || !path.startsWith(lastPath)) {
    lastPath = path.slice(0, slash)
    last = judgeDirectory(lastPath)
  }
  return last
}

/** What lies in a directory, by the names of all directories down to it. */
function judgeDirectory(path: string): DirectoryFinding {
  if (path === '') return rootDirectory
  const known = directories.get(path)
  if (known !== undefined) return known
  const slash = path.lastIndexOf('/')
  const parent = slash === -1 ? rootDirectory : directories.get(path.slice(0, slash))
  let judged = parent ?? rootDirectory
  // Without a remembered parent, all names from the root down: no recursion, however deep the path.
  if (parent === undefined) for (const name of path.split('/')) judged = descend(judged, name)
  else judged = descend(parent, path.slice(slash + 1))
  remember(directories, path, judged)
  return judged
}

function descend({ folded, always, unlessSource }: DirectoryFinding, name: string): DirectoryFinding {
  const lower = name.toLowerCase()
  const spelled = isPlainName(name) ? lower : foldName(alterName(name, expandShortName))
  // An odd name is looked up as it is, too: on a disk that alters nothing it is another one.
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

/** Forgets everything when full: names come from outside, and a memory of them must not grow without bound. */
function remember<V>(memory: Map<string, V>, key: string, value: V): void {
  if (memory.size >= 10_000) memory.clear()
  memory.set(key, value)
}

const binaryVariants = new Map<Classification, Classification>()

/** Binary content under another protection keeps that one, and is no longer readable as text. */
function binaryVariant(byName: Classification): Classification {
  const known = binaryVariants.get(byName)
  if (known !== undefined) return known
  const variant: Classification = Object.freeze({
    ...byName,
    kind: 'BINARY',
    readable: false,
    ...(byName.protection === undefined
      ? { reason: 'it is binary', protection: 'binary', hint: 'The file is not text; file_info describes it.' }
      : {}),
  })
  // Bounded: classifications by name are shared, there are as many as rows. Others are not remembered.
  if (binaryVariants.size < 100) binaryVariants.set(byName, variant)
  return variant
}
