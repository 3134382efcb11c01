/**
 * Counts an amount of use by a client. Returns undefined if it is within the limit, otherwise the
 * number of seconds until the client may try again.
 */
export type Throttle = (asker: string, now: Date, amount?: number) => number | undefined

/**
 * Allows each client `perMinute` uses per minute, counted anew each minute, in this process only.
 * Tracks at most `askersMax` clients; further ones share one counter with ten times the limit.
 */
export function createThrottle({
  perMinute,
  askersMax,
}: {
  perMinute: number
  askersMax: number
}): Throttle {
  const counts = new Map<string, number>()
  let minute = Number.NEGATIVE_INFINITY
  return (asker, now, amount = 1) => {
    const present = Math.floor(now.getTime() / 60_000)
    if (present !== minute) {
      counts.clear()
      minute = present
    }
    const client = counts.has(asker) || counts.size < askersMax ? asker : ''
    const count = (counts.get(client) ?? 0) + amount
    counts.set(client, count)
    const isAllowed = count <= (client === '' ? perMinute * 10 : perMinute)
    return isAllowed ? undefined : Math.ceil(60 - ((now.getTime() / 1_000) % 60))
  }
}
