const endings = new Set<() => Promise<void>>()
let isWatching = false

/**
 * Ends something, for example a server, even when a signal ends the benchmark itself. Call the
 * returned function when it is no longer needed.
 */
export function endAlways(end: () => Promise<void>): () => Promise<void> {
  if (!isWatching) {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, endAll)
    isWatching = true
  }
  let ending: Promise<void> | undefined
  const once = () => (ending ??= end().finally(() => endings.delete(once)))
  endings.add(once)
  return once
}

function endAll(): void {
  const ending = [...endings].toReversed().map((end) => end())
  void Promise.allSettled(ending).then(() => process.exit(1))
}
