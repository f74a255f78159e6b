import { ToolError } from '../errors.ts'
import { withoutEndSlashes } from '../util/slashes.ts'

/**
 * Parses the address of a remote repository.
 *
 * @throws ToolError `INVALID_INPUT` for an address that is not of HTTP, or holds a name, a password, a query or a fragment
 */
export function parseRemoteUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw invalid('only http and https addresses can be reached', 'Use the http or https address of the repository.')
  }
  // Also an empty name, which the parsed address does not show.
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/]*@/.test(address)) {
    const hint = 'Give the credentials by git({ credentials }), so that no configuration, record or message holds them.'
    throw invalid('an address must hold no name and no password', hint)
  }
  if (url.search !== '' || url.hash !== '') {
    throw invalid('an address must hold no query and no fragment', 'Use the address of the repository alone.')
  }
  return url
}

function invalid(reason: string, hint: string): ToolError {
  return new ToolError('INVALID_INPUT', `Cannot use the remote: ${reason}`, { field: 'url', hint })
}

/** Returns the address of a file of the remote repository, for requests. */
export function remoteFile(url: URL, name: string): URL {
  return new URL(`${withoutEndSlashes(url.href)}/${name}`)
}

/** Returns the address through a proxy, in the form that isomorphic-git uses. */
export function throughProxy(url: URL, corsProxy: string | undefined): URL {
  if (corsProxy === undefined) return url
  const address = corsProxy.endsWith('?') ? url.href : `/${url.href.replace(/^https?:\/\//, '')}`
  if (URL.canParse(corsProxy + address)) return new URL(corsProxy + address)
  throw invalid('the proxy has no valid address', 'Pass the URL prefix of the proxy.')
}
