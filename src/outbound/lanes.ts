/**
 * Which places a message is sent from: the `fast` ones get on; the `slow` ones are kept for those
 * that lately did not, so that they hold up nobody else.
 */
export type Lane = 'fast' | 'slow'

/** A place in a lane, until it is left. */
export type Place = {
  /**
   * Goes over to a slow place, whatever is free there, and gives the fast one away; false when all
   * slow ones are taken: it stays where it is, and should be given up.
   */
  slowDown: () => boolean
  leave: () => void
}

/** The places of both lanes. */
export type Lanes = {
  /** Waits for a place for at most `waitMs`; undefined when none became free. */
  enter: (lane: Lane, waitMs: number) => Promise<Place | undefined>
}

type Waiting = { resolve: (place: Place | undefined) => void; timer: NodeJS.Timeout | undefined }

/** Lanes of so many places each; who waits gets one in the order of coming. */
export function createLanes(places: Readonly<Record<Lane, number>>): Lanes {
  const taken: Record<Lane, number> = { fast: 0, slow: 0 }
  const lines: Record<Lane, Set<Waiting>> = { fast: new Set(), slow: new Set() }

  function release(lane: Lane): void {
    taken[lane]--
    for (const waiting of lines[lane]) {
      if (taken[lane] >= places[lane]) return
      lines[lane].delete(waiting)
      clearTimeout(waiting.timer)
      waiting.resolve(take(lane))
    }
  }

  function take(first: Lane): Place {
    let lane: Lane | undefined = first
    taken[first]++
    return {
      slowDown() {
        if (lane !== 'fast') return true
        if (taken.slow >= places.slow) return false
        taken.slow++
        lane = 'slow'
        release('fast')
        return true
      },
      leave() {
        if (lane !== undefined) release(lane)
        lane = undefined
      },
    }
  }

  return {
    enter(lane, waitMs) {
      if (taken[lane] < places[lane]) return Promise.resolve(take(lane))
      return new Promise((resolve) => {
        const waiting: Waiting = { resolve, timer: undefined }
        waiting.timer = setTimeout(() => {
          lines[lane].delete(waiting)
          resolve(undefined)
        }, waitMs)
        lines[lane].add(waiting)
      })
    },
  }
}
