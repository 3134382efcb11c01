const FAILED = 1
/** Longer than every part takes to finish, shorter than the patience of service managers. */
const CLOSE_MS_MAX = 25_000

/** Resolves at SIGTERM, SIGINT, or when the supervisor is gone. Later signals change nothing. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve())
    process.on('SIGINT', () => resolve())
    if (process.channel) process.once('disconnect', () => resolve())
  })
}

/** Closes what runs, and ends the process as failed when that takes too long. */
export async function closeInTime(close: () => Promise<void>, drainMs = 0): Promise<void> {
  setTimeout(() => process.exit(FAILED), CLOSE_MS_MAX + drainMs).unref()
  await close()
  if (process.connected) process.disconnect?.()
}
