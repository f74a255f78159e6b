/** Waits until a condition is true. Throws an error with the label after 30 seconds. */
export async function until(label: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${label}: the condition was never true`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
