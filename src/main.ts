import './require-node.js'
import { fstatSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { concealKeys } from './mail/conceal-keys.ts'
import { shownText } from './mail/text.ts'
import type { App } from './app.ts'
import { type Command, describe, operatorCommand, refuseArguments } from './cli/command-table.ts'
import { FAILED, failureOf, MISUSED } from './cli/failure.ts'
import { installationCommands } from './cli/installation.ts'
import type { Config } from './config.ts'
import { serve, type StandIn } from './processes/serve-part.ts'
import { closeInTime, stopSignal } from './processes/stop-signal.ts'

const [DONE, TRY_LATER] = [0, 75]
/** As shells show the end of a program by the signal SIGPIPE. */
const PIPE_CLOSED = 141
const COMPLAINT_CHARS_MAX = 20_000
const TEXT_CHARS_MAX = 1_000_000

const otherAccountCommands = operatorCommand(() => import('./cli/accounts.ts'))

const accountCommand: Command = {
  async describe() {
    const usage =
      'account add --email E [--password] [--role R] [--token] [--scope S,S] ' +
      '[--token-role R] [--unproven]\n' +
      '      [--language L]'
    const summary =
      'create or change an account (prints one line of JSON)\n' +
      '      The password is read from standard input.'
    return [{ usage, summary }, ...(await describe(otherAccountCommands))]
  },
  async run(context) {
    const { args, config, log } = context
    if (args[0] !== 'add') return otherAccountCommands.run(context)
    const { withDatabase } = await import('./processes/open-app.ts')
    const { runAccount, parseAccount, readPassword } = await import('./processes/add-account.ts')
    const { asksPassword, ...asked } = parseAccount(args)
    const request = { ...asked, password: asksPassword ? await readPassword(process) : undefined }
    const answer = await withDatabase(config, log, (app) => runAccount(request, app))
    process.stdout.write(`${JSON.stringify(answer)}\n`)
    return 0
  },
}

const commands: Record<string, Command> = {
  ...installationCommands({ say, env: process.env }),
  start: {
    usage: 'start',
    summary: 'run all parts of Signalpost on this machine',
    async run({ args, config, log }) {
      refuseArguments(args)
      const { start } = await import('./processes/start.ts')
      const stopping = stopSignal()
      const main = import.meta.filename
      const { close } = await start({ config, log, main, env: process.env, say, stopping })
      await stopping
      await closeInTime(close, config.drainMs)
      return DONE
    },
  },
  web: {
    usage: 'web',
    summary: 'serve the report form, the API and the admin pages',
    async run({ args, config, log }) {
      refuseArguments(args)
      const { web } = await import('./processes/web.ts')
      if (config.mainUrl === undefined) {
        return serve(config, log, 'web', 'sends', (app) => web(app), { openStandIn: web })
      }
      const { openFront } = await import('./processes/front.ts')
      const stopping = stopSignal()
      const { app, standIn } = await openFront(config, log)
      const { close } = await web(app, standIn)
      process.send?.('ready')
      await stopping
      await closeInTime(close, config.drainMs)
      return DONE
    },
  },
  work: {
    usage: 'work [--queues a,b]',
    summary: 'process the jobs of the queues',
    async run({ args, config, log }) {
      const { parseQueues, startWork } = await import('./processes/work.ts')
      const names = parseQueues(args)
      return serve(config, log, 'work', 'works', (app) => startWork(app, names), { names })
    },
  },
  count: {
    usage: 'count',
    summary: 'add new counts to the statistics',
    async run({ args, config, log }) {
      refuseArguments(args)
      const { count } = await import('./processes/count.ts')
      return serve(config, log, 'count', 'sends', (app) => count(app))
    },
  },
  check: {
    usage: 'check',
    summary: 'answer mail servers that ask for verdicts, on CHECK_PORT',
    async run({ args, config, log }) {
      refuseArguments(args)
      const { check } = await import('./processes/check.ts')
      return serve(config, log, 'check', 'sends', (app) => check(app))
    },
  },
  receive: {
    usage: 'receive [--stdin --to ADDRESS [--from ADDRESS]]',
    summary: 'receive mail by SMTP or LMTP, or one mail from standard input',
    async run({ args, config, log }) {
      const { parseReceive, receiveOne } = await import('./processes/receive/recipients.ts')
      const { receive } = await import('./processes/receive/receive.ts')
      const envelope = parseReceive(args)
      if (!envelope) {
        const openStandIn: StandIn = (app, standby) => receive(app, undefined, standby)
        return serve(config, log, 'receive', 'sends', (app) => receive(app), { openStandIn })
      }
      const { DatabaseUnsuitable } = await import('./errors.ts')
      const { DatabaseUnavailable, withDatabase } = await import('./processes/open-app.ts')
      return withDatabase(config, log, (app) => receiveOne(process.stdin, envelope, app)).catch(
        (error: unknown) => {
          // The mail server keeps the mail until somebody has corrected the settings.
          if (error instanceof DatabaseUnsuitable) complain(`signalpost receive: ${error.message}`)
          else if (!(error instanceof DatabaseUnavailable)) throw error
          return TRY_LATER
        },
      )
    },
  },
  migrate: {
    usage: 'migrate',
    summary: 'migrate the database to the current schema',
    async run({ args, config }) {
      refuseArguments(args)
      const { migrateDatabase } = await import('./processes/open-app.ts')
      const ran = await migrateDatabase(config)
      say(ran.length === 0 ? 'The database is up to date.' : `Ran ${ran.join(', ')}.`)
      return DONE
    },
  },
  move: {
    usage: 'move --to URL [--from URL] [--backend postgres|citus]',
    summary:
      'move everything to another database while the service runs, with a short stop at the end',
    async run({ args, config }) {
      const { move, parseMove } = await import('./processes/move.ts')
      const { withDirectUrl } = await import('./processes/open-app.ts')
      const { systemClock } = await import('./world.ts')
      const { from, to, backend } = parseMove(args)
      const moveFrom = (url: string) => move({ from: url, to, backend }, systemClock(), complain)
      const done = await (from === undefined ? withDirectUrl(config, moveFrom) : moveFrom(from))
      const seconds = (done.stoppedMs / 1_000).toFixed(1)
      say(`Moved ${done.rows.toLocaleString('en')} rows. Writing was stopped for ${seconds} s.`)
      say(
        'The old database is read-only. Set DATABASE_URL to the new one' +
          `${backend === 'citus' ? ' and DB_BACKEND=citus,' : ''} and restart everything.`,
      )
      return DONE
    },
  },
  backup: {
    usage: 'backup',
    summary: 'write a backup of the database to BACKUP_DIR while the service runs',
    async run({ args, config, log }) {
      refuseArguments(args)
      const { backUp } = await import('./processes/backup.ts')
      const { withDatabase } = await import('./processes/open-app.ts')
      const { file, rows } = await withDatabase(config, log, (app) => backUp(app))
      say(`Wrote ${rows.toLocaleString('en')} rows to ${file}.`)
      return DONE
    },
  },
  restore: {
    usage: 'restore FILE [--to URL] [--key FILE]',
    summary: 'restore a backup into an empty database',
    async run({ args, config }) {
      const { parseRestore, restore } = await import('./processes/restore.ts')
      const { withDirectUrl } = await import('./processes/open-app.ts')
      const { systemClock } = await import('./world.ts')
      const { to, ...given } = await parseRestore(args)
      const { databaseBackend: backend } = config
      const restoreTo = (url: string) => restore({ ...given, to: url, backend }, systemClock())
      const { madeAt } = await (to === undefined ? withDirectUrl(config, restoreTo) : restoreTo(to))
      say(`Restored the backup of ${madeAt.toISOString()}. Start Signalpost with the same SECRET.`)
      return DONE
    },
  },
  account: accountCommand,
  import: {
    usage: 'import networks FILE [--as NAME] [--format auto|csv|ip2asn|rir|mmdb]',
    summary: 'import a network table: CSV, IP-to-AS, RIR statistics or MaxMind, also .gz',
    async run({ args, config, log }) {
      const { importNetworks, parseImport, progressOn } =
        await import('./processes/import-networks.ts')
      const { file, ...options } = parseImport(args)
      const { withDatabase } = await import('./processes/open-app.ts')
      const progress = progressOn(process.stderr)
      const { setFlagsFromString } = await import('node:v8')
      // Reading a table creates mostly short-lived objects; without this flag V8 uses 60 MB more.
      setFlagsFromString('--semi-space-growth-factor=1')
      const done = await withDatabase(config, log, (app) =>
        importNetworks(file, app, { ...options, tell: progress.tell, isAudited: true }),
      ).finally(progress.end)
      say(`Imported ${done.ranges} ranges as ${done.blocks} blocks from ${done.source}.`)
      if (done.skipped > 0) say(`Skipped ${done.skipped} lines without a network.`)
      return 0
    },
  },
  networks: operatorCommand(() => import('./cli/networks.ts')),
  contact: {
    usage: 'contact IP | URL',
    summary: 'ask who can stop an address, or the page of a URL without opening it; no database',
    async run({ args, config }) {
      const { runContact } = await import('./processes/ask-for-contact.ts')
      return (await runContact(args, config, { print: say, complain })) ? 0 : 1
    },
  },
  counters: {
    usage:
      'counters [KIND] VALUE | KIND - | file PATH | --type TYPE VALUE | --hash HASH\n' +
      '    [--series] [--json] [--plain]',
    summary: 'show how often a link, address, ip, subject, file … was seen; exits with 1 if never',
    async run({ args, config, log }) {
      const { readCounters, printCounters } = await import('./cli/counters.ts')
      const request = await readCounters(args, process)
      const { withDatabase } = await import('./processes/open-app.ts')
      return withDatabase(config, log, (app) => printCounters(request, app, process))
    },
  },
  queue: operatorCommand(() => import('./cli/queue.ts')),
  audit: operatorCommand(() => import('./cli/audit.ts')),
  reports: operatorCommand(() => import('./cli/reports.ts')),
  outbox: operatorCommand(() => import('./cli/outbox.ts')),
  reputation: {
    usage: 'reputation [KIND] NAME [--json]',
    summary: 'show the reputation of an address, link, file …, and why; exits with 1 if unknown',
    async run({ args, config, log }) {
      const { parseReputation, describeReputation } = await import('./cli/lists.ts')
      const request = parseReputation(args)
      const { withDatabase } = await import('./processes/open-app.ts')
      const read = (app: App) => describeReputation(request, app)
      const { text, isKnown } = await withDatabase(config, log, read)
      process.stdout.write(`${request.isJson ? text : shownText(text, TEXT_CHARS_MAX)}\n`)
      return isKnown ? 0 : 1
    },
  },
  rules: {
    usage:
      'rules list | history | show [VERSION] | facts | check FILE | diff FILE |\n' +
      '    dry-run FILE [--last N] | apply FILE [--note TEXT] | rollback VERSION',
    summary: 'show the active rules, test other rules on past reports, apply them',
    async run({ args, config, log }) {
      const { parseRules, runRules } = await import('./cli/rules.ts')
      const { withDatabase } = await import('./processes/open-app.ts')
      return runRules(parseRules(args), (chore) => withDatabase(config, log, chore), process)
    },
  },
  'rule-lists': operatorCommand(() => import('./cli/rule-lists.ts')),
  health: operatorCommand(() => import('./cli/health.ts')),
  lists: operatorCommand(() => import('./cli/lists.ts')),
  pages: operatorCommand(() => import('./cli/pages.ts')),
  'mail-servers': operatorCommand(() => import('./cli/mail-servers.ts')),
  sources: operatorCommand(() => import('./cli/sources.ts')),
  simulations: operatorCommand(() => import('./cli/simulations.ts')),
  senders: operatorCommand(() => import('./cli/senders.ts')),
  statistics: operatorCommand(() => import('./cli/statistics.ts')),
  limits: operatorCommand(() => import('./cli/limits.ts')),
  suppressions: operatorCommand(() => import('./cli/suppressions.ts')),
  consumers: operatorCommand(() => import('./cli/consumers.ts')),
  marketers: operatorCommand(() => import('./cli/marketers.ts')),
  blacklists: {
    usage: 'blacklists',
    summary: 'test the configured DNS blacklists; needs no database',
    async run({ args, config }) {
      refuseArguments(args)
      const { testBlacklists } = await import('./cli/lists.ts')
      const { systemClock } = await import('./world.ts')
      const { text, isSound } = await testBlacklists(config, systemClock)
      say(text)
      return isSound ? DONE : FAILED
    },
  },
  train: {
    usage:
      'train [--from-reports] [--days N] [--files DIR:LABEL]… [--own-mail]\n' +
      '    [--split campaign|time] [--seed N] [--out FILE.json] [--rows FILE] | train --nightly',
    summary:
      'train and evaluate a model on labeled reports and files; "models promote" activates it',
    async run({ args, config, log }) {
      const { parseTrain, train } = await import('./cli/train/train.ts')
      const { trainNightly } = await import('./cli/train/nightly.ts')
      const request = parseTrain(args)
      const { withDatabase } = await import('./processes/open-app.ts')
      const tell = (line: string) => process.stderr.write(`${line}\n`)
      const work = (app: App) =>
        request.isNightly ? trainNightly(app, tell) : train(request, app, tell)
      say(await withDatabase(config, log, work))
      return DONE
    },
  },
  models: operatorCommand(() => import('./cli/train/models.ts')),
  explain: operatorCommand(() => import('./cli/explain.ts')),
  inspect: {
    usage:
      'inspect [FILE…] [--provider CIDR,CIDR] [--no-stamps] [--dns] [--pieces] [--picture|--jsonl]',
    summary: 'print what the analysis finds in a message, as JSON or a picture; needs no database',
    async runAlone(args) {
      const { inspect } = await import('./cli/inspect.ts')
      const config = args.includes('--dns') ? await readSettings() : undefined
      if (!config || config.dnsServers === 'none') return inspect(args, process)
      const { openDns } = await import('./processes/open-network.ts')
      const { systemClock } = await import('./world.ts')
      const { tools, close } = await openDns(config, { clock: systemClock })
      const { stdin, stdout, stderr } = process
      return inspect(args, { stdin, stdout, stderr, dns: tools }).finally(close)
    },
  },
  report: {
    usage:
      'report FILE…|--spool FOLDER --to URL [--token-file FILE] [--kind spam|phishing|not-spam]',
    summary:
      'report messages to a Signalpost server; the token is read from standard input or a file',
    async run({ args }) {
      const { parseReport, readToken, reportFiles } = await import('./cli/report.ts')
      const { tokenFile, spool: folder, ...asked } = parseReport(args)
      const token = await readToken(tokenFile, process)
      if (folder !== undefined) {
        const { reportSpool } = await import('./cli/report-spool.ts')
        const stop = new AbortController()
        void stopSignal().then(() => stop.abort())
        await reportSpool(
          { ...asked, token, folder },
          { print: say, complain, signal: stop.signal },
        )
        return DONE
      }
      const io = { stdin: process.stdin, print: say, complain }
      return (await reportFiles({ ...asked, token }, io)) === 0 ? DONE : FAILED
    },
  },
  collect: {
    usage: 'collect imap FILE [--once]',
    summary:
      'report what users move into folders of IMAP accounts, which FILE lists; needs no database',
    async run({ args }) {
      const { collectImap, parseCollect } = await import('./cli/collect-imap.ts')
      const { readCollectorFile } = await import('./cli/collector-settings.ts')
      const { file, isOnce } = parseCollect(args)
      const stop = new AbortController()
      const io = { print: say, complain, signal: stop.signal }
      const collecting = collectImap(await readCollectorFile(file), { isOnce }, io)
      void stopSignal().then(() => {
        stop.abort()
        return closeInTime(() => collecting.then(() => undefined))
      })
      return (await collecting) === 0 ? DONE : FAILED
    },
  },
}

// A reader such as "head" may end first. The command completes its work without its output.
let isReaderGone = false
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (!isClosedPipe(error)) throw error
    isReaderGone = true
  })
}
// A command starts in half of the time. The parts of "start" use the data folder, see "startPart".
if (process.env.HOME) enableCompileCache(path.join(process.env.HOME, '.cache/signalpost'))
process.exitCode = await main(process.argv.slice(2))

async function main([name = 'help', ...args]: readonly string[]): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (['help', '--help', '-h'].includes(name)) return help()
  if (!command) {
    complain(`signalpost: Unknown command "${name}". "signalpost help" lists the commands.`)
    return MISUSED
  }
  if (name !== 'inspect' && args.some((arg) => arg === '--help' || arg === '-h')) {
    for (const { usage, summary } of await describe(command)) {
      say(`signalpost ${usage}\n    ${summary}`)
    }
    return DONE
  }
  try {
    if ('runAlone' in command) return await command.runAlone(args)
    const config = await readSettings()
    const { createLogger } = await import('./log.ts')
    const log = await createLogger(config.logLevel, name, { isJournal: isJournal() })
    return await command.run({ args, config, log })
  } catch (error) {
    // A lost connection, such as that to the database, has the same code.
    if (isReaderGone && isClosedPipe(error)) return PIPE_CLOSED
    const { code, problems, stack } = failureOf(error)
    for (const problem of problems) complain(`signalpost ${name}: ${problem}`)
    if (code === MISUSED) {
      const usages = (await describe(command)).map(({ usage }) => `signalpost ${usage}`)
      complain(`Usage: ${usages.join('\n       ')}`)
    }
    if (stack !== undefined) complain(stack)
    // The channel to a supervisor would keep a finished process running.
    if (process.connected) process.disconnect?.()
    return code
  }
}

async function readSettings(): Promise<Config> {
  const { readConfig } = await import('./config.ts')
  return readConfig(process.env, { cores: availableParallelism(), cwd: process.cwd() })
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}

async function help(): Promise<number> {
  const described = (await Promise.all(Object.values(commands).map(describe))).flat()
  const lines = described.map(({ usage, summary }) => `  ${usage}\n      ${summary}`)
  say(`Usage: signalpost COMMAND\n\n${lines.join('\n')}\n\nSettings: see .env.example`)
  return DONE
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function complain(text: string): void {
  const shown = shownText(concealKeys(text), COMPLAINT_CHARS_MAX)
  process.stderr.write(`${isJournal() ? shown.replaceAll(/^/gm, '<3>') : shown}\n`)
}

/** Whether standard error is the journal of systemd (systemd.exec(5)). */
function isJournal(): boolean {
  const stream = process.env['JOURNAL_STREAM']
  if (stream === undefined) return false
  const { dev, ino } = fstatSync(2)
  return stream === `${dev}:${ino}`
}
