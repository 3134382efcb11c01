import { expectedMigrations, findServerFacts, type ServerFacts } from '../../db/installation.ts'
import { reasonOf } from '../../errors.ts'
import { notedDatabaseUrl } from '../../processes/data-dir.ts'
import { bad, type Finding, ok, type Patient } from './finding.ts'

/** PostgreSQL 15, as the server gives its version. */
const SERVER_VERSION_MIN = 150_000

const CLOCK_WARNING_SECONDS = 5
const CLOCK_PROBLEM_SECONDS = 60

/** Checks the database: that it answers, its version, its schema, its clock, and what we may do. */
export async function checkDatabase({
  config,
  clock,
}: Omit<Patient, 'resolve'>): Promise<Finding[]> {
  const url = config.databaseUrl ?? (await notedDatabaseUrl(config.dataDir))
  if (url === undefined) {
    const says = 'The database is not running, because Signalpost is not running.'
    return [bad('unknown', says, 'Start Signalpost, and run "signalpost doctor" again.')]
  }
  try {
    const { oidc } = config
    const facts = await findServerFacts(url, oidc?.localAccounts)
    const major = Math.floor(facts.version / 10_000)
    const version =
      facts.version >= SERVER_VERSION_MIN
        ? ok(`The database is PostgreSQL ${major}.`)
        : bad(
            'problem',
            `The database is PostgreSQL ${major}, which is too old.`,
            'Upgrade it to PostgreSQL 15 or newer.',
          )
    const schema = checkSchema(facts, await expectedMigrations())
    return [
      version,
      schema,
      checkOwner(facts.mayCreate),
      compareClock('the database', facts.at, clock()),
      ...(oidc ? [checkEmergency(facts.localAdmins)] : []),
    ]
  } catch (error) {
    const todo = 'Check that PostgreSQL runs, and that DATABASE_URL has its address and password.'
    return [bad('problem', `The database does not answer: ${reasonOf(error)}`, todo)]
  }
}

function checkSchema({ ran, isTooNew }: ServerFacts, expected: readonly string[]): Finding {
  const missing = expected.filter((name) => !ran?.includes(name))
  const unknown = ran?.filter((name) => !expected.includes(name)) ?? []
  if (unknown.length > 0) {
    const says = `A newer version of Signalpost has upgraded the schema (${unknown.at(-1)}).`
    const todo = 'Install the newer version of Signalpost.'
    return bad(isTooNew ? 'problem' : 'warning', says, todo)
  }
  if (missing.length === 0) return ok(`The schema is up to date (${expected.at(-1)}).`)
  const says = `The schema lacks ${missing.length} migrations.`
  return bad('problem', says, 'Run "signalpost migrate".')
}

function checkOwner(mayCreate: boolean): Finding {
  if (mayCreate) return ok('The account of the database may create tables.')
  const todo = 'Make it the owner: "alter database NAME owner to ACCOUNT".'
  return bad('problem', 'The account of the database may not create tables.', todo)
}

/** Checks that somebody can administer the site while the provider of the organization is away. */
function checkEmergency(admins: number): Finding {
  if (admins > 0) return ok('An administrator can sign in without the provider.')
  const says = 'No account in OIDC_LOCAL_ACCOUNTS is an administrator with a password.'
  return bad('problem', says, 'Run "account add --email ADDRESS --role administrator --password".')
}

/** Compares the clock of this machine with another one. */
export function compareClock(whose: string, theirs: Date, ours: Date): Finding {
  const seconds = Math.round(Math.abs(theirs.getTime() - ours.getTime()) / 1_000)
  if (seconds < CLOCK_WARNING_SECONDS) return ok(`The clock agrees with that of ${whose}.`)
  const says = `The clock differs from that of ${whose} by ${seconds} seconds.`
  const todo = 'Let NTP set the clocks, for example with "timedatectl set-ntp true".'
  return bad(seconds < CLOCK_PROBLEM_SECONDS ? 'warning' : 'problem', says, todo)
}
