import * as z from 'zod/mini'
import { quote } from '../paths/logical-path.ts'
import { compileTexts } from './match.ts'

/** The network access of commands. Only listed hosts are reachable. */
export interface NetworkPolicy {
  /**
   * Host names; `*` matches any characters. Without a port, the default port of the scheme is meant: `example.org`,
   * `*.example.org`, `localhost:8080`.
   */
  readonly hosts?: readonly string[]
}

export const networkSchema = z.strictObject({
  hosts: z.optional(z.array(z.string().check(z.minLength(1))).check(z.maxLength(10_000))),
})

/** Field names, for error messages. */
export const networkFields = ['hosts'] as const satisfies readonly (keyof NetworkPolicy)[]

/**
 * Returns a test of whether commands may reach an address. Only `http:` and `https:` are reachable.
 *
 * @throws TypeError with the field of an invalid pattern
 */
export function compileNetwork({ hosts = [] }: NetworkPolicy = {}): (url: URL) => boolean {
  const matches = compileHosts(hosts, 'network.hosts')
  return ({ protocol, host }) => (protocol === 'https:' || protocol === 'http:') && matches(host)
}

/** Spellings that no host of an address has. */
const problems: readonly { readonly test: RegExp; readonly reason: string; readonly hint: string }[] = [
  { test: /\s/u, reason: 'a host contains no space', hint: 'Remove the space.' },
  { test: /:\/\//u, reason: 'it is an address', hint: 'Write the host alone, as in example.org.' },
  { test: /[/?#@\\]/u, reason: 'it is more than a host', hint: 'Write the host alone, as in example.org.' },
  { test: /:(?:80|443)$/u, reason: 'the default port is not part of a host', hint: 'Leave the port out.' },
  { test: /^[^[]*:[^\]]*:/u, reason: 'an IPv6 address needs brackets', hint: 'Write it as in [::1]:8080.' },
  { test: /:(?![\d*]+$)(?![^[]*\])/u, reason: 'its port is not a number', hint: 'Write it as in localhost:8080.' },
  { test: /[^\x21-\x7e]/u, reason: 'hosts are in ASCII', hint: 'Write the host in its xn-- form.' },
  { test: /[$%]/u, reason: 'variables are not expanded', hint: 'Write the host itself.' },
  {
    test: /^\.|\.\.|\.(?=:|$)/u,
    reason: 'it has an empty name beside a dot',
    hint: 'Write example.org, or *.example.org for the names below it.',
  },
  {
    test: /^(?!\[[\da-f:.*]+\](?::[\d*]+)?$).*[[\]]/iu,
    reason: 'brackets are only for an IPv6 address',
    hint: 'Write it as in [::1]:8080.',
  },
  { test: /[^\w.*:[\]-]/u, reason: 'the only wildcard is *', hint: 'Write one entry for each host.' },
  { test: /:0[\d*]*$/u, reason: 'its port starts with 0', hint: 'Write it as in localhost:8080.' },
]

/** Compares a host without a wildcard with the form that it has in an address. */
function addressProblem(host: string): { readonly reason: string; readonly hint: string } | undefined {
  const port = /:([\d*]+)$/.exec(host.replace(/\[.*\]/, ''))?.[1] ?? ''
  if (Number(port.replaceAll('*', '')) > 65_535)
    return { reason: 'its port is too big', hint: 'The last port is 65535.' }
  if (host.includes('*')) return undefined
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined
  if (url?.host === host.toLowerCase()) return undefined
  if (url === undefined) return { reason: 'no address has this host', hint: 'Correct it, as in example.org.' }
  return { reason: 'addresses have another spelling of it', hint: `Write ${url.host}.` }
}

/**
 * Returns a test of whether a host, in lower case, is one of these. `*` matches any characters.
 *
 * @throws TypeError with the field of a pattern that can match no host
 */
export function compileHosts(hosts: readonly string[], field: string): (host: string) => boolean {
  for (const [index, host] of hosts.entries()) {
    const problem = problems.find(({ test }) => test.test(host)) ?? addressProblem(host)
    if (problem === undefined) continue
    throw new TypeError(
      `Policy field "${field}[${index}]" matches no host: in ${quote(host)}, ${problem.reason}. ${problem.hint}`,
    )
  }
  return compileTexts(
    hosts.map((host) => host.toLowerCase()),
    field,
  )
}
