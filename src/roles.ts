/** The roles of people who run the site. Each role includes the ones before it. */
export const roles = ['viewer', 'analyst', 'operator', 'administrator'] as const

export type Role = (typeof roles)[number]

/** What each role may do, for pages and documents. */
export const roleMeanings: Readonly<Record<Role, string>> = {
  viewer: 'reads the pages, reports and messages, and changes nothing',
  analyst: 'judges, corrects and answers: reputations, delistings, bans, mail from desks',
  operator: 'runs the site: queues, outgoing mail, desks, rules, models, limits',
  administrator: 'manages accounts and roles',
}

/** Whether a role permits what needs the role `needed`. Null: a reporter, who has no role. */
export function includesRole(held: Role | null, needed: Role): boolean {
  return held !== null && roles.indexOf(held) >= roles.indexOf(needed)
}

/** The roles that a role includes, itself last. */
export function rolesUpTo(held: Role | null): readonly Role[] {
  return roles.filter((role) => includesRole(held, role))
}

/** The role that permits less. */
export function lesserRole(one: Role | null, other: Role | null): Role | null {
  if (one === null || other === null) return null
  return includesRole(one, other) ? other : one
}

/**
 * The role that an account may use. If the site requires a second step, an account without one has
 * at most the rights of an analyst.
 */
export function usableRole(
  { role, hasTotp }: { role: Role | null; hasTotp: boolean },
  isSecondStepRequired: boolean,
): Role | null {
  return isSecondStepRequired && !hasTotp ? lesserRole(role, 'analyst') : role
}
