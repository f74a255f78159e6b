/** Approximate number of occurrences of a byte in a million bytes of source code. */
export function frequencyOf(byte: number): number {
  return byte < 0x80 ? 64 << (MAGNITUDES.charCodeAt(byte) - 0x61) : BEYOND_ASCII
}

const BEYOND_ASCII = 256

/** By ASCII code: `a` is up to 64 in a million, `b` 128, `c` 256, … Counted in 2,500 JavaScript, TypeScript, JSON and Markdown files. */
const MAGNITUDES =
  'aaaaaaaaagjaacaaaaaaaaaaaaaaaaaalehedbeghhhehgihggfffffefehhfhgeegfgfgfdegdefffffdfggedeccffefbhfjhiikihijfgjijjiejjkiggghggfgaa'
