/**
 * Milliseconds of work that this process has done so far, so that what else runs on a machine does not count; by the clock
 * where a runtime does not tell. For bounds that only something of another order can break: figures belong to `bench/`.
 */
export function ownTime(): number {
  const usage = globalThis.process?.cpuUsage?.()
  return usage === undefined ? performance.now() : (usage.user + usage.system) / 1000
}
