const FAILED = 1
/**
 * In milliseconds; longer than any part takes to stop, and shorter than the timeout of service
 * managers.
 */
const CLOSE_MS_MAX = 25_000

/** Resolves at SIGTERM, SIGINT, or when the supervisor ends. Later signals have no effect. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve())
    process.on('SIGINT', () => resolve())
    if (process.channel) process.once('disconnect', () => resolve())
  })
}

/**
 * Closes the process, and exits with a failure code if that takes longer than `CLOSE_MS_MAX` plus
 * `drainMs`.
 */
export async function closeInTime(close: () => Promise<void>, drainMs = 0): Promise<void> {
  setTimeout(() => process.exit(FAILED), CLOSE_MS_MAX + drainMs).unref()
  await close()
  if (process.connected) process.disconnect?.()
}
