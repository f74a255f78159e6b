/** Joins a message and a hint as two sentences. A question mark at the end of the message stays the only mark there. */
export function joinSentences(message: string, hint: string): string {
  return `${message}${/[.?!]$/.test(message) ? '' : '.'} ${hint}`
}
