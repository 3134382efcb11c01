/** What a span is about: ids, codes and whole numbers, never personal data. */
export type Attributes = Readonly<Record<string, string | number | undefined>>

/**
 * A step in the way of a report, as in OpenTelemetry. The trace is the report, so that no context
 * needs to be passed on. `root`: the first step, to which all others belong.
 */
export type Span = {
  reportId: string
  name: string
  kind: 'root' | 'internal' | 'client' | 'consumer'
  /** As `performance.now()`. */
  startMs: number
  endMs: number
  attributes: Attributes
  isFailed: boolean
}

/** Spans above this number wait for the next export in vain. */
const WAITING_MAX = 4_096

/** Collects the spans of this process in memory while an exporter has turned it on. */
export function createSpans() {
  let isWanted: ((reportId: string) => boolean) | undefined
  let waiting: Span[] = []
  let dropped = 0
  return {
    /** Begins to collect the spans of the reports for which `chosen` returns true. */
    turnOn: (chosen: (reportId: string) => boolean) => void (isWanted = chosen),
    turnOff: () => void (isWanted = undefined),
    isOn: () => isWanted !== undefined,
    /** Adds a span that ends now. Does nothing while no exporter is on. */
    add(
      reportId: string,
      [name, kind, startMs]: readonly [name: string, kind: Span['kind'], startMs: number],
      attributes: Attributes = {},
      isFailed = false,
    ): void {
      if (!isWanted?.(reportId)) return
      if (waiting.length >= WAITING_MAX) return void dropped++
      const endMs = performance.now()
      waiting.push({ reportId, name, kind, startMs, endMs, attributes, isFailed })
    },
    /** Removes up to `max` spans, oldest first. */
    take: (max: number): Span[] => {
      const taken = waiting.slice(0, max)
      waiting = waiting.slice(max)
      return taken
    },
    drop: (count: number) => void (dropped += count),
    /** Number of spans that were lost since the process started. */
    dropped: () => dropped,
  }
}

/** The spans of this process, which `exportSpans` sends. */
export const spans = createSpans()
