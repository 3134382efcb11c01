import type { App, WebApp } from '../app.ts'
import { insertAudit } from '../db/audit-log.ts'
import {
  claimCheck,
  findLink,
  findLinkOf,
  type OrganizationLink,
  putLink,
  removeLink,
  updateLink,
} from '../db/organization-links.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import {
  type Account,
  findAccount,
  holdReporters,
  insertReporter,
  type Reporter,
  setRole,
  updateReporterSettings,
} from '../db/reporters.ts'
import { insertKarma } from '../db/reputations.ts'
import { openBytes, sealBytes } from '../db/sealed-bytes.ts'
import { removeSessions } from '../db/sessions.ts'
import { queueAccountLetter } from '../letters/account-letters.ts'
import { includesRole, type Role, roles } from '../roles.ts'
import { uuidv7 } from '../world.ts'

/** What the provider said about a person, as `net/identity-provider.ts` returns it. */
type Identity = Extract<
  Awaited<ReturnType<NonNullable<WebApp['provider']>['finish']>>,
  { is: 'confirmed' }
>['identity']

type Needs = Pick<App, 'pool' | 'clock' | 'config'>
type OidcSettings = NonNullable<App['config']['oidc']>
type Language = NonNullable<Account['language']>

/** Time in milliseconds after which the provider is asked again whether a role holds. */
const CHECK_MS = 10 * 60_000
/** The same after a question that it did not answer. */
const RETRY_MS = 60_000

/** The highest role that the groups of a person give. */
function roleOf(
  groups: readonly string[],
  { roles: given }: Pick<OidcSettings, 'roles'>,
): Role | null {
  const held = groups.map((group) => given.get(group))
  return roles.findLast((role) => held.includes(role)) ?? null
}

/** `no-account`: there is no account, and none can be opened for this address. */
type Entrance =
  | { is: 'entered'; reporter: Pick<Reporter, 'id' | 'email'> }
  | { is: 'no-account' | 'closed' }

/**
 * Finds the account of a person who has signed in at the provider, and gives it the role of the
 * person's groups. Opens an account for a new person, if the provider vouches for the address and
 * no account has it. An account with the same address is never linked: anybody may have the address
 * at the provider.
 */
export function enterByProvider(
  app: Needs,
  identity: Identity,
  language: Language,
): Promise<Entrance> {
  return inTransaction(app.pool, async (tx) => {
    const link =
      (await findLinkOf(tx, identity)) ?? (await openAccount(tx, app, identity, language))
    if (!link) return { is: 'no-account' }
    const account = await takeIdentity(tx, app, link.reporterId, identity)
    if (!account) return { is: 'closed' }
    await updateLink(tx, { reporterId: account.id, ...nextCheck(app, account.id, identity) })
    return { is: 'entered', reporter: { id: account.id, email: account.email } }
  })
}

async function openAccount(
  tx: Db,
  app: Needs,
  identity: Identity,
  language: Language,
): Promise<Pick<OrganizationLink, 'reporterId'> | undefined> {
  const { email } = identity
  if (email === undefined || !isVouchedFor(identity, app.config.oidc)) return undefined
  const now = app.clock()
  const fresh = { id: uuidv7(now), email, role: null, passwordHash: null, createdAt: now }
  const reporterId = await insertReporter(tx, fresh)
  // Another request may have opened it for this person meanwhile.
  if (reporterId === undefined) return findLinkOf(tx, identity)
  await insertKarma(tx, { reporterId, isVouched: false, now })
  await updateReporterSettings(tx, reporterId, { language })
  await putLink(tx, newLink(app, reporterId, identity))
  return { reporterId }
}

const ADDRESS = /^[^\s<>@"'(),;:\\]{1,64}@([a-z0-9.-]{1,190}\.[a-z0-9-]{2,63})$/i

/** Whether the address at the provider surely belongs to the person. */
function isVouchedFor({ email = '', isEmailVerified }: Identity, oidc: OidcSettings | undefined) {
  const [, domain] = ADDRESS.exec(email) ?? []
  if (domain === undefined) return false
  return isEmailVerified ?? oidc?.mailDomains.includes(domain.toLowerCase()) ?? false
}

/**
 * Links the account of a signed-in owner to a person at the provider, and informs the owner by
 * letter. From then on its role comes from there. `taken`: another account is linked to the person.
 */
export function linkAccount(
  app: Needs & Pick<App, 'boss'> & { publicUrl: string },
  { id }: Pick<Reporter, 'id'>,
  identity: Identity,
): Promise<'linked' | 'taken' | 'closed'> {
  return inTransaction(app.pool, async (tx) => {
    if (!(await putLink(tx, newLink(app, id, identity)))) return 'taken'
    const account = await takeIdentity(tx, app, id, identity)
    if (!account) return 'closed'
    await queueAccountLetter(tx, 'linked', account, app)
    return 'linked'
  })
}

/**
 * Ends the link of an account, a role that came from the provider, and its sessions. False if the
 * account has no password, because nobody could sign in to it then.
 */
export function unlinkAccount(app: Needs, { id }: Pick<Reporter, 'id'>): Promise<boolean> {
  return inTransaction(app.pool, async (tx) => {
    const account = await findAccount(tx, id)
    if (account?.passwordHash === null) return false
    await removeLink(tx, id)
    if (account?.roleUntil) await changeRole(tx, app, account, null)
    await removeSessions(tx, id, undefined)
    return true
  })
}

/**
 * Asks the provider whether a person still has the role, if that was not asked lately, and takes
 * away what it no longer confirms. While the provider is away, the role holds for some hours.
 */
export async function confirmRole(
  app: Needs & Pick<WebApp, 'log' | 'provider'>,
  reporterId: string,
): Promise<void> {
  const now = app.clock()
  const next = new Date(now.getTime() + RETRY_MS)
  const link = await claimCheck(app.pool, reporterId, { now, next })
  if (!link?.refreshToken || !app.provider) return
  const token = openBytes(link.refreshToken, sealedFor(reporterId), app.config.secret)
  // It was sealed with an earlier SECRET: the person signs in again when the role ends.
  if (!token) return
  const answer = await app.provider.refresh(token.toString())
  const isSame =
    answer.is === 'confirmed' &&
    answer.identity.subject === link.subject &&
    answer.identity.issuer === link.issuer
  if (answer.is === 'confirmed' && isSame) return keepRole(app, reporterId, answer.identity)
  const reason = answer.is === 'confirmed' ? 'It names another person.' : answer.reason
  app.log.warn({ reason }, 'The provider did not confirm a role.')
  if (answer.is === 'refused' || answer.is === 'confirmed') await endRole(app, reporterId)
}

async function keepRole(app: Needs, reporterId: string, identity: Identity): Promise<void> {
  await inTransaction(app.pool, async (tx) => {
    await takeIdentity(tx, app, reporterId, identity)
    // Providers may give a new token, or let the old one be used again.
    const { refreshToken, checkAt } = nextCheck(app, reporterId, identity)
    const kept = refreshToken ?? (await findLink(tx, reporterId))?.refreshToken ?? null
    await updateLink(tx, { reporterId, refreshToken: kept, checkAt })
  })
}

/** Ends the sessions of a person whose sign-in the provider has ended. */
async function endRole(app: Needs, reporterId: string): Promise<void> {
  await inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [reporterId], 'change')
    const account = await findAccount(tx, reporterId)
    if (account?.roleUntil) await setRole(tx, reporterId, account.role, app.clock())
    await updateLink(tx, { reporterId, refreshToken: null, checkAt: app.clock() })
    await removeSessions(tx, reporterId, undefined)
  })
}

/** Gives an account the role of the person's groups; undefined if the account is not active. */
async function takeIdentity(
  tx: Db,
  app: Needs,
  reporterId: string,
  { groups }: Identity,
): Promise<Account | undefined> {
  await holdReporters(tx, [reporterId], 'change')
  const account = await findAccount(tx, reporterId)
  const { oidc } = app.config
  if (account?.state !== 'active' || !oidc) return undefined
  // The emergency administrator has the role that was given here, whatever the provider says.
  if (oidc.localAccounts.includes(account.email)) return account
  await changeRole(tx, app, account, roleOf(groups, oidc))
  return account
}

/** Stores the role that the provider gives. If it is a lower one, all sessions end. */
async function changeRole(
  tx: Db,
  { clock, config }: Needs,
  { id, role: before }: Account,
  role: Role | null,
): Promise<void> {
  const now = clock()
  const until = new Date(now.getTime() + (config.oidc?.roleMs ?? 0))
  await setRole(tx, id, role, role === null ? null : until)
  if (role === before) return
  const detail = `${id}: ${role ?? 'none'}, was ${before ?? 'none'}, by the provider`
  await insertAudit(tx, { at: now, reporterId: null, action: 'grant role', detail })
  if (before !== null && !includesRole(role, before)) await removeSessions(tx, id, undefined)
}

function newLink(app: Needs, reporterId: string, identity: Identity): OrganizationLink {
  const { issuer, subject } = identity
  const checked = nextCheck(app, reporterId, identity)
  return { reporterId, issuer, subject, linkedAt: app.clock(), ...checked }
}

function nextCheck({ clock, config }: Needs, reporterId: string, { refreshToken }: Identity) {
  const bytes = refreshToken === undefined ? undefined : Buffer.from(refreshToken)
  const sealed = bytes && sealBytes(bytes, sealedFor(reporterId), config.secret)
  return { refreshToken: sealed ?? null, checkAt: new Date(clock().getTime() + CHECK_MS) }
}

function sealedFor(owner: string) {
  return { purpose: 'refresh token', owner } as const
}
