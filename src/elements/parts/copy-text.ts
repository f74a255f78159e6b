/** Copies a text. Returns `done`, or a sentence for the person if the browser refuses to copy. */
export async function copyText(text: string, done: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text)
    return done
  } catch {
    return 'Not copied: the browser refused it'
  }
}
