import type { Submitter } from '../../origin/forwarders.ts'
import type { TracedHop } from '../../origin/trace.ts'
import type { Phrase } from '../../phrase.ts'
import { inEnglish } from '../../texts/phrases.ts'

/** The part of an analysis that describes the route of a message. */
type Route = {
  hops: readonly TracedHop[]
  originObstacle: Phrase | null
  submitter: Submitter | null
}

/** Converts the route of a message to the API format, with English text instead of phrases. */
export function routeJson({ hops, originObstacle, submitter }: Route) {
  return {
    origin_obstacle: originObstacle && inEnglish(originObstacle),
    submitter: submitter && { ...submitter, how: inEnglish(submitter.how) },
    hops: hops.map((hop) => ({
      ...hop,
      because: hop.because && inEnglish(hop.because),
      notes: hop.notes.map((note) => ({ name: note.code, text: inEnglish(note) })),
    })),
  }
}
