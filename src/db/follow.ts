/** How often what is followed is looked at: half of the two seconds that a change may take. */
const LOOK_MS = 800

/**
 * Follows what stands in the database: looks now, and again 0.8 s after each look, until it is
 * closed. A look that fails changes nothing; `onFailure` hears of the first of a row.
 *
 * @throws what the first look throws
 */
export async function follow(
  look: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Promise<{ close: () => Promise<void> }> {
  let isClosed = false
  let isFailing = false
  let timer: NodeJS.Timeout | undefined
  let looking = look()
  await looking

  function lookLater(): void {
    timer = setTimeout(() => {
      looking = lookOnce()
    }, LOOK_MS)
    timer.unref()
  }

  async function lookOnce(): Promise<void> {
    try {
      await look()
      isFailing = false
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
    }
    if (!isClosed) lookLater()
  }

  lookLater()
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      await looking
    },
  }
}
