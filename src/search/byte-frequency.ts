/** How many of a million bytes of source code are this one, about: enough to tell the common from the rare. */
export function frequencyOf(byte: number): number {
  return byte < 0x80 ? 64 << (MAGNITUDES.charCodeAt(byte) - 0x61) : BEYOND_ASCII
}

const BEYOND_ASCII = 256

/** Counted over 2,500 files of JavaScript, TypeScript, JSON and Markdown: `a` is up to 64 in a million, `b` 128, `c` 256... */
const MAGNITUDES =
  'aaaaaaaaagjaacaaaaaaaaaaaaaaaaaalehedbeghhhehgihggfffffefehhfhgeegfgfgfdegdefffffdfggedeccffefbhfjhiikihijfgjijjiejjkiggghggfgaa'
