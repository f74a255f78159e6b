/**
 * Escapes every control and format character except line ends and tabs: an agent wrote the text and could otherwise move the cursor,
 * hide a part of it or reverse it.
 */
export function escapeInvisible(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (char) =>
      char === '\n' || char === '\t' ? char : `\\u{${Number(char.codePointAt(0)).toString(16)}}`,
    )
}
