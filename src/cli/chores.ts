import { shownText } from '../web/pages/render.ts'
import { type Command, type CommandContext, describe, operatorCommand } from './command.ts'

const otherAccountCommands = operatorCommand(() => import('./accounts.ts'))

/** `signalpost account`; its code is loaded when it runs. */
export const accountCommand: Command = {
  async describe() {
    const usage =
      'account add --email E [--password] [--admin] [--token] [--scope S,S] [--unproven]\n' +
      '      [--language L]'
    const summary =
      'create or change an account (prints one line of JSON)\n' +
      '      The password is read from standard input.'
    return [{ usage, summary }, ...(await describe(otherAccountCommands))]
  },
  async run(context) {
    const { args, config, log } = context
    if (args[0] !== 'add') return otherAccountCommands.run(context)
    const { withDatabase } = await import('../processes/open-app.ts')
    const { addAccount, parseAccount, readPassword } = await import('../processes/add-account.ts')
    const { asksPassword, ...asked } = parseAccount(args)
    const request = { ...asked, password: asksPassword ? await readPassword(process) : undefined }
    const answer = await withDatabase(config, log, (app) => addAccount(request, app))
    process.stdout.write(`${JSON.stringify(answer)}\n`)
    return 0
  },
}

const COMPLAINT_CHARS_MAX = 20_000

/** The commands for networks; their code is loaded when they run. */
export const networkCommands = {
  import: {
    usage: 'import networks FILE [--as NAME] [--format auto|csv|ip2asn|rir|mmdb]',
    summary: 'import a network table: CSV, IP-to-AS, RIR statistics or MaxMind, also .gz',
    async run({ args, config, log }: CommandContext): Promise<number> {
      const { importNetworks, parseImport, progressOn } =
        await import('../processes/import-networks.ts')
      const { file, ...options } = parseImport(args)
      const { withDatabase } = await import('../processes/open-app.ts')
      const progress = progressOn(process.stderr)
      const { setFlagsFromString } = await import('node:v8')
      // Reading a table creates mostly short-lived objects; without this flag V8 uses 60 MB more.
      setFlagsFromString('--semi-space-growth-factor=1')
      const done = await withDatabase(config, log, (app) =>
        importNetworks(file, app, { ...options, tell: progress.tell }),
      ).finally(progress.end)
      print(`Imported ${done.ranges} ranges as ${done.blocks} blocks from ${done.source}.`)
      if (done.skipped > 0) print(`Skipped ${done.skipped} lines without a network.`)
      return 0
    },
  },
  networks: operatorCommand(() => import('./networks.ts')),
  contact: {
    usage: 'contact IP',
    summary: 'ask the Internet registries for the abuse contact of an address; needs no database',
    async run({ args, config }: CommandContext): Promise<number> {
      const { askForContact, openRdap, parseContact } = await import('../processes/open-app.ts')
      const io = { print, complain }
      return (await askForContact(parseContact(args), openRdap(config), io)) ? 0 : 1
    },
  },
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function complain(text: string): void {
  process.stderr.write(`${shownText(text, COMPLAINT_CHARS_MAX)}\n`)
}

/** The commands for models; their code is loaded when they run. */
export const modelCommands = {
  train: {
    usage:
      'train [--from-reports] [--days N] [--files DIR:LABEL]… [--split campaign|time]\n' +
      '    [--seed N] [--out FILE.json] [--rows FILE.csv]',
    summary:
      'train and evaluate a model on labeled reports and files; "models promote" activates it',
    async run({ args, config, log }: CommandContext): Promise<number> {
      const { parseTrain, train } = await import('./train/train.ts')
      const request = parseTrain(args)
      const { withDatabase } = await import('../processes/open-app.ts')
      const tell = (line: string) => process.stderr.write(`${line}\n`)
      return printText(await withDatabase(config, log, (app) => train(request, app, tell)))
    },
  },
  models: operatorCommand(() => import('./train/models.ts')),
}

function printText(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

/** `signalpost reputation`; its code is loaded when it runs. */
export const reputationCommand = {
  usage: 'reputation [KIND] NAME [--json]',
  summary:
    'show the reputation of an address, author, link, file …, and why; exits with 1 if unknown',
  async run({ args, config, log }: CommandContext) {
    const { parseReputation, tellReputation } = await import('./lists.ts')
    const request = parseReputation(args)
    const { withDatabase } = await import('../processes/open-app.ts')
    const { text, isKnown } = await withDatabase(config, log, (app) => tellReputation(request, app))
    const { shownText } = await import('../web/pages/render.ts')
    process.stdout.write(`${request.isJson ? text : shownText(text, TEXT_CHARS_MAX)}\n`)
    return isKnown ? 0 : 1
  },
}

const TEXT_CHARS_MAX = 1_000_000

/** `signalpost rules`; its code is loaded when it runs. */
export const rulesCommand = {
  usage:
    'rules list | history | show [VERSION] | facts | check FILE | diff FILE |\n' +
    '    dry-run FILE [--last N] | apply FILE [--note TEXT] | rollback VERSION',
  summary: 'show the active rules, test other rules on past reports, apply them',
  async run({ args, config, log }: CommandContext) {
    const { parseRules } = await import('./rules.ts')
    const request = parseRules(args)
    const { runRules } = await import('./rules.ts')
    const { withDatabase } = await import('../processes/open-app.ts')
    return runRules(request, (chore) => withDatabase(config, log, chore), process)
  },
}
