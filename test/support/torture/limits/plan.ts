/** The plan of a torture run of the limits. */
export type Plan = {
  url: string
  processes: number
  /** The number of concurrent attempts in one process. */
  atOnce: number
  windowMs: number
  attemptsMax: number
  /**
   * Number of keys that all processes attack at the same time. The keys are divided into groups,
   * and only one group is attacked at a time.
   */
  attackedKeys: number
  /**
   * Number of groups. Each is attacked for `attackMs` milliseconds, and then not used until all
   * others have been attacked.
   */
  groups: number
  attackMs: number
  /** Number of attempts of one process on attacked keys. */
  attempts: number
  /**
   * Number of keys with a steady stream of 59/60 of the limit, each by one process, in a separate
   * time range.
   */
  steadyKeys: number
  steadyAttempts: number
  startsAt: number
}

/** One attempt on an attacked key; times in milliseconds of this machine's clock. */
export type Tried = { key: number; sentAt: number; toldAt: number; isAdmitted: boolean }

/** The result of one process. */
export type StreamResults = {
  tried: Tried[]
  /** The number of refused attempts of steady streams. */
  steadyRefused: number
}

/** Returns the turn at a given time, and its group. */
export function turnAt(plan: Plan, at: number): { turn: number; group: number } {
  const turn = Math.floor((at - plan.startsAt) / plan.attackMs)
  return { turn, group: ((turn % plan.groups) + plan.groups) % plan.groups }
}

/** Returns the id of a reporter that represents a key. */
export function reporterOf(key: number): string {
  return `00000000-0000-7000-8000-${key.toString(16).padStart(12, '0')}`
}
