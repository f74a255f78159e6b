/** Says what is wrong with the address of a server, or returns undefined for a valid one. */
export function addressFault(text: string): string | undefined {
  if (!URL.canParse(text)) return `${JSON.stringify(text)} is not an address such as http://localhost:11434/v1`
  const { protocol, username, password } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return 'The address must begin with https: or http:'
  // A password would be stored and shown with the address.
  if (username === '' && password === '') return undefined
  return 'The address must not contain a password; use the field for the key'
}
