import path from 'node:path'
import { z } from 'zod'
import { UsageError } from './errors.ts'
import {
  entriesOf,
  fraction,
  isSafeUrl,
  readAddresses,
  readBlocks,
  readKeepRule,
  readQuietHours,
  readRoles,
  readScope,
  readSecrets,
  readServers,
  score,
  wholeNumber,
} from './settings.ts'

const port = wholeNumber(0, 65_535)
const count = wholeNumber(1, Number.MAX_SAFE_INTEGER)
const httpUrl = z.url({ protocol: /^https?$/, error: 'is not an http or https address' })
const NOT_SAFE = 'is not an https address without a password'
/** With plain http, an attacker on the network could choose the recipients of our reports. */
const registries = z.string().refine((text) => text === 'none' || isSafeUrl(text), {
  error: `${NOT_SAFE}, and not "none"`,
})
const TABLES = /^(\s*[\w.-]{1,100}=(https:\/\/|http:\/\/127\.0\.0\.1:|\/)\S+)*\s*$/
const mailDomain = z.string().regex(/^[a-z0-9.-]+$/i, 'is not a domain name')

/**
 * Every environment variable that the program reads, with its default. `.env.example` lists the
 * same variables with their meaning; a test compares the two.
 */
const variables = z.object({
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'is not a postgres:// address' })
    .optional(),
  DATABASE_DIRECT_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'is not a postgres:// address' })
    .optional(),
  DB_BACKEND: z.enum(['postgres', 'citus']).default('postgres'),
  DATA_DIR: z.string().default('var'),
  SIGN_UP: z.enum(['open', 'closed']).default('open'),
  SECOND_STEP: z.enum(['optional', 'required']).default('optional'),
  FOUR_EYES: z.enum(['off', 'required']).default('off'),
  OIDC_ISSUER: z.string().refine(isSafeUrl, { error: NOT_SAFE }).optional(),
  OIDC_CLIENT_ID: z.string().max(500).optional(),
  OIDC_CLIENT_SECRET: z.string().max(1_000).optional(),
  OIDC_CLIENT_AUTH: z.enum(['post', 'basic']).default('post'),
  OIDC_NAME: z.string().max(60).optional(),
  OIDC_SCOPES: z.string().max(500).default('openid email profile'),
  OIDC_ROLES_CLAIM: z.string().max(200).default('groups'),
  OIDC_ROLES: z.string().default('').transform(readRoles),
  OIDC_ROLE_HOURS: wholeNumber(1, 720).default(12),
  OIDC_MAIL_DOMAINS: z.string().default(''),
  OIDC_LOCAL_ACCOUNTS: z.string().default('').transform(readAddresses),
  OPERATOR_NAME: z.string().max(200).optional(),
  OPERATOR_CONTACT: z.string().max(300).optional(),
  HTTP_HOST: z.string().default('127.0.0.1'),
  HTTP_PORT: port.default(8080),
  PUBLIC_URL: httpUrl.optional(),
  TRUSTED_PROXIES: z.string().default('none').transform(readBlocks),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'is not an smtp:// or smtps:// address' })
    .optional(),
  SENDING_ADDRESSES: z.string().default('').transform(readBlocks),
  MAIL_FROM: z
    .email({ error: 'is not a valid email address' })
    .default('feedback@signalpost.example'),
  DKIM_DOMAIN: mailDomain.optional(),
  DKIM_SELECTOR: mailDomain.optional(),
  DKIM_KEY_FILE: z.string().optional(),
  RETURN_PATH_DOMAIN: mailDomain.default('bounces.signalpost.example'),
  FEEDBACK_HOURLY_MAX: count.default(100),
  PAGE_NOTICES_DAILY_MAX: wholeNumber(0, 1_000_000).default(300),
  SECRET: z.string().min(32, 'is shorter than 32 characters').optional(),
  SECRET_PREVIOUS: z.string().default('').transform(readSecrets),
  RECEIVE_HOST: z.string().default('127.0.0.1'),
  RECEIVE_PORT: port.default(2525),
  RECEIVE_PROTOCOL: z.enum(['smtp', 'lmtp']).default('smtp'),
  RECEIVE_PROXIES: z.string().default('none').transform(readBlocks),
  RECEIVE_TLS_CERT_FILE: z.string().optional(),
  RECEIVE_TLS_KEY_FILE: z.string().optional(),
  CHECK_HOST: z.string().default('127.0.0.1'),
  CHECK_PORT: port.optional(),
  CHECK_PROXIES: z.string().default('none').transform(readBlocks),
  CHECK_PASSWORD: z.string().min(8, 'is shorter than 8 characters').optional(),
  CHECK_REJECT_SCORE: score().default(15),
  CHECK_GREYLIST_SCORE: score().optional(),
  CHECK_MILTER_HOST: z.string().default('127.0.0.1'),
  CHECK_MILTER_PORT: port.optional(),
  CHECK_MILTER_REJECT: z.enum(['reject', 'quarantine']).default('reject'),
  CHECK_MILTER_FIRST_FILTER: z.enum(['mark', 'reject']).default('mark'),
  FORWARD_TO: z.enum(['any', 'enrolled']).default('any'),
  FORWARD_SCOPE: z.string().default('').transform(readScope),
  ORIGIN_CONFIDENCE_MIN: fraction().default(0.7),
  MESSAGE_AGE_MAX: wholeNumber(0, 876_000).default(168),
  WORKERS: wholeNumber(1, 64).optional(),
  RDAP_BOOTSTRAP_URL: registries.default('https://data.iana.org/rdap'),
  NETWORK_TABLES: z
    .string()
    .regex(TABLES, 'is not like "a=https://example.org/a b=/b"')
    .default(''),
  DNS_SERVERS: z.string().default('').transform(readServers),
  BLACKLISTS: z.string().default(''),
  LISTS_DIR: z.string().optional(),
  LISTS_ZONE: mailDomain.default('lists.signalpost.example'),
  WEBHOOK_NETWORKS: z.string().default('').transform(readBlocks),
  ALARM_MAIL: z.string().default('').transform(readAddresses),
  ALARM_SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'is not an smtp:// or smtps:// address' })
    .optional(),
  ALARM_WEBHOOK_URL: httpUrl.optional(),
  ALARM_FILE: z.string().optional(),
  ALARM_COMMAND: z.string().optional(),
  ALARM_HEARTBEAT_URL: httpUrl.optional(),
  ALARM_QUIET_HOURS: z.string().default('').transform(readQuietHours),
  SECURITY_CONTACT: z
    .url({ protocol: /^(https|mailto|tel)$/, error: 'is not an https:, mailto: or tel: address' })
    .optional(),
  SECURITY_POLICY_URL: z.url({ protocol: /^https$/, error: 'is not an https address' }).optional(),
  LISTS_PUBLIC: z.enum(['yes', 'no']).default('no'),
  LISTS_PAGES_DELAY_HOURS: wholeNumber(0, 8_760).default(4),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  MESSAGE_BYTES_MAX: count.default(25_000_000),
  BACKUP_DIR: z.string().optional(),
  BACKUP_DAILY: z.enum(['yes', 'no']).default('no'),
  BACKUP_RECIPIENT: z.string().startsWith('age1', 'is not like "age1…"').optional(),
  BACKUP_KEEP: z.string().default('7,4,6').transform(readKeepRule),
  SPOOL_DIR: z.string().optional(),
  SPOOL_MEGABYTES: wholeNumber(0, 1_000_000).default(4_000),
  MAIN_URL: z.string().refine(isSafeUrl, { error: NOT_SAFE }).optional(),
  FRONT_KEY: z.string().min(32, 'is shorter than 32 characters').optional(),
  RETENTION_DAYS: count.default(400),
  DATABASE_CONNECTIONS: wholeNumber(1, 500).default(10),
  DRAIN_SECONDS: wholeNumber(0, 60).optional(),
  FORM_WAIT_SECONDS: wholeNumber(0, 10).default(1),
})

type Variables = z.infer<typeof variables>

/** The OpenID provider of the organization, and what its people may do here. */
function oidcOf(read: Variables) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = read
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return undefined
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    throw new UsageError([
      'To sign in by the organization, OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are ' +
        'all needed: set all three or none (see .env.example)',
    ])
  }
  if (read.OIDC_LOCAL_ACCOUNTS.length === 0) {
    throw new UsageError([
      'OIDC_ISSUER also needs OIDC_LOCAL_ACCOUNTS: the address of an administrator who signs in ' +
        'here while the provider is away (see .env.example)',
    ])
  }
  return {
    ...{ issuer, clientId, clientSecret },
    /** How the secret is sent to the provider. */
    clientAuth: read.OIDC_CLIENT_AUTH,
    /** What the button calls the provider. */
    name: read.OIDC_NAME ?? new URL(issuer).hostname,
    scopes: read.OIDC_SCOPES,
    /** The claim with the groups of a person, and the role that each group gives. */
    ...{ rolesClaim: read.OIDC_ROLES_CLAIM, roles: read.OIDC_ROLES },
    /** Milliseconds for which a role holds that the provider does not confirm again. */
    roleMs: read.OIDC_ROLE_HOURS * 3_600_000,
    /** Domains whose addresses are confirmed if the provider does not say whether they are. */
    mailDomains: entriesOf(read.OIDC_MAIL_DOMAINS.toLowerCase()),
    /** Addresses, in lower case, of the accounts whose roles are given here. */
    localAccounts: read.OIDC_LOCAL_ACCOUNTS.map((address) => address.toLowerCase()),
  }
}

function signing(read: Variables, cwd: string) {
  const { DKIM_DOMAIN: domain, DKIM_SELECTOR: selector, DKIM_KEY_FILE: file } = read
  if (domain === undefined && selector === undefined && file === undefined) return undefined
  if (domain === undefined || selector === undefined || file === undefined) {
    throw new UsageError([
      'To sign mail, DKIM_DOMAIN, DKIM_SELECTOR and DKIM_KEY_FILE are all needed: set all ' +
        'three or none (see .env.example)',
    ])
  }
  const keyFile = path.resolve(cwd, file)
  return { domain: domain.toLowerCase(), selector: selector.toLowerCase(), keyFile }
}

function alarmsOf(read: Variables, cwd: string) {
  const absolute = (file: string | undefined) => file && path.resolve(cwd, file)
  return {
    mailTo: read.ALARM_MAIL,
    /** The mail server for alarms; by default the one for all mail. */
    smtpUrl: read.ALARM_SMTP_URL ?? read.SMTP_URL,
    webhookUrl: read.ALARM_WEBHOOK_URL,
    /** A file to which each message is appended, and a program that gets it; absolute paths. */
    ...{ file: absolute(read.ALARM_FILE), command: absolute(read.ALARM_COMMAND) },
    /** Called each minute while nothing is critical. */
    heartbeatUrl: read.ALARM_HEARTBEAT_URL,
    quietHours: read.ALARM_QUIET_HOURS,
  }
}

function milterOf(read: Variables) {
  const { CHECK_MILTER_PORT: port } = read
  if (port === undefined) return undefined
  if (read.CHECK_PORT === undefined) {
    throw new UsageError([
      'CHECK_MILTER_PORT also needs CHECK_PORT, because the process "check" has its metrics ' +
        'there (see .env.example)',
    ])
  }
  return {
    host: read.CHECK_MILTER_HOST,
    port,
    /** What happens to mail with the action `reject`. */
    reject: read.CHECK_MILTER_REJECT,
    /** What happens to mail that the first filter settles. */
    firstFilter: read.CHECK_MILTER_FIRST_FILTER,
  }
}

function backupsOf(read: Variables, cwd: string) {
  return {
    folder: path.resolve(cwd, read.BACKUP_DIR ?? path.join(read.DATA_DIR, 'backups')),
    isScheduled: read.BACKUP_DAILY === 'yes',
    recipient: read.BACKUP_RECIPIENT,
    keep: read.BACKUP_KEEP,
  }
}

function spoolOf(read: Variables, cwd: string) {
  const folder = path.resolve(cwd, read.SPOOL_DIR ?? path.join(read.DATA_DIR, 'spool'))
  return { folder, bytesMax: read.SPOOL_MEGABYTES * 1_000_000 }
}

function frontOf(read: Variables) {
  const { MAIN_URL: mainUrl, FRONT_KEY: frontKey } = read
  if (mainUrl !== undefined && frontKey === undefined) {
    throw new UsageError(['MAIN_URL also needs FRONT_KEY (see .env.example)'])
  }
  if (mainUrl !== undefined && read.DATABASE_URL !== undefined) {
    throw new UsageError([
      'MAIN_URL is for a front, which has no database: remove DATABASE_URL or MAIN_URL',
    ])
  }
  return {
    /** The main installation of a front, without a trailing slash; undefined if it is no front. */
    mainUrl: mainUrl?.replace(/\/+$/, ''),
    /** The secret that a main installation shares with its fronts; a front always has it. */
    frontKey,
  }
}

/** A front leads to the pages of its main installation. */
function publicUrlOf({ PUBLIC_URL, MAIN_URL, HTTP_PORT }: Variables): string {
  return (PUBLIC_URL ?? MAIN_URL ?? `http://localhost:${HTTP_PORT}`).replace(/\/+$/, '')
}

/** The PostgreSQL that comes with the packages has no extensions. */
function backend({ DB_BACKEND, DATABASE_URL }: Variables) {
  if (DB_BACKEND === 'postgres' || DATABASE_URL !== undefined) return DB_BACKEND
  throw new UsageError([`DB_BACKEND=${DB_BACKEND} needs DATABASE_URL (see .env.example)`])
}

export const variableSchemas: Readonly<Record<string, z.core.$ZodType>> = variables.shape

export const variableNames: readonly string[] = Object.keys(variables.shape)

/** @throws UsageError listing all errors */
function readVariables(env: NodeJS.ProcessEnv): Variables {
  const given = Object.fromEntries(
    variableNames.flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )
  const parsed = variables.safeParse(given)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(
    ({ path: [name], message }) => `${String(name)} ${message} (see .env.example)`,
  )
  throw new UsageError(problems)
}

/**
 * Reads the settings from an environment. An empty variable counts as absent.
 *
 * @throws UsageError listing all errors
 */
export function readConfig(env: NodeJS.ProcessEnv, machine: { cores: number; cwd: string }) {
  const read = readVariables(env)
  const absolute = (file: string | undefined) => file && path.resolve(machine.cwd, file)
  return {
    databaseUrl: read.DATABASE_URL,
    /** A URL that bypasses a connection pooler, for migrations and LISTEN. */
    databaseDirectUrl: read.DATABASE_DIRECT_URL,
    /** One PostgreSQL server, or several with Citus. */
    databaseBackend: backend(read),
    /** Absolute path. */
    dataDir: path.resolve(machine.cwd, read.DATA_DIR),
    httpHost: read.HTTP_HOST,
    httpPort: read.HTTP_PORT,
    /** Without a trailing slash. */
    publicUrl: publicUrlOf(read),
    /** Whether anyone may create an account. */
    signUpIsOpen: read.SIGN_UP === 'open',
    isSecondStepRequired: read.SECOND_STEP === 'required',
    /** Whether a second person must confirm actions that delete messages or reports. */
    needsFourEyes: read.FOUR_EYES === 'required',
    /** Sign-in by the organization; undefined if all sign in here. */
    oidc: oidcOf(read),
    /** The operator on the privacy page. */
    ...{ operatorName: read.OPERATOR_NAME, operatorContact: read.OPERATOR_CONTACT },
    /** CIDR blocks of private networks that may receive webhooks. */
    webhookNetworks: read.WEBHOOK_NETWORKS,
    /** CIDR blocks of the proxies that are trusted to report the address of a client. */
    trustedProxies: read.TRUSTED_PROXIES,
    smtpUrl: read.SMTP_URL,
    /** Addresses and CIDR blocks from which the mail server sends; empty if not known. */
    sendingAddresses: read.SENDING_ADDRESSES,
    mailFrom: read.MAIL_FROM,
    /** Undefined if mail is not signed. `keyFile` is an absolute path. */
    dkim: signing(read, machine.cwd),
    /** Feedback reports per hour to an address that did not enroll and has no own limit. */
    feedbackHourlyMax: read.FEEDBACK_HOURLY_MAX,
    /** Notices a day (UTC) to those who can stop pages; with 0, none is sent. */
    pageNoticesDailyMax: read.PAGE_NOTICES_DAILY_MAX,
    returnPathDomain: read.RETURN_PATH_DOMAIN.toLowerCase(),
    /**
     * `secret` is undefined until it is created; `keptSecrets` in `processes/data-dir.ts` returns
     * it then. `previousSecrets`: earlier values, the last one first.
     */
    ...{ secret: read.SECRET, previousSecrets: read.SECRET_PREVIOUS },
    receiveHost: read.RECEIVE_HOST,
    receivePort: read.RECEIVE_PORT,
    receiveProtocol: read.RECEIVE_PROTOCOL,
    /** CIDR blocks of proxies that must send the PROXY protocol to `receive`, and to `check`. */
    ...{ receiveProxies: read.RECEIVE_PROXIES, checkProxies: read.CHECK_PROXIES },
    /** Absolute path; undefined if STARTTLS is not offered. */
    receiveTlsCertFile: absolute(read.RECEIVE_TLS_CERT_FILE),
    receiveTlsKeyFile: absolute(read.RECEIVE_TLS_KEY_FILE),
    /** The port is undefined if mail servers use the web port. */
    ...{ checkHost: read.CHECK_HOST, checkPort: read.CHECK_PORT },
    /** Undefined if only clients on this machine may send checks. */
    checkPassword: read.CHECK_PASSWORD,
    checkRejectScore: read.CHECK_REJECT_SCORE,
    /** Undefined if greylisting is disabled. */
    checkGreylistScore: read.CHECK_GREYLIST_SCORE,
    /** Where `check` speaks the milter protocol; undefined if it does not. */
    milter: milterOf(read),
    /** `forwardScope`: the networks to which reports are forwarded; undefined: all. */
    ...{ forwardTo: read.FORWARD_TO, forwardScope: read.FORWARD_SCOPE },
    /** 0 to 1; below it no feedback is sent about an origin, and the reporter is asked. */
    originConfidenceMin: read.ORIGIN_CONFIDENCE_MIN,
    /**
     * Hours since the trusted Received time; reports of older messages have no effect. 0: no limit.
     */
    messageAgeMax: read.MESSAGE_AGE_MAX,
    /** Number of parser threads, and of jobs handled in parallel. */
    workers: read.WORKERS ?? machine.cores,
    /** Undefined if registry queries are disabled. */
    rdapBootstrapUrl: read.RDAP_BOOTSTRAP_URL === 'none' ? undefined : read.RDAP_BOOTSTRAP_URL,
    /** `networkTables` are imported every night: `name=https://…` or `name=/folder`. */
    ...{ dnsServers: read.DNS_SERVERS, networkTables: entriesOf(read.NETWORK_TABLES) },
    /** Unparsed entries of the setting; `processes/blacklist-zones.ts` reads them. */
    blacklists: entriesOf(read.BLACKLISTS),
    /** Absolute path. */
    listsDir: path.resolve(machine.cwd, read.LISTS_DIR ?? path.join(read.DATA_DIR, 'lists')),
    /** The parent zone of the lists' zones. */
    listsZone: read.LISTS_ZONE.toLowerCase(),
    /** Whether anyone may download the lists. */
    listsArePublic: read.LISTS_PUBLIC === 'yes',
    /** Hours after which the public may read a confirmed page in the feeds. */
    pagesDelayHours: read.LISTS_PAGES_DELAY_HOURS,
    /** Where alarms about the health of the service are sent. */
    alarms: alarmsOf(read, machine.cwd),
    /** The contact for vulnerability reports; undefined if none is published. */
    ...{ securityContact: read.SECURITY_CONTACT, securityPolicy: read.SECURITY_POLICY_URL },
    logLevel: read.LOG_LEVEL,
    messageBytesMax: read.MESSAGE_BYTES_MAX,
    /** `folder` is an absolute path; `recipient` is a public key of age, for encryption. */
    backups: backupsOf(read, machine.cwd),
    /** `spool`: the folder for reports that are accepted while the database is away. */
    ...{ spool: spoolOf(read, machine.cwd), ...frontOf(read) },
    ...{ retentionDays: read.RETENTION_DAYS, databaseConnections: read.DATABASE_CONNECTIONS },
    /** Milliseconds for which a stopping process continues to answer HTTP requests. */
    drainMs: read.DRAIN_SECONDS === undefined ? undefined : read.DRAIN_SECONDS * 1_000,
    /**
     * Maximum time in milliseconds for which the answer of the report form waits for the analysis,
     * so that it can show the question about it.
     */
    formWaitMs: read.FORM_WAIT_SECONDS * 1_000,
  }
}

/** The validated settings of one process. */
export type Config = ReturnType<typeof readConfig>
