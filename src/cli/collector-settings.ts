import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { reasonOf, UsageError } from '../errors.ts'
import { addressScope, parseIp } from '../mail/ip.ts'
import { type ChoiceName, choices } from '../reports/message-refusal.ts'

const text = z.string().trim().min(1).max(1_000)

const folderSchema = z.strictObject({
  name: text,
  kind: z.enum(['spam', 'phishing', 'not-spam', 'complaints', 'test-messages']),
  'move-to': text.optional(),
  report: z.enum(choices).optional(),
})

const accountSchema = z.strictObject({
  host: text,
  port: z.int().min(1).max(65_535).optional(),
  security: z.enum(['tls', 'starttls', 'none']).default('tls'),
  user: text,
  'password-file': text.optional(),
  'access-token-file': text.optional(),
  'token-file': text.optional(),
  'on-behalf-of': text.optional(),
  address: text.optional(),
  folders: z.array(folderSchema).min(1).max(20),
})

const fileSchema = z.strictObject({
  to: z.url({ protocol: /^https?$/ }),
  'token-file': text.optional(),
  'message-bytes-max': z.int().min(1_000).max(200_000_000).default(50_000_000),
  accounts: z.array(accountSchema).min(1).max(5_000),
})

export type CollectedFolder = {
  name: string
  /**
   * The kind of the reports; `complaints`: of the message in each complaint of a provider;
   * `test-messages`: of the messages of the service that show the mail servers.
   */
  kind: z.infer<typeof folderSchema>['kind']
  /** Where a reported message is moved; otherwise it is marked. */
  moveTo: string | undefined
  /** What is reported of a message that carries another one, if the service asks. */
  report: ChoiceName | undefined
}

/** An IMAP account and its folders. Files with secrets are read at each connection. */
export type CollectedAccount = {
  host: string
  port: number
  security: 'tls' | 'starttls' | 'none'
  user: string
  secret: { is: 'pass' | 'accessToken'; file: string }
  tokenFile: string
  /** The mailbox user for whom the token reports. */
  onBehalfOf: string | undefined
  /** The address of this mailbox user, to which test messages go; else to that of the token. */
  address: string | undefined
  folders: readonly CollectedFolder[]
}

/** What `collect imap` collects, and where it reports it. */
export type CollectorSettings = {
  url: string
  messageBytesMax: number
  accounts: readonly CollectedAccount[]
}

/**
 * Reads the file of a collector; other files that it names are relative to it.
 *
 * @throws UsageError with all problems
 */
export async function readCollectorFile(file: string): Promise<CollectorSettings> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError([`Cannot read the file of the collector: ${reasonOf(error)}`])
  })
  return parseCollector(content, path.dirname(path.resolve(file)))
}

/** Parses the file of a collector. @throws UsageError with all problems */
export function parseCollector(content: string, folder: string): CollectorSettings {
  const read = fileSchema.safeParse(parsed(content))
  if (!read.success) {
    throw new UsageError(
      read.error.issues.map(({ path: place, message }) =>
        place.length === 0 ? message : `${place.join('.')}: ${message}`,
      ),
    )
  }
  const { accounts, to, 'token-file': tokenFile, 'message-bytes-max': messageBytesMax } = read.data
  const problems = accounts.flatMap((account, index) =>
    problemsOf(account, tokenFile).map((problem) => `accounts.${index}: ${problem}`),
  )
  if (problems.length > 0) throw new UsageError(problems)
  const inFolder = (name: string) => path.resolve(folder, name)
  return {
    url: to.replace(/\/+$/, ''),
    messageBytesMax,
    accounts: accounts.map((account) => ({
      host: account.host,
      port: account.port ?? (account.security === 'tls' ? 993 : 143),
      security: account.security,
      user: account.user,
      secret: account['access-token-file']
        ? { is: 'accessToken', file: inFolder(account['access-token-file']) }
        : { is: 'pass', file: inFolder(account['password-file'] ?? '') },
      tokenFile: inFolder(account['token-file'] ?? tokenFile ?? ''),
      onBehalfOf: account['on-behalf-of'],
      address: account.address,
      folders: account.folders.map(({ name, kind, report, 'move-to': moveTo }) => {
        return { name, kind, moveTo, report }
      }),
    })),
  }
}

function parsed(content: string): unknown {
  try {
    return parse(content)
  } catch (error) {
    throw new UsageError([`The file of the collector is not YAML: ${reasonOf(error)}`])
  }
}

function problemsOf(
  account: z.infer<typeof accountSchema>,
  tokenFile: string | undefined,
): string[] {
  const { folders, host, security } = account
  const problems: string[] = []
  if ((account['password-file'] === undefined) === (account['access-token-file'] === undefined))
    problems.push('Give either password-file or access-token-file.')
  if ((account['token-file'] ?? tokenFile) === undefined)
    problems.push('token-file is missing, here and for the whole file.')
  if (security === 'none' && !isLoopback(host))
    problems.push('security "none" would send the password in the clear; it needs a loopback host.')
  if (account.address !== undefined && account['on-behalf-of'] === undefined)
    problems.push('address is for on-behalf-of, which is missing.')
  const names = folders.map(({ name }) => name)
  // Of a folder with test messages, nothing else is reported.
  const emptied = folders.flatMap(({ name, kind }) => (kind === 'test-messages' ? [] : [name]))
  if (new Set(names).size < names.length) problems.push('A folder is named twice.')
  for (const { name, 'move-to': moveTo } of folders) {
    if (moveTo !== undefined && emptied.includes(moveTo))
      problems.push(`"${name}" would move messages to "${moveTo}", which is collected too.`)
  }
  return problems
}

function isLoopback(host: string): boolean {
  const ip = parseIp(host)
  return host === 'localhost' || (ip !== undefined && addressScope(ip) === 'loopback')
}
