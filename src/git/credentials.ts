import { ToolError } from '../errors.ts'
import type { Credentials, CredentialsRequest, CredentialsSource } from './provider.ts'

/** The headers that carry credentials, and the texts that no message may contain. */
interface CredentialHeaders {
  readonly headers: Record<string, string>
  readonly texts: readonly string[]
}

/**
 * Asks the program for credentials. `undefined` if it has none.
 *
 * @throws ToolError `HOOK_FAILED` if it throws or answers with anything else; the message contains nothing of it
 */
export async function credentialHeaders(
  source: CredentialsSource,
  request: CredentialsRequest,
): Promise<CredentialHeaders | undefined> {
  let given: Credentials | undefined
  try {
    given = (await source(request)) ?? undefined
  } catch {
    throw new ToolError('HOOK_FAILED', 'Cannot continue with git: the function for its credentials failed')
  }
  if (given === undefined) return undefined
  const headers = headersOf(given)
  if (headers === undefined || !Object.entries(headers).every(isHeader)) {
    throw new ToolError('HOOK_FAILED', 'Cannot continue with git: its credentials have a wrong form', {
      hint: 'Return { username, password }, { headers } or undefined.',
    })
  }
  const { username, password } = given as { username?: unknown; password?: unknown }
  const texts = [...Object.values(headers).flatMap((value) => [value, value.replace(/^\S+ /, '')]), username, password]
  // A short text occurs by chance.
  return { headers, texts: texts.filter((text): text is string => typeof text === 'string' && text.length >= 4) }
}

function headersOf(given: Credentials): Record<string, string> | undefined {
  const { username, password, headers } = given as Partial<Record<'username' | 'password' | 'headers', unknown>>
  if (typeof headers === 'object' && headers !== null) return { ...(headers as Record<string, string>) }
  if (typeof username !== 'string' || typeof password !== 'string' || username.includes(':')) return undefined
  let binary = ''
  for (const byte of new TextEncoder().encode(`${username}:${password}`)) binary += String.fromCharCode(byte)
  return { authorization: `Basic ${btoa(binary)}` }
}

/** Whether `fetch` accepts a header. Its error would show the value. */
function isHeader([name, value]: readonly [string, unknown]): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}
