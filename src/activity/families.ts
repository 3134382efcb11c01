import { deleteFamilies } from '../db/activity.ts'
import type { Db } from '../db/pool.ts'

/** The parts of the series that are stored and shown together: the first words of their names. */
export const families = [
  ...['reports', 'networks', 'mail', 'desks', 'queues', 'checks', 'people', 'system'],
] as const

const SAMPLES = 'samples/'

/** The family that has the samples of a family, so that they can be removed. */
export function sampleFamily(family: string): string {
  return `${SAMPLES}${family}`
}

export function withSamples(some: readonly string[]): string[] {
  return some.flatMap((family) => [family, sampleFamily(family)])
}

/** Removes the activity of sample data from all graphs. */
export function deleteSampleActivity(tx: Db): Promise<void> {
  return deleteFamilies(tx, families.map(sampleFamily))
}
