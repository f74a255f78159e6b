import { withoutEndSlashes } from '../../src/util/slashes.ts'

/** A repository on GitHub, or on a server of its kind. */
export interface GithubAddress {
  readonly owner: string
  readonly repo: string
  /** Branch, tag or commit. */
  readonly ref?: string
  /** Address of the API. */
  readonly api: string
  /** Address of the raw files, which need no API; undefined for a server of one's own. */
  readonly raw?: string
}

/** Names as GitHub allows them. */
const NAME = /^[\w.-]+$/

/**
 * Recognizes `owner/repo`, the address of a repository on github.com, and that of one of its branches (`…/tree/main`).
 * Returns undefined for anything else.
 */
export function githubAddress(text: string): GithubAddress | undefined {
  const path = text.trim().replace(/^(?:(?:https?:\/\/)?(?:www\.)?github\.com\/|git@github\.com:|github:)/i, '')
  if (/^[a-z]+:\/\//i.test(path) || path.includes('@')) return undefined
  const [owner = '', name = '', kind, ...rest] = withoutEndSlashes(path.replace(/[?#].*/s, '')).split('/')
  const repo = name.replace(/\.git$/, '')
  if (!NAME.test(owner) || !NAME.test(repo) || repo === '.' || repo === '..') return undefined
  if (kind !== undefined && kind !== 'tree' && kind !== 'commit') return undefined
  const ref = rest.join('/')
  return {
    owner,
    repo,
    ...(ref === '' ? {} : { ref }),
    api: 'https://api.github.com',
    raw: 'https://raw.githubusercontent.com',
  }
}
