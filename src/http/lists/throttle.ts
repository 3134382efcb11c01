/** Says whether somebody may have so much more now, else after how many seconds. */
export type Throttle = (asker: string, now: Date, amount?: number) => number | undefined

/**
 * Lets everybody ask `perMinute` times a minute, counted anew each minute, by this process alone.
 * It remembers at most `askersMax` of them; past that, who is new waits for the next minute's turn
 * with all other new ones.
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
    const who = counts.has(asker) || counts.size < askersMax ? asker : ''
    const count = (counts.get(who) ?? 0) + amount
    counts.set(who, count)
    const isAllowed = count <= (who === '' ? perMinute * 10 : perMinute)
    return isAllowed ? undefined : Math.ceil(60 - ((now.getTime() / 1_000) % 60))
  }
}
