/** Copies a text. Returns what a person is told: `done`, or that it did not work. */
export async function copyText(text: string, done: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text)
    return done
  } catch {
    return 'Not copied: the browser refused it'
  }
}
