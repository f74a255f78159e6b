import { ToolError } from '../errors.ts'
import { classifyPath } from '../files/classify/index.ts'
import { isWithin, type Path, quote } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import { type Permission, revealingPermissions } from '../policy/permissions.ts'
import type { EntryType } from '../storage/backend.ts'
import { type AccessMarks, guardedAccess, notGranted } from './guard-accesses.ts'
import type { Visibility, WalkKind } from './visibility.ts'

/** What the accesses of a call grant to its draft. Every function throws `POLICY_DENIED` for a path that it does not grant. */
export interface Grants {
  /** Requires an access to the path, or to a tree around it. Returns the path, as `content` and `tree` do. */
  covered(path: Path): Path
  /** Requires an access that shows whether the path exists. `type`: the present entry, if there is one. */
  entry(path: Path, type: EntryType | undefined): void
  /** Requires an access that shows the content of the path. */
  content(path: Path): Path
  /** Returns whether an access shows the content of the path. */
  showsContent(path: Path): boolean
  /** Remembers the files that a walk of a granted tree has found visible, so that they are not evaluated again. */
  addVisible(start: Path, kind: WalkKind, paths: readonly Path[]): void
  /** Requires an access to the whole tree at the path, with one of the permissions. */
  tree(path: Path, permissions?: ReadonlySet<Permission>): Path
  /** Whether policy shows an entry, or an approval may still show it. */
  isShown(path: Path, type: EntryType): boolean
}

export interface GrantOptions {
  readonly accesses: readonly GuardedAccess[]
  readonly visibility: (kind: WalkKind | 'read') => Visibility
  /** Throws the denial of an access that policy denies. */
  readonly requireAllowed: (access: GuardedAccess) => void
  /**
   * Whether an access for `file:delete`, or for `file:info` of a file that may be read, grants content too. Built-in tools use
   * it for the hash and the kind of a file, and do not show it.
   */
  readonly describesFiles: boolean
}

/** The walk whose visibility decides what an access to a tree shows. Accesses that change a tree reach all of it. */
const kindOfPermission: Readonly<Record<Permission, WalkKind | 'all'>> = {
  'file:list': 'list',
  'file:info': 'list',
  'file:read': 'list',
  'file:search': 'search',
  'file:diff': 'diff',
  'memory:read': 'memory',
  'memory:write': 'memory',
  'command:run': 'list',
  'command:background': 'list',
  'plan:submit': 'list',
  'file:write:create': 'all',
  'file:write:replace': 'all',
  'file:append': 'all',
  'file:delete': 'all',
  'file:move': 'all',
  'file:copy': 'all',
  'file:patch:apply': 'all',
  'git:write': 'all',
  'git:push': 'list',
}

/** Permissions to change a tree: such an access reaches hidden entries too, because policy evaluates each of their changes. */
export const treePermissions: ReadonlySet<Permission> = new Set(
  (Object.keys(kindOfPermission) as Permission[]).filter((permission) => kindOfPermission[permission] === 'all'),
)

export const memoryPermissions: ReadonlySet<Permission> = new Set(['memory:read', 'memory:write'])

/** Decides by the permission of each access, and below a recursive access also by policy. */
export class AccessGrants implements Grants {
  readonly #options: GrantOptions
  readonly #exact = new Map<Path, GuardedAccess[]>()
  readonly #recursive: readonly GuardedAccess[]
  /** Paths whose content is granted, as far as they have been evaluated. */
  readonly #readable = new Set<Path>()
  readonly #visibilities = new Map<WalkKind | 'read', Visibility>()

  constructor(options: GrantOptions) {
    this.#options = options
    this.#recursive = options.accesses.filter(({ recursive }) => recursive)
    for (const access of options.accesses) {
      const others = this.#exact.get(access.path)
      if (others === undefined) this.#exact.set(access.path, [access])
      else others.push(access)
    }
  }

  covered(path: Path): Path {
    if (this.#covering(path).length === 0) throw notGranted(path)
    return path
  }

  entry(path: Path, type: EntryType | undefined): void {
    const isVisible = this.#covering(path).some((access) => {
      if (access.path === path && !isForDirectory(access)) return true
      const kind = kindOfPermission[access.permission]
      return kind === 'all' || this.#sees(kind, path, type ?? 'file')
    })
    if (!isVisible) throw notGranted(path)
  }

  content(path: Path): Path {
    if (this.showsContent(path)) return path
    const [access] = this.#covering(path)
    if (access === undefined) throw notGranted(path)
    const isRevealed = revealingPermissions.has(access.permission)
    this.#options.requireAllowed(isRevealed ? revealedAt(path, access) : accessAt(path, 'file:read'))
    const reason = `was planned for ${access.permission}, which does not grant its content`
    throw new ToolError('POLICY_DENIED', `${quote(path)} ${reason}`, { path })
  }

  addVisible(start: Path, kind: WalkKind, paths: readonly Path[]): void {
    const permission = kind === 'search' ? 'file:search' : kind === 'memory' ? 'memory:read' : undefined
    if (!this.#recursive.some((access) => access.permission === permission && isWithin(start, access.path))) return
    for (const path of paths) this.#readable.add(path)
  }

  showsContent(path: Path): boolean {
    if (this.#readable.has(path)) return true
    const shows = this.#covering(path).some((access) => this.#shows(access, path))
    if (shows) this.#readable.add(path)
    return shows
  }

  tree(path: Path, permissions?: ReadonlySet<Permission>): Path {
    const isTree = this.#recursive.some(
      (access) => isWithin(path, access.path) && (permissions === undefined || permissions.has(access.permission)),
    )
    if (!isTree) throw notGranted(path, 'recursive access')
    return path
  }

  isShown(path: Path, type: EntryType): boolean {
    // What git stores has a refusal of its own.
    if (this.#sees('list', path, type) || classifyPath(path).protection === 'git') return true
    return [accessAt(path, 'file:read'), accessAt(path, 'file:list')].every((view) => this.#isAllowed(view))
  }

  #covering(path: Path): readonly GuardedAccess[] {
    const around = this.#recursive.filter((access) => access.path !== path && isWithin(path, access.path))
    const exact = this.#exact.get(path) ?? []
    return around.length === 0 ? exact : [...exact, ...around]
  }

  /** Whether an access that covers a path shows its content. */
  #shows(access: GuardedAccess, path: Path): boolean {
    const { permission } = access
    const isExact = access.path === path
    if (permission === 'file:read') return isExact || this.#sees('read', path, 'file')
    if (permission === 'file:search') return this.#sees('search', path, 'file')
    if (permission === 'file:diff') return this.#sees('diff', path, 'file')
    if (permission === 'memory:read') return isExact || this.#sees('memory', path, 'file')
    if (revealingPermissions.has(permission)) return this.#isAllowed(revealedAt(path, access))
    if (!isExact || !this.#options.describesFiles) return false
    // A deletion records the version, and neither shows nor compares it if the file may not be read.
    return permission === 'file:delete' || (permission === 'file:info' && this.#sees('read', path, 'file'))
  }

  #sees(kind: WalkKind | 'read', path: Path, type: EntryType): boolean {
    let visible = this.#visibilities.get(kind)
    if (visible === undefined) {
      visible = this.#options.visibility(kind)
      this.#visibilities.set(kind, visible)
    }
    return visible.see(path, type)
  }

  #isAllowed(access: GuardedAccess): boolean {
    try {
      this.#options.requireAllowed(access)
      return true
    } catch {
      return false
    }
  }
}

/** Whether policy evaluates an access as one to a working directory, and not to the path itself. */
function isForDirectory({ permission }: GuardedAccess): boolean {
  return permission.startsWith('command:') || permission === 'plan:submit'
}

/** An access to one path of a tree that shows its content. */
function revealedAt(path: Path, { permission, isSource }: GuardedAccess): GuardedAccess {
  return accessAt(path, permission, { isSource, reveals: true })
}

/** The access to one path of a tree. */
function accessAt(path: Path, permission: Permission, marks: AccessMarks = {}): GuardedAccess {
  return guardedAccess(permission, path, path, classifyPath(path), marks)
}
