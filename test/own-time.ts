/**
 * CPU time of this process in milliseconds, so that other processes on the machine do not count. Runtimes without it
 * use the clock. For generous limits on complexity only; measurements are in `bench/`.
 */
export function ownTime(): number {
  const usage = globalThis.process?.cpuUsage?.()
  return usage === undefined ? performance.now() : (usage.user + usage.system) / 1000
}
