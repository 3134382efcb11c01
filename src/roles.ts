/** The roles of people who run the site. Each role includes the ones before it. */
export const roles = ['viewer', 'analyst', 'operator', 'administrator'] as const

export type Role = (typeof roles)[number]

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

/** How the owner of an account proved it: at the provider of the organization, or here. */
type Proof = 'provider' | 'password' | 'token'

/** What the settings say about roles. */
export type RoleRules = {
  isSecondStepRequired: boolean
  /** Set if roles come from the provider of the organization, except those of these accounts. */
  oidc: { localAccounts: readonly string[] } | undefined
}

/** An account with its role. `roleUntil`: the provider gave the role, which holds until then. */
type RoleHolder = { email: string; role: Role | null; roleUntil: Date | null; hasTotp: boolean }

/**
 * The role that an account may use. A role of the provider needs a sign-in there, or a token. If
 * there is a provider, roles that were given here count only for the accounts that the settings
 * name. If the site requires a second step, such an account without one has at most the rights of
 * an analyst; the provider asks for second factors itself.
 */
export function usableRole(
  { email, role, roleUntil, hasTotp }: RoleHolder,
  { isSecondStepRequired, oidc }: RoleRules,
  { proof, now }: { proof: Proof; now: Date },
): Role | null {
  if (roleUntil) return proof !== 'password' && now < roleUntil ? role : null
  if (oidc && !oidc.localAccounts.includes(email)) return null
  return isSecondStepRequired && !hasTotp ? lesserRole(role, 'analyst') : role
}
