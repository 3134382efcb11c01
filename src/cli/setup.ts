import { generateKeyPairSync } from 'node:crypto'
import { chown, chmod, readFile, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs, parseEnv } from 'node:util'
import { readConfig } from '../config.ts'
import { reasonOf, UsageError } from '../errors.ts'
import { domainOf } from '../mail/address.ts'
import { entriesOf } from '../settings.ts'
import {
  type DnsRecord,
  dkimRecord,
  dmarcRecord,
  mxRecord,
  spfRecord,
  zoneLine,
} from './doctor/records.ts'
import { relativeIn, unknownIn } from './given-settings.ts'

type Answers = Readonly<Record<string, string>>

/** A question about a setting. An empty answer takes the previous answer or the usual one. */
type Question = {
  variable: string
  asks: string
  usual: (answers: Answers) => string
  /** Whether the setting may be absent: the answer "-" removes it. */
  isOptional?: true
  /** Returns what is wrong with an answer; default: what the settings say about it. */
  faultOf?: (answer: string) => string | undefined
}

const SELECTOR = 'signalpost'
/** Where relative paths begin in the unit of systemd. */
const SERVICE_CWD = '/var/lib/signalpost'
/** The answers that remove an optional setting. */
const NONE = ['-', 'none']

const questions: readonly Question[] = [
  {
    variable: 'PUBLIC_URL',
    asks: 'At which address do people reach this service, such as https://spam.example.org?',
    usual: () => '',
    faultOf: (answer) =>
      /^https:\/\//.test(answer) ? faultOf('PUBLIC_URL', answer) : 'is not an https address',
  },
  {
    variable: 'OPERATOR_NAME',
    asks: 'Who operates it? The privacy page shows this name.',
    usual: () => '',
    isOptional: true,
  },
  {
    variable: 'OPERATOR_CONTACT',
    asks: 'How do people reach the operator?',
    usual: () => '',
    isOptional: true,
  },
  {
    variable: 'MAIL_FROM',
    asks: 'From which mail address are feedback reports sent? Somebody must read its mail.',
    usual: ({ PUBLIC_URL = '' }) => `feedback@${hostOf(PUBLIC_URL)}`,
  },
  {
    variable: 'RETURN_PATH_DOMAIN',
    asks: 'Which domain receives bounces and answers? It may have no other use.',
    usual: ({ MAIL_FROM = '' }) => `bounces.${domainOf(MAIL_FROM) ?? ''}`,
  },
  {
    variable: 'SMTP_URL',
    asks:
      'Which mail server sends our mail, such as smtp://user:password@mail.example.org:587? ' +
      'Empty: none.',
    usual: () => '',
    isOptional: true,
  },
  {
    variable: 'SENDING_ADDRESSES',
    asks:
      'From which IP addresses does that mail server send? Separate them by spaces. ' +
      'Empty: not known.',
    usual: () => '',
    isOptional: true,
  },
  {
    variable: 'DATABASE_URL',
    asks:
      'Which PostgreSQL database stores the reports, such as ' +
      'postgres://user:password@db.example.org/signalpost? Empty: its own.',
    usual: () => '',
    isOptional: true,
  },
  {
    variable: 'SIGN_UP',
    asks: 'May anyone create an account: open or closed?',
    usual: () => 'open',
  },
  {
    variable: 'ALARM_MAIL',
    asks: 'Which mail address gets alarms? Empty: none.',
    usual: () => '',
    isOptional: true,
  },
]

/** What the setup asks and tells: the terminal, or pipes. */
type Talk = { input: NodeJS.ReadableStream; print: (text: string) => void }

/** Parses the arguments of `setup`; returns the folder for its files. */
export function parseSetup(args: readonly string[]): string {
  const options = { folder: { type: 'string', default: '/etc/signalpost' } } as const
  return parseArgs({ args: [...args], options }).values.folder
}

/**
 * Asks ten questions, then writes to the folder: the settings, a DKIM key unless it has one, and
 * the DNS records to publish. Settings that it does not ask about stay as they are.
 *
 * @throws UsageError if the folder does not exist or the answers end early
 */
export async function setup(folder: string, talk: Talk): Promise<void> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) throw new UsageError([`The folder ${folder} does not exist. Create it first.`])
  const place = path.resolve(folder)
  const file = path.join(place, 'signalpost.env')
  const text = await readFile(file, 'utf8').catch(() => '')
  const before = parseEnv(text) as Answers
  warn(before, talk.print)
  const answers = await ask(before, talk)
  const signing = signingOf(before, answers, path.join(place, 'dkim.pem'))
  const key = await keptKey(signing.DKIM_KEY_FILE)
  await writePrivate(file, changed(text, { ...answers, ...signing }))
  const records = recordsOf(answers, key, signing).map(zoneLine)
  const recordFile = path.join(place, 'dns-records.txt')
  await writeFile(recordFile, `${records.join('\n')}\n`)
  const unknown = (answers['SENDING_ADDRESSES'] ?? '') === ''
  talk.print(`
Wrote ${file}, ${signing.DKIM_KEY_FILE} and ${recordFile}. Publish these records in the DNS:

${records.join('\n')}
${unknown ? INCOMPLETE : ''}${isFound(file) ? '' : unfound(file)}
Then start Signalpost, and run "signalpost doctor".`)
}

/** Whether the command reads the file by itself: the installed one reads that of the machine. */
function isFound(file: string): boolean {
  return import.meta.filename.endsWith('.js') && file === '/etc/signalpost/signalpost.env'
}

const unfound = (file: string) => `
Signalpost reads these settings if the environment has this variable, for each command:

SIGNALPOST_SETTINGS=${file}
`

const INCOMPLETE = `
The SPF record is incomplete, because the addresses of your mail server are not known. Run
"signalpost setup" again when you know them.
`

/** Prints what is wrong with the settings that stay as they are. */
function warn(before: Answers, print: Talk['print']): void {
  const kept = Object.entries(before).map(([name, value]) => ({ name, value }))
  for (const { says, todo } of [...unknownIn(kept), ...relativeIn(kept, SERVICE_CWD)]) {
    print(`Warning: ${says} ${todo}`)
  }
}

/**
 * The settings of DKIM: previous ones stay, but the signing domain follows the domain of the author
 * if it was the same.
 */
function signingOf(before: Answers, answers: Answers, keyFile: string) {
  const domain = domainOf(answers['MAIL_FROM'] ?? '') ?? ''
  const { DKIM_DOMAIN = '', DKIM_SELECTOR = '', DKIM_KEY_FILE = '' } = before
  const isOwn = DKIM_DOMAIN !== '' && DKIM_DOMAIN !== domainOf(before['MAIL_FROM'] ?? '')
  return {
    DKIM_DOMAIN: isOwn ? DKIM_DOMAIN : domain,
    DKIM_SELECTOR: DKIM_SELECTOR || SELECTOR,
    DKIM_KEY_FILE: path.isAbsolute(DKIM_KEY_FILE) ? DKIM_KEY_FILE : keyFile,
  }
}

async function ask(before: Answers, { input, print }: Talk): Promise<Answers> {
  using open = createInterface({ input })
  const lines = open[Symbol.asyncIterator]()
  const answers: Record<string, string> = {}
  for (const [at, question] of questions.entries()) {
    const { variable, asks, usual, isOptional } = question
    const taken = before[variable] || usual(answers)
    const removal = isOptional ? '; "-" removes it' : ''
    const proposal = taken === '' ? '' : `\n     [${withoutPassword(taken)}]${removal}`
    for (;;) {
      print(`${at + 1}/${questions.length} ${asks}${proposal}`)
      const line = await lines.next()
      if (line.done) throw new UsageError(['The answers ended early. Nothing was written.'])
      const given = line.value.trim()
      const answer = isOptional && NONE.includes(given) ? '' : given || taken
      const fault = (question.faultOf ?? ((text) => faultOf(variable, text)))(answer)
      answers[variable] = answer
      if (fault === undefined) break
      print(`     This ${fault}.`)
    }
  }
  return answers
}

/** Others may see the screen. */
function withoutPassword(value: string): string {
  return value.replace(/^(\w+:\/\/[^/@]*:)[^/@]*@/, '$1***@')
}

/** Returns what is wrong with the value of a setting. */
function faultOf(variable: string, value: string): string | undefined {
  try {
    readConfig({ [variable]: value }, { cores: 1, cwd: '/' })
    return undefined
  } catch (error) {
    const [problem = reasonOf(error)] = error instanceof UsageError ? error.problems : []
    return problem.replace(`${variable} `, '').replace(' (see .env.example)', '')
  }
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? ''
}

/** Returns the key in a file. If there is none, makes one of RSA, which every receiver verifies. */
async function keptKey(file: string): Promise<string> {
  const kept = await readFile(file, 'utf8').catch(() => undefined)
  if (kept !== undefined) return kept
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const text = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  await writePrivate(file, text)
  return text
}

/**
 * Writes a file that only its owner and the group of its folder can read: the folder of a service
 * belongs to the group of the service.
 */
async function writePrivate(file: string, text: string): Promise<void> {
  const made = `${file}.${process.pid}`
  await writeFile(made, text, { mode: 0o600 })
  const { gid } = await stat(path.dirname(file))
  await chown(made, process.getuid?.() ?? 0, gid).catch(() => undefined)
  if ((await stat(made)).gid === gid) await chmod(made, 0o640)
  await rename(made, file)
}

/** Returns the text of a settings file with other values; adds lines for variables it lacks. */
function changed(before: string, settings: Answers): string {
  const kept = before.split('\n').filter((line) => {
    const [, name = ''] = /^\s*(?:export\s+)?(\w+)\s*=/.exec(line) ?? []
    return !Object.hasOwn(settings, name)
  })
  const lines = Object.entries(settings).flatMap(([name, value]) =>
    value === '' ? [] : [`${name}=${quoted(value)}`],
  )
  return `${[...kept.join('\n').trim().split('\n'), ...lines].join('\n').trimStart()}\n`
}

/** Quotes a value as Node.js, systemd and shells read it. */
function quoted(value: string): string {
  if (/^[\w.:/@,+-]*$/.test(value)) return value
  return value.includes("'") ? `"${value.replaceAll('"', '”')}"` : `'${value}'`
}

function recordsOf(answers: Answers, key: string, signing: Answers): DnsRecord[] {
  const {
    MAIL_FROM: mailFrom = '',
    RETURN_PATH_DOMAIN: bounces = '',
    PUBLIC_URL: url = '',
    SENDING_ADDRESSES: addresses = '',
  } = answers
  const { DKIM_DOMAIN: domain = '', DKIM_SELECTOR: selector = '' } = signing
  return [
    mxRecord(bounces, hostOf(url)),
    spfRecord(bounces, entriesOf(addresses)),
    dkimRecord(domain, selector, key),
    dmarcRecord(domainOf(mailFrom) ?? '', mailFrom),
  ]
}
