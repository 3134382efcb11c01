/** A kind of account. The last three are rings of attackers. */
export type Role = 'honest' | 'careless' | 'lazy' | 'accusers' | 'acquitters' | 'climbers'

/** The rings, with what each wants. */
export const rings = {
  accusers: 'want a victim listed; signed up in one evening at two domains',
  acquitters: 'report their own spam as wanted; signed up one by one',
  climbers: 'want karma by campaigns of their own, later a victim listed; signed up one by one',
} as const

export type Person = {
  role: Role
  email: string
  /** Days since the start. */
  joinsAt: number
  /** How often the person reports, relative to others. */
  activity: number
  /** Known once the person has an account. */
  id?: string
}

/** The share of all accounts that each ring has. */
const RING_SHARE = 0.05
const shares = { honest: 0.75, careless: 0.9, lazy: 1 } as const
/** The share of people who sign up on the first day. */
const LAUNCH_SHARE = 0.1
const ACCUSERS_JOIN_DAY = 4.8
const EVENING_DAYS = 0.125
const ACTIVITY_MAX = 30

const freeMail = ['gmail.com', 'outlook.com', 'yahoo.com', 'gmx.de', 'mail.ru', 'free.fr'] as const

type Chance = () => number

/** Returns the people of a site with sign-up only, in the order in which they sign up. */
export function makePeople(count: number, days: number, chance: Chance): Person[] {
  const ringSize = Math.floor(count * RING_SHARE)
  const people = Array.from({ length: count }, (_, index): Person => {
    const ring = Object.keys(rings)[Math.floor(index / Math.max(1, ringSize))] as Role | undefined
    const role = ring ?? roleOf(chance())
    return {
      role,
      email: `person-${index}@${domainOf(role, chance)}`,
      joinsAt: joinsAt(role, days, chance),
      activity: Math.min(ACTIVITY_MAX, (1 - chance()) ** -0.8),
    }
  })
  return people.sort((a, b) => a.joinsAt - b.joinsAt)
}

function roleOf(share: number): Role {
  if (share < shares.honest) return 'honest'
  return share < shares.careless ? 'careless' : 'lazy'
}

function domainOf(role: Role, chance: Chance): string {
  if (role === 'accusers') return chance() < 0.5 ? 'one.example' : 'two.example'
  if (role === 'acquitters' && chance() < 0.5) return 'three.example'
  if (chance() < 0.8) return oneOf(freeMail, chance)
  return `company-${Math.floor(chance() * 300)}.example`
}

function joinsAt(role: Role, days: number, chance: Chance): number {
  if (role === 'accusers') return Math.min(ACCUSERS_JOIN_DAY, days / 2) + chance() * EVENING_DAYS
  if (role === 'climbers') return (chance() * days) / 3
  return chance() < LAUNCH_SHARE ? chance() : chance() * days
}

/** Returns one of several values at random. */
export function oneOf<Value>(values: readonly Value[], chance: Chance): Value {
  return values[Math.floor(chance() * values.length)] as Value
}

/** Returns one of several values at random, with a probability in proportion to its weight. */
export function oneByWeight<Value>(
  values: readonly Value[],
  weightOf: (value: Value) => number,
  chance: Chance,
): Value | undefined {
  let left = chance() * values.reduce((sum, one) => sum + weightOf(one), 0)
  return values.find((one) => (left -= weightOf(one)) <= 0)
}
